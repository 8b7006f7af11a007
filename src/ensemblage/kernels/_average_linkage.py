"""Average linkage of label rows by the nearest-neighbour chain on cluster profiles: no pair matrix.

The mean similarity of two clusters is (Σ_f α_f β_f) / (Σ_f α_f λ_f) over the labels f: α counts the labels of one,
β and λ are tables of the other. For co-association β_f = w_t α'_f in partition t (Candel Eqs. 4, 5 and 14), with
weights e of the labels w_t e_f α'_f, with a similarity Z of labels β_f = w_t Σ_g Z_fg α'_g. λ_f = w_t times the members
of the other that t labels. Without missing labels the denominator is Σ w |C| |C'|, and a candidate is left as soon as
what is left of its sum cannot help it.

The mean similarity to a union lies between those to its parts. So the similarity of a cluster to its nearest one, once
found, bounds what it can have to any later one, and the nearest one stays the nearest as long as it is not merged.
A search passes over all clusters whose bound is below what it has found; chains start where that bound is largest.
Kernels take the named tuples as plain ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._jit import inner_jit, is_set, jit
from ensemblage.kernels._linkage import end_of, extend, is_nearer, merge_end

TOLERANCE = 1e-9
"""Relative rounding error allowed for when a sum is bounded."""


class Compared(NamedTuple):
    """What two rows are compared by."""

    offsets: NDArray[np.int64]
    """(p + 1,)"""
    weights: NDArray[np.float64]
    """(p,)"""
    joins: NDArray[np.float64]
    """(offsets[p],) what a pair that shares a label adds to the numerator, 0 for missing; not looked at where there are
    similarities."""
    similar: NDArray[np.float64]
    """Flat similarities of labels, partition by partition (k_t, k_t); empty: 1 on the diagonal only."""
    starts: NDArray[np.int64]
    """(p,) where each partition's similarities begin."""
    complete: bool
    """Whether nothing is missing."""


class Clusters(NamedTuple):
    """The clusters of m rows, named by their first row: rows that are still alone, and clusters of several."""

    codes: NDArray[Any]
    """(m, p) codes of the rows that are alone, in any order."""
    rows: NDArray[np.int64]
    """(m,) row of each of them."""
    several: NDArray[np.int64]
    """(m,) clusters of several rows, in any order."""
    place: NDArray[np.int64]
    """(m,) of a cluster in the one list or in the other."""
    alone: NDArray[np.bool_]
    """(m,)"""
    used: NDArray[np.int64]
    """(3,) rows alone, clusters of several, end of their labels."""
    sizes: NDArray[np.float64]
    """(m,) objects."""
    labels: NDArray[Any]
    """Flat, 2 m p + 8 p integers to d: the labels of the clusters of several rows, each in ascending order."""
    counts: NDArray[Any]
    """Flat, floats that are exact to the number of objects: members with each label."""
    begin: NDArray[np.int64]
    """(m,) where the labels of a cluster begin."""
    length: NDArray[np.int64]
    """(m,) how many they are."""
    bound: NDArray[np.float64]
    """(m,) the most that the similarity of a cluster to another can be."""

    @classmethod
    def of(cls, codes: NDArray[Any], counts: NDArray[np.int64], compared: Compared) -> Clusters:
        """Every row alone; ``counts`` are the objects of each."""
        m, p = codes.shape
        # Every search reads the labels: half the bytes are half the time where they do not fit into the cache.
        labels = np.empty(2 * m * p + 8 * p, dtype=np.min_scalar_type(int(compared.offsets[-1])))
        exact: Any = np.float32 if counts.sum() < 2**24 else np.float64
        begin, length = np.zeros((2, m), dtype=np.int64)
        return cls(
            codes.copy(order="C"), np.arange(m), np.empty(m, dtype=np.int64), np.arange(m),
            np.ones(m, dtype=np.bool_), np.array([m, 0, 0]), counts.astype(np.float64),
            labels, np.empty(len(labels), dtype=exact), begin, length, np.full(m, np.inf),
        )  # fmt: skip


