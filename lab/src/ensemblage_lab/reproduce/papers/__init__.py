"""The papers: one folder each, and what their modules are written with.

A folder is a package with a `Paper` named PAPER, whose parts are

- ``README.md``: a line with the title, then a list of what the protocol is;
- ``protocol.py``: what makes and measures the results, and their fingerprint: what changes there is measured anew;
- ``tables.csv``: each table and figure, what it needs, and the function of the package that makes it;
- ``published``: the printed numbers; ``claims.csv``, each with the function of the package that judges it, or why
  none does; ``disagreements.csv``, where the paper disagrees with itself;
- ``__init__.py``: these functions, which may change without measuring anew.
"""

from ensemblage_lab._figures import Panel, bars, boxes, lines
from ensemblage_lab._methods import PaperMethod, fit_consensus, make_generator, make_ranker
from ensemblage_lab._store import LabelMatrix
from ensemblage_lab.reproduce._cells import Cell, Estimate, estimate, ordered
from ensemblage_lab.reproduce._experiment import Case, Experiment, Numbers, Run
from ensemblage_lab.reproduce._paper import Paper, Verdict, holds, untested
from ensemblage_lab.reproduce._published import number, published
from ensemblage_lab.reproduce._results import NotRunError, Results

__all__ = [
    "Case",
    "Cell",
    "Estimate",
    "Experiment",
    "LabelMatrix",
    "NotRunError",
    "Numbers",
    "Panel",
    "Paper",
    "PaperMethod",
    "Results",
    "Run",
    "Verdict",
    "bars",
    "boxes",
    "estimate",
    "fit_consensus",
    "holds",
    "lines",
    "make_generator",
    "make_ranker",
    "number",
    "ordered",
    "published",
    "untested",
]
