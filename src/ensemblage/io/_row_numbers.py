"""Whole numbers that name the rows, such as account numbers: found by their values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ensemblage.io._column import Column

FEWEST_ROWS = 20
"""Of fewer rows whole numbers often differ, as steps of an experiment do."""
SURE, LIKELY = 16.0, 3.0
"""−ln of the chance that no two of so many whole numbers are equal, from which they are ids, and may be some."""
WINDOW = 10
"""Steps from a number to a later one, over which the density of the numbers is taken."""
LONG, RATHER_LONG = 11, 5
"""Digits that every one of them has: hardly a measurement is so precise, ids and time stamps are; most measurements of
fewer digits do not all have as many."""
EXACT = 2.0**53
"""Larger whole numbers are no longer exact as floats."""
SAMPLE = 1_000
NEARLY, FEW_EQUAL = 0.9, 0.2
"""Least share of different values, and most of the repetitions by chance, of numbers that nearly all differ."""
MOST_IDS = 3
"""Columns that are ids by their values: of more each is a number, such as a rank."""
PACKED = "whole numbers that differ in every row, although so many so close together would not by chance"
LONG_NUMBERS = "whole numbers of equally many digits that differ in every row"
BY_VALUES = (PACKED, LONG_NUMBERS)
ALL_DIFFER = "whole numbers that differ in every row, as many measurements do"
INCREASING = "whole numbers that increase with every row"


def why_id(column: Column, values: NDArray[np.float64]) -> str:
    """Why the whole numbers of a column name the rows, by their values alone; "" if they need not."""
    if values.min() < 0:
        return ""
    if len(values) >= FEWEST_ROWS and values.max() >= EXACT:
        return LONG_NUMBERS if _n_digits(values) >= LONG and column.differs_everywhere() else ""
    if not all_differ(values):
        return ""
    if surprise(values) >= SURE:
        return PACKED
    return LONG_NUMBERS if _n_digits(values) >= LONG else ""


def all_differ(values: NDArray[np.float64]) -> bool:
    """Whether whole numbers differ in every row of a table that is not small."""
    n = len(values)
    return n >= FEWEST_ROWS and _nearly_differ(values[:SAMPLE]) and len(np.unique(values)) == n


def why_perhaps_id(values: NDArray[np.float64], has_name: bool, n_columns: int = 1) -> str:
    """Why the whole numbers of a column that is no id may be ids; "" if nothing says so.

    ``has_name`` says that its name is that of an id; of ``n_columns`` columns of numbers one may differ by chance.
    """
    filled = values[~np.isnan(values)]
    n = len(filled)
    if n < FEWEST_ROWS or not _nearly_differ(filled[:SAMPLE]) or not _nearly_differ(filled) or filled.min() < 0:
        return ""
    n_equal, expected = n - len(np.unique(filled)), surprise(filled)
    if n_equal or n < len(values):
        few = expected >= SURE and n_equal <= FEW_EQUAL * expected
        return "whole numbers that nearly all differ, as ids do" if few or has_name else ""
    if (np.diff(filled) > 0).all():
        return INCREASING
    is_likely = expected >= LIKELY + np.log(n_columns) or _n_digits(filled) >= RATHER_LONG
    return "whole numbers that differ in every row" if is_likely else ""


def surprise(values: NDArray[np.float64]) -> float:
    """−ln of the chance that no two of so many whole numbers, spread as these different ones are, are equal.

    A number has as many neighbours within ``WINDOW`` steps as the density there says. If a share ρ of all possible
    numbers occurs, the chance that all differ falls by a factor of exp(1 + (1 − ρ) ln(1 − ρ) / ρ) with each number.
    Of sparse numbers it is about as many as pairs would be equal by chance.
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


def _nearly_differ(values: NDArray[np.float64]) -> bool:
    return len(np.unique(values)) >= NEARLY * len(values)


def _n_digits(values: NDArray[np.float64]) -> int:
    """How many digits each of the numbers has; 0 if that differs."""
    digits = np.floor(np.log10(np.maximum(np.abs(values), 1))) + 1
    return int(digits[0]) if digits.min() == digits.max() else 0
