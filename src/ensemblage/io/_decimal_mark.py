"""The decimal mark of a table: found in all its numbers, and told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Message, Option
from ensemblage.io._column import Column
from ensemblage.io._numbers import (
    COMMA_GROUPS,
    COMMA_NUMBER,
    ONE_GROUP,
    POINT_GROUPS,
    POINT_NUMBER,
    SAMPLE_ROWS,
    has_mark,
    strip_marks,
)
from ensemblage.io._table import Table


def with_decimal_mark(table: Table, delimiter: str, wanted: str | None, may_have_commas: bool = True) -> Table:
    """The table with the decimal mark of its numbers, and what was chosen as a note."""
    try:
        mark, doubt = decimal_mark(table.columns, delimiter, wanted, may_have_commas)
    except ConflictingMarks as marks:
        comma, point = marks.args
        rule = f"The numbers of {table.source} must have one decimal mark."
        got = f"Got {comma.cell} in {table.where(comma.row)} and {point.cell} in {table.where(point.row)}."
        either = Option("decimal", ","), " or ", Option("decimal", ".")
        raise ValueError(Message(f"{rule} {got} Use one mark, or name it: ", *either)) from None
    columns = [replace(column, decimal=mark) for column in table.columns]
    return replace(table, columns=columns, notes=(*table.notes, *_mark_notes(columns, mark, doubt)))


def _mark_notes(columns: Sequence[Column], mark: str, doubt: Evidence | None) -> list[str]:
    """How numbers were read that are not written as a program would."""
    if doubt is not None:
        thousands = "." if mark == "," else ","
        read, other = doubt.cell.replace(thousands, "").replace(mark, "."), thousands
        said = f"{doubt.cell} may be a thousand or a fraction: it is read as {read} (else: "
        return [Message(said, Option("decimal", other), ")")]
    examples: list[str] = []
    for column in columns:
        if len(examples) < 4 and not column.parsed.is_plain and column.numbers is not None:
            example = _example(column)
            examples += [example] if example else []
    notes = ["the decimal mark is a comma"] if mark == "," else ["numbers"]
    return [f"{notes[0]}: {', '.join(examples)}"] if examples else []


def _example(column: Column) -> str | None:
    """The first number that is not written as Python would: "45% is 45"."""
    import pyarrow.compute as pc

    odd = pc.match_substring_regex(column.numerals, rf"[^-+0-9{'.' if column.decimal == '.' else ''}eE]")
    row = pc.index(odd, True).as_py()
    values = column.numbers
    if row < 0 or values is None or np.isnan(values[row]):
        return None
    return f"{column.numerals[row]} is {values[row]:.15g}"


class Evidence(NamedTuple):
    """The first cell of a table whose decimal mark is sure, or in doubt (1,234), and where it stands."""

    cell: str
    column: str
    row: int


def decimal_mark(
    columns: Sequence[Column], delimiter: str, wanted: str | None, may_have_commas: bool = True
) -> tuple[str, Evidence | None]:
    """The decimal mark of a table by all its numbers, and the cell in doubt if there is no other.

    Raises
    ------
    ConflictingMarks
        If both marks are sure.
    """
    if wanted is not None:
        return wanted, None
    texts = [column for column in columns if column.is_text]
    unread = [column for column in texts if column.read_again is None and may_have_commas]
    marked = [
        c
        for c in unread
        if (has_mark(c.numerals, ",") or _has_groups(c.numerals[:SAMPLE_ROWS], ".")) and c.looks_numeric
    ]
    if not marked:
        doubt = _doubtful_point(texts, delimiter)
        return ("," if doubt and delimiter == ";" else "."), doubt
    comma, doubt = _first(marked, [COMMA_NUMBER, POINT_GROUPS], ",")
    pointed = [c for c in texts if (has_mark(c.numerals, ".") or _has_groups(c.numerals, ",")) and c.looks_numeric]
    point, _ = _first(pointed, [POINT_NUMBER, COMMA_GROUPS], ".")
    if comma and point:
        raise ConflictingMarks(comma, point)
    if comma or point:
        return ("," if comma else "."), None
    return ("," if delimiter == ";" else "."), doubt


FIRST = 1_000
"""Values that are looked at before all."""


def _has_fraction(values: NDArray[np.float64]) -> bool:
    """Whether a number is not whole; the first ones are looked at before all."""
    return any(bool((some % 1 > 0).any()) for some in (values[:FIRST], values))


def _doubtful_point(columns: Sequence[Column], delimiter: str) -> Evidence | None:
    """The first cell such as 1.234, if every number with a point is such, which may be thousands of all of them.

    Numbers that were read at once are read again only between semicolons, and if each of them may be such.
    """
    fractions = [c.parsed.values for c in columns if c.read_again is not None and _has_fraction(c.parsed.values)]
    if fractions and not (delimiter == ";" and all(map(_may_be_thousands, fractions))):
        return None
    forms = [POINT_NUMBER, COMMA_GROUPS]
    unread = [c for c in columns if c.read_again is None or fractions]
    point, doubt = _first([c for c in unread if has_mark(c.numerals, ".") and c.looks_numeric], forms, ".")
    if doubt and not point and delimiter == ";":  # 8.0 is whole, and no thousand
        point, _ = _first([c for c in columns if has_mark(c.numerals, ".") and c.looks_numeric], forms, ".")
    return None if point else doubt


def _may_be_thousands(values: NDArray[np.float64]) -> bool:
    """Whether each fraction has at most three decimals, and one to three digits before them."""
    sizes = np.abs(values[values % 1 > 0])
    return bool((sizes >= 1).all() and (sizes < 1000).all() and np.allclose(1000 * sizes, np.round(1000 * sizes)))


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
        for n_rows in (SAMPLE_ROWS, len(column.numerals)):
            sure, unsure = _rows_with(column.numerals[:n_rows], forms, mark)
            if doubt is None and unsure >= 0:
                doubt = Evidence(column.text[unsure].as_py(), column.name, unsure)
            if sure >= 0:
                return Evidence(column.text[sure].as_py(), column.name, sure), doubt
    return None, doubt


def _rows_with(text: Any, forms: Sequence[str], mark: str) -> tuple[int, int]:
    """The first row with this decimal mark for sure, and the first where that is in doubt; −1 if there is none.

    A mark that stands before three digits once (1,234 or 1.234) is in doubt; twice (1,234,567) it groups them.
    """
    import pyarrow.compute as pc

    if not (has_mark(text, mark) or has_mark(text, "," if mark == "." else ".")):
        return -1, -1
    cells = strip_marks(text)
    lone = {other: pc.match_substring_regex(cells, ONE_GROUP[other]) for other in ",."}
    fits = pc.or_(pc.match_substring_regex(cells, forms[0]), pc.match_substring_regex(cells, forms[1]))
    marked = pc.or_(pc.match_substring(cells, "."), pc.match_substring(cells, ","))
    sure = pc.and_(pc.and_(fits, marked), pc.invert(pc.or_(lone[","], lone["."])))
    return pc.index(sure, True).as_py(), pc.index(lone[mark], True).as_py()
