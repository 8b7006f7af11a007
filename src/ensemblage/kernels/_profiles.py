"""Label counts per cluster: the sufficient statistic of densities, losses and centroids."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._jit import jit
from ensemblage._parallel import add_rows


@jit
def add_labels(
    codes: Any,  # IN (n, p)
    clusters: Any,  # IN (n,) cluster of each row, negative = none
    counts: Any,  # IN (n,) objects with that row
    offsets: Any,  # IN (p + 1,)
    profile: Any,  # IN/OUT (k, offsets[p]) int64
) -> None:
    for i in range(codes.shape[0]):
        c = clusters[i]
        if c >= 0:
            for j in range(codes.shape[1]):
                profile[c, offsets[j] + codes[i, j]] += counts[i]


@jit
def tally_clusters(
    clusters: Any,  # IN (n,) cluster of each row, negative = none
    counts: Any,  # IN (n,) objects with that row
    sizes: Any,  # IN/OUT (k,) int64, objects
    first: Any,  # IN/OUT (k,) int64, first row of each cluster; negative before
) -> None:
    for i in range(clusters.shape[0]):
        c = clusters[i]
        if c >= 0:
            sizes[c] += counts[i]
            if first[c] < 0:
                first[c] = i


def label_profile(
    codes: Any,
    clusters: NDArray[Any],
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    n_clusters: int,
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """Count, per cluster, the objects with each label: (k, sum(k_i + 1)) int64, Candel's alpha.

    The column ``offsets[j + 1] - 1`` counts the objects that partition j does not label. O(n p) time; memory one
    profile per thread.
    """
    shape = (n_clusters, int(offsets[-1]))
    (profile,) = add_rows(_add_labels, [codes, clusters, counts], [shape], offsets, n_jobs=n_jobs)
    return profile


def _add_labels(codes: Any, clusters: Any, counts: Any, profile: Any, offsets: Any) -> None:
    add_labels(codes, clusters, counts, offsets, profile)
