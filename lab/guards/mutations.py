"""Mutants: the library with one small error each, and a sample of them."""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "tables",
    "labels",
    "io",
    "counting",
    "consensus",
    "ranking",
    "metrics",
    "generation",
    "stability",
    "choices",
    "pipeline",
    "base",
    "cli",
)
SEED = 17

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.MatMult: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A module with one error."""

    module: str
    """``counting/_pairs.py``"""
    place: str
    """The function that it is in, and what is done there."""
    number: int
    """Among the mutants of the module."""
    lines: tuple[int, int]
    """The first and the last that differ."""
    function: tuple[int, int] | None
    """The first and the last line inside the innermost function around it."""

    @property
    def key(self) -> str:
        """Names it as long as the function's text around it is the same."""
        return hashlib.sha256(f"{self.module} {self.place}".encode()).hexdigest()[:12]

    @property
    def order(self) -> str:
        return hashlib.sha256(f"{SEED} {self.key}".encode()).hexdigest()


class _Site(NamedTuple):
    inside: str
    what: str
    node: ast.AST
    field: str
    i: int | None
    """Of the node's field; None: the field itself is replaced."""
    new: Any
    function: ast.FunctionDef | None


class _Sites(ast.NodeVisitor):
    """Functions that change a node in place, and what they do, for every node that can be wrong."""

    def __init__(self) -> None:
        self.found: list[_Site] = []
        self.inside: list[str] = []
        self.functions: list[ast.FunctionDef] = []

    def add(self, what: str, node: ast.AST, change: Any) -> None:
        function = self.functions[-1] if self.functions else None
        self.found.append(_Site(".".join(self.inside) or "module", what, node, *change, function))

    def visit(self, node: ast.AST) -> None:
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "type_params", "decorator_list"):
                continue
            for i, child in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(child, ast.AST):
                    self.at(node, name, i if isinstance(value, list) else None, child)

    def at(self, parent: ast.AST, field: str, i: int | None, node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        self.statements(parent, field, i, node)
        if isinstance(node, ast.Raise | ast.Assert) or _is_logged(node) or _is_named(node):
            return  # what is said, and names
        if isinstance(node, ast.keyword) and node.arg == "strict":
            return  # of zip: as good as an assertion
        named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if named:
            self.inside.append(node.name)
        if isinstance(node, ast.FunctionDef):
            self.functions.append(node)
        self.expressions(node)
        self.visit(node)
        if named:
            self.inside.pop()
        if isinstance(node, ast.FunctionDef):
            self.functions.pop()

    def statements(self, parent: ast.AST, field: str, i: int | None, node: ast.AST) -> None:
        if i is None or field not in ("body", "orelse", "finalbody") or not self.functions:
            return
        stored = isinstance(node, ast.Assign) and not any(isinstance(t, ast.Name | ast.Tuple) for t in node.targets)
        called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _is_logged(node)
        dropped = stored or called or isinstance(node, ast.AugAssign | ast.Raise | ast.Continue | ast.Break)
        if dropped:
            self.add(f"drop `{_short(node)}`", parent, (field, i, ast.Pass()))
        arguments = [a.arg for a in self.functions[-1].args.args if a.arg not in ("self", "cls")]
        if isinstance(node, ast.Return) and node.value is not None and arguments:
            name = ast.Name(arguments[0], ast.Load())
            if ast.unparse(node.value) != name.id:
                self.add(f"`{_short(node)}` → `return {name.id}`", parent, (field, i, ast.Return(name)))

    def expressions(self, node: ast.AST) -> None:
        if isinstance(node, ast.Compare):
            for i, op in enumerate(node.ops):
                self.replace(node, "ops", COMPARED[type(op)](), i)
        elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in COMPUTED:
            if not any(isinstance(side, ast.JoinedStr) for side in ast.iter_child_nodes(node)):
                self.replace(node, "op", COMPUTED[type(node.op)]())
        elif isinstance(node, ast.BoolOp):
            self.replace(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            self.replace(node, "value", not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            for step in (1, -1):
                self.replace(node, "value", node.value + step)
        elif isinstance(node, ast.Call):
            for i, keyword in enumerate(node.keywords):
                if keyword.arg not in (None, "strict"):
                    self.replace(node, "keywords", None, i)
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            self.replace(node, "test", ast.UnaryOp(ast.Not(), node.test))
        if isinstance(node, ast.comprehension):
            for i in range(len(node.ifs)):
                self.replace(node, "ifs", ast.UnaryOp(ast.Not(), node.ifs[i]), i)

    def replace(self, node: ast.AST, field: str, value: Any, i: int | None = None) -> None:
        before = _short(node)
        after = copy.copy(node)
        changed = value
        if i is not None:
            changed = list(getattr(node, field))
            changed[i : i + 1] = [] if value is None else [value]
        setattr(after, field, changed)
        self.add(f"`{before}` → `{_short(after)}`", node, (field, None, changed))


def _is_logged(node: ast.AST) -> bool:
    call = node.value if isinstance(node, ast.Expr) else node
    return isinstance(call, ast.Call) and ast.unparse(call.func).startswith(("logger.", "warnings.warn"))


def _is_named(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Assign) and "__all__" in ast.unparse(node.targets))


def _short(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:160]


def _sites(module: str) -> tuple[ast.Module, list[_Site]]:
    tree, sites = ast.parse((ROOT / path_of(module)).read_text(encoding="utf-8")), _Sites()
    sites.visit(tree)
    return tree, sites.found


def mutants_of(module: str) -> Iterator[Mutant]:
    """Every mutant of a module of the library."""
    seen: dict[str, int] = {}
    for number, site in enumerate(_sites(module)[1]):
        place = f"{site.inside}: {site.what}"
        seen[place] = seen.get(place, 0) + 1
        if seen[place] > 1:
            place += f" ({seen[place]})"
        changed = site.node if site.i is None else getattr(site.node, site.field)[site.i]
        known = [n for n in ast.walk(changed) if hasattr(n, "lineno")]
        lines = min((n.lineno for n in known), default=0), max((n.end_lineno for n in known), default=0)
        body = site.function and (site.function.body[0].lineno, site.function.end_lineno)
        yield Mutant(module, place, number, lines, body)


def trees_of(module: str, number: int) -> tuple[ast.Module, ast.Module]:
    """The module without and with one of its mutants, whose lines have the same numbers."""
    tree, sites = _sites(module)
    site, old = sites[number], getattr(sites[number].node, sites[number].field)
    before = copy.deepcopy(tree)
    setattr(site.node, site.field, site.new if site.i is None else [*old[: site.i], site.new, *old[site.i + 1 :]])
    return before, ast.fix_missing_locations(tree)


def path_of(module: str) -> Path:
    """Of a module of the library such as ``labels/disk.py``, or of the laboratory, in the checkout."""
    return Path(module) if module.startswith("lab/") else Path("src", "ensemblage", module)


def source_of(module: str, number: int) -> str:
    """The module with one of its mutants."""
    return ast.unparse(trees_of(module, number)[1])


def modules_of(package: str) -> list[str]:
    """Of a package; a path such as ``io/_draws.py`` is its own only module."""
    home = ROOT / "src" / "ensemblage"
    if package.endswith(".py"):
        return [package]
    return sorted(path.relative_to(home).as_posix() for path in (home / package).rglob("*.py"))


def sample_of(package: str, size: int) -> list[Mutant]:
    """The mutants of a package with the smallest hashes."""
    every = [mutant for module in modules_of(package) for mutant in mutants_of(module)]
    return sorted(every, key=lambda mutant: mutant.order)[:size]
