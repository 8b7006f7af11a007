"""k-means of label rows: rows of codes against columns of a score table, and single moves that raise the density.

A row's score for column c is the sum of ``table[offsets[j] + code_j, c]`` over the partitions j. The table's row for a
missing entry is zero, so a partition that abstains adds nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._jit import inner_jit, is_set, jit
from ensemblage.kernels._table_rows import (
    add_table_rows,
    limit_rows,
    partition_starts,
    two_least,
    two_least_shorts,
)
from ensemblage.kernels._vectors import LANES, LINE, OBJECTS, SHORT_LANES

TILE = 512
"""Rows that are chosen together: which of them are to be looked at cannot be foreseen, but then what comes next can."""


FEW_AGAIN = 3
"""One row of so many may be looked at twice; with more the short table is of no use."""


@inner_jit
def first_place(values: Any, value: Any, n: int) -> int:
    """Index of the first of the first ``n`` values that equals ``value``; the last one if none before it does."""
    for c in range(n - 1):
        if values[c] == value:
            return c
    return n - 1


@inner_jit
def rows_to_look_at(labels: Any, bounds: Any, shift: Any, bounded: bool, begin: int, end: int, chosen: Any) -> int:
    """How many of the rows begin ≤ i < end may have another nearest centre than before.

    labels : IN (n,) int32, -1 before the first call
    bounds : IN/OUT (n,) float32; they shrink by what the centres moved
    shift : IN (k,) float32
    bounded : IN; otherwise, all
    begin : IN
    end : IN
    chosen : OUT (TILE,) these rows
    """
    n_chosen = 0
    for i in range(begin, end):
        chosen[n_chosen] = i
        if bounded and labels[i] >= 0:
            bounds[i] -= shift[labels[i]]
            n_chosen += not bounds[i] > 0
        else:
            n_chosen += 1
    return n_chosen


@inner_jit
def assign_by_shorts(
    codes: Any, base: Any, labels: Any, bounds: Any, columns: Any, short: Any, bounded: bool, chosen: Any, n_chosen: int
) -> tuple[int, int]:
    """`assign_rows` of the rows whose two nearest centres the short table tells apart; how many are left, and moved.

    columns : IN the cells of `short`, flat
    short : IN where the rows of each partition begin in them, and what else `ShortTable` holds
    chosen : IN/OUT rows; those that are left come first
    n_chosen : IN how many
    """
    firsts, least, unit, error, margin, sums, settled, near, far = short
    n_left, n_settled, moved = 0, 0, 0
    for r in range(n_chosen):
        i = chosen[r]
        add_table_rows(columns, codes, i, firsts, sums)
        first, second, nearest = two_least_shorts(sums)
        if second <= first + margin:
            chosen[n_left] = i
            n_left += 1
            continue
        moved += labels[i] != nearest
        labels[i] = nearest
        settled[n_settled], near[n_settled], far[n_settled] = i, base[i], base[i]
        near[n_settled] += least + np.float32(first) * unit
        far[n_settled] += least + np.float32(second) * unit
        n_settled += 1
    if bounded:
        # Apart, so that the roots of many rows are taken at once.
        for r in range(n_settled):
            far[r] = np.sqrt(max(far[r] - error, np.float32(0))) - np.sqrt(max(near[r] + error, np.float32(0)))
        for r in range(n_settled):
            bounds[settled[r]] = far[r]
    return n_left, moved


@inner_jit
def assign_by_floats(
    codes: Any, base: Any, labels: Any, bounds: Any, i: int, firsts: Any, columns: Any, k: int, rounding: Any,
    score: Any,
) -> bool:  # fmt: skip
    """Move row i to its nearest centre; whether it moved.

    codes, base, labels, bounds, rounding : as in `assign_rows`
    firsts : IN (p,) where the rows of each partition begin in `columns`
    columns : IN the table, flat
    k : IN centres
    score : WORK (width,)
    """
    before = labels[i]
    add_table_rows(columns, codes, i, firsts, score)
    first, second = two_least(score)
    nearest = before
    if before < 0 or score[before] != first or second == first:
        nearest = first_place(score, first, k)
    if rounding >= 0:
        near, far = base[i] + first + rounding, base[i] + second - rounding
        bounds[i] = np.sqrt(max(far, np.float32(0))) - np.sqrt(near)
    labels[i] = nearest
    return bool(nearest != before)


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
    width, k = table.shape[1], shift.shape[0]
    firsts, columns = partition_starts(np.arange(p), offsets, width)[1], table.reshape(-1)
    score = np.empty(width, np.float32)
    moved = 0
    for i in range(n):
        if labels[i] >= 0 and rounding >= 0:
            bounds[i] -= shift[labels[i]]
            if bounds[i] > 0:
                continue
        moved += assign_by_floats(codes, base, labels, bounds, i, firsts, columns, k, rounding, score)
    return moved


@jit
def assign_many_rows(
    codes: Any, base: Any, labels: Any, bounds: Any, offsets: Any, table: Any, short: Any, shift: Any, rounding: Any
) -> int:
    """`assign_rows`, in less time for many rows.

    A table of 16-bit numbers tells the nearest centre of most rows; where two are too near to each other for it, the
    table of floats does.

    short : IN `ShortTable` of the table, as a plain tuple
    """
    n, p = codes.shape
    width, k, bounded = table.shape[1], shift.shape[0], rounding >= 0
    firsts, columns = partition_starts(np.arange(p), offsets, width)[1], table.reshape(-1)
    score = np.empty(width, np.float32)
    cells, least, unit, error, margin = short
    short_columns, sums = cells.reshape(-1), np.empty(cells.shape[1], np.uint16)
    short_firsts = partition_starts(np.arange(p), offsets, cells.shape[1])[1]
    chosen, settled, near, far = (
        np.empty(TILE, np.int64), np.empty(TILE, np.int64), np.empty(TILE, np.float32), np.empty(TILE, np.float32)
    )  # fmt: skip
    short_work = short_firsts, least, unit, error, margin, sums, settled, near, far
    n_looked, n_again, moved = 0, 0, 0
    for begin in range(0, n, TILE):
        n_left = rows_to_look_at(labels, bounds, shift, bounded, begin, min(begin + TILE, n), chosen)
        if FEW_AGAIN * n_again <= n_looked + TILE:
            n_looked += n_left
            n_left, n_moved = assign_by_shorts(
                codes, base, labels, bounds, short_columns, short_work, bounded, chosen, n_left
            )
            n_again += n_left
            moved += n_moved
        for r in range(n_left):
            moved += assign_by_floats(codes, base, labels, bounds, chosen[r], firsts, columns, k, rounding, score)
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
    p, columns = codes.shape[1], table.reshape(-1)
    firsts = partition_starts(np.arange(p), offsets, LANES)[1]
    totals[:] = 0
    for first in range(0, codes.shape[0], OBJECTS):
        limit_rows(columns, codes, first, firsts, base, nearest, counts, distances, totals)


class ShortTable(NamedTuple):
    """A table of distances in 16-bit whole numbers, whose sums tell the nearest centre unless two are near ties.

    A row's distance to centre c, less its `base`, is within ``error`` of ``least`` + ``unit`` · the sum of its cells.
    Where another sum exceeds the least one by more than ``margin``, that centre is the farther one in float32 too; with
    a margin of -1 sums are equal where they are in float32.
    """

    cells: NDArray[np.uint16]
    """(d, k or more)"""
    least: np.float32
    unit: np.float32
    error: np.float32
    margin: int

    @classmethod
    def of(cls, table: NDArray[np.float32], offsets: NDArray[np.int64], rounding: float) -> ShortTable | None:
        """Of a finite table, (d, k), whose sums are within ``rounding`` of a row's distances; None if 16 bits hold
        too little of them.
        """
        p, k = len(offsets) - 1, table.shape[1]
        room = 2**16 - 4 - 3 * p / 2  # cells and margin are rounded to whole numbers
        if k < 2 or k > room:
            return None
        least, most = np.empty(p), np.empty(p)
        ranges_of_partitions(table, offsets, least, most)
        sizes, span = np.maximum(-least, most).sum(), (most - least).sum()
        float_error = 1.01 * p * 2.0**-24 * sizes  # of a sum in float32
        if span == 0:
            return None
        scale = 2.0 ** np.floor(np.log2(room / (span + 2 * float_error)))
        if not 2.0**-100 < scale < 2.0**100:
            return None
        cells = lines_of_zeros(len(table), -(-k // SHORT_LANES) * SHORT_LANES)
        off, whole = fill_shorts(table, offsets, least, scale, cells)
        off = off * (1 + 1e-9) + 1e-6
        # Of whole numbers the float32 sums are exact, and equal where these are.
        margin = -1 if whole and sizes * scale < 2**24 else int(2 * (off + float_error * scale))
        error = off / scale + 2 * max(rounding, 0) + 4 * 2.0**-23 * (sizes + span)
        above = np.nextafter(np.float32(error), np.float32(np.inf))
        return cls(cells, np.float32(least.sum()), np.float32(1 / scale), above, margin)


def lines_of_zeros(n: int, width: int) -> NDArray[np.uint16]:
    """(n, width) zeros that begin where a line of the processor's cache does."""
    memory = np.zeros(2 * n * width + LINE, dtype=np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + 2 * n * width].view(np.uint16).reshape(n, width)


