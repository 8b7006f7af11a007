"""Rankers: label matrix to an order of its partitions."""

from ensemblage.base import docs
from ensemblage.ranking._agreement import AverageAgreement, AverageDistance
from ensemblage.ranking._compare import Comparison, compare
from ensemblage.ranking._discotec import Discotec
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

PARTS = {
    **docs.PARTS,
    "ranked": """\
order_ : ndarray of shape (n_partitions,)
    Members, best first; ties by position, those without a score last.
ranks_ : ndarray of shape (n_partitions,)
    Rank of each member, 1 = best; equal scores share the better rank.""",
}
docs.fill_docstrings((globals()[name] for name in __all__), PARTS)
