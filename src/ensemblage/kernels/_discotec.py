"""All pairs of objects: how many partitions join them, summed over the pairs that each of some clusterings joins."""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage._jit import jit

CHUNK = 192
"""Rows that one row is compared with at a time: as many ones add up in a byte, and all their codes fit the L1 cache."""


@jit
def count_equal(
    x: Any,  # IN (p,) codes of a row
    columns: Any,  # IN (p, m) codes
    start: int,  # IN first of the rows it is compared with
    equal: Any,  # OUT (n,) in how many partitions they are equal
) -> None:
    p, n = columns.shape[0], equal.shape[0]
    equal[:] = 0
    for t in range(0, p - 3, 4):
        a, b = columns[t, start : start + n], columns[t + 1, start : start + n]
        c, d = columns[t + 2, start : start + n], columns[t + 3, start : start + n]
        at_a, at_b, at_c, at_d = x[t], x[t + 1], x[t + 2], x[t + 3]
        for j in range(n):
            equal[j] += (a[j] == at_a) + (b[j] == at_b) + (c[j] == at_c) + (d[j] == at_d)
    for t in range(p - p % 4, p):
        a, at_a = columns[t, start : start + n], x[t]
        for j in range(n):
            equal[j] += a[j] == at_a


@jit
def mark_frequent(joined: Any, both: Any, thresholds: Any, marks: Any) -> None:
    """1 where the partitions that join a pair reach the threshold for as many as label it."""
    if both.shape[0] == 0:
        threshold = thresholds[-1]
        for j in range(joined.shape[0]):
            marks[j] = joined[j] >= threshold
    else:
        for j in range(joined.shape[0]):
            marks[j] = joined[j] >= thresholds[both[j]]


@jit
def look_up(joined: Any, both: Any, table: Any, values: Any) -> None:
    """Value of each pair by the partitions that label it and those that join it."""
    for j in range(joined.shape[0]):
        values[j] = table[both[j] if both.shape[0] else table.shape[0] - 1, joined[j]]


@jit
def add_marks(
    x: Any,  # IN (s,) codes of the row; empty: all are equal
    columns: Any,  # IN (s, m)
    start: int,  # IN first of the rows it is compared with
    weight: int,  # IN objects with each of them
    marks: Any,  # IN (n,) uint8, 0 or 1, at most 255 of them
    sums: Any,  # IN/OUT (s,) int64, or (1,)
) -> None:
    if x.shape[0] == 0:
        total = np.uint8(0)
        for j in range(marks.shape[0]):
            total = np.uint8(total + marks[j])
        sums[0] += weight * np.int64(total)
    for t in range(x.shape[0]):
        code, column = x[t], columns[t, start : start + marks.shape[0]]
        total = np.uint8(0)
        for j in range(marks.shape[0]):
            total = np.uint8(total + (np.uint8(column[j] == code) & marks[j]))
        sums[t] += weight * np.int64(total)


@jit
def add_values(
    x: Any,  # IN (s,) as in add_marks
    columns: Any,  # IN (s, m)
    start: int,
    weight: int,
    values: Any,  # IN (n,) int64
    sums: Any,  # IN/OUT (s,) int64, or (1,)
) -> None:
    if x.shape[0] == 0:
        sums[0] += weight * values.sum()
    for t in range(x.shape[0]):
        code, column = x[t], columns[t, start : start + values.shape[0]]
        total = np.int64(0)
        for j in range(values.shape[0]):
            total += values[j] if column[j] == code else np.int64(0)
        sums[t] += weight * total


@jit
def finish_row(
    known: Any,  # IN (s,) 1 where each clustering labels the row; empty: all do
    sums: Any,  # IN (s,) over the pairs of the row with later rows
    own: Any,  # IN value of the row with itself
    count: int,  # IN objects with this row
    wide: Any,  # IN/OUT (s, 2) high and low part of the sums over all pairs
) -> None:
    for t in range(sums.shape[0]):
        pairs = 2 * sums[t] + (count * own if known.shape[0] == 0 or known[t] == 1 else 0)
        wide[t, 0] += (pairs >> 31) * count
        wide[t, 1] += (pairs & 0x7FFFFFFF) * count


@jit
def sum_pairs(
    rows: Any,  # IN (m, p) the ensemble by row, ...
    columns: Any,  # IN (p, m) by column, ...
    known_rows: Any,  # IN (m, p) or (m, 0) and where it is labelled, ...
    known_columns: Any,  # IN (p, m) or (0, m) by column
    judged_rows: Any,  # IN (m, s) the same of the clusterings that are judged
    judged_columns: Any,  # IN (s, m)
    judged_known_rows: Any,  # IN (m, s) or (m, 0)
    judged_known_columns: Any,  # IN (s, m) or (0, m)
    counts: Any,  # IN (m,) int64 objects with each row
    edges: Any,  # IN where runs of at most CHUNK rows with equal counts begin, and m
    thresholds: Any,  # IN (p + 1,) of the sum of marks, of the type that counts partitions
    tables: Any,  # IN (2, p + 1, p + 1) values of joined pairs and of labelled pairs; (0, ...) for marks
    zero: Any,  # IN 0 of the type that counts partitions
    none: Any,  # IN 0 of the type of the values
    first: int,  # IN the rows of this task: first, ...
    last: int,  # IN ... to last - 1
    joined_sums: Any,  # OUT (s, 2)
    labelled_sums: Any,  # OUT (s, 2) or (1, 2)
) -> None:
    as_marks = tables.shape[0] == 0
    joined, both = np.full(CHUNK, zero), np.full(CHUNK if known_rows.shape[1] else 0, zero)
    values = np.full(CHUNK, none)
    sums = np.zeros((last - first, joined_sums.shape[0]), dtype=np.int64)
    totals = np.zeros((last - first, labelled_sums.shape[0]), dtype=np.int64)
    for e in range(edges.shape[0] - 1):
        for i in range(first, min(last, edges[e + 1] - 1)):
            start = max(edges[e], i + 1)
            n = edges[e + 1] - start
            count_equal(rows[i], columns, start, joined[:n])
            if known_rows.shape[1]:
                count_equal(known_rows[i], known_columns, start, both[:n])
            weight, here, there = counts[start], sums[i - first], totals[i - first]
            if as_marks:
                mark_frequent(joined[:n], both[:n], thresholds, values[:n])
                add_marks(judged_rows[i], judged_columns, start, weight, values[:n], here)
                add_marks(judged_known_rows[i], judged_known_columns, start, weight, values[:n], there)
            else:
                look_up(joined[:n], both[:n], tables[0], values[:n])
                add_values(judged_rows[i], judged_columns, start, weight, values[:n], here)
                look_up(joined[:n], both[:n], tables[1], values[:n])
                add_values(judged_known_rows[i], judged_known_columns, start, weight, values[:n], there)
    p = columns.shape[0]
    for i in range(first, last):
        labelled = 0 if known_rows.shape[1] else p
        for known in known_rows[i]:
            labelled += known == 1
        own = np.int64(labelled >= thresholds[labelled]) if as_marks else tables[0, labelled, labelled]
        own_anywhere = own if as_marks else tables[1, labelled, labelled]
        finish_row(judged_known_rows[i], sums[i - first], own, counts[i], joined_sums)
        finish_row(judged_known_rows[i], totals[i - first], own_anywhere, counts[i], labelled_sums)