@inner_jit
def fill_tables(labels: Any, counts: Any, size: float, compared: Any, tables: Any) -> None:
    """labels : IN labels of the cluster, ascending
    counts : IN members with each label
    size : IN objects of the cluster
    compared : IN Compared
    tables : OUT (3, d) beta; lambda, 0 for missing; the most that labels from this one's partition on can add
    """
    offsets, weights, joins, similar, starts, _ = compared
    beta, lam, rest = tables[0], tables[1], tables[2]
    p = weights.shape[0]
    beta[:] = 0
    e = 0
    for t in range(p):
        first, none = offsets[t], offsets[t + 1] - 1
        k = none - first
        members = size
        while e < labels.shape[0] and labels[e] <= none:
            f = labels[e]
            if f == none:
                members -= counts[e]
            elif similar.shape[0] == 0:
                beta[f] = joins[f] * counts[e]
            else:
                row = similar[starts[t] + (f - first) * k : starts[t] + (f - first + 1) * k]
                for g in range(k):
                    beta[first + g] += weights[t] * counts[e] * row[g]
            e += 1
        lam[first:none] = weights[t] * members
        lam[none] = 0
    left = 0.0
    for t in range(p - 1, -1, -1):
        most = 0.0
        for f in range(offsets[t], offsets[t + 1]):
            most = max(most, beta[f])
        left += most
        rest[offsets[t] : offsets[t + 1]] = left


@inner_jit
def nearest_row(
    clusters: Any,
    offsets: Any,
    tables: Any,
    total: float,
    itself: int,
    before: int,
    chained: Any,
    nearest: int,
    best: float,
) -> tuple[int, float]:
    """The most similar of the rows that are alone, if one is more similar than ``nearest``; and how similar it is.

    clusters : IN Clusters
    offsets : IN (p + 1,)
    tables : IN (3, d) of the cluster
    total : IN Σ w · size of the cluster; 0: something is missing
    itself : IN the cluster
    before : IN the one cluster of the chain that may be found
    chained : IN (m,) whether a cluster is on the chain
    nearest : IN best cluster so far
    best : IN and how similar it is
    """
    codes, rows, _, _, _, used, _, _, _, _, _, bound = clusters
    beta, lam, rest = tables[0], tables[1], tables[2]
    p = codes.shape[1]
    least = best * total * (1 - TOLERANCE)
    for j in range(used[0]):
        if bound[rows[j]] < best * (1 - TOLERANCE):
            continue
        joined, labelled, t, row = 0.0, 0.0, 0, codes[j]
        if total > 0:
            while t < p and joined + rest[offsets[t]] >= least:
                for s in range(t, min(t + 4, p)):
                    joined += beta[offsets[s] + row[s]]
                t += 4
            if t < p:
                continue
            similarity = joined / total
        else:
            for t in range(p):
                f = offsets[t] + row[t]
                joined += beta[f]
                labelled += lam[f]
            similarity = joined / labelled if labelled > 0 else 0.0
        if is_nearer(similarity, rows[j], itself, best, nearest, before, chained):
            best, nearest = similarity, rows[j]
            least = best * total * (1 - TOLERANCE)
    return nearest, best


@inner_jit
def nearest_cluster(
    clusters: Any, tables: Any, total: float, itself: int, before: int, chained: Any, nearest: int, best: float
) -> tuple[int, float]:
    """`nearest_row` among the clusters of several rows, the latest first.

    clusters : IN as above
    """
    _, _, several, _, _, used, sizes, labels, counts, begin, length, bound = clusters
    beta, lam, rest = tables[0], tables[1], tables[2]
    least = best * total * (1 - TOLERANCE)
    for j in range(used[1] - 1, -1, -1):
        c = several[j]
        if bound[c] < best * (1 - TOLERANCE):
            continue
        joined, labelled, e, stop, size = 0.0, 0.0, begin[c], begin[c] + length[c], sizes[c]
        if total > 0:
            while e < stop and joined + size * rest[labels[e]] >= least * size:
                for g in range(e, min(e + 8, stop)):
                    joined += counts[g] * beta[labels[g]]
                e += 8
            if e < stop:
                continue
            similarity = joined / (total * size)
        else:
            for g in range(e, stop):
                joined += counts[g] * beta[labels[g]]
                labelled += counts[g] * lam[labels[g]]
            similarity = joined / labelled if labelled > 0 else 0.0
        if is_nearer(similarity, c, itself, best, nearest, before, chained):
            best, nearest = similarity, c
            least = best * total * (1 - TOLERANCE)
    return nearest, best


