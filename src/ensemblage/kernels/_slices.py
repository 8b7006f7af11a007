"""Rows of a kernel that is called in slices."""

from typing import Any

from ensemblage.kernels._jit import inner_jit


@inner_jit
def next_rows(n: int, operations: int, budget: int, progress: Any) -> tuple[int, int]:
    """The first row of this slice and the one after its last: one row or more.

    n : IN number of rows
    operations : IN of each row
    budget : IN operations of this slice
    progress : IN/OUT (1 or more,) rows done; afterwards those of this slice too
    """
    first = progress[0]
    progress[0] = min(n, first + max(1, budget // operations))
    return first, progress[0]
