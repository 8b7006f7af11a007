"""Whole numbers that name the rows, such as account numbers: found by their values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ensemblage.io._column import Column

FEWEST_ROWS = 10
"""Of fewer rows whole numbers often differ."""
SURPRISE = 10.0
"""−ln of the chance that no two of so many whole numbers are equal, from which they were made to differ."""
WINDOW = 10
"""Steps from a number to the next ones, over which the density of the numbers is taken."""
LONG = 9
"""Digits that every one of them has: no measurement is so precise, ids and time stamps are."""
EXACT = 2.0**53
"""Larger whole numbers are no longer exact as floats."""
NEARLY = 0.9
"""Share of different values from which a column nearly differs in every row."""
PACKED = "whole numbers that differ in every row, although so many so close together would not by chance"
LONG_NUMBERS = "whole numbers of equally many digits that differ in every row"
INCREASING = "whole numbers that increase with the rows"
BY_VALUES = (PACKED, LONG_NUMBERS, INCREASING)


def why_id(column: Column, values: NDArray[np.float64]) -> str:
    """Why the whole numbers of a column name the rows, by their values alone; "" if they need not."""
    n = len(values)
    if n < FEWEST_ROWS or len(np.unique(values[:1000])) < NEARLY * len(values[:1000]):
        return ""
    if np.abs(values).max() >= EXACT:
        return LONG_NUMBERS if column.differs_everywhere() and _are_long(values) else ""
    if (np.diff(values) > 0).all():
        return PACKED if surprise(values) >= SURPRISE else INCREASING
    if len(np.unique(values)) < n:
        return ""
    if surprise(values) >= SURPRISE:
        return PACKED
    return LONG_NUMBERS if _are_long(values) else ""


def surprise(values: NDArray[np.float64]) -> float:
    """−ln of the chance that no two of so many whole numbers, spread as these different ones are, are equal.

    A number has as many neighbours within ``WINDOW`` steps as the density there says. If a share ρ of all possible
    numbers occurs, the chance that all differ falls by a factor of exp(1 + (1 − ρ) ln(1 − ρ) / ρ) with each number.
    """
    numbers = np.unique(values)
    if len(numbers) < 2:
        return 0.0
    unit = np.gcd.reduce(np.diff(numbers).astype(np.int64))
    steps = min(WINDOW, len(numbers) - 1)
    share = steps / ((numbers[steps:] - numbers[:-steps]) / unit)
    rest = 1 - share
    fall = 1 + np.where(rest > 0, rest * np.log(np.where(rest > 0, rest, 1)), 0) / share
    return float(len(numbers) * fall.mean())


def _are_long(values: NDArray[np.float64]) -> bool:
    """Whether all have as many digits, and many."""
    digits = np.floor(np.log10(np.maximum(np.abs(values), 1))) + 1
    return bool(digits.min() == digits.max() >= LONG)