@jit
def ranges_of_partitions(table: Any, offsets: Any, least: Any, most: Any) -> None:
    """table : IN (d, k) float32
    offsets : IN (p + 1,)
    least : OUT (p,) float64, of the rows of each partition
    most : OUT (p,) float64
    """
    for j in range(least.shape[0]):
        low = high = table[offsets[j], 0]
        for f in range(offsets[j], offsets[j + 1]):
            for c in range(table.shape[1]):
                low, high = min(low, table[f, c]), max(high, table[f, c])
        least[j], most[j] = low, high


@jit
def fill_shorts(table: Any, offsets: Any, least: Any, scale: float, cells: Any) -> tuple[float, bool]:
    """How far off the sum of a row's cells is at most; whether the table times ``scale`` has whole numbers alone.

    table : IN (d, k) float32
    offsets : IN (p + 1,)
    least : IN (p,) float64, of each partition, which is 0 among its cells
    scale : IN a power of two
    cells : IN/OUT (d, k or more) uint16 zeros; further columns get the largest number, once in every row's sum
    """
    k, off, whole = table.shape[1], 0.0, True
    for j in range(least.shape[0]):
        farthest = 0.0
        for f in range(offsets[j], offsets[j + 1]):
            for c in range(k):
                value = np.float64(table[f, c])
                above = (value - least[j]) * scale
                cell = np.rint(above)
                farthest = max(farthest, abs(cell - above))
                whole = whole and np.rint(value * scale) == value * scale
                cells[f, c] = np.uint16(cell)
        off += farthest
    for f in range(offsets[1]):
        for c in range(k, cells.shape[1]):
            cells[f, c] = 2**16 - 1
    return off, whole


