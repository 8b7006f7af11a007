"""The papers: one folder each, and what their modules are written with.

A folder is a package with a `Paper` named PAPER. Beside it lie ``README.md`` (a line with the title, then a list of
what the protocol is), ``published`` (the printed numbers, ``claims.csv``, ``disagreements.csv``) and ``protocol.py``,
which holds what makes and measures the results and is their fingerprint: what is changed there is measured anew.
Tables, figures and claims, which only read results, lie in other modules.
"""

from ensemblage.reproduce._cells import Cell, Estimate, estimate, ordered
from ensemblage.reproduce._claims import Judge, Verdict, holds, untested
from ensemblage.reproduce._experiment import Case, Experiment, Numbers, Run
from ensemblage.reproduce._figures import Panel, bars, boxes, lines
from ensemblage.reproduce._methods import PaperMethod, fit_consensus, make_generator, make_ranker
from ensemblage.reproduce._paper import FigureOf, Paper, TableOf
from ensemblage.reproduce._published import number, published
from ensemblage.reproduce._results import NotRunError, Results
from ensemblage.reproduce._store import Made

__all__ = [
    "Case",
    "Cell",
    "Estimate",
    "Experiment",
    "FigureOf",
    "Judge",
    "Made",
    "NotRunError",
    "Numbers",
    "Panel",
    "Paper",
    "PaperMethod",
    "Results",
    "Run",
    "TableOf",
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
