"""Genie (Gagolewski, Bartoszuk & Cena 2016): a spanning tree of points, and merges that keep cluster sizes alike."""

from typing import Any

import numpy as np

from ensemblage.kernels._dendrogram import root_of
from ensemblage.kernels._jit import inner_jit, jit

BLOCK = 1024
"""Points whose distances are computed at a time."""
ROUNDING = 1e-12
"""A Gini index this little above the threshold counts as equal to it."""


@jit
def spanning_tree_of_points(
    columns: Any,
    left: Any,
    keys: Any,
    bits: Any,
    nearest: Any,
    at: Any,
    progress: Any,
    pairs: Any,
    squares: Any,
    budget: int,
) -> bool:
    """Minimum spanning tree by Prim, O(n² m) time; returns whether edges are left to find.

    Edges are ordered by length, then by their points, so that there is one tree.

    columns : WORK (m, n - 1) features of the points but the first; those that are left stay in front
    left : WORK (n - 1,) int64 1 … n - 1; which points they are
    keys : WORK (n - 1,) infinite; squared distance to the tree
    bits : the memory of ``keys`` as int64: numbers ≥ 0 in the same order, whose least vectors find
    nearest : WORK (n - 1,) int64 zeros; point of the tree at that distance
    at : WORK (m,) the first point; that which came into the tree last
    progress : WORK (2,) zeros; edges found, point that came last
    pairs : OUT (n - 1, 2) int64 points of each edge, the smaller first, in the order in which they are found
    squares : OUT (n - 1,) their squared lengths
    budget : IN operations of this slice
    """
    m, n_edges = columns.shape
    e, current = progress[0], progress[1]
    distances = np.empty(BLOCK)
    while e < n_edges and budget > 0:
        q = n_edges - e
        budget -= q * (m + 1)
        least = np.int64(np.iinfo(np.int64).max)
        for start in range(0, q, BLOCK):
            size = min(BLOCK, q - start)
            block = slice(start, start + size)
            distances[:] = 0.0
            for f in range(m):
                values, own = columns[f, block], at[f]
                for i in range(size):
                    distances[i] += (values[i] - own) ** 2
            key, near, key_bits = keys[block], nearest[block], bits[block]
            for i in range(size):
                # Of equally long edges of a point, the one to the smaller point comes first.
                closer = (distances[i] < key[i]) | ((distances[i] == key[i]) & (current < near[i]))
                key[i] = distances[i] if closer else key[i]
                near[i] = current if closer else near[i]
            for i in range(size):
                least = min(least, key_bits[i])
        best = first_edge(bits[:q], least, left, nearest)
        current = left[best]
        pairs[e, 0], pairs[e, 1] = min(current, nearest[best]), max(current, nearest[best])
        squares[e] = keys[best]
        for f in range(m):
            at[f], columns[f, best] = columns[f, best], columns[f, q - 1]
        left[best], keys[best], nearest[best] = left[q - 1], keys[q - 1], nearest[q - 1]
        e += 1
    progress[0], progress[1] = e, current
    return bool(e < n_edges)


@inner_jit
def first_edge(bits: Any, least: Any, left: Any, nearest: Any) -> int:
    """Place of the first edge, by its smaller point and then its larger one, among those of the least length."""
    best, smaller, larger = -1, 0, 0
    for i in range(bits.shape[0]):
        if bits[i] == least:
            a, b = min(left[i], nearest[i]), max(left[i], nearest[i])
            if best < 0 or a < smaller or (a == smaller and b < larger):
                best, smaller, larger = i, a, b
    return best


@jit
def genie_merges(pairs: Any, threshold: float, parent: Any, sizes: Any, order: Any, gini: Any) -> None:
    """The edges of a spanning tree in the order in which Genie merges, down to one cluster.

    The next edge is the lightest one; where the Gini index of the sizes is above the threshold, the lightest one of a
    cluster of the smallest size. Of a size, the edges that do not touch it stay so: each is looked at once as long as
    that size is the smallest, which it is for n / size clusters at most. O(n √n) time: distinct sizes at each merge.

    pairs : IN (n - 1, 2) edges, the lightest first
    threshold : IN of the Gini index
    parent : WORK (n,) int64 0 … n - 1
    sizes : WORK (n,) int64 ones, points of the cluster of each root
    order : OUT (n - 1,) int64 which edge each merge takes
    gini : OUT (n - 1,) Gini index of the sizes before it
    """
    n_edges = pairs.shape[0]
    n = n_edges + 1
    # The sizes that occur, the smallest first, and how many clusters have each; n clusters have √(2 n) sizes at most.
    distinct, number = np.empty(n, np.int64), np.empty(n, np.int64)
    distinct[0], number[0], n_distinct = 1, n, 1
    used = np.zeros(n_edges, np.bool_)
    lightest = 0  # edges before it are used
    unused, n_unused = np.arange(n_edges), n_edges
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
        if sizes[a] < sizes[b]:
            a, b = b, a
        n_distinct = without_size(distinct, number, n_distinct, sizes[a])
        n_distinct = without_size(distinct, number, n_distinct, sizes[b])
        parent[b] = a
        sizes[a] += sizes[b]
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
def without_size(distinct: Any, number: Any, n_distinct: int, size: int) -> int:
    """Take a cluster out; returns the number of distinct sizes."""
    t = np.searchsorted(distinct[:n_distinct], size)
    number[t] -= 1
    if number[t] > 0:
        return n_distinct
    for u in range(t, n_distinct - 1):
        distinct[u], number[u] = distinct[u + 1], number[u + 1]
    return n_distinct - 1


@inner_jit
def with_size(distinct: Any, number: Any, n_distinct: int, size: int) -> int:
    """Put a cluster in; returns the number of distinct sizes."""
    t = np.searchsorted(distinct[:n_distinct], size)
    if t < n_distinct and distinct[t] == size:
        number[t] += 1
        return n_distinct
    for u in range(n_distinct, t, -1):
        distinct[u], number[u] = distinct[u - 1], number[u - 1]
    distinct[t], number[t] = size, 1
    return n_distinct + 1
