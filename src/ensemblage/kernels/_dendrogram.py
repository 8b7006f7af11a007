"""Hierarchies from merges or edges of a tree, each given by one row of either cluster; the library's union-find.

Numbered as in SciPy and cut; in the order of Genie (Gagolewski, Bartoszuk & Cena 2016), which keeps cluster sizes
alike; and how long components live.
"""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, is_set, jit


@inner_jit
def root_of(parent: Any, i: int) -> int:
    """The root of i in a forest of parents; the way to it is halved."""
    for _ in range(parent.shape[0]):
        if parent[i] == i:
            break
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@inner_jit
def unite(parent: Any, sizes: Any, a: int, b: int) -> int:
    """Join two trees of the forest, given by their roots; returns the root of both, which is that of the larger one.

    parent : IN/OUT (n,)
    sizes : IN/OUT (n,) nodes of the tree of each root
    """
    if sizes[a] < sizes[b]:
        a, b = b, a
    parent[b] = a
    sizes[a] += sizes[b]
    return a


@inner_jit
def unite_with_first(parent: Any, a: int, b: int) -> None:
    """Join two trees, given by their roots: the smaller number is the root of both."""
    parent[max(a, b)] = min(a, b)


@jit
def number_merges(pairs: Any, parent: Any, number: Any, size: Any, merged: Any, stop_flag: Any) -> None:
    """pairs : IN (n - 1, 2) one leaf of each of the two clusters, merges in order
    parent : WORK (n,) 0 … n - 1
    number : WORK (n,) 0 … n - 1, SciPy's number of each leaf's cluster where the leaf is a root
    size : WORK (n,) ones, leaves of the cluster
    merged : OUT (n - 1, 4) SciPy's numbers of the clusters, the smaller first, in 0 and 1; leaves of both in 3
    stop_flag : IN (1,)
    """
    n = parent.shape[0]
    for s in range(pairs.shape[0]):
        if is_set(stop_flag):
            return
        a, b = root_of(parent, pairs[s, 0]), root_of(parent, pairs[s, 1])
        merged[s, 0], merged[s, 1] = min(number[a], number[b]), max(number[a], number[b])
        a = unite(parent, size, a, b)
        number[a] = n + s
        merged[s, 3] = size[a]


@jit
def cut_merges(pairs: Any, clusters: Any) -> int:
    """Returns the number of clusters.

    pairs : IN the merges to make, one row of either cluster
    clusters : OUT (m,) clusters numbered by their first row
    """
    m, n_clusters = clusters.shape[0], 0
    for i in range(m):
        clusters[i] = i  # at first a parent, none of them larger than its child
    for s in range(pairs.shape[0]):
        unite_with_first(clusters, root_of(clusters, pairs[s, 0]), root_of(clusters, pairs[s, 1]))
    for i in range(m):
        if clusters[i] == i:
            clusters[i] = n_clusters
            n_clusters += 1
        else:
            clusters[i] = clusters[clusters[i]]
    return n_clusters


@jit
def raise_heights(pairs: Any, lowest: Any, heights: Any) -> None:
    """pairs : IN (m - 1, 2) first rows of the two clusters, the smaller first; a cluster after its parts
    lowest : WORK (m,) zeros
    heights : IN/OUT (m - 1,) afterwards none below those of its parts
    """
    for s in range(pairs.shape[0]):
        a, b = pairs[s, 0], pairs[s, 1]
        heights[s] = max(heights[s], lowest[a], lowest[b])
        lowest[a] = heights[s]


ROUNDING = 1e-12
"""A Gini index this little above the threshold counts as equal to it."""


@jit
def genie_merges(
    pairs: Any,
    threshold: float,
    parent: Any,
    sizes: Any,
    distinct: Any,
    number: Any,
    used: Any,
    unused: Any,
    order: Any,
    gini: Any,
) -> None:
    """The edges of a spanning tree in the order in which Genie merges, down to one cluster.

    The next edge is the lightest one; where the Gini index of the sizes is above the threshold, the lightest one of a
    cluster of the smallest size. Of a size, the edges that do not touch it stay so: each is looked at once as long as
    that size is the smallest, which it is for n / size clusters at most. O(n √n) time: distinct sizes at each merge.

    pairs : IN (n - 1, 2) edges, the lightest first
    threshold : IN of the Gini index
    parent : WORK (n,) int64 0 … n - 1
    sizes : WORK (n,) int64 ones, points of the cluster of each root
    distinct : WORK (n,) int64, the sizes that occur, the smallest first; the first one is 1 ...
    number : WORK (n,) int64 ... and how many clusters have each: n of the first
    used : WORK (n - 1,) zeros, whether an edge is used
    unused : WORK (n - 1,) int64 0 … n - 2
    order : OUT (n - 1,) int64 which edge each merge takes
    gini : OUT (n - 1,) Gini index of the sizes before it
    """
    n_edges = pairs.shape[0]
    n, n_distinct = n_edges + 1, distinct[0]  # one; later √(2 n) at most
    lightest, n_unused = 0, n_edges  # edges before the lightest one are used
    smallest, looked_at = 1, 0  # of the smallest size: unused edges before it do not touch it
    for s in range(n_edges):
        gini[s] = gini_index(distinct[:n_distinct], number, n_edges + 1 - s, n)
        if gini[s] <= threshold + ROUNDING:
            while used[lightest]:
                lightest += 1
            edge = lightest
        else:
            if distinct[0] != smallest:
                smallest, looked_at = distinct[0], 0
                n_unused = keep_unused(unused, n_unused, used)
            while used[unused[looked_at]] or not touches(pairs, unused[looked_at], parent, sizes, smallest):
                looked_at += 1
            edge = unused[looked_at]
        order[s], used[edge] = edge, True
        a, b = root_of(parent, pairs[edge, 0]), root_of(parent, pairs[edge, 1])
        n_distinct = without_size(distinct, number, n_distinct, sizes[a])
        n_distinct = without_size(distinct, number, n_distinct, sizes[b])
        a = unite(parent, sizes, a, b)
        n_distinct = with_size(distinct, number, n_distinct, sizes[a])


