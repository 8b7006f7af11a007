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
        nearest = 0
        first = score[0]
        second = np.float32(np.inf)
        for c in range(1, k):
            if score[c] < first:
                second = first
                first = score[c]
                nearest = c
            elif score[c] < second:
                second = score[c]
        if rounding >= 0:
            slack[i] = np.sqrt(max(second - rounding, np.float32(0))) - np.sqrt(first + rounding)
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
def score_rows(
    codes: Any,  # IN (n, p)
    scores: Any,  # OUT (n, k) float32
    offsets: Any,  # IN (p + 1,)
    table: Any,  # IN (d, k) float32
) -> None:
    n, p = codes.shape
    k = table.shape[1]
    for i in range(n):
        score = scores[i]
        for c in range(k):
            score[c] = 0
        for j in range(p):
            row = table[offsets[j] + codes[i, j]]
            for c in range(k):
                score[c] += row[c]


@jit
def weighted_column_sums(
    scores: Any,  # IN/OUT (n, k) float32, lowered to `limit`
    limit: Any,  # IN (n,) float32
    counts: Any,  # IN (n,)
    sums: Any,  # OUT (k,) float64
) -> None:
    """Lower each row's scores to its limit, and sum them over the rows, each as often as it occurs."""
    for c in range(scores.shape[1]):
        sums[c] = 0
    for i in range(scores.shape[0]):
        for c in range(scores.shape[1]):
            scores[i, c] = min(scores[i, c], limit[i])
            sums[c] += np.float64(scores[i, c]) * counts[i]
