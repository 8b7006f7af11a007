"""Average linkage of label rows by reciprocal nearest neighbours: many searches at once, then all such pairs merge.

For rows of which nothing is missing. Where the partitions are of equal weight all sums are whole numbers; where labels
have weights a rounded sum shows who may be the nearest, and only these are compared exactly. A cluster's nearest one is
the most similar, of equal ones that with the lowest number; so pairs are totally ordered, and a merge makes no pair
that precedes the best of its parts. Reciprocal pairs are therefore the greedy ones, in whatever order they merge.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._average_linkage import add_union
from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._table_rows import add_lines, reaches
from ensemblage.kernels._vectors import LINE


class Profiles(NamedTuple):
    """The clusters of m rows, named by their first row, and their labels."""

    order: NDArray[np.int64]
    """(m,) the clusters by decreasing ceiling; some of them have been merged into others since."""
    ceiling: NDArray[np.float64]
    """(m,) no smaller than the bound of the cluster at this place or of any after it."""
    used: NDArray[np.int64]
    """(3,) clusters in the order, end of the labels, which of the two halves holds them."""
    labels: NDArray[Any]
    """(2, capacity) integers to d: the labels of each cluster in ascending order."""
    counts: NDArray[Any]
    """(2, capacity) floats that are exact to the number of objects: members with each label."""
    begin: NDArray[np.int64]
    """(m,) where the labels of a cluster begin."""
    length: NDArray[np.int64]
    """(m,) how many they are."""
    sizes: NDArray[np.float64]
    """(m,) objects."""
    bound: NDArray[np.float64]
    """(m,) the most that the similarity of a cluster to another can be; -1: merged into another."""
    partner: NDArray[np.int64]
    """(m,) the nearest cluster, -1: not known; itself: merged into another."""

    @classmethod
    def of(cls, codes: NDArray[Any], counts: NDArray[np.int64], offsets: NDArray[np.int64]) -> Profiles:
        """Every row alone; ``counts`` are the objects of each."""
        m, p = codes.shape
        # Every search reads the labels: half the bytes are half the time where they do not fit into the cache.
        capacity = m * p + m * p // 4 + 2 * int(offsets[-1])
        # A single byte would be no faster, and all kernels would be compiled for it, too.
        labels = np.empty((2, capacity), dtype=np.uint16 if offsets[-1] < 2**16 else np.uint32)
        exact: Any = np.float32 if counts.sum() < 2**24 else np.float64
        members = np.empty((2, capacity), dtype=exact)
        labels[0, : m * p] = (codes + offsets[:-1].astype(labels.dtype)).reshape(-1)
        members[0, : m * p] = np.repeat(counts, p)
        return cls(
            np.arange(m), np.full(m, np.inf), np.array([m, m * p, 0]), labels, members,
            np.arange(m) * p, np.full(m, p), counts.astype(np.float64), np.full(m, np.inf), np.full(m, -1),
        )  # fmt: skip


@jit
def find_nearest(
    queries: Any,
    whole: float,
    joins: Any,
    unit: float,
    adds: Any,
    of_sizes: Any,
    profiles: Any,
    table: Any,
    best: Any,
    near: Any,
) -> None:
    """The nearest of the clusters of low < size ≤ high to each of as many clusters as a line has lanes, in one pass.

    queries : IN clusters
    whole : IN what a pair adds that shares all labels, if each has the weight 1
    joins : IN (d,) what a pair that shares the label adds; empty: 1
    unit : IN of the sums in the table
    adds : IN (d,) what the label adds in these units, no less or little less, of the type of the table
    of_sizes : IN low and high; of bytes at most 1
    profiles : IN Profiles
    table : WORK flat zeros, a line for each label and two more, of a type that is exact for every sum of whole numbers
    best : IN/OUT (n,) how similar the nearest cluster is
    near : IN/OUT (n,) the nearest cluster
    """
    order, ceiling, used, all_labels, all_counts, begin, length, sizes, bound, _ = profiles
    labels, counts, n, weighted = all_labels[used[2]], all_counts[used[2]], queries.shape[0], joins.shape[0] > 0
    kind, width, (low, high) = table.dtype.type, np.int64(LINE // table.itemsize), of_sizes
    # No lane without a query reaches its limit: its sums are 0.
    d = adds.shape[0]
    limits, sums = table[d * width : (d + 1) * width], table[(d + 1) * width : (d + 2) * width]
    limits[:] = kind(1)
    for v in range(n):
        c = queries[v]
        for e in range(begin[c], begin[c] + length[c]):
            table[np.int64(labels[e]) * width + v] = kind(counts[e]) * adds[labels[e]]
        limits[v] = kind(least_sum(best[v] * whole * sizes[c] * unit, table.itemsize, weighted))
    least = least_of(best)
    for j in range(used[0]):
        c = order[j]
        if ceiling[j] < least:
            break
        size = sizes[c]
        if bound[c] < least or size <= low or size > high:
            continue
        add_lines(table, labels, counts, begin[c], begin[c] + length[c], sums)
        if not reaches(sums, limits, kind(size)):
            continue
        for v in range(n):
            if np.float64(sums[v]) < np.float64(limits[v]) * size or c == queries[v]:
                continue
            total = whole * sizes[queries[v]]
            if weighted:
                similarity = shared_weight(c, queries[v], joins, labels, counts, begin, length) / (
                    whole * (sizes[queries[v]] * size)
                )
            else:
                similarity = np.float64(sums[v]) / (total * size)
            if similarity > best[v] or (similarity == best[v] and c < near[v]):
                best[v], near[v] = similarity, c
                limits[v] = kind(least_sum(similarity * total * unit, table.itemsize, weighted))
        least = least_of(best)


@inner_jit
def least_of(values: Any) -> float:
    """The least of (n,) numbers, 1 or more; `min` of NumPy compiles ten times as long."""
    least = values[0]
    for v in range(1, values.shape[0]):
        least = min(least, values[v])
    return float(least)


@inner_jit
def least_sum(total: float, itemsize: int, weighted: bool) -> float:
    """What the sum with a cluster must reach at least, for each of its objects, in a type of that many bytes."""
    if weighted:
        return np.floor(total * (1 - 1e-9)) if itemsize <= 2 else total * (1 - 1e-4)
    return np.floor(total + 1e-6) if itemsize <= 2 else total * (1 - 3e-7)


@inner_jit
def shared_weight(a: int, b: int, joins: Any, labels: Any, counts: Any, begin: Any, length: Any) -> float:
    """Σ of what the pairs of two clusters' objects add, label by label: the same for (a, b) and (b, a)."""
    total, e, f = 0.0, begin[a], begin[b]
    end, stop = begin[a] + length[a], begin[b] + length[b]
    while e < end and f < stop:
        if labels[e] == labels[f]:
            total += joins[labels[e]] * (np.float64(counts[e]) * np.float64(counts[f]))
            e += 1
            f += 1
        elif labels[e] < labels[f]:
            e += 1
        else:
            f += 1
    return total


