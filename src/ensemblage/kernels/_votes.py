"""Votes of the partitions on rows: aggregated partitions, groups of labels, modes and latent classes.

A table over labels says in its rows which reference clusters a label votes for. An object's row of the aggregated
partition is the weighted mean of p rows of such a table: it is never stored for all objects. Sums over objects are
whole numbers (a float times ``scale``, rounded), so that their order is free.
"""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import jit
from ensemblage.kernels._table_rows import add_table_rows, partition_starts, row_starts

TINY = 1e-300
"""Stands for 0 under a logarithm; a sum with it is exact."""

TILE = 64
"""Rows whose logarithms are taken together."""

SQRT_HALF, BIAS = np.float64(2**-0.5).view(np.uint64), np.uint64(1024 << 52)

EXPONENT_OF_2_52 = np.float64(2.0**52).view(np.uint64)

LN2 = np.log(2.0)

ROUNDING = 1.5 * 2.0**52
"""A number plus this has no digits after the point."""

ROUNDING_BITS = np.float64(ROUNDING).view(np.int64)


@jit
def count_contingency(codes: Any, counts: Any, j: int, others: Any, offsets: Any, table: Any) -> None:
    """codes : IN (n, p)
    counts : IN (n,) objects with that row
    j : IN partition
    others : IN partitions whose tables with it are counted
    offsets : IN (p + 1,)
    table : IN/OUT (offsets[p], k_j + 1) int64, objects by (label, code of partition j)
    """
    width, cells = np.uint64(table.shape[1]), table.reshape(-1)
    firsts = partition_starts(others, offsets, width)
    for i in range(codes.shape[0]):
        c, count = np.uint64(codes[i, j]), counts[i]
        for t in range(firsts.shape[1]):
            cells[firsts[1, t] + np.uint64(codes[i, firsts[0, t]]) * width + c] += count


@jit
def add_votes(table: Any, labels: Any, votes_of: Any, weight: float, votes: Any, vote_weights: Any) -> None:
    """table : IN (d, k_j + 1) int64, objects by (label, code of partition j)
    labels : IN (k_j,) codes of partition j in the order in which to add
    votes_of : IN (k_j, k) what each label of partition j votes for
    weight : IN
    votes : IN/OUT (d, k) votes on the objects of each label
    vote_weights : IN/OUT (d,) sum of their weights
    """
    for f in range(table.shape[0]):
        total = np.int64(0)
        for c in labels:
            n = table[f, c]
            if n > 0:
                total += n
                for q in range(votes.shape[1]):
                    votes[f, q] += (weight * n) * votes_of[c, q]
        vote_weights[f] += weight * total


@jit
def mean_votes(codes: Any, order: Any, offsets: Any, table: Any, out: Any) -> None:
    """codes : IN (n, p)
    order : IN partitions that vote, in the order in which to add
    offsets : IN (p + 1,)
    table : IN (offsets[p], k + 1 or more) weighted votes of each label, then the weight; `whole_lanes`
    out : OUT (n, k) float64, NaN where no partition votes
    """
    width, k = table.shape[1], out.shape[1]
    firsts, columns = partition_starts(order, offsets, width)[1], table.reshape(-1)
    row, sums = np.empty((1, order.shape[0]), codes.dtype), np.empty(width)
    for i in range(codes.shape[0]):
        for t in range(order.shape[0]):
            row[0, t] = codes[i, order[t]]
        add_table_rows(columns, row, 0, firsts, sums)
        total = sums[k]
        for c in range(k):
            out[i, c] = sums[c] / total


@jit
def sum_by_label(codes: Any, means: Any, counts: Any, offsets: Any, scale: float, sums: Any, squares: Any) -> None:
    """codes : IN (n, p)
    means : IN (n, k) rows of the aggregated partition
    counts : IN (n,) objects with that row
    offsets : IN (p + 1,)
    scale : IN
    sums : IN/OUT (offsets[p], k) int64, rows of the label's objects
    squares : IN/OUT (offsets[p],) int64, their squared lengths
    """
    p, k = codes.shape[1], means.shape[1]
    labels, starts, share = partition_starts(np.arange(p), offsets, 1), np.empty(p, np.uint64), np.empty(k, np.int64)
    for i in range(codes.shape[0]):
        if np.isnan(means[i, 0]):
            continue
        length = 0.0
        for c in range(k):
            u = means[i, c]
            length += u * u
            share[c] = np.int64(np.rint(u * scale)) * counts[i]
        square = np.int64(np.rint(length * scale)) * counts[i]
        row_starts(codes[i], labels, 1, starts)
        for f in starts:
            squares[f] += square
            for c in range(k):
                sums[f, c] += share[c]