@inner_jit
def nearest_to(
    top: int, before: int, link: float, compared: Any, clusters: Any, chained: Any, tables: Any
) -> tuple[int, float]:
    """The most similar cluster, and how similar it is.

    top : IN a cluster
    before : IN the one cluster of the chain that may be found; negative: none
    link : IN how similar it is
    compared : IN Compared
    clusters : IN Clusters
    chained : IN (m,)
    tables : WORK (3, d)
    """
    codes, _, _, place, alone, _, sizes, labels, counts, begin, length, _ = clusters
    offsets, weights, _, _, _, complete = compared
    p = codes.shape[1]
    near = before if before >= 0 else sizes.shape[0]
    total = 0.0
    if complete:
        for t in range(p):
            total += weights[t]
        total *= sizes[top]
    if alone[top]:
        own_labels, own_counts = np.empty(p, labels.dtype), np.empty(p, counts.dtype)
        for t in range(p):
            own_labels[t], own_counts[t] = offsets[t] + codes[place[top], t], sizes[top]
        fill_tables(own_labels, own_counts, sizes[top], compared, tables)
    else:
        a, b = begin[top], begin[top] + length[top]
        fill_tables(labels[a:b], counts[a:b], sizes[top], compared, tables)
    near, best = nearest_cluster(clusters, tables, total, top, before, chained, near, link)
    return nearest_row(clusters, offsets, tables, total, top, before, chained, near, best)


@inner_jit
def add_union(labels: Any, counts: Any, a: int, n_a: int, b: int, n_b: int, end: int) -> int:
    """Write the label counts of two clusters, n_a from ``a`` and n_b from ``b``, added up, from ``end``; their new end.

    labels : IN/OUT (size,) ascending in each cluster
    counts : IN/OUT (size,)
    """
    end_a, end_b, e = a + n_a, b + n_b, end
    while a < end_a or b < end_b:
        if b == end_b or (a < end_a and labels[a] < labels[b]):
            labels[e], counts[e] = labels[a], counts[a]
            a += 1
        elif a == end_a or labels[b] < labels[a]:
            labels[e], counts[e] = labels[b], counts[b]
            b += 1
        else:
            labels[e], counts[e] = labels[a], counts[a] + counts[b]
            a += 1
            b += 1
        e += 1
    return e


class Nearest(NamedTuple):
    """What is known of the nearest cluster of each of m clusters."""

    partner: NDArray[np.int64]
    """(m,) nearest cluster when last searched, negative = never."""
    searched: NDArray[np.int64]
    """(m,) merges made by then."""
    born: NDArray[np.int64]
    """(m,) merges made when the cluster got its members."""

    @classmethod
    def of(cls, m: int) -> Nearest:
        """Nothing yet."""
        searched, born = np.zeros((2, m), dtype=np.int64)
        return cls(np.full(m, -1), searched, born)


@inner_jit
def most_promising(clusters: Any) -> int:
    """The cluster that may be most similar to another."""
    _, rows, several, _, _, used, _, _, _, _, _, bound = clusters
    best, chosen = -1.0, -1
    for j in range(used[0]):
        if bound[rows[j]] > best:
            best, chosen = bound[rows[j]], rows[j]
    for j in range(used[1]):
        if bound[several[j]] > best:
            best, chosen = bound[several[j]], several[j]
    return chosen


@inner_jit
def take_out(c: int, offsets: Any, clusters: Any) -> None:
    """Take a cluster that is about to be merged off its list; a row alone gets counts of its labels."""
    codes, rows, several, place, alone, used, sizes, labels, counts, begin, length, _ = clusters
    at = place[c]
    if not alone[c]:
        used[1] -= 1
        last = several[used[1]]
        several[at], place[last] = last, at
        return
    begin[c], length[c] = used[2], offsets.shape[0] - 1
    for t in range(length[c]):
        labels[used[2] + t], counts[used[2] + t] = offsets[t] + codes[at, t], sizes[c]
    used[2] += length[c]
    used[0] -= 1
    last = rows[used[0]]
    rows[at], place[last] = last, at
    for t in range(length[c]):
        codes[at, t] = codes[used[0], t]


