"""Tables for kernels that add their rows in vector registers: `ensemblage.kernels._lanes`."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._lanes import LANES

Floats = TypeVar("Floats", np.float32, np.float64)


def whole_lanes(table: NDArray[Floats], filled_with: float) -> NDArray[Floats]:
    """The table, C-contiguous, with columns of one value up to a multiple of ``LANES``.

    Raises ValueError if a number in it is not finite: there is no least sum with NaN.
    """
    if not np.isfinite(table).all():
        raise ValueError(
            f"Distances and votes must be finite in {table.dtype}. Got {table[~np.isfinite(table)][0]}. "
            "Give weights and parameters (exponent, smoothing) that are less extreme."
        )
    padding = -table.shape[1] % LANES
    return np.pad(np.ascontiguousarray(table), ((0, 0), (0, padding)), constant_values=filled_with)


def check_look_ups(codes: Any, offsets: NDArray[np.int64], table: NDArray[Any]) -> None:
    """`add_table_rows` checks nothing: a table must have a row for every code of every partition, in whole lanes."""
    if codes.shape[1] != len(offsets) - 1 or len(table) != offsets[-1] or table.shape[1] % LANES:
        raise ValueError(
            f"A table of {len(offsets) - 1} partitions must have {offsets[-1]} rows and a multiple of {LANES} columns. "
            f"Got shape {table.shape} for {codes.shape[1]} partitions. This is a bug: report it."
        )
