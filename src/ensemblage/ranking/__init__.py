"""Rankers: label matrix to an order of its partitions."""

from ensemblage.base.docs import fill_docstrings
from ensemblage.ranking._agreement import AverageAgreement
from ensemblage.ranking._compare import Comparison, compare
from ensemblage.ranking._discotec import Discotec
from ensemblage.ranking._distance import AverageDistance
from ensemblage.ranking._internal import InternalIndex
from ensemblage.ranking._registry import RANKERS, make_ranker
from ensemblage.ranking._select import SelectMembers

__all__ = [
    "RANKERS",
    "AverageAgreement",
    "AverageDistance",
    "Comparison",
    "Discotec",
    "InternalIndex",
    "SelectMembers",
    "compare",
    "make_ranker",
]

fill_docstrings(globals()[name] for name in __all__)
