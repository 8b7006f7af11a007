"""Mutants: the library with one small error, and whether the tests nearest to it notice.

``python tests/guards/mutants.py counting --sample 25`` goes on where an earlier session stopped: a mutant that has an
answer in ``mutants.jsonl`` is not run again, unless ``--again`` says which. The sample is the mutants with the smallest
hashes, so that it stays nearly the same while the sources change, and a larger one begins with a smaller one.
"""

from __future__ import annotations

import argparse
import ast
import copy
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).with_name("mutants.jsonl")
EQUIVALENT = Path(__file__).with_name("equivalent.json")
PACKAGES = ("rows", "labels", "tables", "counting", "consensus", "ranking", "metrics", "generation", "stability")
SEED = 17
FASTER = ["-p", "no:cacheprovider", "-p", "no:xdist", "-x", "-q", "--no-header", "--tb=line", "--hypothesis-seed=0"]

NEAREST: dict[str, list[str]] = {
    "rows/": ["golden", "rows", "stored", "ensemble", "threads"],
    "rows/dask": ["dask"],
    "rows/threads": ["threads", "generation", "slices", "memory"],
    "rows/slices": ["slices", "threads"],
    "rows/scratch": ["stored", "threads"],
    "labels/": ["ensemble", "stored", "ensemble_files"],
    "tables/": ["tables", "tables_corpus"],
    "tables/_categories": ["preprocessor", "tables_mixed", "tables"],
    "tables/_dates": ["preprocessor", "tables_mixed", "tables"],
    "tables/_encoding": ["preprocessor", "tables_mixed", "tables", "tables_corpus"],
    "tables/_gower": ["preprocessor", "tables_mixed"],
    "tables/_preprocessor": ["preprocessor", "tables_mixed"],
    "counting/": ["golden", "contingency", "lanes", "voting"],
    "counting/_contingency": ["golden", "contingency", "graph", "voting"],
    "counting/_distances": ["internal_indices", "ranking"],
    "counting/_pair_sums": ["golden", "contingency", "discotec"],
    "counting/_pairs": ["golden", "contingency", "threshold", "metrics"],
    "consensus/": ["golden", "weights", "parameters_count"],
    "consensus/_base": ["golden", "weights", "predict", "sample_weight"],
    "consensus/_content": ["golden", "voting"],
    "consensus/_features": ["seeds", "generation", "parameters_count"],
    "consensus/_choose_k": ["monti", "parameters_count"],
    "consensus/_registry": ["parameters"],
    "consensus/evidence": ["evidence_records", "report_methods"],
    "ranking/": ["golden", "ranking"],
    "ranking/_agreement": ["golden", "ranking"],
    "ranking/_compare": ["compare", "wrong_arguments"],
    "ranking/_constraints": ["constraints", "discotec"],
    "ranking/_discotec": ["golden", "discotec"],
    "files/_frames": ["compare", "ranking"],
    "ranking/_internal": ["ranking", "internal_indices", "compare"],
    "ranking/_pair_means": ["golden", "discotec"],
    "ranking/_select": ["select_members"],
    "metrics/": ["golden", "metrics"],
    "metrics/_agreement": ["golden", "ranking", "metrics"],
    "metrics/_baselines": ["metrics", "ranking"],
    "metrics/_internal": ["internal_indices"],
    "metrics/_mm_index": ["golden", "threshold", "negmm"],
    "metrics/_monti": ["golden", "monti"],
    "metrics/_wat": ["golden", "threshold", "negmm"],
    "stability/": ["stability", "prediction_strength"],
    "stability/_gap": ["stability_references"],
    "stability/_persistence": ["stability_references"],
    "stability/_reference": ["stability_references"],
    "stability/_structure": ["stability_references"],
    "generation/": ["generation", "seeds", "parameters"],
    "generation/_greedy": ["greedy", "mixed", "parameters_count"],
    "generation/_mixed": ["generation", "mixed"],
    "generation/_pools": ["generation", "compare"],
    "generation/_write": ["generation_disk"],
    "generation/_random_k": ["generation", "generation_disk", "progress"],
}
"""By the beginning of a module's path the files of tests that are nearest; the longest beginning decides.

The golden file comes first: it is what most mutants die of.
"""
BY_METHOD = {
    "_ada_cvote _aggregation _bvote _js_alink _voting": ["voting", "lifetime"],
    "_bisecting": ["bisecting"],
    "_cspa _hgpa _mcla _hbgf _partition_graph": ["graph"],
    "_ncut": ["ncut", "graph"],
    "_ecc _kcc _kmeans _lloyd _qmi _refine _lanes": ["kmeans", "predict"],
    "_sec": ["sec"],
    "_evidence _linkage _label_similarity _lifetime": ["evidence", "lifetime"],
    "_gkcc": ["greedy"],
    "_majority": ["majority"],
    "_negmm": ["negmm"],
}
for _names, _tests in BY_METHOD.items():
    for _name in _names.split():
        NEAREST[f"consensus/{_name}"] = ["golden", *_tests, "weights", "parameters_count"]


