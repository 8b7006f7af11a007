"""Label counts per cluster: the sufficient statistic of densities, losses and centroids."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._jit import jit
from ensemblage._parallel import parallel_map, parts_of, row_blocks, thread_count


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
    n_threads = thread_count(n_jobs)
    chunks = row_blocks(len(codes), max(-(-len(codes) // n_threads), 8_192))

    def count(rows: slice) -> NDArray[np.int64]:
        profile = np.zeros((n_clusters, offsets[-1]), dtype=np.int64)
        for part in parts_of(rows):
            add_labels(codes[part], clusters[part], counts[part], offsets, profile)
        return profile

    total, *others = parallel_map(count, chunks, n_jobs)
    for other in others:
        total += other
    return total
