"""Rows of codes against columns of a score table: the hot loop of every k-means on labels.

A row's score for column c is the sum of ``table[offsets[j] + code_j, c]`` over the partitions j. The table's row for a
missing entry is zero, so a partition that abstains adds nothing.
"""

from typing import Any

import numpy as np

from ensemblage._jit import jit


@jit
def assign_rows(
    codes: Any,  # IN (n, p)
    base: Any,  # IN (n,) float32, part of the row's distance to every centre that the table does not hold
    labels: Any,  # IN/OUT (n,) int32, -1 before the first call
    slack: Any,  # IN/OUT (n,) float32, how far the row's two nearest centres may still move; below 0 = look again
    offsets: Any,  # IN (p + 1,)
    table: Any,  # IN (d, k) float32, squared distances to the centres, partition by partition
    shift: Any,  # IN (k,) float32, how far each centre moved since the last call, plus how far any other one did
    rounding: Any,  # IN float32, error bound of a row's squared distance; negative = no bounds, look at every row
) -> int:
    """Move each row to its nearest centre (the first one on ties); return how many rows moved.

    With bounds (Hamerly 2010, one number per row) the distances must be squared Euclidean. They only skip rows whose
    nearest centre cannot have changed: the labels are the same without them.
    """
    n, p = codes.shape
    k = table.shape[1]
    score = np.empty(k, np.float32)
    infinity = np.float32(np.inf)
    moved = 0
    for i in range(n):
        before = labels[i]
        if before >= 0 and rounding >= 0:
            slack[i] -= shift[before]
            if slack[i] > 0:
                continue
        for c in range(k):
            score[c] = 0
        j = 0
        while j + 4 <= p:
            row_0 = table[offsets[j] + codes[i, j]]
            row_1 = table[offsets[j + 1] + codes[i, j + 1]]
            row_2 = table[offsets[j + 2] + codes[i, j + 2]]
            row_3 = table[offsets[j + 3] + codes[i, j + 3]]
            for c in range(k):
                score[c] += (row_0[c] + row_1[c]) + (row_2[c] + row_3[c])
            j += 4
        while j < p:
            row_0 = table[offsets[j] + codes[i, j]]
            for c in range(k):
                score[c] += row_0[c]
            j += 1
        first = infinity
        for c in range(k):
            first = min(first, score[c])
        # Most rows stay, and a search whose length the processor can foresee costs a quarter less.
        nearest = before
        if before < 0 or score[before] != first:
            nearest = 0
            while score[nearest] != first:
                nearest += 1
        score[nearest] = infinity
        second = infinity
        for c in range(k):
            second = min(second, score[c])
        if second == first:
            score[nearest] = first
            nearest = 0
            while score[nearest] != first:
                nearest += 1
        if rounding >= 0:
            near, far = base[i] + first + rounding, base[i] + second - rounding
            slack[i] = np.sqrt(max(far, np.float32(0))) - np.sqrt(near)
        if nearest != before:
            labels[i] = nearest
            moved += 1
    return moved


@jit
def move_rows(
    codes: Any,  # IN (n, p)
    before: Any,  # IN (n,) int32, -1 = in no cluster yet
    after: Any,  # IN (n,) int32
    counts: Any,  # IN (n,) objects with that row
    offsets: Any,  # IN (p + 1,)
    change: Any,  # IN/OUT (k, d) int64, label counts per cluster
) -> None:
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
    codes: Any,  # IN (n, p)
    base: Any,  # IN (n,) float32, part of the row's distance to every candidate that the table does not hold
    nearest: Any,  # IN (n,) float32, squared distance of each row to its nearest seed so far
    counts: Any,  # IN (n,) objects with that row
    distances: Any,  # OUT (n, 8) float32, the same with each candidate as one seed more
    offsets: Any,  # IN (p + 1,)
    table: Any,  # IN (d, 8) float32, squared distances to 8 candidates, partition by partition
    totals: Any,  # OUT (8,) float64, sums of `distances` over the objects
) -> None:
    # Eight accumulators by hand: they stay in one vector register, which a loop over a variable width does not.
    zero = np.float32(0)
    for i in range(codes.shape[0]):
        d0 = d1 = d2 = d3 = d4 = d5 = d6 = d7 = base[i]
        for j in range(codes.shape[1]):
            row = table[offsets[j] + codes[i, j]]
            d0 += row[0]
            d1 += row[1]
            d2 += row[2]
            d3 += row[3]
            d4 += row[4]
            d5 += row[5]
            d6 += row[6]
            d7 += row[7]
        limit = nearest[i]
        out = distances[i]
        out[0] = min(d0, limit)
        out[1] = min(d1, limit)
        out[2] = min(d2, limit)
        out[3] = min(d3, limit)
        out[4] = min(d4, limit)
        out[5] = min(d5, limit)
        out[6] = min(d6, limit)
        out[7] = min(d7, limit)
    for c in range(8):
        totals[c] = 0
    for i in range(codes.shape[0]):
        for c in range(8):
            distances[i, c] = max(distances[i, c], zero)
            totals[c] += np.float64(distances[i, c]) * counts[i]
