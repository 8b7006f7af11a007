"""Climbing the exact density: single label rows move while Candel's S rises."""

from __future__ import annotations

from math import fsum

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.threads import run_interruptibly
from ensemblage.consensus.kmeans._km import cluster_densities, joined_pairs
from ensemblage.consensus.kmeans._label_kmeans import Start, Utility
from ensemblage.kernels._label_kmeans import Climb, climb
from ensemblage.labels.rows import Rows
from ensemblage.metrics._density import labelled_members

LEAST_GAIN = 1e-12
"""Rises of the density below it may be rounding."""


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
    operations = 2 * len(rows) * len(rows.weights) * counts.shape[1]
    least = LEAST_GAIN * int(counts[: rows.offsets[1]].sum())
    trace = [density_of_profile(start.profile, rows.offsets, rows.weights)]
    for _ in range(max_passes):
        profile, sizes = counts.T, counts[: rows.offsets[1]].sum(axis=0)
        joined, pairs = (sums.astype(np.float64) for sums in joined_pairs(profile, rows.offsets, rows.weights))
        labelled = np.ascontiguousarray(labelled_members(profile, rows.offsets).T)
        state = Climb(counts, labelled, joined, pairs, sizes, np.bincount(clusters, minlength=len(sizes)))
        given = rows.codes[:], rows.counts, clusters, rows.offsets, rows.weights, state, least
        if not run_interruptibly(climb, *given, operations=operations):
            break
        trace.append(density_of_profile(counts.T, rows.offsets, rows.weights))
    profile = np.ascontiguousarray(counts.T)
    nowhere = np.empty(0, dtype=np.intp)
    centroids, loss = utility.centroids(profile), utility.loss(profile)
    return Start(clusters, profile, centroids, nowhere, loss, start.n_iter, start.init_size), trace
