"""Distance of what a clustering says of a pair of objects from what the ensemble says (Ohl & Lindsten, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._ensemble import Ensemble
from ensemblage.counting._profiles import label_profile

DISTANCES = ("binary", "tv", "kl", "hellinger")


@dataclass(frozen=True)
class Association:
    """How often the members join pairs of objects; sums over all ordered pairs, the diagonal included."""

    n_objects: int
    n_partitions: int
    joined: int
    """Σ n_ij, n_ij the partitions that join i and j."""
    labelled: int
    """Σ m_ij, m_ij the partitions that label both."""

    @classmethod
    def of(cls, ensemble: Ensemble) -> Association:
        ones = np.ones(len(ensemble), dtype=np.int64)
        sizes = sizes_of_labels(ensemble.rows, ones, ensemble.n_clusters)
        joined = sum(pairs_within(z) for z in sizes)
        return cls(*ensemble.shape, joined, sum(int(z.sum()) ** 2 for z in sizes))

    @property
    def mean(self) -> float:
        """Mean of the consensus matrix."""
        return self.joined / self.labelled

    @cached_property
    def thresholds(self) -> NDArray[np.int64]:
        """Least n_ij with n_ij / m_ij ≥ the mean, for m_ij = 0, ..., p, in whole numbers; out of reach for 0."""
        reached = [-(-m * self.joined // self.labelled) for m in range(self.n_partitions + 1)]
        return np.array([1, *reached[1:]], dtype=np.int64)


def distance_tables(distance: str, association: Association) -> NDArray[np.float64]:
    """(2, p + 1, p + 1) distance of a pair by m_ij and n_ij: of a clustering that joins it, of one that separates it.

    Where no partition labels the pair, the consensus is 0, as in ``coassociation``.
    """
    p = association.n_partitions
    labelled, joined = np.ogrid[: p + 1, : p + 1]
    consensus = np.minimum(joined, labelled) / np.maximum(labelled, 1)
    if distance == "binary":
        consensus = (joined >= association.thresholds[:, None]).astype(float)
    if distance in ("binary", "tv"):
        return np.stack([1 - consensus, consensus])
    if distance == "hellinger":
        return np.stack([1 - np.sqrt(consensus), 1 - np.sqrt(1 - consensus)])
    with np.errstate(divide="ignore"):
        return np.stack([-np.log(consensus), -np.log1p(-consensus)]) + 0.0


def sizes_of_labels(
    codes: Any, counts: NDArray[np.int64], n_clusters: NDArray[np.int64], n_jobs: int | None = None
) -> list[NDArray[np.int64]]:
    """Objects per cluster of each partition, those without a label left out."""
    offsets = np.concatenate([[0], np.cumsum(n_clusters + 1)])
    profile = label_profile(codes, np.zeros(len(codes), dtype=np.int32), counts, offsets, 1, n_jobs)[0]
    return [profile[start : stop - 1] for start, stop in pairwise(offsets.tolist())]


def pairs_within(sizes: NDArray[np.int64]) -> int:
    """Ordered pairs of objects in one cluster, an object with itself included."""
    return int(sizes @ sizes)
