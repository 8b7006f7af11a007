"""Pairs of objects that partitions join, counted without listing the pairs."""

from typing import Any

import numpy as np

from ensemblage._jit import jit


@jit
def group_objects(
    clusters: Any,  # IN (n,) cluster of each object, negative = none
    ends: Any,  # IN/OUT (k,) int64, where each cluster starts in `order`; afterwards where it ends
    order: Any,  # OUT the assigned objects, cluster by cluster
) -> None:
    for i in range(clusters.shape[0]):
        c = clusters[i]
        if c >= 0:
            order[ends[c]] = i
            ends[c] += 1


@jit
def square_label_counts(
    codes: Any,  # IN (n, p)
    order: Any,  # IN objects, cluster by cluster
    starts: Any,  # IN (k + 1,) int64
    offsets: Any,  # IN (p + 1,) int64
    alpha: Any,  # WORK (offsets[p],) int64, zeros before and after
    squares: Any,  # OUT (k, p) int64, sum of squared label counts
    labelled: Any,  # OUT (k, p) int64, members that the partition labels
) -> None:
    p = codes.shape[1]
    for c in range(squares.shape[0]):
        for t in range(p):
            squares[c, t] = 0
            labelled[c, t] = 0
        for s in range(starts[c], starts[c + 1]):
            i = order[s]
            for t in range(p):
                alpha[offsets[t] + codes[i, t]] += 1
        for t in range(p):
            labelled[c, t] = starts[c + 1] - starts[c] - alpha[offsets[t + 1] - 1]
            alpha[offsets[t + 1] - 1] = 0
        if starts[c + 1] - starts[c] < alpha.shape[0] // p:
            for s in range(starts[c], starts[c + 1]):
                i = order[s]
                for t in range(p):
                    f = offsets[t] + codes[i, t]
                    squares[c, t] += alpha[f] * alpha[f]
                    alpha[f] = 0
        else:
            for t in range(p):
                for f in range(offsets[t], offsets[t + 1]):
                    squares[c, t] += alpha[f] * alpha[f]
                    alpha[f] = 0


@jit
def agreement_of_rows(
    codes: Any,  # IN (m, p)
    clusters: Any,  # IN (m,) cluster of each row, negative = none
    profile: Any,  # IN (k, offsets[p]) int64 label counts
    labelled: Any,  # IN (k, p) int64, members that each partition labels
    offsets: Any,  # IN (p + 1,) int64
    weights: Any,  # IN (p,) float64
    joined: Any,  # OUT (m,) float64, other members it is joined with, over the partitions
    pairs: Any,  # OUT (m,) float64, other members labelled with it; -1 if no partition labels it
) -> None:
    for i in range(codes.shape[0]):
        c = clusters[i]
        joined[i] = 0
        pairs[i] = 0
        seen = False
        if c >= 0:
            for t in range(codes.shape[1]):
                f = offsets[t] + codes[i, t]
                if f < offsets[t + 1] - 1:
                    seen = True
                    joined[i] += weights[t] * (profile[c, f] - 1)
                    pairs[i] += weights[t] * (labelled[c, t] - 1)
        if not seen:
            pairs[i] = -1


@jit
def count_joined(
    columns: Any,  # IN (p, m) codes
    row: Any,  # IN (p,) codes of one row
    absent: Any,  # IN (p,) code for missing
    joined: Any,  # OUT (m,) unsigned, partitions that join each column's row with this one
) -> None:
    joined[:] = 0
    for t in range(columns.shape[0]):
        code, column = row[t], columns[t]
        if code != absent[t]:
            for j in range(joined.shape[0]):
                joined[j] += np.uint8(column[j] == code)


@jit
def count_labelled(
    columns: Any,  # IN (p, m) codes
    row: Any,  # IN (p,) codes of one row
    absent: Any,  # IN (p,) code for missing
    labelled: Any,  # OUT (m,) unsigned, partitions that label both
) -> None:
    labelled[:] = 0
    for t in range(columns.shape[0]):
        code, column = absent[t], columns[t]
        if row[t] != code:
            for j in range(labelled.shape[0]):
                labelled[j] += np.uint8(column[j] != code)


@jit
def add_pairs(
    columns: Any,  # IN (p, m) codes of distinct rows
    absent: Any,  # IN (p,) code for missing
    counts: Any,  # IN (m,) objects with each row
    first: int,  # IN pairs i < j with first ≤ i < last
    last: int,
    joined: Any,  # WORK (block,) unsigned
    labelled: Any,  # WORK (block,) unsigned; empty if nothing is missing
    histogram: Any,  # IN/OUT (p + 1, p + 1) pairs by (joined, labelled); (p + 1, 1) if nothing is missing
) -> None:
    m, row = columns.shape[1], np.empty(columns.shape[0], columns.dtype)
    for start in range(first + 1, m, joined.shape[0]):
        stop = min(start + joined.shape[0], m)
        for i in range(first, min(last, stop - 1)):
            begin = max(start, i + 1)
            row[:] = columns[:, i]
            others = columns[:, begin:stop]
            count_joined(others, row, absent, joined[: stop - begin])
            if labelled.shape[0] == 0:
                for j in range(stop - begin):
                    histogram[joined[j], 0] += counts[i] * counts[begin + j]
            else:
                count_labelled(others, row, absent, labelled[: stop - begin])
                for j in range(stop - begin):
                    histogram[joined[j], labelled[j]] += counts[i] * counts[begin + j]


@jit
def associate(
    rows: Any,  # IN (b, p) codes
    columns: Any,  # IN (p, n) codes
    absent: Any,  # IN (p,) code for missing
    weights: Any,  # IN (p,) float64
    labelled: Any,  # WORK (n,) float64
    association: Any,  # OUT (b, n) float64, weight of the partitions that join / weight of those that label both
) -> int:
    """Returns the number of pairs that no partition labels."""
    n_unknown = 0
    for i in range(rows.shape[0]):
        joined = association[i]
        joined[:] = 0
        labelled[:] = 0
        for t in range(rows.shape[1]):
            code, none, weight, column = rows[i, t], absent[t], weights[t], columns[t]
            if code != none:
                for j in range(joined.shape[0]):
                    joined[j] += weight * (column[j] == code)
                    labelled[j] += weight * (column[j] != none)
        for j in range(joined.shape[0]):
            if labelled[j] > 0:
                joined[j] /= labelled[j]
            else:
                n_unknown += 1
    return n_unknown


@jit
def associate_levels(
    rows: Any,  # IN (b, p) codes
    columns: Any,  # IN (p, n) codes
    absent: Any,  # IN (p,) code for missing
    level_of: Any,  # IN (p + 1, p + 1) level by partitions that join and that label both; empty: those that join
    joined: Any,  # WORK (n,) unsigned
    labelled: Any,  # WORK (n,) unsigned
    levels: Any,  # OUT (b, n) unsigned
) -> None:
    for i in range(rows.shape[0]):
        count_joined(columns, rows[i], absent, joined)
        if level_of.shape[0] == 0:
            levels[i] = joined
        else:
            count_labelled(columns, rows[i], absent, labelled)
            for j in range(joined.shape[0]):
                levels[i, j] = level_of[joined[j], labelled[j]]
