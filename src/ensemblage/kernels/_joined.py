"""How many partitions join a row with others, and how many label both, or what these partitions weigh."""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit


@inner_jit
def count_joined(columns: Any, row: Any, absent: Any, start: int, joined: Any, weights: Any = None) -> None:
    """columns : IN (p, m) codes
    row : IN (p,) codes of one row
    absent : IN (p,) code for missing; empty: nothing is missing
    start : IN first of the rows it is compared with
    joined : OUT (n,) partitions that join the row with rows start … start + n - 1, or the sum of their weights
    weights : IN (p,) float64; None: 1 each
    """
    p, n = columns.shape[0], joined.shape[0]
    joined[:] = 0
    # Four partitions at once: the counters are read and written a quarter as often.
    n_at_once = p - p % 4 if weights is None and absent.shape[0] == 0 else 0
    for t in range(0, n_at_once, 4):
        a, b = columns[t, start : start + n], columns[t + 1, start : start + n]
        c, d = columns[t + 2, start : start + n], columns[t + 3, start : start + n]
        of_a, of_b, of_c, of_d = row[t], row[t + 1], row[t + 2], row[t + 3]
        for j in range(n):
            joined[j] += (a[j] == of_a) + (b[j] == of_b) + (c[j] == of_c) + (d[j] == of_d)
    for t in range(n_at_once, p):
        column, code = columns[t, start : start + n], row[t]
        if absent.shape[0] > 0 and code == absent[t]:
            continue
        if weights is None:
            for j in range(n):
                joined[j] += np.uint8(column[j] == code)
        else:
            weight = weights[t]
            for j in range(n):
                joined[j] += weight * (column[j] == code)


@inner_jit
def count_labelled(columns: Any, row: Any, absent: Any, start: int, labelled: Any, weights: Any = None) -> None:
    """columns : IN (p, m) codes
    row : IN (p,) codes of one row
    absent : IN (p,) code for missing
    start : IN first of the rows it is compared with
    labelled : OUT (n,) partitions that label the row and rows start … start + n - 1, or the sum of their weights
    weights : IN (p,) float64; None: 1 each
    """
    n = labelled.shape[0]
    labelled[:] = 0
    for t in range(columns.shape[0]):
        column, none = columns[t, start : start + n], absent[t]
        if row[t] == none:
            continue
        if weights is None:
            for j in range(n):
                labelled[j] += np.uint8(column[j] != none)
        else:
            weight = weights[t]
            for j in range(n):
                labelled[j] += weight * (column[j] != none)
