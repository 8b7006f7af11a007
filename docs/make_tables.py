"""What follows from the records of the methods: stubs, and tables between ``<!-- methods -->`` and ``<!-- end -->``.

python docs/make_tables.py          writes the parts of `FILES` that name methods
python docs/make_tables.py --check  names the files that are not what the records give

A record (src/ensemblage/consensus/_registry.py) announces a method. The site makes its own tables when it is built.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

from ensemblage import METHODS
from ensemblage.consensus._method import Method

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "ensemblage"
PART = re.compile(r"^<!-- methods -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^from \.([\w.]*) import (\w+) as \2$", re.MULTILINE)
"""A line of a stub: the module within the package, and the name."""
COMMAND = "python docs/make_tables.py"


def estimators() -> dict[str, type]:
    """The classes of the methods by their names."""
    return {method.estimator.__name__: method.estimator for method in METHODS.values()}


def between_marks(text: str, parts: Iterable[str]) -> str:
    """The text with the parts, in their order, where it has marks."""
    found = iter(parts)
    return PART.sub(lambda _: f"<!-- methods -->\n\n{next(found)}\n<!-- end -->", text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


# -- stubs -------------------------------------------------------------------------------------------------------------


def stub_of_consensus(_: str) -> str:
    return stub("ensemblage.consensus", {name: cls.__module__ for name, cls in estimators().items()})


def stub(package: str, methods: dict[str, str]) -> str:
    """The stub of a package: lines of methods are made, the others stay as long as there is what they name."""
    text = Path(importlib.import_module(package).__file__ or "").with_suffix(".pyi").read_text(encoding="utf-8")
    homes = {name: f"{package}{'.' * bool(part)}{part}" for part, name in LINE.findall(text)}
    kept = {name: home for name, home in homes.items() if name not in methods and is_there(package, home, name)}
    lines = sorted((home, kind_of_name(name), name) for name, home in {**kept, **methods}.items())
    relative = ((f".{home.removeprefix(package).lstrip('.')}", name) for home, _, name in lines)
    imports = "".join(f"from {home} import {name} as {name}\n" for home, name in relative)
    head = f"# The public names, and where they are. `{COMMAND}` writes the lines of methods."
    return f"{head}\n\n{imports}\n__all__: list[str]\n"


def is_there(package: str, home: str, name: str) -> bool:
    try:
        return home == package or hasattr(importlib.import_module(home), name)
    except ModuleNotFoundError:
        return False


def kind_of_name(name: str) -> int:
    """Constants stand before classes, and these before functions, as ruff sorts them."""
    return 0 if name.isupper() else 1 if name[0].isupper() else 2


# -- documents ---------------------------------------------------------------------------------------------------------


def readme(text: str) -> str:
    return re.sub(r"^(\| ensemblage \| [^|]+ \|) \d+ \|", rf"\1 {len(METHODS)} |", text, flags=re.MULTILINE)


def paper(text: str) -> str:
    return re.sub(r"(?<=It has )\d+(?= consensus methods)", str(len(METHODS)), text)


def guide(text: str) -> str:
    """Methods with the same place and the same code have one row."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, method in METHODS.items():
        rows.setdefault((method.place or method.paper, what_to_read(name, method)), []).append(name)
    cells = ((", ".join(names), place, read) for (place, read), names in rows.items())
    return between_marks(text, [table(["method", "paper, place", "what to read in `consensus/`"], cells)])


def what_to_read(name: str, method: Method) -> str:
    """What the record names and the estimator, with their files."""
    files: dict[str, list[str]] = {}
    for read in (*method.read, method.estimator.__name__):
        found = [file for file, names in definitions().items() if read in names]
        if len(found) != 1:
            raise SystemExit(f"`read` of {name} must name what one file of consensus defines. Got {read}, of {found}.")
        files.setdefault(found[0], []).append(read)
    return "; ".join(f"`{file}`: {', '.join(f'`{one}`' for one in names)}" for file, names in files.items())


@cache
def definitions() -> dict[str, set[str]]:
    """File of `consensus` → functions and classes that it defines."""
    folder, found = SOURCE / "consensus", {}
    for path in sorted(folder.rglob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        names = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        found[path.relative_to(folder).as_posix()] = names
    return found


def api(text: str) -> str:
    """Methods, and the parameters of methods that the table by hand does not have."""
    classes = sorted(estimators().items(), key=lambda item: item[0].lower())
    names = [
        (f"`{name}`", "`ensemblage.consensus`", first_sentence(inspect.getdoc(cls) or "")) for name, cls in classes
    ]
    by_hand = set(re.findall(r"^\| `(\w+)` \|", PART.sub("", text).split("\n## Parameters\n")[1], flags=re.MULTILINE))
    meanings = {}
    for _, cls in classes:
        for parameter in inspect.signature(cls).parameters.keys() - by_hand:
            meanings[parameter] = first_sentence(described(cls)[parameter])
    rows = [(f"`{parameter}`", meaning) for parameter, meaning in sorted(meanings.items())]
    more = [table(["parameter of a method", "meaning"], rows)] if rows else [""]
    return between_marks(text, [table(["name", "package", "what it is"], names), *more])


def first_sentence(text: str) -> str:
    """Of a docstring: its first paragraph if it is one."""
    return " ".join(re.split(r"(?<=\.)\s", text, maxsplit=1)[0].split())


def described(cls: type) -> dict[str, str]:
    """Text of each parameter in the docstring of a class."""
    section = (inspect.getdoc(cls) or "").split("Parameters\n----------\n")[1].split("\n\n")[0]
    found = re.findall(r"^(\w+(?:, \w+)*) : .*\n((?: {4}.*\n?)+)", section, flags=re.MULTILINE)
    return {name: " ".join(text.split()) for names, text in found for name in names.split(", ")}


FILES: dict[Path, Callable[[str], str]] = {
    SOURCE / "consensus" / "__init__.pyi": stub_of_consensus,
    ROOT / "README.md": readme,
    ROOT / "CONTRIBUTING.md": guide,
    ROOT / "docs" / "API.md": api,
    ROOT / "lab" / "paper" / "paper.md": paper,
}
"""File → its text, as the records say it, from the text that it has."""


def stale() -> dict[Path, str]:
    """Files that are not what the records give, with the text that they give."""
    texts = {path: path.read_text(encoding="utf-8") for path in FILES}
    made = {path: make(texts[path]) for path, make in FILES.items()}
    return {path: text for path, text in made.items() if text != texts[path]}


def main() -> None:
    found = stale()
    for path, text in found.items():
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT).as_posix())
    sys.exit(bool(found) and "--check" in sys.argv and f"These are not what the records give: run `{COMMAND}`.")


if __name__ == "__main__":
    main()