@inner_jit
def compact_labels(clusters: Any, firsts: Any, born: Any, dead: Any) -> None:
    """Close the gaps between the labels of the clusters, which lie in the order of their last merges.

    clusters : IN/OUT Clusters
    firsts : IN the clusters that the merges so far made
    born : IN (m,) as in Nearest
    dead : IN (m,) as in Chain
    """
    _, _, _, _, _, used, _, labels, counts, begin, length, _ = clusters
    end = 0
    for s in range(firsts.shape[0]):
        c = firsts[s]
        if dead[c] or born[c] != s + 1:
            continue
        for e in range(length[c]):
            labels[end + e] = labels[begin[c] + e]
            counts[end + e] = counts[begin[c] + e]
        begin[c] = end
        end += length[c]
    used[2] = end


@inner_jit
def merge_labels(first: int, second: int, clusters: Any) -> None:
    """Write the label counts of both clusters behind all others; they are the first one's from now on."""
    _, _, _, _, _, used, _, labels, counts, begin, length, _ = clusters
    end = add_union(labels, counts, begin[first], length[first], begin[second], length[second], used[2])
    begin[first], length[first] = used[2], end - used[2]
    used[2] = end


@inner_jit
def merge(first: int, second: int, offsets: Any, clusters: Any) -> None:
    """The second cluster becomes part of the first."""
    _, _, several, place, alone, used, sizes, _, _, _, _, _ = clusters
    take_out(first, offsets, clusters)
    take_out(second, offsets, clusters)
    merge_labels(first, second, clusters)
    sizes[first] += sizes[second]
    alone[first], alone[second] = False, False
    several[used[1]], place[first] = first, used[1]
    used[1] += 1


@jit
def average_chain(
    compared: Any, clusters: Any, chain: Any, nearest: Any, pairs: Any, similarities: Any, stop_flag: Any
) -> None:
    """Merges in the order of the chain. Ties: the smallest pair of first rows.

    compared : IN Compared, as a plain tuple
    clusters : WORK Clusters, as a plain tuple
    chain : WORK Chain, as a plain tuple
    nearest : WORK Nearest, as a plain tuple
    pairs : OUT (m - 1, 2) first rows of the two clusters of each merge, the smaller first
    similarities : OUT (m - 1,)
    stop_flag : IN (1,)
    """
    offsets, _, _, _, _, _ = compared
    _, _, _, _, _, used, _, labels, _, _, length, bound = clusters
    _, _, chained, dead, n_of = chain
    partner, searched, born = nearest
    m, p, tables = dead.shape[0], offsets.shape[0] - 1, np.zeros((3, offsets[-1]))
    n_searched = 0
    while n_of[1] < m - 1 and not is_set(stop_flag):
        # First every row finds its nearest one; then the most promising cluster starts a chain.
        top, before, link = n_searched, -1, -1.0
        if n_searched < m:
            n_searched += 1
        else:
            if n_of[0] == 0:
                extend(chain, most_promising(clusters), -1.0)
            top, before, link = end_of(chain)
        near = partner[top]
        if near < 0 or dead[near] or born[near] > searched[top]:
            near, bound[top] = nearest_to(top, before, link, compared, clusters, chained, tables)
            partner[top], searched[top] = near, n_of[1]
        if n_of[0] == 0:
            continue
        # With rounded sums two clusters may not see each other alike: a chain never turns back.
        if near != before and not chained[near]:
            extend(chain, near, bound[top])
            continue
        if used[2] + 4 * p + length[top] + length[before] > labels.shape[0]:
            compact_labels(clusters, pairs[: n_of[1], 0], born, dead)
        first, second = merge_end(chain, pairs, similarities)
        merge(first, second, offsets, clusters)
        bound[first], partner[first], born[first] = link, -1, n_of[1]
