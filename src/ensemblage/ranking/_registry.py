"""Rankers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from ensemblage.base.validation import check_choice
from ensemblage.metrics._internal._indices import INTERNAL_INDICES
from ensemblage.metrics._partition_distance import DISTANCES as PARTITION_DISTANCES
from ensemblage.ranking._agreement import AverageAgreement, AverageDistance
from ensemblage.ranking._base import BaseRanker
from ensemblage.ranking._discotec import DISTANCES, Discotec
from ensemblage.ranking._internal import InternalIndex

RANKERS: Mapping[str, Callable[[], BaseRanker]] = MappingProxyType(
    {
        "discotec": Discotec,
        **{f"discotec-{distance}": partial(Discotec, distance) for distance in DISTANCES},
        "aari": AverageAgreement,
        "anmi": partial(AverageAgreement, "nmi"),
        **{f"distance-{kind}": partial(AverageDistance, kind) for kind in PARTITION_DISTANCES},
        **{index: partial(InternalIndex, index) for index in INTERNAL_INDICES},
    }
)
"""Rankers by name: DISCOTEC ("discotec" is its binary form), mean agreement with the others, mean distance from
them, the internal indices."""


def make_ranker(name: str) -> BaseRanker:
    """Use it to select a ranker by its name.

    Parameters
    ----------
    name : str
        A key of ``RANKERS``.

    Returns
    -------
    ranker
        Not fitted.

    Examples
    --------
    >>> from ensemblage.ranking import make_ranker
    >>> make_ranker("discotec-kl")
    Discotec(measure='kl')
    """
    return RANKERS[check_choice(name, "The name of a ranker", RANKERS)]()
