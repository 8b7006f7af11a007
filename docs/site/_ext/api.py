"""Pages of the API reference, written from the public names: a name that is exported has its page."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ensemblage

REPOSITORY = "https://github.com/ensemblage/ensemblage"
ROOT = Path(ensemblage.__file__).parents[2]

PACKAGES = {
    "ensemblage": "The names that most scripts need",
    "ensemblage.consensus": "Consensus methods, saved models",
    "ensemblage.consensus.diagnostics": "Intermediate results of a fitted consensus",
    "ensemblage.generation": "Base partitions made from features",
    "ensemblage.n_clusters": "The number of clusters, the resolution",
    "ensemblage.ranking": "Rankings of partitions without known classes",
    "ensemblage.metrics": "Agreement, confidence, distances, internal indices",
    "ensemblage.posterior": "Draws from a posterior of partitions",
    "ensemblage.stability": "Stability of clusters and of their number",
    "ensemblage.preprocessing": "Tables and features, in memory and on disk",
    "ensemblage.plotting": "Figures",
    "ensemblage.report": "The page",
    "ensemblage.datasets": "Data sets",
}
"""Public packages in the order of the reference; `tests/rules/test_reference.py` says what is missing."""


def public_names(package: str) -> list[str]:
    """What a package exports, without packages and dunder names."""
    module = importlib.import_module(package)
    names = getattr(module, "__all__", None)
    if names is None:
        own = {name for name, value in vars(module).items() if getattr(value, "__module__", "") == package}
        names = [name for name in vars(module) if name in own and not name.startswith("_")]
    return [n for n in names if not n.startswith("__") and not inspect.ismodule(getattr(module, n))]


def home(package: str, name: str) -> str:
    """The address under which a name is documented: the shortest."""
    value = getattr(importlib.import_module(package), name)
    is_at_the_top = name in ensemblage.__all__ and getattr(ensemblage, name) is value
    return f"ensemblage.{name}" if is_at_the_top else f"{package}.{name}"


def documented() -> Iterator[tuple[str, str, Any]]:
    """Package, address and value of every public name."""
    for package in PACKAGES:
        for name in public_names(package):
            yield package, home(package, name), getattr(importlib.import_module(package), name)


NOT_ANNOTATED = {
    "ensemblage": (
        "ensemblage.choices._chooser.LearnedSelection",
        "ensemblage.profiles._selective.SelectiveMarkers",
    ),
    "ensemblage.consensus": (
        "ensemblage.consensus._method.Method",
        "ensemblage.consensus._capabilities.Capabilities",
        "ensemblage.consensus.posterior._dune.Merge",
    ),
    "ensemblage.report": ("ensemblage.report._build.Report",),
}
"""Records that an attribute or a method holds whose annotation does not say so."""

NO_RESULTS = {"ensemblage.io._table.Table", "ensemblage.labels.coding.CodedColumns"}
"""What is returned to be given to another function."""


def returned(package: str) -> dict[str, Any]:
    """Address and class of each record that functions of a package return and no package exports."""
    exported = {id(value) for _, _, value in documented()}
    functions = [getattr(importlib.import_module(package), name) for name in public_names(package)]
    for value in [value for value in functions if inspect.isclass(value)]:
        functions += [inspect.getattr_static(value, name) for name in dir(value) if not name.startswith("_")]
    classes = [_class_at(address) for address in NOT_ANNOTATED.get(package, ())]
    for function in functions:
        function = inspect.unwrap(getattr(function, "fget", None) or getattr(function, "__func__", function))
        for word in re.findall(r"\w+", str(getattr(function, "__annotations__", {}).get("return", ""))):
            classes.append(getattr(function, "__globals__", {}).get(word))
    found = {
        f"{value.__module__}.{value.__qualname__}": value
        for value in classes
        if inspect.isclass(value) and value.__module__.startswith("ensemblage.") and kind(value) == "Records"
    }
    return {
        address: value
        for address, value in found.items()
        if not (id(value) in exported or address in NO_RESULTS or issubclass(value, ensemblage.Ensemble))
    }


def _class_at(address: str) -> Any:
    module, _, name = address.rpartition(".")
    return getattr(importlib.import_module(module), name)


def kind(value: Any) -> str:
    """The heading under which a name stands."""
    if inspect.isclass(value):
        return "Estimators" if hasattr(value, "fit") else "Errors" if issubclass(value, Exception) else "Records"
    return "Functions" if callable(value) else "Constants"


def write_pages(folder: Path) -> None:
    """The index and a page per package; autosummary makes a page per name of it."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["API reference", "=============", ""]
    lines += [f"Every public name of ensemblage {ensemblage.__version__}, package by package."]
    lines += ["Names of the first page can be imported from ``ensemblage`` itself."]
    lines += ["", ".. list-table::", "   :widths: 40 60", ""]
    for package, text in PACKAGES.items():
        lines += [f"   * - :doc:`{package} <{package}>`", f"     - {text}"]
    lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {package}" for package in PACKAGES), ""]
    pages = {"index.rst": "\n".join(lines), **{f"{package}.rst": page(package) for package in PACKAGES}}
    known = {f"{address}.rst" for _, address, value in documented() if kind(value) != "Constants"}
    known |= {f"{address}.rst" for package in PACKAGES for address in returned(package)}
    for old in folder.rglob("*.rst"):
        if old.name not in pages.keys() | known:
            old.unlink()
    for name, text in pages.items():
        # A page that is the same keeps its time: it is not read anew.
        if not (folder / name).exists() or (folder / name).read_text(encoding="utf-8") != text:
            (folder / name).write_text(text, encoding="utf-8")


