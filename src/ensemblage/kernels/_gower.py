"""Gower's distances between rows of numbers and categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage.kernels._jit import jit


@jit
def gower(numbers: Any, categories: Any, first: int, last: int, distances: Any) -> None:
    """numbers : IN (n, a) of range 1, NaN where missing
    categories : IN (n, b) −1 where missing
    first : IN rows of this call: first, ...
    last : IN ... to last - 1; pairs with all earlier rows
    distances : OUT (n, n) mean over the columns that both rows have, NaN where there is none
    """
    for i in range(first, last):
        distances[i, i] = 0.0
        for j in range(i):
            total, n_both = 0.0, 0
            for f in range(numbers.shape[1]):
                difference = abs(numbers[i, f] - numbers[j, f])
                if not np.isnan(difference):
                    total += difference
                    n_both += 1
            for f in range(categories.shape[1]):
                a, b = categories[i, f], categories[j, f]
                if a >= 0 and b >= 0:
                    total += a != b
                    n_both += 1
            distances[i, j] = distances[j, i] = total / n_both if n_both else np.nan
