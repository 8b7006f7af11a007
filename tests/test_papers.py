"""The table of CONTRIBUTING.md that leads from a paper to the code; that of methods is made from their records."""

import ast
from pathlib import Path

import ensemblage
from ensemblage import METHODS
from ensemblage.metrics import INTERNAL_INDICES
from ensemblage.ranking import RANKERS

ROOT = Path(ensemblage.__file__).parent
GUIDE = Path(__file__).parents[1] / "CONTRIBUTING.md"


def rows_of_table():
    """Methods, place in the paper, file and names of each row that is written by hand."""
    text = GUIDE.read_text(encoding="utf-8").split("## From a paper to the code")[1].split("<!-- end -->")[1]
    lines = [line for line in text.split("\n## ")[0].splitlines() if line.startswith("|")]
    for methods, place, file, names in ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]):
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


def test_every_ranker_is_in_the_table():
    named = {method for row in ROWS for method in row[0]}
    assert not set(RANKERS) - set(INTERNAL_INDICES) - named