def page(package: str) -> str:
    """The page of a package."""
    lines = [package, "=" * len(package), "", f".. py:module:: {package}", "", ".. py:currentmodule:: None", ""]
    lines += [inspect.cleandoc(importlib.import_module(package).__doc__ or ""), ""]
    names = {name: home(package, name) for name in public_names(package)}
    values = {name: getattr(importlib.import_module(package), name) for name in names}
    for heading in ("Estimators", "Functions", "Records", "Errors", "Constants"):
        chosen = {name: address for name, address in names.items() if kind(values[name]) == heading}
        if not chosen:
            continue
        lines += [heading, "-" * len(heading), ""]
        if heading == "Constants":
            for name, address in chosen.items():
                lines += constant(package, name, address)
            continue
        own = [address for address in chosen.values() if address.rpartition(".")[0] == package]
        others = [address for address in chosen.values() if address not in own]
        if own:
            lines += [".. autosummary::", "   :toctree: made", "", *(f"   ~{address}" for address in own), ""]
        if others:
            lines += ["From ``ensemblage`` itself:", ""] if own else []
            lines += [".. autosummary::", "", *(f"   ~{address}" for address in others), ""]
    if records := returned(package):
        lines += ["What is returned", "----------------", ""]
        lines += [".. autosummary::", "   :toctree: made", "", *(f"   ~{address}" for address in records), ""]
    return "\n".join(lines)


def constant(package: str, name: str, address: str) -> list[str]:
    """A constant with the text below its assignment."""
    value = getattr(importlib.import_module(package), name)
    if address.rpartition(".")[0] != package:
        return [f"- :py:data:`{address}`", ""]
    text = CONSTANTS.get(name, "A constant.")
    keys = f" Keys: {', '.join(f'``{key}``' for key in value)}." if hasattr(value, "keys") else ""
    return [f".. py:data:: {address}", "", f"   {text}{keys}", ""]


CONSTANTS = {
    "METHODS": "The consensus methods by the names they have in the literature.",
    "RANKERS": "Makers of the rankers by name.",
    "INTERNAL_INDICES": "The internal indices of a partition by name, with paper and direction.",
    "PAPERS": "The papers by name.",
    "SCHEMA": "Grows when a kind of record or a field is added; none is renamed or removed.",
}


def skip_member(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what other libraries' base classes bring, and the fields of tuples, which stand in the text."""
    function = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
    function = inspect.unwrap(function) if callable(function) else function
    if type(member).__name__ == "_tuplegetter":
        return True
    if not getattr(function, "__module__", None):
        return None
    return None if str(function.__module__).startswith("ensemblage") else True


def source_of(module: str, name: str, tag: str) -> str | None:
    """The address of an object's lines."""
    try:
        value = importlib.import_module(module)
        for part in name.split("."):
            value = inspect.getattr_static(value, part) if inspect.isclass(value) else getattr(value, part)
        value = getattr(value, "fget", None) or getattr(value, "__func__", value)
        value = inspect.unwrap(value)
        path, (lines, first) = Path(inspect.getsourcefile(value)), inspect.getsourcelines(value)
        place = path.relative_to(ROOT).as_posix()
    except (AttributeError, TypeError, OSError, ValueError):
        return None
    return f"{REPOSITORY}/blob/{tag}/{place}#L{first}-L{first + len(lines) - 1}"


MARKS = re.compile(r"(?P<code>``.*?``|`[^`]*`_?)|(?P<bar>\|)|(?<![\\\w])(?P<name>\w*[^\W_])_(?![\w*])")


def escape_marks(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    r"""In prose |x| is no substitution and n_clusters_ no link: docstrings are read as text first.

    Runs after numpydoc; lines of examples are left alone.
    """
    example = False
    for i, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")):
            example = True
        elif not line.strip():
            example = False
        if not example and not line.lstrip().startswith(".. "):
            lines[i] = MARKS.sub(lambda m: m["code"] or (r"\|" if m["bar"] else rf"{m['name']}\_"), line)
