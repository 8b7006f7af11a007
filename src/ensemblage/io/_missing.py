"""Values that mean "missing": those that the user names, and numbers that look as if they did."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Alert, Message, of_columns
from ensemblage.tables.column import Column
from ensemblage.tables.numbers import POINT_NUMBER

if TYPE_CHECKING:
    from ensemblage.io._table import Table

AT_ONCE = 3
"""So many values may lie beyond one gap: 97, 98 and 99."""
FAR = 10
"""A value is far outside if it is more than so many times as far from the others as they span ..."""
LIKE_A_CODE = re.compile(r"9+|8+|7+|9+[78]")
"""... or once that, if its digits are such."""
ONE_DIGIT = (7.0, 8.0, 9.0)
"""Codes of answers on a short scale, if several columns have them."""
FEWEST_ANSWERS, MOST_ANSWERS, MOST_SPAN = 3, 7, 20
"""Different answers of a scale, and the range of all its numbers."""
SEVERAL, PART_OF_SCALE = 3, 0.25
"""Columns with such codes, at least, and their part of the columns on the scale."""
FIRST = 1_000
"""Values that are looked at before all."""
SHOWN = 5
"""Values, and columns of one, that a note names."""


def likely_codes(values: NDArray[Any]) -> list[float]:
    """The numbers of a column that look like codes for missing values, by the rule of docs/TABLES.md."""
    left, found = values[np.isfinite(values)], list[float]()
    while beyond := _beyond(left, 1) or _beyond(left, -1):
        found += beyond
        left = left[~np.isin(left, beyond)]
    return sorted(found)


def _beyond(values: NDArray[Any], side: int) -> list[float]:
    """Such numbers above (side 1) or below (−1) all others."""
    found, rest = list[float](), values
    for _ in range(AT_ONCE):
        code = rest.max(initial=-np.inf) if side == 1 else rest.min(initial=np.inf)
        others = rest[rest != code]
        if code == 0 or len(rest) < len(others) + 2 or 2 * len(others) <= len(values):
            return []
        found.append(float(code))
        rest = others
        low, high = others.min(), others.max()
        gap, span = (code - high if side == 1 else low - code), high - low
        if span > 0 and (
            (gap > FAR * span and bool(((others != low) & (others != high)).any()))
            or (all(map(_is_like_a_code, found)) and (gap > span or (code < 0 <= low)))
        ):
            return found
    return []


def _is_like_a_code(value: float) -> bool:
    digits = f"{abs(value):.15g}".replace(".", "")
    return LIKE_A_CODE.fullmatch(digits) is not None and (value < 0 or len(digits) > 1)


def codes_in(columns: Iterable[tuple[Any, NDArray[Any]]]) -> dict[float, dict[Any, int]]:
    """The numbers that look like codes for missing values: in which column each is, and how often.

    In columns of answers on one scale, such as 1 to 5, a single 7, 8 or 9 is one, too, if several have such codes.
    """
    found = dict[float, dict[Any, int]]()
    on_scale = dict[float, list[tuple[Any, dict[float, int]]]]()
    for name, given in columns:
        values = np.ascontiguousarray(given)  # which is gone through many times
        for code in likely_codes(values):
            found.setdefault(code, {})[name] = int(np.count_nonzero(values == code))
        if (scale := _short_scale(values)) is not None:
            on_scale.setdefault(scale[0], []).append((name, scale[1]))
    for answers in on_scale.values():
        coded = [(name, codes) for name, codes in answers if codes]
        if len(coded) >= max(SEVERAL, len(answers) * PART_OF_SCALE):
            for name, codes in coded:
                for code, n in codes.items():
                    found.setdefault(code, {})[name] = n
    return dict(sorted(found.items()))


def _short_scale(values: NDArray[Any]) -> tuple[float, dict[float, int]] | None:
    """The largest of a few consecutive whole numbers, and how often each larger one occurs that is like a code.

    None for other numbers.
    """
    low, high = (np.fmin.reduce(values, initial=np.nan), np.fmax.reduce(values, initial=np.nan))
    if not (high <= max(ONE_DIGIT) and high - low < MOST_SPAN):  # NaN is not
        return None
    known = values[~np.isnan(values)]
    if any((some != np.floor(some)).any() for some in (known[:FIRST], known)):
        return None
    levels, counts = np.unique(known, return_counts=True)
    steps = np.flatnonzero(np.diff(levels) > 1)
    end = int(steps[0]) + 1 if len(steps) else len(levels)
    codes = {float(code): int(n) for code, n in zip(levels[end:], counts[end:], strict=True)}
    if (
        not FEWEST_ANSWERS <= end <= MOST_ANSWERS
        or len(codes) > AT_ONCE
        or not all(code in ONE_DIGIT for code in codes)
    ):
        return None
    is_rare = all(n > 1 for n in codes.values()) and 2 * sum(codes.values()) < counts.sum()
    return (float(levels[end - 1]), codes) if is_rare else None


def alerts_of_codes(columns: Iterable[tuple[Any, NDArray[Any]]]) -> Iterator[Alert]:
    """The alert of the numbers in these columns that may mean missing."""
    found = codes_in(columns)
    places = {code: [f"{name!r} ({n:,} cells)" for name, n in cells.items()] for code, cells in found.items()}
    if not places:
        return
    codes = list(places)
    noted = [f"{code:.15g} in {_first_places(places[code])}" for code in codes[:SHOWN]]
    more = [f"and {len(codes) - SHOWN} others"] * (len(codes) > SHOWN)
    given = of_columns("missing", [int(code) if code == int(code) else code for code in codes])
    is_one = len(codes) == len(places[codes[0]]) == 1
    far = f"far from all other values of {'its column' if is_one else 'their columns'}"
    yield Alert("may mean missing", "; ".join([*noted, *more]), far, Message("If so, add ", given, "."))


def _first_places(names: Sequence[str]) -> str:
    n = len(names) - SHOWN
    more = f" and {n:,} other column{'s' * (n > 1)}" if n > 0 else ""
    return f"{', '.join(names[:SHOWN])}{more}"


class Gaps:
    """What means missing beside the usual: texts, in any case, and numbers, however they are written."""

    def __init__(self, given: Sequence[str | float]) -> None:
        self.texts = {text.strip().casefold() for text in given if isinstance(text, str)}
        numbers = [_number(text) for text in given]
        self.numbers = np.array([number for number in numbers if number is not None])

    def are(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """(n,) which numbers mean missing."""
        return np.isin(values, self.numbers)

    def in_column(self, column: Column) -> NDArray[np.bool_]:
        """(n,) which cells mean missing."""
        if column.read_again is not None or not (column.is_text or column.numbers is None):
            return self.are(column.parsed.values)
        codes, texts = column.distinct
        written = [column.numeral(text).replace(column.decimal, ".") for text in texts]
        found = [t.casefold() in self.texts or _number(w) in self.numbers for t, w in zip(texts, written, strict=True)]
        return np.array([*found, False])[codes]


def _number(text: str | float) -> float | None:
    if isinstance(text, str):
        return float(text) if re.match(POINT_NUMBER, text.strip()) else None
    return float(text)


def with_gaps(table: Table, given: Sequence[str | float] | None) -> Table:
    """The table with empty cells for what means missing, but not among the ids; a note says where there was any."""
    if not given:
        return table
    gaps, roles, columns, noted = Gaps(given), table.found_roles, list[Column](), list[str]()
    for column in table.columns:
        missing = np.zeros(len(table), bool) if roles[column.name].name == "id" else gaps.in_column(column)
        if missing.any():
            noted.append(f"{column.name!r} ({int(missing.sum()):,} cells)")
        columns.append(column.without(missing) if missing.any() else column)
    note = f"missing, as you said: {_first_places(noted) if noted else 'no cell'}"
    return replace(table, columns=columns, notes=(*table.notes, note))
