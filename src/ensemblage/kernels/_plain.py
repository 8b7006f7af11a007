"""What `_lanes`, `_short_lanes` and `_four_rows` write as vector instructions, as plain loops: the same bits on any
processor.

Nothing is checked, as there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit


@inner_jit
def add_table_rows(table: Any, starts: Any, sums: Any) -> None:
    """`ensemblage.kernels._lanes.add_table_rows`.

    table : IN flat
    starts : IN uint64 places in it
    sums : OUT (width,) of the rows that begin there, in their order
    """
    width = np.uint64(sums.shape[0])
    for c in range(width):
        sums[c] = 0
    for start in starts:
        for c in range(width):
            sums[c] += table[start + c]


@inner_jit
def add_weighted_rows(table: Any, starts: Any, weights: Any, sums: Any) -> None:
    """`ensemblage.kernels._lanes.add_weighted_rows`.

    table : IN flat
    starts : IN uint64 places in it
    weights : IN of them
    sums : OUT (width,) of the rows that begin there, times their weights, in their order
    """
    width = np.uint64(sums.shape[0])
    for c in range(width):
        sums[c] = 0
    for t in range(starts.shape[0]):
        for c in range(width):
            sums[c] += weights[t] * table[starts[t] + np.uint64(c)]


@inner_jit
def add_lines(table: Any, labels: Any, counts: Any, begin: int, end: int, limits: Any, size: Any, sums: Any) -> bool:
    """`ensemblage.kernels._lanes.add_lines`; whether any sum reaches its limit times ``size``.

    table : IN flat, lines as wide as `sums`
    labels : IN unsigned
    counts : IN of the labels; in a table of bytes taken for 1
    begin : IN labels from this one ...
    end : IN ... to the one before this
    limits : IN (width,)
    size : IN
    sums : OUT (width,)
    """
    width = np.uint64(limits.shape[0])
    for v in range(width):
        sums[v] = 0
    for e in range(begin, end):
        start, count = np.uint64(labels[e]) * width, table.dtype.type(1 if table.itemsize == 1 else counts[e])
        for v in range(width):
            sums[v] += table.dtype.type(count * table[start + v])
    reached = False
    for v in range(width):
        reached |= sums[v] >= table.dtype.type(limits[v] * size)
    return reached


@inner_jit
def two_least(values: Any) -> tuple[Any, Any]:
    """The least of ``values`` and the least of the others."""
    least, next_least = values.dtype.type(np.inf), values.dtype.type(np.inf)
    for value in values:
        if value < least:
            least, next_least = value, least
        elif value < next_least:
            next_least = value
    return least, next_least


@inner_jit
def add_short_rows(codes: Any, i: int, starts: Any, table: Any, sums: Any) -> None:
    """`ensemblage.kernels._short_lanes.add_short_rows`.

    codes : IN (n, p)
    i : IN row of it
    starts : IN (p,) uint64 places in the flat table where the rows of each partition's labels begin
    table : IN flat uint16
    sums : OUT (width,) uint16
    """
    width = np.uint64(sums.shape[0])
    sums[:] = 0
    for j in range(codes.shape[1]):
        start = starts[j] + np.uint64(codes[i, j]) * width
        for c in range(width):
            sums[c] += table[start + np.uint64(c)]


@inner_jit
def prefetch_row(codes: Any, i: int) -> None:
    """`ensemblage.kernels._short_lanes.prefetch_row`: nothing.

    codes : IN (n, p)
    i : IN row of it
    """


@inner_jit
def two_least_shorts(sums: Any) -> tuple[Any, Any, Any]:
    """The least of ``sums``, the least of the others, and the first place of the least."""
    least, next_least, place = np.int64(2**16), np.int64(2**16), np.int64(0)
    for c in range(sums.shape[0]):
        value = np.int64(sums[c])
        if value < least:
            least, next_least, place = value, least, np.int64(c)
        elif value < next_least:
            next_least = value
    return least, next_least, place


LANES, OBJECTS = 8, 4


@inner_jit
def limit_four_rows(
    codes: Any,
    first: int,
    starts: Any,
    table: Any,
    base: Any,
    nearest: Any,
    counts: Any,
    distances: Any,
    totals: Any,
) -> None:
    """`ensemblage.kernels._four_rows.limit_four_rows`.

    codes : IN (n, p)
    first : IN first of the objects
    starts : IN (p,) uint64 places in the flat table where the rows of each partition's labels begin
    table : IN flat float32, rows of LANES candidates
    base : IN (n,) float32
    nearest : IN (n,) float32
    counts : IN (n,)
    distances : OUT (n, LANES) float32, of these objects
    totals : IN/OUT (LANES,) float64
    """
    for i in range(first, min(first + OBJECTS, codes.shape[0])):
        row = distances[i]
        row[:] = 0
        for t in range(starts.shape[0]):
            start = starts[t] + np.uint64(codes[i, t]) * np.uint64(LANES)
            for c in range(LANES):
                row[c] += table[start + np.uint64(c)]
        for c in range(LANES):
            near = min(max(base[i] + row[c], np.float32(0)), max(nearest[i], np.float32(0)))
            row[c] = near
            totals[c] += np.float64(near) * np.float64(counts[i])