@jit
def log_of(x: Any) -> Any:
    """Natural logarithm of a positive normal number, to 2 units in the last place; a loop of it is vectorised."""
    bits = np.float64(x).view(np.uint64)
    # x = 2^e m with m from √½ to √2; e + 1024 without a sign, for there is no vector shift with one.
    exponent = (bits - SQRT_HALF + BIAS) >> np.uint64(52)
    m = np.uint64(bits - (exponent << np.uint64(52)) + BIAS).view(np.float64)
    e = np.uint64(exponent | EXPONENT_OF_2_52).view(np.float64) - (2.0**52 + 1024)
    # log m = 2 artanh s; the polynomial is Chebyshev's of (2 artanh(s) / s - 2) / s², off by 5e-18 / s².
    s = (m - 1) / (m + 1)
    z = s * s
    tail = 0.14616585424888621974
    tail = tail * z + 0.15331710618210771569
    tail = tail * z + 0.18182889455674946038
    tail = tail * z + 0.22222211130259877029
    tail = tail * z + 0.28571428626003268742
    tail = tail * z + 0.39999999999899443233
    tail = tail * z + 0.66666666666666696883
    return e * LN2 + s * (2 + z * tail)


@jit
def whole(x: Any) -> Any:
    """The nearest whole number, for |x| < 2^51; a loop of it is vectorised."""
    return np.float64(x + ROUNDING).view(np.int64) - ROUNDING_BITS


@jit
def sum_entropies(means: Any, counts: Any, scale: float, sums: Any) -> None:
    """means : IN (n, k) rows of the aggregated partition
    counts : IN (n,) objects with that row
    scale : IN, at most 2^51
    sums : IN/OUT (k, k) int64, on the diagonal u log u; below it (u + v) log(u + v)
    """
    n, k = means.shape
    columns, weights = np.ones((k, TILE)), np.zeros(TILE, np.int64)
    for start in range(0, n, TILE):
        for r in range(TILE):
            known = start + r < n and not np.isnan(means[start + r, 0])
            weights[r] = counts[start + r] if known else 0
            for c in range(k):
                columns[c, r] = max(means[start + r, c], TINY) if known else 1
        for a in range(k):
            for b in range(a + 1):
                total = np.int64(0)
                for r in range(TILE):
                    u = columns[a, r] + columns[b, r] if b < a else columns[a, r]
                    total += whole(u * log_of(u) * scale) * weights[r]
                sums[a, b] += total


@jit
def assign_to_groups(
    codes: Any, offsets: Any, group_of: Any, votes: Any, capacity: Any, draws: Any, groups: Any
) -> None:
    """codes : IN (n, p)
    offsets : IN (p + 1,)
    group_of : IN (offsets[p],) group of each label, negative = none
    votes : IN (offsets[p],) float64, weight of each label
    capacity : IN (k,) float64, what a row's votes for a group are divided by; 0 = no group
    draws : IN (n,) in [0, 1), which of the groups that tie; 0 = the first
    groups : OUT (n,)
    """
    k = capacity.shape[0]
    share = np.empty(k)
    for i in range(codes.shape[0]):
        share[:] = 0
        for j in range(codes.shape[1]):
            f = offsets[j] + codes[i, j]
            if group_of[f] >= 0:
                share[group_of[f]] += votes[f]
        best, n_best = -1.0, 0
        for g in range(k):
            if capacity[g] > 0:
                share[g] /= capacity[g]
                if share[g] > best:
                    best, n_best = share[g], 1
                elif share[g] == best:
                    n_best += 1
        pick = np.int64(draws[i] * n_best)
        for g in range(k):
            if capacity[g] > 0 and share[g] == best:
                if pick == 0:
                    groups[i] = g
                    break
                pick -= 1


