"""Label values to codes, by range instead of by sorting."""

from typing import Any

from ensemblage._jit import jit


@jit
def mark_values(
    values: Any,  # IN (n, p) integers
    lowest: Any,  # IN (p,) int64, smallest value per column
    starts: Any,  # IN (p,) int64, start of each column's range in `present`
    present: Any,  # OUT flat uint8, 1 where a value occurs
) -> None:
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            present[starts[j] + values[i, j] - lowest[j]] = 1


@jit
def look_up_values(
    values: Any,  # IN (n, p) integers
    codes: Any,  # OUT (n, p) unsigned integers
    lowest: Any,  # IN (p,) int64
    starts: Any,  # IN (p,) int64
    code_of: Any,  # IN flat, code of every value of every column's range
) -> None:
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            codes[i, j] = code_of[starts[j] + values[i, j] - lowest[j]]
