"""Tables for kernels that add their rows in vector registers: `ensemblage.kernels._table_rows`."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._label_kmeans import fill_shorts, ranges_of_partitions
from ensemblage.kernels._vectors import LANES, LINE, SHORT_LANES

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
