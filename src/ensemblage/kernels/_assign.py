"""Rows of codes against columns of a score table: the hot loop of every k-means on labels.

A row's score for column c is the sum of ``table[offsets[j] + code_j, c]`` over the partitions j. The table's row for a
missing entry is zero, so a partition that abstains adds nothing.
"""

from typing import Any

import numpy as np

from ensemblage._jit import inner_jit, jit
from ensemblage.kernels._four_rows import OBJECTS, limit_four_rows
from ensemblage.kernels._lanes import LANES, add_table_rows, partition_starts, row_starts, two_least


@inner_jit
def first_place(values: Any, value: Any, n: int) -> int:
    """Index of the first of the first ``n`` values that equals ``value``; the last one if none before it does."""
    for c in range(n - 1):
        if values[c] == value:
            return c
    return n - 1


@jit
def assign_rows(
    codes: Any, base: Any, labels: Any, bounds: Any, offsets: Any, table: Any, shift: Any, rounding: Any
) -> int:
    """Move each row to its nearest centre (the first one on ties); return how many rows moved.

    With bounds (Hamerly 2010, one number per row) the distances must be squared Euclidean. They only skip rows whose
    nearest centre cannot have changed: the labels are the same without them.

    codes : IN (n, p)
    base : IN (n,) float32, part of the row's distance to every centre that the table does not hold
    labels : IN/OUT (n,) int32, -1 before the first call
    bounds : IN/OUT (n,) float32, how far the row's two nearest centres may still move; below 0 = look again
    offsets : IN (p + 1,)
    table : IN (d, k or more) float32, squared distances to the centres, partition by partition; `whole_lanes`
    shift : IN (k,) float32, how far each centre moved since the last call, plus how far any other one did
    rounding : IN float32, error bound of a row's squared distance; negative = no bounds, look at every row
    """
    n, p = codes.shape
    width = table.shape[1]
    firsts, columns = partition_starts(np.arange(p), offsets, width), table.reshape(-1)
    starts, score = np.empty(p, np.uint64), np.empty(width, np.float32)
    moved = 0
    for i in range(n):
        before = labels[i]
        if before >= 0 and rounding >= 0:
            bounds[i] -= shift[before]
            if bounds[i] > 0:
                continue
        row_starts(codes[i], firsts, width, starts)
        add_table_rows(columns, starts, score)
        first, second = two_least(score)
        nearest = before
        if before < 0 or score[before] != first or second == first:
            nearest = first_place(score, first, shift.shape[0])
        if rounding >= 0:
            near, far = base[i] + first + rounding, base[i] + second - rounding
            bounds[i] = np.sqrt(max(far, np.float32(0))) - np.sqrt(near)
        if nearest != before:
            labels[i] = nearest
            moved += 1
    return moved


@jit
def move_rows(codes: Any, before: Any, after: Any, counts: Any, offsets: Any, change: Any) -> None:
    """codes : IN (n, p)
    before : IN (n,) int32, -1 = in no cluster yet
    after : IN (n,) int32
    counts : IN (n,) objects with that row
    offsets : IN (p + 1,)
    change : IN/OUT (k, d) int64, label counts per cluster
    """
    for i in range(codes.shape[0]):
        old, new = before[i], after[i]
        if old == new:
            continue
        for j in range(codes.shape[1]):
            f = offsets[j] + codes[i, j]
            change[new, f] += counts[i]
            if old >= 0:
                change[old, f] -= counts[i]


@jit
def limit_distances(
    codes: Any, base: Any, nearest: Any, counts: Any, distances: Any, offsets: Any, table: Any, totals: Any
) -> None:
    """codes : IN (n, p)
    base : IN (n,) float32, part of the row's distance to every candidate that the table does not hold
    nearest : IN (n,) float32, squared distance of each row to its nearest seed so far
    counts : IN (n,) objects with that row
    distances : OUT (n, LANES) float32, the same with each candidate as one seed more
    offsets : IN (p + 1,)
    table : IN (d, LANES) float32, squared distances to LANES candidates, partition by partition
    totals : OUT (LANES,) float64, sums of `distances` over the objects
    """
    starts, columns = np.empty(codes.shape[1], np.uint64), table.reshape(-1)
    for j in range(starts.shape[0]):
        starts[j] = offsets[j] * LANES
    totals[:] = 0
    for i in range(0, codes.shape[0], OBJECTS):
        limit_four_rows(codes, i, starts, columns, base, nearest, counts, distances, totals)
