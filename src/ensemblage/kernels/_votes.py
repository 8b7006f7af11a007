"""Votes: tables over labels whose rows say which reference clusters a label votes for.

An object's row of the aggregated partition is the weighted mean of p rows of such a table: it is never stored for
all objects. Sums over objects are whole numbers (a float times ``scale``, rounded), so that their order is free.
"""

from typing import Any

import numpy as np

from ensemblage._jit import jit

TINY = 1e-300
"""Stands for 0 under a logarithm; a sum with it is exact."""


@jit
def count_beside(
    codes: Any,  # IN (n, p)
    counts: Any,  # IN (n,) objects with that row
    j: int,  # IN partition
    others: Any,  # IN partitions to count beside it
    offsets: Any,  # IN (p + 1,)
    table: Any,  # IN/OUT (offsets[p], k_j + 1) int64, objects by (label, code of partition j)
) -> None:
    for i in range(codes.shape[0]):
        c = codes[i, j]
        for t in range(others.shape[0]):
            o = others[t]
            table[offsets[o] + codes[i, o], c] += counts[i]


@jit
def add_votes(
    table: Any,  # IN (d, k_j + 1) int64, objects by (label, code of partition j)
    labels: Any,  # IN (k_j,) codes of partition j in the order in which to add
    votes_of: Any,  # IN (k_j, k) what each label of partition j votes for
    weight: float,  # IN
    votes: Any,  # IN/OUT (d, k) votes on the objects of each label
    voters: Any,  # IN/OUT (d,) sum of their weights
) -> None:
    for f in range(table.shape[0]):
        total = np.int64(0)
        for c in labels:
            n = table[f, c]
            if n > 0:
                total += n
                for q in range(votes.shape[1]):
                    votes[f, q] += (weight * n) * votes_of[c, q]
        voters[f] += weight * total


@jit
def mean_votes(
    codes: Any,  # IN (n, p)
    order: Any,  # IN partitions that vote, in the order in which to add
    offsets: Any,  # IN (p + 1,)
    table: Any,  # IN (offsets[p], k) float64, votes of each label times the partition's weight
    weights: Any,  # IN (p,) float64
    out: Any,  # OUT (n, k) float64, NaN where no partition votes
) -> None:
    k = table.shape[1]
    for i in range(codes.shape[0]):
        for c in range(k):
            out[i, c] = 0
        total = 0.0
        for t in range(order.shape[0]):
            j = order[t]
            f = offsets[j] + codes[i, j]
            if f < offsets[j + 1] - 1:
                total += weights[j]
                for c in range(k):
                    out[i, c] += table[f, c]
        for c in range(k):
            out[i, c] /= total


@jit
def sum_by_label(
    codes: Any,  # IN (n, p)
    means: Any,  # IN (n, k) rows of the aggregated partition
    counts: Any,  # IN (n,) objects with that row
    offsets: Any,  # IN (p + 1,)
    scale: float,  # IN
    sums: Any,  # IN/OUT (offsets[p], k) int64, rows of the label's objects
    squares: Any,  # IN/OUT (offsets[p],) int64, their squared lengths
) -> None:
    k = means.shape[1]
    share = np.empty(k, np.int64)
    for i in range(codes.shape[0]):
        if np.isnan(means[i, 0]):
            continue
        length = 0.0
        for c in range(k):
            u = means[i, c]
            length += u * u
            share[c] = np.int64(np.rint(u * scale)) * counts[i]
        square = np.int64(np.rint(length * scale)) * counts[i]
        for j in range(codes.shape[1]):
            f = offsets[j] + codes[i, j]
            squares[f] += square
            for c in range(k):
                sums[f, c] += share[c]


@jit
def add_pairs(
    means: Any,  # IN (n, k) rows of the aggregated partition
    pairs: Any,  # OUT (n, k (k + 1) / 2) u_a + u_b for b < a, then u_a itself, for a = 0, 1, …; never 0
) -> None:
    for i in range(means.shape[0]):
        start = 0
        for a in range(means.shape[1]):
            u = means[i, a]
            for b in range(a):
                pairs[i, start + b] = max(u + means[i, b], TINY)
            pairs[i, start + a] = max(u, TINY)
            start += a + 1


@jit
def sum_entropies(
    means: Any,  # IN (n, k) rows of the aggregated partition
    logarithms: Any,  # IN (n, k (k + 1) / 2) of `add_pairs`
    counts: Any,  # IN (n,) objects with that row
    scale: float,  # IN
    entropies: Any,  # IN/OUT (k, k) int64, on the diagonal -u log u; below it (u + v) log(u + v) - u log u - v log v
) -> None:
    k = means.shape[1]
    product = np.empty(k)
    for i in range(means.shape[0]):
        if np.isnan(means[i, 0]):
            continue
        start = 0
        for a in range(k):
            u = means[i, a]
            logs = logarithms[i, start : start + a + 1]
            row = entropies[a]
            product[a] = u * logs[a]
            row[a] -= np.int64(np.rint(product[a] * scale)) * counts[i]
            for b in range(a):
                gain = (u + means[i, b]) * logs[b] - product[a] - product[b]
                row[b] += np.int64(np.rint(gain * scale)) * counts[i]
            start += a + 1
