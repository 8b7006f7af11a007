"""Tables of floats as 16-bit whole numbers, partition by partition."""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import jit


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
