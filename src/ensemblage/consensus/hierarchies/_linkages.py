"""The linkages by name, and what follows from each of them wherever a hierarchy is made or described."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ensemblage.consensus.hierarchies._linkage import (
    Merges,
    PairMatrices,
    average_linkage,
    average_linkage_of_matrix,
    average_matrices,
    complete_linkage,
    complete_matrices,
    single_linkage,
)
from ensemblage.consensus.hierarchies._row_similarity import RowSimilarity
from ensemblage.kernels._linkage import AVERAGE, COMPLETE, SINGLE
from ensemblage.labels.rows import Rows


@dataclass(frozen=True)
class Linkage:
    """How similar two clusters are, by the similarities of their pairs."""

    merges: Callable[[RowSimilarity, int | str], Merges]
    """Of similarities of label rows and the bytes that may be taken."""
    matrices: Callable[[Rows, bool, float | None], PairMatrices]
    """What it keeps of all pairs of rows: by whether their similarities can be counted, and by the threshold."""
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
    return average_linkage_of_matrix(similarity)


def _no_matrices(rows: Rows, countable: bool, threshold: float | None) -> PairMatrices:
    return PairMatrices(0)


def _average_matrices(rows: Rows, countable: bool, threshold: float | None) -> PairMatrices:
    return PairMatrices(0) if threshold is None else average_matrices(rows, countable)


def _complete_matrices(rows: Rows, countable: bool, threshold: float | None) -> PairMatrices:
    return complete_matrices(rows, countable)


LINKAGES = {
    "single": Linkage(
        single_linkage, _no_matrices, SINGLE, np.maximum, "the most similar two of their objects", "nearest"
    ),
    "average": Linkage(_average, _average_matrices, AVERAGE, np.add, "their objects on average", "average"),
    "complete": Linkage(
        complete_linkage, _complete_matrices, COMPLETE, np.minimum, "the least similar two of their objects", None
    ),
}
