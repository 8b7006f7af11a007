"""K-means of points with counts: the last step of the spectral methods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import kmeans_plusplus

from ensemblage.consensus.kmeans._label_kmeans import sample_counts
from ensemblage.counting._points import lloyd

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
    clusters = np.full(len(points), -1)
    centres, _ = lloyd(lambda block: points[block], counts, clusters, seeds.astype(np.float32), MOST_STEPS, n_jobs)
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
    if len(points) > size:
        some, share = sample_counts(counts, size, random)
    else:
        some = np.flatnonzero(counts)
        share = counts[some]
    sample = points[some]
    least, best = np.inf, np.empty((0, points.shape[1]), dtype=np.float32)
    for _ in range(n_init):
        seeds, _ = kmeans_plusplus(sample, n_clusters, sample_weight=share, random_state=random)
        found = kmeans_of_points(sample, share, seeds, n_jobs)
        inertia = found.inertia(sample, share)
        if inertia < least:
            least, best = inertia, found.centres
    return kmeans_of_points(points, counts, best, n_jobs)