class Climb(NamedTuple):
    """What the density of k clusters is made of."""

    alpha: NDArray[np.int64]
    """(d, k) objects of each cluster with each label."""
    labelled: NDArray[np.int64]
    """(p, k) objects of each cluster that the partition labels."""
    joined: NDArray[np.float64]
    """(k,) Σ w (Σ α² − labelled)."""
    pairs: NDArray[np.float64]
    """(k,) Σ w labelled (labelled − 1)."""
    sizes: NDArray[np.int64]
    """(k,) objects."""
    n_rows: NDArray[np.int64]
    """(k,) rows."""


@inner_jit
def weighted_density(size: Any, joined: Any, pairs: Any) -> Any:
    return size * joined / pairs if pairs > 0 else 0.0


@inner_jit
def weigh_labels(row: Any, offsets: Any, weights: Any, state: Any, alphas: Any, sizes: Any) -> float:
    """Returns the weight of the partitions that label the row.

    row : IN (p,) codes
    offsets : IN (p + 1,)
    weights : IN (p,)
    state : IN Climb
    alphas : OUT (k,) Σ w α of the row's labels
    sizes : OUT (k,) Σ w labelled of the partitions that label the row
    """
    alpha, labelled, _, _, _, _ = state
    total = 0.0
    alphas[:] = 0
    sizes[:] = 0
    for j in range(row.shape[0]):
        f = offsets[j] + row[j]
        if f < offsets[j + 1] - 1:
            w = weights[j]
            total += w
            for c in range(alphas.shape[0]):
                alphas[c] += w * alpha[f, c]
                sizes[c] += w * labelled[j, c]
    return total