def nearest_tests(module: str) -> list[str]:
    """Paths of the tests that are nearest to a module such as ``rows/disk.py``."""
    names = NEAREST[max((start for start in NEAREST if module.startswith(start)), key=len)]
    return [f"tests/test_{name}.py" for name in [*names, *GUARDS] if (ROOT / f"tests/test_{name}.py").exists()]


GUARDS = ["guards"]
"""What the mutants that lived have shown to be missing, whatever the module."""


# ---- The mutants of a module ----

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
    line: int
    number: int
    """Among the mutants of the module."""

    @property
    def key(self) -> str:
        """Names it as long as the function's text around it is the same."""
        return hashlib.sha256(f"{self.module} {self.place}".encode()).hexdigest()[:12]

    @property
    def order(self) -> str:
        return hashlib.sha256(f"{SEED} {self.key}".encode()).hexdigest()


class _Sites(ast.NodeVisitor):
    """Functions that change a node in place, and what they do, for every node that can be wrong."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, ast.AST, Any]] = []
        self.inside: list[str] = []
        self.arguments: list[list[str]] = []

    def add(self, what: str, node: ast.AST, change: Any) -> None:
        self.found.append((".".join(self.inside) or "module", what, node, change))

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
        named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if named:
            self.inside.append(node.name)
        if isinstance(node, ast.FunctionDef):
            self.arguments.append([a.arg for a in node.args.args if a.arg not in ("self", "cls")])
        self.expressions(node)
        self.visit(node)
        if named:
            self.inside.pop()
        if isinstance(node, ast.FunctionDef):
            self.arguments.pop()

    def statements(self, parent: ast.AST, field: str, i: int | None, node: ast.AST) -> None:
        if i is None or field not in ("body", "orelse", "finalbody") or not self.arguments:
            return
        stored = isinstance(node, ast.Assign) and not any(isinstance(t, ast.Name | ast.Tuple) for t in node.targets)
        called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _is_logged(node)
        dropped = stored or called or isinstance(node, ast.AugAssign | ast.Raise | ast.Continue | ast.Break)
        if dropped:
            self.add(f"drop `{_short(node)}`", parent, (field, i, ast.Pass()))
        if isinstance(node, ast.Return) and node.value is not None and self.arguments[-1]:
            name = ast.Name(self.arguments[-1][0], ast.Load())
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
                if keyword.arg is not None:
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


def _sites(module: str) -> tuple[ast.Module, list[tuple[str, str, ast.AST, Any]]]:
    tree, sites = ast.parse((ROOT / "src" / "ensemblage" / module).read_text(encoding="utf-8")), _Sites()
    sites.visit(tree)
    return tree, sites.found


def mutants_of(module: str) -> Iterator[Mutant]:
    """Every mutant of a module of the library."""
    seen: dict[str, int] = {}
    for number, (inside, what, node, (field, i, _)) in enumerate(_sites(module)[1]):
        place = f"{inside}: {what}"
        seen[place] = seen.get(place, 0) + 1
        if seen[place] > 1:
            place += f" ({seen[place]})"
        line = getattr(node if i is None else getattr(node, field)[i], "lineno", 0)
        yield Mutant(module, place, line, number)


def source_of(mutant: Mutant) -> str:
    """The module with the error."""
    tree, sites = _sites(mutant.module)
    _, _, node, (field, i, new) = sites[mutant.number]
    old = getattr(node, field)
    setattr(node, field, new if i is None else [*old[:i], new, *old[i + 1 :]])
    return ast.unparse(ast.fix_missing_locations(tree))


def modules_of(package: str) -> list[str]:
    home = ROOT / "src" / "ensemblage"
    return sorted(path.relative_to(home).as_posix() for path in (home / package).rglob("*.py"))


def sample_of(package: str, size: int) -> list[Mutant]:
    """The mutants of a package with the smallest hashes."""
    every = [mutant for module in modules_of(package) for mutant in mutants_of(module)]
    return sorted(every, key=lambda mutant: mutant.order)[:size]


# ---- Running the tests against one ----


class Workshop:
    """A copy of the checkout, always in the same place, so that the kernels that no mutant touches stay compiled."""

    def __init__(self, use: str) -> None:
        name = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
        self.path = Path(tempfile.gettempdir()) / f"ensemblage-{use}-{name}"
        self.copy, self.warm, self.fresh = self.path / "copy", self.path / "numba", self.path / "numba-fresh"
        self.copy.mkdir(parents=True, exist_ok=True)
        self._lock = open(self.path / "lock", "w")  # noqa: SIM115
        fcntl.flock(self._lock, fcntl.LOCK_EX)  # one session at a time
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        wanted = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
        for old in [p for p in self.copy.rglob("*") if p.is_file()]:
            if old.relative_to(self.copy).as_posix() not in wanted:
                old.unlink()
        for name in wanted:
            target = self.copy / name
            if not target.exists() or target.read_bytes() != (ROOT / name).read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, target)

    def run(self, tests: list[str], limit: float, cache: Path | None = None) -> tuple[str, float, str]:
        """ "passed", "failed" or "too long", the seconds, and the last lines of the tests."""
        env = os.environ | {
            "PYTHONPATH": str(self.copy / "src"),
            "NUMBA_CACHE_DIR": str(cache or self.warm),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
        }
        start = time.monotonic()
        command = [sys.executable, "-m", "pytest", *FASTER, *tests]
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                command, cwd=self.copy, env=env, stdout=output, stderr=output, start_new_session=True
            )
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return "too long", time.monotonic() - start, ""
            output.seek(0)
            text = output.read()
        outcome = "passed" if code == 0 else "failed"
        if code not in (0, 1, 2) and not (code < 0 or code > 128):  # 2: not even imported; below 0: it crashed
            outcome = "no tests" if code == 5 else outcome
        return outcome, time.monotonic() - start, "\n".join(text.splitlines()[-4:])

    def run_mutant(self, module: str, source: str, tests: list[str], limit: float) -> tuple[str, float, str]:
        """Put the source in place of the module, run, put the module back."""
        path = self.copy / "src" / "ensemblage" / module
        before, stat = path.read_bytes(), path.stat()
        cache = None
        if b"@jit" in before:  # a kernel of another module that calls this one would not be compiled again
            cache = self.fresh
            shutil.rmtree(cache, ignore_errors=True)
        try:
            path.write_text(source, encoding="utf-8")
            return self.run(tests, limit, cache)
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def read_results() -> dict[str, dict[str, Any]]:
    """The last answer of each mutant."""
    if not RESULTS.exists():
        return {}
    lines = RESULTS.read_text(encoding="utf-8").splitlines()
    return {record["key"]: record for record in map(json.loads, lines)}


def equivalents() -> dict[str, str]:
    """Key → why no test can tell this mutant from the library."""
    return json.loads(EQUIVALENT.read_text(encoding="utf-8")) if EQUIVALENT.exists() else {}


def run_package(package: str, size: int, again: str, until: float) -> None:
    """Run what has no answer yet of a package's sample, and write each answer down at once."""
    known, workshop, baselines = read_results(), Workshop("mutants"), {}
    for number, mutant in enumerate(sample_of(package, size), 1):
        if mutant.key in known and known[mutant.key]["outcome"] != again:
            continue
        if mutant.key in equivalents():
            continue
        if time.monotonic() > until:
            return
        tests = nearest_tests(mutant.module)
        if tuple(tests) not in baselines:
            workshop.run(tests, 900)  # compiles
            outcome, seconds, text = workshop.run(tests, 900)
            if outcome != "passed":
                sys.exit(f"The tests of {mutant.module} must pass before mutants of it are run. Got {outcome}: {text}")
            baselines[tuple(tests)] = seconds
        source = source_of(mutant)
        limit = 3 * baselines[tuple(tests)] + (120 if "@jit" in source else 20)
        outcome, seconds, text = workshop.run_mutant(mutant.module, source, tests, limit)
        answer = {"passed": "survived", "failed": "killed", "too long": "killed"}[outcome]
        record = {
            "key": mutant.key, "package": package, "module": mutant.module, "line": mutant.line,
            "place": mutant.place, "outcome": answer, "seconds": round(seconds, 1),
        }  # fmt: skip
        with open(RESULTS, "a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
        print(f"{number:4d} {answer:9s} {seconds:5.1f}s {mutant.module}:{mutant.line} {mutant.place}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=[])
    parser.add_argument("--sample", type=int, default=200, help="mutants per package")
    parser.add_argument("--again", default="", choices=["", "survived", "killed"], help="run those once more")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--list", action="store_true", help="only count the mutants there are")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    for package in given.packages or PACKAGES:
        if given.list:
            print(package, sum(1 for module in modules_of(package) for _ in mutants_of(module)))
        else:
            run_package(package, given.sample, given.again, until)


if __name__ == "__main__":
    main()
