"""From the text of cells to numbers: what looks like one, and which decimal mark a file has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ensemblage.tables._column import Column

GAPS = ("", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "?")
"""Cells that mean "no value", in lower case."""
MISSING = frozenset(GAPS)
SPELLINGS = sorted({spelling for gap in GAPS for spelling in (gap, gap.upper(), gap.title(), "NaN", "-NaN")})

# Regular expressions of both re and RE2.
SIGN, EXPONENT, SPACE = "[+-]?", r"(?:[eE][+-]?\d+)?", "[ \u00a0\u2009\u202f'\u2019]"
CURRENCY = r"(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY)"
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


def is_number(cell: str) -> bool:
    """Whether a cell holds a number in any way of writing, or no value."""
    if _USUAL.fullmatch(cell):
        return True
    forms = (POINT_NUMBER, COMMA_NUMBER, COMMA_GROUPS, POINT_GROUPS, SPACE_GROUPS)
    return is_missing(cell) or bool(NAMED.fullmatch(cell)) or any(re.match(form, _bare(cell)) for form in forms)


def _bare(cell: str) -> str:
    for pattern, replacement in AROUND:
        cell = re.sub(pattern, replacement, cell)
    return cell


AROUND = (
    ("\u2212", "-"),
    (r"^\(([^()-]*)\)$", r"-\1"),
    (rf"^({SIGN})\s*{CURRENCY}\s*({SIGN})", r"\1\2"),
    (rf"\s*(?:%|{CURRENCY})$", ""),
)
"""What stands around a number: accountants' brackets, currency, percent."""


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

    if mark == "." or not has(text, "."):
        with_point = pc.replace_substring(text, ",", ".") if mark == "," else text
        for fill in (False, True):
            try:
                values = pc.cast(_filled(with_point) if fill else with_point, pa.float64())
            except pa.ArrowInvalid:
                continue
            return Numbers(_floats(values), np.zeros(len(text), dtype=bool), mark == ".")
    filled = _filled(text)
    plain = _plain(bare(filled), mark)
    is_plain = pc.or_(pc.match_substring_regex(plain, POINT_NUMBER), pc.is_in(plain, pa.array(["inf", "-inf", "Inf"])))
    values = pc.cast(pc.if_else(is_plain, plain, None), pa.float64())
    is_other = pc.fill_null(pc.invert(is_plain), False).to_numpy(zero_copy_only=False)
    return Numbers(_floats(values), is_other, False)


def has(text: Any, mark: str) -> bool:
    """Whether a cell of Arrow text contains a character."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring(text, mark)).as_py())


def _filled(text: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.is_in(text, pa.array(SPELLINGS)), None, text)


def _floats(values: Any) -> NDArray[np.float64]:
    return np.array(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def bare(text: Any) -> Any:
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


class Evidence(NamedTuple):
    """The first cell of a table whose decimal mark is sure, or in doubt (1,234), and where it stands."""

    cell: str
    column: str
    row: int


def decimal_mark(columns: Sequence[Column], delimiter: str, wanted: str | None) -> tuple[str, Evidence | None]:
    """The decimal mark of a table by all its numbers, and the cell in doubt if there is no other.

    Raises
    ------
    ConflictingMarks
        If both marks are sure.
    """
    if wanted is not None:
        return wanted, None
    texts = [column for column in columns if column.is_text]
    unread = [column for column in texts if column.read_again is None]
    marked = [c for c in unread if (has(c.text, ",") or _has_groups(c.text[:SAMPLE_ROWS], ".")) and c.looks_numeric]
    if not marked:
        return ".", None
    comma, doubt = _first(marked, [COMMA_NUMBER, POINT_GROUPS], ",")
    pointed = [c for c in texts if (has(c.text, ".") or _has_groups(c.text, ",")) and c.looks_numeric]
    point, _ = _first(pointed, [POINT_NUMBER, COMMA_GROUPS], ".")
    if comma and point:
        raise ConflictingMarks(comma, point)
    if comma or point:
        return ("," if comma else "."), None
    return ("," if delimiter == ";" else "."), doubt


def _has_groups(text: Any, mark: str) -> bool:
    """Whether a cell holds a mark twice."""
    import pyarrow.compute as pc

    mark = re.escape(mark)
    return bool(pc.any(pc.match_substring_regex(text, f"{mark}.*{mark}")).as_py())


class ConflictingMarks(Exception):
    """Numbers with a decimal comma, and numbers with a decimal point."""


def _first(columns: Sequence[Column], forms: Sequence[str], mark: str) -> tuple[Evidence | None, Evidence | None]:
    """The first cells with this decimal mark for sure, and in doubt."""
    doubt = None
    for column in columns:
        for n_rows in (SAMPLE_ROWS, len(column.text)):
            sure, unsure = _rows_with(column.text[:n_rows], forms, mark)
            if doubt is None and unsure >= 0:
                doubt = Evidence(column.text[unsure].as_py(), column.name, unsure)
            if sure >= 0:
                return Evidence(column.text[sure].as_py(), column.name, sure), doubt
    return None, doubt


def _rows_with(text: Any, forms: Sequence[str], mark: str) -> tuple[int, int]:
    """The first row with this decimal mark for sure, and the first with 1,234; −1 if there is none.

    A mark that stands before three digits once (1,234) is in doubt, one that does twice (1,234,567) groups them.
    """
    import pyarrow.compute as pc

    if not (has(text, mark) or has(text, "," if mark == "." else ".")):
        return -1, -1
    cells = bare(text)
    lone = {other: pc.match_substring_regex(cells, ONE_GROUP[other]) for other in ",."}
    fits = pc.or_(pc.match_substring_regex(cells, forms[0]), pc.match_substring_regex(cells, forms[1]))
    marked = pc.or_(pc.match_substring(cells, "."), pc.match_substring(cells, ","))
    sure = pc.and_(pc.and_(fits, marked), pc.invert(pc.or_(lone[","], lone["."])))
    return pc.index(sure, True).as_py(), pc.index(lone[","], True).as_py()
