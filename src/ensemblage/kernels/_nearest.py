"""The cluster that is most similar to a given one, from label counts.

The mean similarity of two clusters is (Σ_f α_f β_f) / (Σ_f α_f λ_f) over the labels f: α counts the labels of one,
β and λ are tables of the other. For co-association β_f = w_t α'_f in partition t (Candel Eqs. 4, 5 and 14), with
weights e of the labels w_t e_f α'_f, with a similarity Z of labels β_f = w_t Σ_g Z_fg α'_g. λ_f = w_t times the members
of the other that t labels. Without missing labels the denominator is Σ w |C| |C'|, and a candidate is left as soon as
what is left of its sum cannot help it.

A search passes over all clusters whose bound is below what it has found. Kernels take the named tuples as plain ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._chain import is_nearer
from ensemblage.kernels._jit import inner_jit

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
    codes, rows, used, bound = clusters[0], clusters[1], clusters[5], clusters[11]
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
    total = weights.sum() * sizes[top] if complete else 0.0
    if alone[top]:
        own_labels, own_counts = np.empty(p, labels.dtype), np.full(p, sizes[top], counts.dtype)
        for t in range(p):
            own_labels[t] = offsets[t] + codes[place[top], t]
        fill_tables(own_labels, own_counts, sizes[top], compared, tables)
    else:
        a, b = begin[top], begin[top] + length[top]
        fill_tables(labels[a:b], counts[a:b], sizes[top], compared, tables)
    near, best = nearest_cluster(clusters, tables, total, top, before, chained, near, link)
    return nearest_row(clusters, offsets, tables, total, top, before, chained, near, best)


@inner_jit
def work_of_search(compared: Any, clusters: Any) -> int:
    """Upper bound of the elementary operations of one search."""
    m, p = clusters[0].shape
    return int(compared[0][p] + m + clusters[5][2] + clusters[5][0] * p)


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