@jit
def compact_profiles(profiles: Any) -> None:
    """Take the merged clusters out of the order and write the labels of the others to the other half, in that order."""
    order, ceiling, used, labels, counts, begin, length, _, bound, _ = profiles
    old, new, kept, end = used[2], 1 - used[2], 0, 0
    for j in range(used[0]):
        c = order[j]
        if bound[c] < 0:
            continue
        order[kept], ceiling[kept], start = c, ceiling[j], begin[c]
        for e in range(length[c]):
            labels[new, end + e], counts[new, end + e] = labels[old, start + e], counts[old, start + e]
        begin[c] = end
        end += length[c]
        kept += 1
    used[0], used[1], used[2] = kept, end, new


@inner_jit
def merge_profiles(first: int, second: int, profiles: Any) -> None:
    """The second cluster becomes part of the first; its label counts are written behind all others."""
    _, _, used, all_labels, all_counts, begin, length, sizes, _, _ = profiles
    if used[1] + length[first] + length[second] > all_labels.shape[1]:
        compact_profiles(profiles)
    labels, counts = all_labels[used[2]], all_counts[used[2]]
    end = add_union(labels, counts, begin[first], length[first], begin[second], length[second], used[1])
    begin[first], length[first], used[1] = used[1], end - used[1], end
    sizes[first] += sizes[second]
    sizes[second] = 0


@jit
def merge_reciprocal(profiles: Any, pairs: Any, similarities: Any) -> int:
    """Merge all pairs of clusters that are the nearest to each other; returns the merges made so far.

    profiles : IN/OUT Profiles
    pairs : OUT (m - 1, 2) first rows of the two clusters of each merge, the smaller first
    similarities : OUT (m - 1,)
    """
    order, _, used, _, _, _, _, sizes, bound, partner = profiles
    before = 0
    for c in range(sizes.shape[0]):
        before += sizes[c] == 0
    n = before
    for j in range(used[0]):
        c = order[j]
        other = partner[c]
        if other > c and partner[other] == c:
            pairs[n, 0], pairs[n, 1], similarities[n] = c, other, bound[c]
            n += 1
    changed = np.zeros(order.shape[0], np.bool_)
    for s in range(before, n):
        first, second = pairs[s, 0], pairs[s, 1]
        merge_profiles(first, second, profiles)
        # Only now: the labels of a merged cluster are not moved.
        bound[second] = -1
        partner[first], partner[second] = -1, second
        changed[first], changed[second] = True, True
    for j in range(used[0]):
        c = order[j]
        if bound[c] >= 0 and partner[c] >= 0 and changed[partner[c]]:
            partner[c] = -1
    return int(n)
