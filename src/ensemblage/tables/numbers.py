"""From the text of cells to numbers: what looks like one, and which decimal mark a file has."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

GAPS = ("", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "?")
"""Cells that mean "no value", in lower case."""
MISSING = frozenset(GAPS)
POINT = "."
"""No value among numbers, as SAS writes it; among texts it is one."""
SPELLINGS = sorted({spelling for gap in GAPS for spelling in (gap, gap.upper(), gap.title(), "NaN", "-NaN")})

# Regular expressions of both re and RE2.
SIGN, EXPONENT, SPACE = "[+-]?", r"(?:[eE][+-]?\d+)?", "[ \u00a0\u2009\u202f'\u2019]"
CURRENCIES = {"USD": r"\$|USD", "EUR": "€|EUR", "GBP": "£|GBP", "JPY": "¥|JPY", "INR": "₹|INR", "CHF": "CHF"}
CURRENCY = rf"(?:{'|'.join(CURRENCIES.values())})"
POINT_NUMBER = rf"^{SIGN}(?:\d+\.?\d*|\.\d+){EXPONENT}$"
COMMA_NUMBER = rf"^{SIGN}\d*,\d+{EXPONENT}$"
COMMA_GROUPS = rf"^{SIGN}[1-9]\d{{0,2}}(?:,\d{{3}})+(?:\.\d*)?$"
POINT_GROUPS = rf"^{SIGN}[1-9]\d{{0,2}}(?:\.\d{{3}})+(?:,\d*)?$"
SPACE_GROUPS = rf"^{SIGN}[1-9]\d{{0,2}}(?:{SPACE}\d{{3}})+(?:[.,]\d*)?$"
ONE_GROUP = {mark: rf"^{SIGN}[1-9]\d{{0,2}}{re.escape(mark)}\d{{3}}$" for mark in ",."}
"""1,234 or 1.234: a thousand or a fraction."""
_USUAL = re.compile(f"{POINT_NUMBER}|{COMMA_NUMBER}")
SAMPLE_ROWS = 1_000
NAMED = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


def is_missing(cell: str) -> bool:
    return cell.lower() in MISSING


def is_gap(cell: str) -> bool:
    """Whether a cell among numbers means "no value"."""
    return cell == POINT or is_missing(cell)


def is_number(cell: str) -> bool:
    """Whether a cell holds a number in any way of writing, or no value."""
    if _USUAL.fullmatch(cell) or is_gap(cell) or NAMED.fullmatch(cell):
        return True
    for pattern, replacement in AROUND:
        cell = re.sub(pattern, replacement, cell)
    forms = (POINT_NUMBER, COMMA_NUMBER, COMMA_GROUPS, POINT_GROUPS, SPACE_GROUPS)
    return any(re.match(form, cell) for form in forms)


AROUND = (
    ("\u2212", "-"),
    (r"(\d)\s*(?:±|\+/?-)\s*\d[\d.,]*(\s*%?)$", r"\1\2"),
    (r"^\(([^()-]*)\)$", r"-\1"),
    (rf"^({SIGN})\s*{CURRENCY}\s*({SIGN})", r"\1\2"),
    (rf"\s*(?:%|{CURRENCY})$", ""),
)
"""What stands around a number: its deviation, accountants' brackets, currency, percent."""


class Numbers(NamedTuple):
    """The numbers of a column."""

    values: NDArray[np.float64]
    """(n,) NaN where a cell is missing or holds no number."""
    is_other: NDArray[np.bool_]
    """(n,) whether a cell holds text that is no number."""
    is_plain: bool
    """Whether they are written as Python would write them."""


def parse_numbers(text: Any, mark: str) -> Numbers:
    """The numbers of Arrow text with this decimal mark."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if mark == "." or not has_mark(text, "."):
        with_point = pc.replace_substring(text, ",", ".") if mark == "," else text
        for fill in (False, True):
            try:
                values = pc.cast(_null_if_missing(with_point) if fill else with_point, pa.float64())
            except pa.ArrowInvalid:
                continue
            return Numbers(_floats(values), np.zeros(len(text), dtype=bool), mark == ".")
    filled = _null_if_missing(text)
    plain = _plain(strip_marks(filled), mark)
    is_plain = pc.or_(pc.match_substring_regex(plain, POINT_NUMBER), pc.is_in(plain, pa.array(["inf", "-inf", "Inf"])))
    values = pc.cast(pc.if_else(is_plain, plain, None), pa.float64())
    is_other = pc.fill_null(pc.invert(is_plain), False).to_numpy(zero_copy_only=False)
    return Numbers(_floats(values), is_other, False)


def currencies_in(text: Any) -> list[str]:
    """The currencies of Arrow text that holds numbers."""
    import pyarrow.compute as pc

    return [name for name, form in CURRENCIES.items() if pc.any(pc.match_substring_regex(text, form)).as_py()]


def bare_percent(values: NDArray[np.float64], has_sign: NDArray[np.bool_]) -> float | None:
    """What a bare number is multiplied by among numbers with a per cent sign: 100 of shares, 1 of per cent; else None.

    Shares are at most 1, where the numbers with a sign are mostly larger; per cent are larger than 1. 0 and 1 say
    nothing.
    """
    signed, bare = np.abs(values[has_sign & ~np.isnan(values)]), np.abs(values[~has_sign & ~np.isnan(values)])
    informative = bare[(bare != 0) & (bare != 1)]
    if not len(bare[bare != 0]) or not len(signed):
        return 1.0
    if len(informative) and informative.max() < 1 and np.median(signed) > 1:
        return 100.0
    return 1.0 if len(informative) and informative.min() > 1 else None


def has_mark(text: Any, mark: str) -> bool:
    """Whether a cell of Arrow text contains a character."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring(text, mark)).as_py())


def _null_if_missing(text: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.is_in(text, pa.array([*SPELLINGS, POINT])), None, text)


def _floats(values: Any) -> NDArray[np.float64]:
    return np.array(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def strip_marks(text: Any) -> Any:
    """Arrow text without what stands around numbers."""
    import pyarrow.compute as pc

    for pattern, replacement in AROUND:
        text = pc.replace_substring_regex(text, pattern, replacement)
    grouped = pc.match_substring_regex(text, SPACE_GROUPS)
    return pc.if_else(grouped, pc.replace_substring_regex(text, SPACE, ""), text)


def _plain(text: Any, mark: str) -> Any:
    """Numbers with a decimal point and without marks between thousands."""
    import pyarrow.compute as pc

    grouping, groups = (",", COMMA_GROUPS) if mark == "." else (".", POINT_GROUPS)
    text = pc.if_else(pc.match_substring_regex(text, groups), pc.replace_substring(text, grouping, ""), text)
    if mark == ".":
        return text
    fraction = pc.match_substring_regex(text, COMMA_NUMBER)
    text = pc.if_else(pc.match_substring(text, "."), "a point that is no decimal mark", text)
    return pc.if_else(fraction, pc.replace_substring(text, ",", "."), text)
