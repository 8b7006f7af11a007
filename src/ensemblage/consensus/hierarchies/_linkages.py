"""The linkages by name, and what follows from each of them wherever a hierarchy is made or described."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ensemblage.consensus.hierarchies._linkage import (
    Merges,
    average_linkage,
    average_linkage_of_matrix,
    complete_linkage,
    single_linkage,
)
from ensemblage.consensus.hierarchies._row_similarity import RowSimilarity
from ensemblage.kernels._linkage import AVERAGE, COMPLETE, SINGLE


@dataclass(frozen=True)
class Linkage:
    """How similar two clusters are, by the similarities of their pairs."""

    merges: Callable[[RowSimilarity, int | str], Merges]
    """Of similarities of label rows and the bytes that may be taken."""
    kernel: int
    """What `merges_of_matrix` takes."""
    reduce: Any
    """The ufunc that makes two similarities one; `numpy.add`: they are sums, to be divided by the number of pairs."""
    pairs: str
    """The pairs that decide, in words."""
    nearest: str | None
    """How a new object finds the cluster nearest by this linkage, as in `stability.prediction_strength`, if it can."""

    @property
    def adds(self) -> bool:
        """Whether the mean of all pairs decides."""
        return self.reduce is np.add


def _average(similarity: RowSimilarity, max_bytes: int | str) -> Merges:
    if similarity.threshold is None:
        return average_linkage(similarity)
    return average_linkage_of_matrix(similarity, max_bytes)


LINKAGES = {
    "single": Linkage(single_linkage, SINGLE, np.maximum, "the most similar two of their objects", "nearest"),
    "average": Linkage(_average, AVERAGE, np.add, "their objects on average", "average"),
    "complete": Linkage(complete_linkage, COMPLETE, np.minimum, "the least similar two of their objects", None),
}
