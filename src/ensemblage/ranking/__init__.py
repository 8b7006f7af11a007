"""Rankers: label matrix to an order of its partitions."""

from ensemblage.ranking._agreement import AverageAgreement, AverageDistance
from ensemblage.ranking._compare import RANKERS, Comparison, compare, make_ranker
from ensemblage.ranking._discotec import Discotec
from ensemblage.ranking._internal import InternalIndex
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
