"""Climbing the exact density: single label rows move while Candel's S rises."""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.consensus.kmeans._lloyd import Start, Utility
from ensemblage.kernels._label_kmeans import Climb, climb
from ensemblage.labels.rows import Rows
from ensemblage.labels.threads import run_interruptibly
from ensemblage.metrics._density import labelled_members, ratio, weighted_sum

LEAST_GAIN = 1e-12
"""Rises of the density below it may be rounding."""


def cluster_densities(
    profile: NDArray[np.int64], offsets: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Objects and density (Candel Eq. 3) of each cluster, from its label counts."""
    sizes = profile[:, : offsets[1]].sum(axis=1)
    joined, pairs = joined_pairs(profile, offsets, weights)
    return sizes, ratio(joined, pairs)


def joined_pairs(
    profile: NDArray[np.int64], offsets: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Ordered pairs of members that the partitions join, and that they label, per cluster."""
    labelled = labelled_members(profile, offsets)
    squares = np.add.reduceat(profile * profile, offsets[:-1], axis=1) - profile[:, offsets[1:] - 1] ** 2
    return weighted_sum(squares - labelled, weights), weighted_sum(labelled * (labelled - 1), weights)


def density_of_profile(profile: NDArray[np.int64], offsets: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """Candel's S (Eq. 7) of the clusters with that profile."""
    sizes, densities = cluster_densities(profile, offsets, weights)
    return fsum(sizes * densities) / int(sizes.sum())


def climb_density(rows: Rows, utility: Utility, start: Start, max_passes: int) -> tuple[Start, list[float]]:
    """Move single rows, each with all its objects, to the cluster that raises the density most, until none does.

    Rows are visited in order and no cluster is emptied. Returns what became of ``start``, and the density before and
    after each pass, which never falls. O(m p k) time per pass for m distinct rows, O(k d) memory.
    """
    clusters = start.clusters.copy()
    counts = np.ascontiguousarray(start.profile.T)
    trace = [density_of_profile(start.profile, rows.offsets, rows.weights)]
    for _ in range(max_passes):
        if not _climb_once(rows, clusters, counts):
            break
        trace.append(density_of_profile(counts.T, rows.offsets, rows.weights))
    profile = np.ascontiguousarray(counts.T)
    nowhere = np.empty(0, dtype=np.intp)
    return Start(clusters, profile, utility.centroids(profile), nowhere, utility.loss(profile), start.n_iter), trace


def _climb_once(rows: Rows, clusters: NDArray[np.int32], counts: NDArray[np.int64]) -> int:
    profile = counts.T
    joined, pairs = (sums.astype(np.float64) for sums in joined_pairs(profile, rows.offsets, rows.weights))
    sizes = profile[:, : rows.offsets[1]].sum(axis=1)
    labelled = np.ascontiguousarray(labelled_members(profile, rows.offsets).T)
    n_rows = np.bincount(clusters, minlength=len(sizes))
    least = LEAST_GAIN * int(sizes.sum())
    state = Climb(counts, labelled, joined, pairs, sizes, n_rows)
    progress = np.zeros(2, dtype=np.int64)
    run_interruptibly(climb, rows.codes[:], rows.counts, clusters, rows.offsets, rows.weights, state, least, progress)
    return int(progress[1])
