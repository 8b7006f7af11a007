"""Label values to codes, by range instead of by sorting."""

from typing import Any

from ensemblage.kernels._jit import jit


@jit
def mark_values(values: Any, lowest: Any, starts: Any, present: Any) -> None:
    """values : IN (n, p) integers
    lowest : IN (p,) int64, smallest value per column
    starts : IN (p,) int64, start of each column's range in `present`
    present : OUT flat uint8, 1 where a value occurs
    """
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            present[starts[j] + values[i, j] - lowest[j]] = 1


@jit
def look_up_values(values: Any, codes: Any, lowest: Any, starts: Any, code_of: Any) -> None:
    """values : IN (n, p) integers
    codes : OUT (n, p) unsigned integers
    lowest : IN (p,) int64
    starts : IN (p,) int64
    code_of : IN flat, code of every value of every column's range
    """
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            codes[i, j] = code_of[starts[j] + values[i, j] - lowest[j]]
