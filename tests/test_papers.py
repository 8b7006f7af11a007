"""The table of CONTRIBUTING.md that leads from a paper to the code."""

import ast
from pathlib import Path

import ensemblage
from ensemblage import METHODS
from ensemblage.metrics import INTERNAL_INDICES
from ensemblage.ranking import RANKERS

ROOT = Path(ensemblage.__file__).parent
GUIDE = Path(__file__).parents[1] / "CONTRIBUTING.md"


def rows_of_table():
    """Methods, place in the paper, file and names of each row."""
    lines = GUIDE.read_text(encoding="utf-8").split("## From a paper to the code")[1].split("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")][2:]
    for methods, place, file, names in rows:
        yield methods.split(", "), place, file.strip("`"), [name.strip("`") for name in names.split(", ")]


ROWS = list(rows_of_table())


def test_what_the_table_names_is_there():
    known = {*METHODS, *METHODS.aliases, *RANKERS, "gkcc", "genie", "modes", "communities"}
    for methods, place, file, names in ROWS:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert place, file
        assert not set(names) - defined, file
        assert not set(methods) - known, file


def test_every_method_is_in_the_table():
    named = {method for row in ROWS for method in row[0]}
    assert not set(METHODS) - named
    assert not set(RANKERS) - set(INTERNAL_INDICES) - named


def test_the_estimator_of_a_method_is_in_a_file_of_the_table():
    files = {(method, file) for methods, _, file, _ in ROWS for method in methods}
    for name, method in METHODS.items():
        file = method.estimator.__module__.removeprefix("ensemblage.").replace(".", "/") + ".py"
        assert (name, file) in files
