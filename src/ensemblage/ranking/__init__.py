"""Rankers: label matrix to an order of its partitions."""

from typing import TYPE_CHECKING

from ensemblage.base.renamed import former_names
from ensemblage.ranking._agreement import AverageAgreement, AverageDistance
from ensemblage.ranking._compare import RANKERS, compare_rankers, make_ranker
from ensemblage.ranking._discotec import DISCOTEC
from ensemblage.ranking._internal import InternalIndex
from ensemblage.ranking._select import SelectPartitions

__all__ = [
    "DISCOTEC",
    "RANKERS",
    "AverageAgreement",
    "AverageDistance",
    "InternalIndex",
    "SelectPartitions",
    "compare_rankers",
    "make_ranker",
]

if not TYPE_CHECKING:
    __getattr__ = former_names(__name__)
