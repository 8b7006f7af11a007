"""Sums of rows of tables over the labels of a row of codes, and the least of the sums.

A row of codes has one label in each partition, and a table a row for each label: the sum of these rows are scores for
all columns at once. The widths of tables are multiples of ``LANES``, of 16-bit numbers of ``SHORT_LANES``.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._jit import inner_jit
from ensemblage.kernels._vectors import (
    LANES,
    LINE,
    OBJECTS,
    by_vectors,
    write_limited_rows,
    write_lines,
    write_table_rows,
)

Floats = TypeVar("Floats", np.float32, np.float64)


def whole_lanes(table: NDArray[Floats], filled_with: float) -> NDArray[Floats]:
    """The table, C-contiguous, with columns of one value up to a multiple of ``LANES``.

    Raises ValueError if a number in it is not finite: there is no least sum with NaN.
    """
    if not np.isfinite(table).all():
        raise ValueError(
            f"Distances and votes must be finite in {table.dtype}. Got {table[~np.isfinite(table)][0]}. "
            "Give weights and parameters (exponent, smoothing) of a less extreme size."
        )
    d, k = table.shape
    wide = np.full((d, k + -k % LANES), filled_with, dtype=table.dtype)
    wide[:, :k] = table
    return wide


def check_look_ups(codes: Any, offsets: NDArray[np.int64], table: NDArray[Any]) -> None:
    """`add_table_rows` checks nothing: a table must have a row for every code of every partition, in whole lanes."""
    if codes.shape[1] != len(offsets) - 1 or len(table) != offsets[-1] or table.shape[1] % LANES:
        raise ValueError(
            f"A table of {len(offsets) - 1} partitions must have {offsets[-1]} rows and a multiple of {LANES} columns. "
            f"Got shape {table.shape} for {codes.shape[1]} partitions. This is a bug: report it."
        )


@inner_jit
def partition_starts(partitions: Any, offsets: Any, width: Any) -> Any:
    """For `row_starts`: the partitions and where their rows begin in the flat table, both uint64.

    An index without a sign needs no test for negative ones, which would take as long as the look-up itself.

    partitions : IN
    offsets : IN (p + 1,)
    width : IN columns of the table
    """
    firsts = np.empty((2, partitions.shape[0]), np.uint64)
    for t in range(partitions.shape[0]):
        firsts[0, t] = partitions[t]
        firsts[1, t] = offsets[partitions[t]] * width
    return firsts


@inner_jit
def row_starts(labels: Any, firsts: Any, width: Any, starts: Any) -> None:
    """labels : IN (p,) codes of one row
    firsts : IN of `partition_starts`
    width : IN columns of the table
    starts : OUT, where the rows of its labels begin in the flat table
    """
    for t in range(firsts.shape[1]):
        starts[t] = firsts[1, t] + np.uint64(labels[firsts[0, t]]) * np.uint64(width)


@by_vectors(write_table_rows)
@inner_jit
def add_table_rows(table: Any, codes: Any, i: int, firsts: Any, sums: Any) -> None:
    """``sums[c]`` = Σ_t ``table[firsts[t] + codes[i, t] · width + c]``, added in the order of t, for every c.

    table : IN flat, uint16 or floats
    codes : IN (n, p) without sign, or int64
    i : IN int64, row of it
    firsts : IN (p,) uint64 places in the table where the rows of each partition's labels begin
    sums : OUT (width,) of the type of `table`
    """
    width = np.uint64(sums.shape[0])
    for c in range(width):
        sums[c] = 0
    for t in range(firsts.shape[0]):
        start = firsts[t] + np.uint64(codes[i, t]) * width
        for c in range(width):
            sums[c] += table[start + c]


@by_vectors(write_table_rows)
@inner_jit
def add_weighted_rows(table: Any, codes: Any, i: int, firsts: Any, sums: Any, weights: Any) -> None:
    """`add_table_rows` of the rows times the weights of the partitions, (p,); products are rounded."""
    width = np.uint64(sums.shape[0])
    for c in range(width):
        sums[c] = 0
    for t in range(firsts.shape[0]):
        start = firsts[t] + np.uint64(codes[i, t]) * width
        for c in range(width):
            sums[c] += weights[t] * table[start + c]


@by_vectors(write_limited_rows)
@inner_jit
def limit_rows(
    table: Any, codes: Any, first: int, firsts: Any, base: Any, nearest: Any, counts: Any, distances: Any, totals: Any
) -> None:
    """`ensemblage.kernels._label_kmeans.limit_distances` for the objects ``first`` … ``first + OBJECTS - 1``, as far as
    there are such.

    table : IN flat float32, rows of LANES candidates
    codes, firsts : IN as in `add_table_rows`
    first : IN int64
    base, nearest, counts : IN (n,) as there
    distances : OUT (n, LANES) float32, of these objects
    totals : IN/OUT (LANES,) float64
    """
    for i in range(first, min(first + OBJECTS, codes.shape[0])):
        row = distances[i]
        row[:] = 0
        for t in range(firsts.shape[0]):
            start = firsts[t] + np.uint64(codes[i, t]) * np.uint64(LANES)
            for c in range(LANES):
                row[c] += table[start + np.uint64(c)]
        for c in range(LANES):
            row[c] = min(max(base[i] + row[c], np.float32(0)), max(nearest[i], np.float32(0)))
            totals[c] += np.float64(row[c]) * np.float64(counts[i])


@by_vectors(write_lines)
@inner_jit
def add_lines(table: Any, labels: Any, counts: Any, begin: int, end: int, sums: Any) -> None:
    """``sums[v]`` = Σ ``counts[e]`` · ``table[labels[e], v]`` over begin ≤ e < end.

    Sums and products must be exact. Arrays are C-contiguous.

    table : IN flat, a line of ``LINE`` bytes for each label, of unsigned integers or floats
    labels : IN without sign
    counts : IN of the labels; in a table of bytes taken for 1
    begin, end : IN int64
    sums : OUT a line
    """
    width = np.uint64(LINE // table.itemsize)
    for v in range(width):
        sums[v] = 0
    for e in range(begin, end):
        start, count = np.uint64(labels[e]) * width, table.dtype.type(1 if table.itemsize == 1 else counts[e])
        for v in range(width):
            sums[v] += table.dtype.type(count * table[start + v])


@inner_jit
def reaches(sums: Any, limits: Any, size: Any) -> bool:
    """Whether any of the sums, a line, reaches its limit times ``size``, both of their type."""
    reached = False
    for v in range(sums.shape[0]):
        reached |= sums[v] >= sums.dtype.type(limits[v] * size)
    return reached


LARGEST = np.int32(2**31 - 1)


@inner_jit
def in_order(bits: Any) -> Any:
    """The bits of a float32, int32, as whole numbers in the order of the floats; and these as bits again."""
    return np.int32(bits ^ (np.int32(bits >> np.int32(31)) & LARGEST))


@inner_jit
def two_least(values: Any) -> tuple[Any, Any]:
    """The least of ``values``, float32 and no NaN, and the least of the others."""
    # As whole numbers: the compiler finds the least of these by vectors.
    keys, least = values.view(np.int32), LARGEST
    for c in range(keys.shape[0]):
        least = min(least, in_order(keys[c]))
    second, n_least = LARGEST, np.int32(0)
    for c in range(keys.shape[0]):
        key = in_order(keys[c])
        is_least = key == least
        second = min(second, LARGEST if is_least else key)
        n_least = np.int32(n_least + np.int32(is_least))
    if n_least > 1:
        second = least
    return np.int32(in_order(least)).view(np.float32), np.int32(in_order(second)).view(np.float32)


@inner_jit
def two_least_shorts(sums: Any) -> tuple[Any, Any, Any]:
    """The least of ``sums``, uint16, the least of the others, and the first place of the least."""
    most = np.uint16(2**16 - 1)
    least = most
    for c in range(sums.shape[0]):
        least = min(least, sums[c])
    # Without branches: the compiler makes vectors of it.
    second, place, n_least = most, most, np.uint16(0)
    for c in range(sums.shape[0]):
        is_least = sums[c] == least
        second = min(second, most if is_least else sums[c])
        place = min(place, np.uint16(c) if is_least else most)
        n_least = np.uint16(n_least + np.uint16(is_least))
    return np.int64(least), np.int64(least if n_least > 1 else second), np.int64(place)
