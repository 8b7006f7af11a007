"""What the indices are made of: centroids, scatter, distances of one partition, and all distances in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.threads import locked_property, row_blocks
from ensemblage.counting._pairs import distance_sums

MOST_KEPT = 20_000_000
"""Distances that are sorted at once; more are counted into bins until the sought ones are as few."""
BINS = 4096


class SortedDistances:
    """All distances between rows of X in increasing order, without listing them where they are too many."""

    def __init__(self, X: NDArray[np.float64]) -> None:
        self.X = X
        self.n_pairs = len(X) * (len(X) - 1) // 2

    def smallest_sum(self, count: int) -> float:
        """Sum of the ``count`` smallest distances. O(n²) time for the first; later ones are free if all are kept."""
        if self.n_pairs <= MOST_KEPT:
            return float(self._sums[count])
        return self._sum_by_bins(count)

    def largest_sum(self, count: int) -> float:
        """Sum of the ``count`` largest distances."""
        return self.smallest_sum(self.n_pairs) - self.smallest_sum(self.n_pairs - count)

    @locked_property
    def _sums(self) -> NDArray[np.float64]:
        distances = np.concatenate([[0.0], *self._blocks()])
        distances.sort()
        return np.cumsum(distances)

    def _blocks(self) -> Iterator[NDArray[np.float64]]:
        from scipy.spatial.distance import cdist

        n = len(self.X)
        rows = max(1, MOST_KEPT // (4 * n))
        for start in range(0, n, rows):
            block = np.asarray(cdist(self.X[start : start + rows], self.X[start:]))
            i, j = np.triu_indices(block.shape[0], 1, block.shape[1])
            yield block[i, j]

    def _sum_by_bins(self, count: int) -> float:
        """Narrow the interval [low, high) that holds the ``count``-th smallest until its distances can be sorted."""
        low, high = 0.0, 2.001 * float(np.linalg.norm(self.X - self.X[0], axis=1).max()) + np.finfo(float).tiny
        below, sum_below = 0, 0.0
        while True:
            edges = np.unique(np.linspace(low, high, BINS + 1))
            counts, sums = self._bins(edges)
            ends = below + np.cumsum(counts)
            last = min(int(np.searchsorted(ends, count)), len(counts) - 1)
            sum_below += float(sums[:last].sum())
            below = int(ends[last] - counts[last])
            low, high = edges[last], edges[last + 1]
            if counts[last] <= MOST_KEPT:
                inside = np.concatenate([d[(d >= low) & (d < high)] for d in self._blocks()])
                return sum_below + float(np.sort(inside)[: count - below].sum())
            if len(edges) == 2:  # neighbouring floats: these distances are equal
                return sum_below + (count - below) * float(low)

    def _bins(self, edges: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        counts, sums = np.zeros(len(edges) - 1, dtype=np.int64), np.zeros(len(edges) - 1)
        for distances in self._blocks():
            bins = np.searchsorted(edges, distances, side="right") - 1
            inside = (bins >= 0) & (bins < len(counts))
            counts += np.bincount(bins[inside], minlength=len(counts))
            sums += np.bincount(bins[inside], weights=distances[inside], minlength=len(counts))
        return counts, sums


class PairSums(NamedTuple):
    """Distances of the unordered pairs of objects."""

    within: float
    """Sum over pairs in one cluster."""
    between: float
    diameter: float
    """Largest distance within a cluster."""
    separation: float
    """Smallest distance between two."""


class Geometry:
    """One partition of objects with features, everything computed when it is first asked for."""

    def __init__(
        self,
        X: NDArray[np.float64],
        z: NDArray[np.intp],
        pairs: PairSums | None = None,
        distances: SortedDistances | None = None,
    ) -> None:
        """``z`` holds clusters 0 to K - 1, none of them empty; ``pairs`` and ``distances`` if they are known."""
        # By the first object of each: no sum over the clusters depends on the names of the labels.
        _, first, sizes = np.unique(z, return_index=True, return_counts=True)
        order = np.argsort(first)
        self.X, self.z, self.sizes = X, np.argsort(order)[z], sizes[order]
        self._pairs, self._distances = pairs, distances

    @property
    def n(self) -> int:
        return len(self.X)

    @property
    def k(self) -> int:
        return len(self.sizes)

    @locked_property
    def mean(self) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = self.X.mean(axis=0)
        return mean

    @locked_property
    def centroids(self) -> NDArray[np.float64]:
        """(K, d)"""
        return np.stack([self.X[self.z == c].mean(axis=0) for c in range(self.k)])

    @locked_property
    def residuals(self) -> NDArray[np.float64]:
        """(n, d) objects less the centroid of their cluster."""
        return self.X - self.centroids[self.z]

    @locked_property
    def dispersions(self) -> NDArray[np.float64]:
        """(K,) sum of squared distances to the centroid of each cluster."""
        squares = (self.residuals**2).sum(axis=1)
        return np.bincount(self.z, weights=squares).astype(np.float64)

    @property
    def wgss(self) -> float:
        return float(self.dispersions.sum())

    @locked_property
    def bgss(self) -> float:
        return float(self.sizes @ ((self.centroids - self.mean) ** 2).sum(axis=1))

    @locked_property
    def within_scatter(self) -> NDArray[np.float64]:
        """(d, d) W, the scatter around the centroids."""
        return self.residuals.T @ self.residuals

    @locked_property
    def total_scatter(self) -> NDArray[np.float64]:
        """(d, d) T, the scatter around the mean."""
        centred = self.X - self.mean
        return centred.T @ centred

    @locked_property
    def to_centroids(self) -> NDArray[np.float64]:
        """(n, K) distances of the objects to all centroids."""
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(self.X, self.centroids))

    @locked_property
    def between_centroids(self) -> NDArray[np.float64]:
        """Distances of all pairs of centroids."""
        from scipy.spatial.distance import pdist

        return np.asarray(pdist(self.centroids))

    @property
    def n_within(self) -> int:
        """Unordered pairs of objects in one cluster."""
        return int((self.sizes * (self.sizes - 1)).sum()) // 2

    @property
    def n_between(self) -> int:
        return self.n * (self.n - 1) // 2 - self.n_within

    @locked_property
    def pairs(self) -> PairSums:
        if self._pairs is not None:
            return self._pairs
        return PairSums(*distance_sums(self.X, self.z[:, None], np.array([self.k]))[:, 0].tolist())

    @locked_property
    def distances(self) -> SortedDistances:
        return self._distances or SortedDistances(self.X)

    @locked_property
    def sums_by_object(self) -> NDArray[np.float64]:
        """(2, n) sum of the distances of each object to its own cluster, and to all objects. O(n²) time, in blocks."""
        from scipy.spatial.distance import cdist

        def own_and_all(rows: slice) -> NDArray[np.float64]:
            distances = cdist(self.X[rows], self.X)
            own = np.where(self.z == self.z[rows, None], distances, 0)
            return np.stack([own.sum(axis=1), distances.sum(axis=1)])

        return np.hstack([own_and_all(rows) for rows in row_blocks(self.n, max(1, 4_000_000 // self.n))])
