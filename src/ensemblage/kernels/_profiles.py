"""Label counts per cluster: the sufficient statistic of densities, losses and centroids."""

from typing import Any

from ensemblage.kernels._jit import jit


@jit
def add_labels(codes: Any, clusters: Any, counts: Any, offsets: Any, profile: Any) -> None:
    """codes : IN (n, p)
    clusters : IN (n,) cluster of each row, negative = none
    counts : IN (n,) objects with that row
    offsets : IN (p + 1,)
    profile : IN/OUT (k, offsets[p]) int64
    """
    for i in range(codes.shape[0]):
        c = clusters[i]
        if c >= 0:
            for j in range(codes.shape[1]):
                profile[c, offsets[j] + codes[i, j]] += counts[i]


@jit
def tally_clusters(clusters: Any, counts: Any, sizes: Any, first: Any) -> None:
    """clusters : IN (n,) cluster of each row, negative = none
    counts : IN (n,) objects with that row
    sizes : IN/OUT (k,) int64, objects
    first : IN/OUT (k,) int64, first row of each cluster; negative before
    """
    for i in range(clusters.shape[0]):
        c = clusters[i]
        if c >= 0:
            sizes[c] += counts[i]
            if first[c] < 0:
                first[c] = i
