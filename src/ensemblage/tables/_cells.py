"""From the text of cells to numbers."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "?"})
"""Cells that mean "no value", in lower case."""

_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")


def is_missing(cell: str) -> bool:
    return cell.lower() in MISSING


def number(cell: str) -> float | None:
    """The number a cell holds, with a decimal point or a decimal comma: NaN if missing, None if it is text."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        if is_missing(cell):
            return np.nan
        return float(cell.replace(",", ".")) if _COMMA_NUMBER.fullmatch(cell) else None


def numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """The numbers of a column, or None if a cell holds text."""
    value_of: dict[str, float] = {}
    for cell in set(cells):
        value = number(cell)
        if value is None:
            return None
        value_of[cell] = value
    return np.fromiter(map(value_of.__getitem__, cells), dtype=np.float64, count=len(cells))


def looks_like_thousands(cell: str) -> bool:
    """Whether a comma in the cell may stand between thousands: 1,234 but neither 0,123 nor 1,5."""
    return _THOUSANDS.fullmatch(cell) is not None
