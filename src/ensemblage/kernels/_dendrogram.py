"""Hierarchies from merges, each given by one row of either cluster."""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._slices import next_rows


@inner_jit
def root_of(parent: Any, i: int) -> int:
    for _ in range(parent.shape[0]):
        if parent[i] == i:
            break
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@jit
def number_merges(pairs: Any, parent: Any, number: Any, size: Any, progress: Any, merged: Any, budget: int) -> bool:
    """Returns whether merges are left to number.

    pairs : IN (n - 1, 2) one leaf of each of the two clusters, merges in order
    parent : WORK (n,) 0 … n - 1
    number : WORK (n,) 0 … n - 1, SciPy's number of each leaf's cluster where the leaf is a root
    size : WORK (n,) ones, leaves of the cluster
    progress : WORK (1,) zero; merges made
    merged : OUT (n - 1, 4) SciPy's numbers of the clusters, the smaller first, in 0 and 1; leaves of both in 3
    budget : IN operations of this slice
    """
    n = parent.shape[0]
    first, last = next_rows(pairs.shape[0], 64, budget, progress)
    for s in range(first, last):
        a, b = root_of(parent, pairs[s, 0]), root_of(parent, pairs[s, 1])
        merged[s, 0], merged[s, 1] = min(number[a], number[b]), max(number[a], number[b])
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        number[a] = n + s
        merged[s, 3] = size[a]
    return bool(last < pairs.shape[0])


@jit
def cut_merges(pairs: Any, clusters: Any) -> int:
    """Returns the number of clusters.

    pairs : IN the merges to make, one row of either cluster
    clusters : OUT (m,) clusters numbered by their first row
    """
    m = clusters.shape[0]
    parent = np.arange(m)
    for s in range(pairs.shape[0]):
        a, b = root_of(parent, pairs[s, 0]), root_of(parent, pairs[s, 1])
        parent[max(a, b)] = min(a, b)
    n_clusters = 0
    for i in range(m):
        r = root_of(parent, i)
        if r == i:
            clusters[i] = n_clusters
            n_clusters += 1
        else:
            clusters[i] = clusters[r]
    return n_clusters


@jit
def raise_heights(pairs: Any, heights: Any) -> None:
    """pairs : IN (m - 1, 2) first rows of the two clusters, the smaller first; a cluster after its parts
    heights : IN/OUT (m - 1,) afterwards none below those of its parts
    """
    lowest = np.zeros(pairs.shape[0] + 1)
    for s in range(pairs.shape[0]):
        a, b = pairs[s, 0], pairs[s, 1]
        heights[s] = max(heights[s], lowest[a], lowest[b])
        lowest[a] = heights[s]


@jit
def children_first(pairs: Any, order: Any) -> bool:
    """Whether every cluster comes after its parts in that order.

    pairs : IN as above
    order : IN (m - 1,) another order of the merges
    """
    place, latest = np.empty(order.shape[0], np.int64), np.full(order.shape[0] + 1, -1)
    for s in range(order.shape[0]):
        place[order[s]] = s
    for s in range(order.shape[0]):
        a, b = pairs[s, 0], pairs[s, 1]
        if place[s] < max(latest[a], latest[b]):
            return False
        latest[a] = place[s]
    return True
