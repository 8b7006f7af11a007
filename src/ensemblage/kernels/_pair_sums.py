"""Sums over pairs of objects, for several partitions at once.

Of all pairs how many partitions join them, over the pairs that each partition joins; of random pairs the distances
between partitions and consensus, and how sure their means are; and distances between features, within and between the
clusters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage.kernels._bitmaps import (
    BLOCK_BITS,
    WORDS,
    count_bits,
    count_in_planes,
    count_members,
    mark_after,
    mark_at_least,
    number_maps,
    plane_count,
)
from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._pairs import count_joined
from ensemblage.kernels._vectors import EIGHT

CHUNK = 192
"""Rows that one row is compared with at a time: as many ones add up in a byte, and all their codes fit the L1 cache."""


@inner_jit
def mark_frequent(joined: Any, labelled: Any, thresholds: Any, marks: Any) -> None:
    """1 where the partitions that join a pair reach the threshold for as many as label it."""
    if labelled.shape[0] == 0:
        threshold = thresholds[-1]
        for j in range(joined.shape[0]):
            marks[j] = joined[j] >= threshold
    else:
        for j in range(joined.shape[0]):
            marks[j] = joined[j] >= thresholds[labelled[j]]


@inner_jit
def look_up(joined: Any, labelled: Any, table: Any, values: Any) -> None:
    """Value of each pair by the partitions that label it and those that join it."""
    for j in range(joined.shape[0]):
        values[j] = table[labelled[j] if labelled.shape[0] else table.shape[0] - 1, joined[j]]


@inner_jit
def add_values(x: Any, columns: Any, start: int, weight: int, values: Any, sums: Any) -> None:
    """x : IN (s,) codes of the row; empty: all are equal
    columns : IN (s, m)
    start : IN first of the rows it is compared with
    weight : IN objects with each of them
    values : IN (n,) int64; or uint8, 0 or 1, at most 255 of them
    sums : IN/OUT (s,) int64, or (1,)
    """
    n, zero = values.shape[0], values.dtype.type(0)
    if x.shape[0] == 0:
        total = zero
        for j in range(n):
            total = values.dtype.type(total + values[j])
        sums[0] += weight * np.int64(total)
    for t in range(x.shape[0]):
        code, column = x[t], columns[t, start : start + n]
        total = zero
        for j in range(n):
            # All bits where the codes are equal: faster than a choice between two values.
            total = values.dtype.type(total + (values[j] & values.dtype.type(-np.int64(column[j] == code))))
        sums[t] += weight * np.int64(total)


@inner_jit
def finish_row(known: Any, sums: Any, own: Any, count: int, wide: Any) -> None:
    """known : IN (s,) 1 where each partition labels the row; empty: all do
    sums : IN (s,) over the pairs of the row with later rows
    own : IN value of the row with itself
    count : IN objects with this row
    wide : IN/OUT (s, 2) high and low part of the sums over all pairs
    """
    for t in range(sums.shape[0]):
        pairs = 2 * sums[t] + (count * own if known.shape[0] == 0 or known[t] == 1 else 0)
        wide[t, 0] += (pairs >> 31) * count
        wide[t, 1] += (pairs & 0x7FFFFFFF) * count


@jit
def sum_pairs(
    ensemble: Any,
    judged: Any,
    counts: Any,
    edges: Any,
    thresholds: Any,
    tables: Any,
    first: int,
    last: int,
    joined_sums: Any,
    labelled_sums: Any,
) -> None:
    """ensemble : IN counting's Codes of the ensemble, as a plain tuple, ...
    judged : IN ... and of the partitions that are judged
    counts : IN (m,) int64 objects with each row
    edges : IN where runs of at most CHUNK rows with equal counts begin, and m
    thresholds : IN (p + 1,) of the sum of marks, of the type that counts partitions
    tables : IN (2, p + 1, p + 1) int64 values of joined pairs and of labelled pairs; (0, ...) uint8 for marks
    first : IN the rows of this task: first, ...
    last : IN ... to last - 1
    joined_sums : OUT (s, 2)
    labelled_sums : OUT (s, 2) or (1, 2)
    """
    rows, columns, known_rows, known_columns = ensemble
    judged_rows, judged_columns, judged_known_rows, judged_known_columns = judged
    as_marks, complete = tables.shape[0] == 0, known_rows.shape[1] == 0
    joined_work, values_work = np.empty(CHUNK, thresholds.dtype), np.empty(CHUNK, tables.dtype)
    labelled_work = np.empty(0 if complete else CHUNK, thresholds.dtype)
    sums = np.zeros((last - first, joined_sums.shape[0]), dtype=np.int64)
    totals = np.zeros((last - first, labelled_sums.shape[0]), dtype=np.int64)
    for e in range(edges.shape[0] - 1):
        for i in range(first, min(last, edges[e + 1] - 1)):
            start = max(edges[e], i + 1)
            n = edges[e + 1] - start
            joined, labelled, values = joined_work[:n], labelled_work[:n], values_work[:n]
            # A missing entry equals nothing here.
            count_joined(columns, rows[i], rows[0, :0], start, joined)
            if not complete:
                count_joined(known_columns, known_rows[i], known_rows[0, :0], start, labelled)
            weight = counts[start]
            if as_marks:
                mark_frequent(joined, labelled, thresholds, values)
            else:
                look_up(joined, labelled, tables[0], values)
            add_values(judged_rows[i], judged_columns, start, weight, values, sums[i - first])
            if not as_marks:
                look_up(joined, labelled, tables[1], values)
            add_values(judged_known_rows[i], judged_known_columns, start, weight, values, totals[i - first])
    for i in range(first, last):
        n_labelled = columns.shape[0] if complete else (known_rows[i] == 1).sum()
        own = np.int64(n_labelled >= thresholds[n_labelled]) if as_marks else tables[0, n_labelled, n_labelled]
        own_anywhere = own if as_marks else tables[1, n_labelled, n_labelled]
        finish_row(judged_known_rows[i], sums[i - first], own, counts[i], joined_sums)
        finish_row(judged_known_rows[i], totals[i - first], own_anywhere, counts[i], labelled_sums)


@jit
def sum_marked_pairs(
    bitmaps: Any, tile: Any, p: int, judged: int, threshold: int, first: int, last: int, joined: Any, marked: Any
) -> None:
    """`sum_pairs` for marks where nothing is missing, over the pairs of rows with later rows of a tile.

    bitmaps : IN counting's Bitmaps of the partitions and of the judged partitions, as a plain tuple
    tile : IN counting's Tile, as a plain tuple
    p : IN number of partitions: the first columns
    judged : IN first column of the judged partitions
    threshold : IN (1 or more) partitions that join a pair that is marked
    first : IN the rows of this task: first, ...
    last : IN ... to last - 1
    joined : IN/OUT (s, 2) high and low part of the sums over the marked pairs that each partition joins
    marked : IN/OUT (1, 2) over all marked pairs
    """
    codes, offsets, _, places, counts = bitmaps
    first_block, maps, members, _ = tile
    planes, marks = np.empty((plane_count(p), WORDS), np.uint64), np.empty(WORDS, np.uint64)
    numbers = np.empty(p + -p % EIGHT, np.uint64)
    sums = np.zeros((last - first, joined.shape[0]), dtype=np.int64)
    totals = np.zeros((last - first, 1), dtype=np.int64)
    for k in range(members.shape[0]):
        start = (first_block + k) * BLOCK_BITS
        for i in range(first, last):
            if places[i] >= start + BLOCK_BITS - 1:
                break
            number_maps(codes[i, :p], offsets, maps, numbers)
            count_in_planes(maps, k, numbers, planes)
            mark_after(maps, k, places[i] - start, marks)
            mark_at_least(planes, threshold, marks)
            total = count_members(marks, members[k])
            totals[i - first, 0] += total
            if total == 0:
                continue
            for t in range(joined.shape[0]):
                number, total = offsets[judged + t] + np.int64(codes[i, judged + t]), 0
                for w in range(WORDS):
                    total += members[k, w] * np.int64(count_bits(maps[number, k, w] & marks[w]))
                sums[i - first, t] += total
    every = codes[0, :0]
    for i in range(first, last):
        block = places[i] // BLOCK_BITS - first_block
        own = np.int64(0 <= block < members.shape[0] and p >= threshold)
        finish_row(every, sums[i - first], own, counts[i], joined)
        finish_row(every, totals[i - first], own, counts[i], marked)


@inner_jit
def distances_of_pair(i: int, j: int, rows: Any, tables: Any, distances: Any) -> None:
    """i : IN a row
    j : IN another
    rows : IN (m, p) codes, (p,) those that mean missing, the same of the s partitions that are judged
    tables : IN (2, p + 1, p + 1) distance by partitions that label and that join the pair: joined, separated
    distances : OUT (s,) distance of each partition, -1 where it does not label the pair
    """
    codes, absent, judged, judged_absent = rows
    labelled, joined = 0, 0
    for t in range(absent.shape[0]):
        if codes[i, t] != absent[t] and codes[j, t] != absent[t]:
            labelled += 1
            joined += codes[i, t] == codes[j, t]
    for t in range(judged_absent.shape[0]):
        if judged[i, t] == judged_absent[t] or judged[j, t] == judged_absent[t]:
            distances[t] = -1.0
        else:
            distances[t] = tables[0 if judged[i, t] == judged[j, t] else 1, labelled, joined]


@jit
def sum_distances(pairs: Any, rows: Any, tables: Any, sums: Any) -> None:
    """pairs : IN (2, k) rows
    rows : IN as in `distances_of_pair`
    tables : IN (2, p + 1, p + 1)
    sums : OUT (2, s) sum of the distances, pairs that the partition labels
    """
    distances = np.empty(sums.shape[1])
    for k in range(pairs.shape[1]):
        distances_of_pair(pairs[0, k], pairs[1, k], rows, tables, distances)
        for t in range(distances.shape[0]):
            if distances[t] >= 0:
                sums[0, t] += distances[t]
                sums[1, t] += 1


@jit
def sum_squares(pairs: Any, rows: Any, tables: Any, means: Any, shares: Any, order: Any, squares: Any) -> None:
    """pairs : IN (2, k) rows
    rows : IN as in `distances_of_pair`
    tables : IN (2, p + 1, p + 1)
    means : IN (s,) mean distance
    shares : IN (s,) share of the pairs that the partition labels
    order : IN (s,) the partitions, best first
    squares : OUT (2, s) of the residuals; of the differences between neighbours in the order
    """
    distances, residuals = np.empty(order.shape[0]), np.empty(order.shape[0])
    for k in range(pairs.shape[1]):
        distances_of_pair(pairs[0, k], pairs[1, k], rows, tables, distances)
        for r in range(order.shape[0]):
            t = order[r]
            residuals[r] = (distances[t] - means[t]) / shares[t] if distances[t] >= 0 else 0.0
            squares[0, t] += residuals[r] * residuals[r]
            if r > 0:
                difference = residuals[r] - residuals[r - 1]
                squares[1, r - 1] += difference * difference


@jit
def sum_distances_of_rows(
    X: Any,
    codes: Any,
    n_clusters: Any,
    first: int,
    last: int,
    within: Any,
    between: Any,
    diameter: Any,
    separation: Any,
) -> None:
    """X : IN (n, d)
    codes : IN (n, p)
    n_clusters : IN (p,) the code that means missing
    first : IN rows of this call: first, ...
    last : IN ... to last - 1; pairs with all later rows
    within : IN/OUT (p,) sum of the distances within clusters
    between : IN/OUT (p,) and between them
    diameter : IN/OUT (p,) largest distance within a cluster
    separation : IN/OUT (p,) smallest distance between clusters
    """
    n, d = X.shape
    for i in range(first, last):
        for j in range(i + 1, n):
            square = 0.0
            for f in range(d):
                square += (X[i, f] - X[j, f]) ** 2
            distance = np.sqrt(square)
            for t in range(codes.shape[1]):
                a, b = codes[i, t], codes[j, t]
                if a == b:
                    if a != n_clusters[t]:
                        within[t] += distance
                        diameter[t] = max(diameter[t], distance)
                elif a != n_clusters[t] and b != n_clusters[t]:
                    between[t] += distance
                    separation[t] = min(separation[t], distance)