@inner_jit
def gini_index(distinct: Any, number: Any, q: int, n: int) -> float:
    """Σ (2 i - q - 1) c_i / ((q - 1) n) of q cluster sizes c_1 ≤ … ≤ c_q with sum n; whole numbers until the division.

    distinct : IN the sizes that occur, the smallest first
    number : IN how many clusters have each
    """
    total, before = 0, 0
    for t in range(distinct.shape[0]):
        total += distinct[t] * number[t] * (2 * before + number[t] - q)
        before += number[t]
    index: float = total / ((q - 1) * n)
    return index


@inner_jit
def touches(pairs: Any, edge: int, parent: Any, sizes: Any, size: int) -> bool:
    """Whether an end of the edge lies in a cluster of that size."""
    of_first = sizes[root_of(parent, pairs[edge, 0])] == size
    return bool(of_first or sizes[root_of(parent, pairs[edge, 1])] == size)


@inner_jit
def keep_unused(unused: Any, n_unused: int, used: Any) -> int:
    """Bring the edges that are not used to the front; returns their number."""
    kept = 0
    for t in range(n_unused):
        if not used[unused[t]]:
            unused[kept] = unused[t]
            kept += 1
    return kept


@inner_jit
def place_of_size(distinct: Any, n_distinct: int, size: int) -> int:
    """The first place of a size that is no smaller; by halving."""
    low, high = 0, n_distinct
    while low < high:
        middle = (low + high) // 2
        if distinct[middle] < size:
            low = middle + 1
        else:
            high = middle
    return low


@inner_jit
def without_size(distinct: Any, number: Any, n_distinct: int, size: int) -> int:
    """Take a cluster out; returns the number of distinct sizes."""
    t = place_of_size(distinct, n_distinct, size)
    number[t] -= 1
    if number[t] > 0:
        return n_distinct
    for u in range(t, n_distinct - 1):
        distinct[u], number[u] = distinct[u + 1], number[u + 1]
    return n_distinct - 1


@inner_jit
def with_size(distinct: Any, number: Any, n_distinct: int, size: int) -> int:
    """Put a cluster in; returns the number of distinct sizes."""
    t = place_of_size(distinct, n_distinct, size)
    if t < n_distinct and distinct[t] == size:
        number[t] += 1
        return n_distinct
    for u in range(n_distinct, t, -1):
        distinct[u], number[u] = distinct[u - 1], number[u - 1]
    distinct[t], number[t] = size, 1
    return n_distinct + 1


@jit
def component_deaths(pairs: Any, heights: Any, least: int, parent: Any, sizes: Any, births: Any, lives: Any) -> int:
    """Births and deaths of the components of single linkage that have some objects; returns the number of deaths.

    pairs : IN (n - 1, 2) edges, heights ascending
    heights : IN (n - 1,)
    least : IN objects with which a component is born
    parent : WORK (n,) int64
    sizes : WORK (n,) int64
    births : WORK (n,) of the component of each root, ∞ before it is born
    lives : OUT (n - 1, 2) birth and death of each component that another took in; the one that was born later dies
    """
    for i in range(parent.shape[0]):
        parent[i], sizes[i], births[i] = i, 1, np.inf
    n_deaths = 0
    for edge in range(pairs.shape[0]):
        a, b, height = root_of(parent, pairs[edge, 0]), root_of(parent, pairs[edge, 1]), heights[edge]
        older, later = min(births[a], births[b]), max(births[a], births[b])
        if later < np.inf:
            lives[n_deaths, 0], lives[n_deaths, 1] = later, height
            n_deaths += 1
        a = unite(parent, sizes, a, b)
        births[a] = older if older < np.inf or sizes[a] < least else height
    return n_deaths