@jit
def add_logs_of_counts(
    codes: Any, counts: Any, members: Any, label_of: Any, partition: int, logs: Any, found: Any, weights: Any
) -> None:
    """Add Σ ln(n_i(r) + 1) over the objects of each cluster of a partition and each label of a mode.

    codes : IN (m, p) clusters of the rows; counts : IN (m,) int64, objects with that row
    members : IN (w,) partitions of the mode
    label_of : IN (p, K + 1) label of each cluster, -1 where it has none and for a missing entry
    partition : its column; one that is missing there has no cluster in ``weights``
    logs : IN (p + 1,) ln(v + 1)
    found : IN/OUT (B,) int64, 0
    weights : IN/OUT (k, B)
    """
    for i in range(codes.shape[0]):
        a = codes[i, partition]
        if a < weights.shape[0]:
            for j in members:
                r = label_of[j, codes[i, j]]
                if r >= 0:
                    found[r] += 1
            for j in members:
                r = label_of[j, codes[i, j]]
                if r >= 0:
                    weights[a, r] += counts[i] * logs[found[r]]
                    found[r] = 0


@jit
def tally_places(
    codes: Any, counts: Any, members: Any, label_of: Any, partition: int, own: Any, of_labels: Any, of_totals: Any
) -> None:
    """What a partition finds in a mode where it would be counted: objects by n_i(r), and by Σ_r n_i(r).

    codes, counts, members, label_of, partition : IN as above
    own : IN (K + 1,) label of each cluster of the partition, -1 as above
    of_labels, of_totals : IN/OUT (p + 1,) int64
    """
    for i in range(codes.shape[0]):
        place = own[codes[i, partition]]
        if place >= 0:
            same = total = 0
            for j in members:
                r = label_of[j, codes[i, j]]
                total += r >= 0
                same += r == place
            of_labels[same] += counts[i]
            of_totals[total] += counts[i]


@jit
def plurality(codes: Any, members: Any, label_of: Any, rank: Any, found: Any, labels: Any, shares: Any) -> None:
    """The label that most partitions of a mode give a row, that of least rank on ties.

    codes, members, label_of, found : as above
    rank : IN (B,)
    labels : OUT (m,); -1 where none gives one
    shares : OUT (m,) of the partitions that label it
    """
    for i in range(codes.shape[0]):
        total = 0
        for j in members:
            r = label_of[j, codes[i, j]]
            if r >= 0:
                found[r] += 1
                total += 1
        labels[i], most = -1, 0
        for j in members:
            r = label_of[j, codes[i, j]]
            if r >= 0 and (found[r] > most or (found[r] == most and rank[r] < rank[labels[i]])):
                labels[i], most = r, found[r]
        for j in members:
            r = label_of[j, codes[i, j]]
            if r >= 0:
                found[r] = 0
        shares[i] = most / total if total else 0.0


@jit
def expect_rows(codes: Any, counts: Any, offsets: Any, log_prior: Any, table: Any, sums: Any, shares: Any) -> float:
    """Add what is expected of every class; returns the log-likelihood of the objects.

    codes : IN (n, p)
    counts : IN (n,) objects with that row
    offsets : IN (p + 1,)
    log_prior : IN (k,)
    table : IN (d, k) log-probability of each label in each class; 0 for a missing entry
    sums : IN/OUT (d, k) expected objects of each class with each label
    shares : IN/OUT (k,) expected objects of each class
    """
    n, p = codes.shape
    k = log_prior.shape[0]
    z, total_log = np.empty(k), 0.0
    for i in range(n):
        for g in range(k):
            z[g] = log_prior[g]
        for j in range(p):
            f = offsets[j] + codes[i, j]
            for g in range(k):
                z[g] += table[f, g]
        most, total = z[0], 0.0
        for g in range(1, k):
            most = max(most, z[g])
        for g in range(k):
            z[g] = np.exp(z[g] - most)
            total += z[g]
        total_log += counts[i] * (most + np.log(total))
        for g in range(k):
            z[g] *= counts[i] / total
            shares[g] += z[g]
        for j in range(p):
            f = offsets[j] + codes[i, j]
            for g in range(k):
                sums[f, g] += z[g]
    return total_log
