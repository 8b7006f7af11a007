"""K-means of points with counts: the last step of the spectral methods."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import kmeans_plusplus

from ensemblage.consensus._kmeans import sampled_counts
from ensemblage.kernels._embed import move_points
from ensemblage.rows.blocks import SUM_ROWS
from ensemblage.rows.protocol import map_rows

MOST_STEPS = 100
ROWS_OF_STARTS = 2**13
"""Points that the starts run on, a sample if there are more; the best of them goes on with all."""
ROWS_OF_CLUSTER = 50
"""Of them at least."""


class Clustered(NamedTuple):
    """What k-means makes of m points of dimension q."""

    clusters: NDArray[np.int64]
    """(m,) nearest centre; some may have no point."""
    centres: NDArray[np.float32]
    """(k, q)"""

    def inertia(self, points: NDArray[np.float32], counts: NDArray[np.int64]) -> float:
        """Sum of the squared distances to the centres, each point as often as it counts."""
        away = points.astype(np.float64) - self.centres[self.clusters]
        return float(counts @ (away**2).sum(axis=1))


def kmeans_of_points(
    points: NDArray[np.float32], counts: NDArray[np.int64], seeds: NDArray[np.float32], n_jobs: int | None = None
) -> Clustered:
    """Lloyd's iterations until no point moves; an empty cluster stays empty."""
    clusters, centres = np.full(len(points), -1), seeds.astype(np.float32)
    shape = (len(centres), points.shape[1] + 1)

    def step(points: Any, counts: Any, clusters: Any) -> tuple[int, NDArray[np.float64]]:
        sums = np.empty(shape)
        return move_points(points, counts, centres, clusters, sums), sums

    for _ in range(MOST_STEPS):
        found = map_rows(step, [points, counts, clusters], n_jobs=n_jobs, size=SUM_ROWS)
        if not sum(moved for moved, _ in found):
            break
        total = np.sum([sums for _, sums in found], axis=0)
        filled = total[:, -1] > 0
        centres[filled] = (total[filled, :-1] / total[filled, -1:]).astype(np.float32)
    return Clustered(clusters, centres)


def best_kmeans(
    points: NDArray[np.float32],
    counts: NDArray[np.int64],
    n_clusters: int,
    n_init: int,
    random: np.random.RandomState,
    n_jobs: int | None = None,
) -> Clustered:
    """The start of k-means++ whose clusters have the least inertia, the first on ties; k is at most m."""
    size = max(ROWS_OF_STARTS, ROWS_OF_CLUSTER * n_clusters)
    share = sampled_counts(counts, size, random) if len(points) > size else counts
    some = np.flatnonzero(share)
    sample, share = points[some], share[some]
    least, best = np.inf, np.empty((0, points.shape[1]), dtype=np.float32)
    for _ in range(n_init):
        seeds, _ = kmeans_plusplus(sample, n_clusters, sample_weight=share, random_state=random)
        found = kmeans_of_points(sample, share, seeds, n_jobs)
        inertia = found.inertia(sample, share)
        if inertia < least:
            least, best = inertia, found.centres
    return kmeans_of_points(points, counts, best, n_jobs)
