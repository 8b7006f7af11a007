"""Sums of the smallest and the largest of all pairwise distances, which the C-index needs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.cached import once

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

    @once
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
                return sum_below + self._sum_inside(low, high, count - below)
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

    def _sum_inside(self, low: float, high: float, count: int) -> float:
        found = np.concatenate([d[(d >= low) & (d < high)] for d in self._blocks()])
        return float(np.sort(found)[:count].sum())
