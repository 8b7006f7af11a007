"""Utilities of k-means based consensus clustering (KCC): what a centroid is, how far a row is, what is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.consensus._base import Rows
from ensemblage.kernels._profiles import label_profile


@dataclass(frozen=True)
class CategoryUtility:
    """U_c: squared Euclidean distance on the binary matrix H, so KCC with it is Candel's KM and Topchy's QMI.

    A centroid is the concatenation of the label proportions of its cluster. Partition by partition, proportions and
    distances are taken over the objects that the partition labels; where it labels none of a cluster's, the
    proportions over all objects stand in.
    """

    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    marginal: NDArray[np.float64]
    """(d,) proportions over all objects, 0 for missing."""

    @classmethod
    def of(cls, rows: Rows, n_jobs: int | None = None) -> CategoryUtility:
        everything = np.zeros(len(rows), dtype=np.int32)
        counts = label_profile(rows.codes, everything, rows.counts, rows.offsets, 1, n_jobs)
        marginal = np.zeros(counts.shape[1])
        nothing = cls(rows.offsets, rows.weights, marginal)
        return cls(rows.offsets, rows.weights, nothing.centroids(counts)[0])

    def centroids(self, profile: NDArray[np.int64]) -> NDArray[np.float64]:
        """(k, d) proportions of a (k, d) profile; 0 for missing."""
        centroids = np.empty(profile.shape)
        for j in range(len(self.weights)):
            block = slice(self.offsets[j], self.offsets[j + 1])
            labelled = self._labelled(profile, j)[:, None]
            centroids[:, block] = np.where(labelled > 0, profile[:, block] / np.maximum(labelled, 1), self.marginal[block])
        centroids[:, self.offsets[1:] - 1] = 0
        return centroids

    def distances(self, centroids: NDArray[np.float64]) -> NDArray[np.float32]:
        """(d, k) table whose rows add up to a row's weighted squared distance to every centroid."""
        table = 1 - 2 * centroids.T
        for j, weight in enumerate(self.weights):
            block = slice(self.offsets[j], self.offsets[j + 1])
            table[block] += np.square(centroids[:, block]).sum(axis=1)
            table[block] *= weight
        table[self.offsets[1:] - 1] = 0
        return np.ascontiguousarray(table, dtype=np.float32)

    def shifts(self, before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k,) distance that each centroid moved."""
        by_partition = np.add.reduceat(np.square(after - before), self.offsets[:-1], axis=1)
        return np.sqrt(by_partition @ self.weights)

    def rounding(self) -> float:
        """Bound of the float32 error of a row's squared distance."""
        n_partitions = len(self.weights)
        return float(8 * n_partitions * np.finfo(np.float32).eps * self.weights.sum())

    def loss(self, profile: NDArray[np.int64]) -> float:
        """Weighted k-means loss (Candel Eq. 19) of the clusters with that profile."""
        total = 0.0
        for j, weight in enumerate(self.weights):
            labelled = self._labelled(profile, j)
            squares = np.square(profile[:, self.offsets[j] : self.offsets[j + 1] - 1]).sum(axis=1)
            total += weight * float((labelled - squares / np.maximum(labelled, 1)).sum())
        return total

    def _labelled(self, profile: NDArray[np.int64], j: int) -> NDArray[np.int64]:
        labelled: NDArray[Any] = profile[:, self.offsets[j] : self.offsets[j + 1] - 1].sum(axis=1)
        return labelled