@inner_jit
def move_row(row: Any, count: int, a: int, b: int, offsets: Any, state: Any) -> None:
    """Move a row with its objects from cluster a to b; the sums of the pairs are left as they are."""
    alpha, labelled, _, _, sizes, n_rows = state
    sizes[a] -= count
    sizes[b] += count
    n_rows[a] -= 1
    n_rows[b] += 1
    for j in range(row.shape[0]):
        f = offsets[j] + row[j]
        alpha[f, a] -= count
        alpha[f, b] += count
        if f < offsets[j + 1] - 1:
            labelled[j, a] -= count
            labelled[j, b] += count


@jit
def climb(
    codes: Any,
    counts: Any,
    clusters: Any,
    offsets: Any,
    weights: Any,
    state: Any,
    least: float,
    stop_flag: Any,
) -> int:
    """One pass over the rows; returns how many moved.

    With a row of q objects and weight w of the partitions that label it, a cluster gains 2 q Σ w α + w (q² − q) joined
    pairs and 2 q Σ w labelled + w (q² − q) pairs; it loses 2 q Σ w α − w (q² + q) and 2 q Σ w labelled − w (q² + q).

    codes : IN (m, p)
    counts : IN (m,) objects with that row
    clusters : IN/OUT (m,)
    offsets : IN (p + 1,)
    weights : IN (p,) float64
    state : IN/OUT Climb, as a plain tuple
    least : IN a row moves only if n S rises by more
    stop_flag : IN (1,)
    """
    _, _, joined, pairs, sizes, n_rows = state
    k, n_moved = sizes.shape[0], 0
    shared, known = np.empty(k), np.empty(k)
    for i in range(codes.shape[0]):
        if is_set(stop_flag):
            break
        a = clusters[i]
        if n_rows[a] < 2:
            continue
        q = np.float64(counts[i])
        weight = weigh_labels(codes[i], offsets, weights, state, shared, known)
        out_joined = joined[a] - 2 * q * shared[a] + weight * (q * q + q)
        out_pairs = pairs[a] - 2 * q * known[a] + weight * (q * q + q)
        loss = weighted_density(sizes[a], joined[a], pairs[a]) - weighted_density(sizes[a] - q, out_joined, out_pairs)
        best, b = least, -1
        for c in range(k):
            if c != a:
                in_joined = joined[c] + 2 * q * shared[c] + weight * (q * q - q)
                in_pairs = pairs[c] + 2 * q * known[c] + weight * (q * q - q)
                after = weighted_density(sizes[c] + q, in_joined, in_pairs)
                gain = after - weighted_density(sizes[c], joined[c], pairs[c]) - loss
                if gain > best:
                    best, b = gain, c
        if b < 0:
            continue
        joined[b] += 2 * q * shared[b] + weight * (q * q - q)
        pairs[b] += 2 * q * known[b] + weight * (q * q - q)
        joined[a], pairs[a] = out_joined, out_pairs
        move_row(codes[i], counts[i], a, b, offsets, state)
        clusters[i] = b
        n_moved += 1
    return n_moved
