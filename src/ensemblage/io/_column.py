"""A column as text, as numbers, and as numbered distinct texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.io._numbers import (
    CURRENCIES,
    Numbers,
    bare_percent,
    currencies_in,
    has_mark,
    is_gap,
    is_missing,
    is_number,
    parse_numbers,
)

SAMPLE = 1_000
UNIT = re.compile(r"[-+\u2212]?\d[\d.,'\u2019\u00a0\u202f ±/+-]*?\s*((?:[^\W\d_]|[°µ‰])[^\s\d]{0,15}[23]?)")
"""A number with what stands behind it: 175 cm, 23.5 kg/m2, 2.0±0.1 mm."""
WITH_UNIT = 0.5
"""Least share of the cells that have the unit; the others may be bare numbers ..."""
NO_UNIT = re.compile(r"(?i)more|mehr|and|or|oder|und|up|plus|over|older|above|st|[nr]d|th|x")
"""... unless the word says that they are no numbers."""
BARE_FACTOR = 3
"""Bare numbers lie among those with the unit, or at most so many times below or above."""
FAMILIES = [
    {"µg", "mg", "g", "kg", "t", "oz", "lb", "lbs"},
    {"nm", "µm", "mm", "cm", "dm", "m", "km", "in", "ft", "yd", "mi", "miles"},
    {"µl", "ml", "cl", "dl", "l"},
    {"ms", "s", "sec", "min", "h", "hr", "hrs", "d", "days"},
    {"°c", "°f", "c", "f"},
    {"kb", "mb", "gb", "tb"},
    {"w", "kw", "mw", "gw", "wh", "kwh", "mwh"},
    {"k", "m", "b", "bn", "mio", "mrd", "tsd"},
]
"""Units of one quantity: numbers in several of them are no column of numbers as they stand."""


@dataclass(eq=False)
class Column:
    """One column of a table."""

    name: str
    values: Any
    """(n,) Arrow array: text without spaces around it, null where empty; or typed, as in a Parquet file."""
    decimal: str = "."
    """The decimal mark of its numbers, if it is text."""
    read_again: Callable[[], Any] | None = None
    """The text, where ``values`` are the numbers of it, null where missing: with a decimal point; no leading zeros if
    they are whole."""
    categories: list[str] | None = None
    """The values in their order, if the table's type says that they are ordered."""

    @property
    def is_text(self) -> bool:
        """Whether the file holds text."""
        import pyarrow as pa

        return self.read_again is not None or bool(pa.types.is_string(self.values.type))

    @cached_property
    def text(self) -> Any:
        """(n,) Arrow text: the cells as a CSV file has them, null where empty."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.is_text:
            return self.values if self.read_again is None else self.read_again()
        if pa.types.is_boolean(self.values.type):
            return pc.if_else(self.values, "True", "False")
        try:
            text = pc.cast(self.values, pa.string())
            return short_times(text) if pa.types.is_temporal(self.values.type) else text
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # bytes that are no text, durations
            return pa.array([None if value is None else str(value) for value in self.values.to_pylist()], pa.string())

    def without(self, missing: NDArray[np.bool_]) -> Column:
        """The column with these cells empty."""
        import pyarrow as pa
        import pyarrow.compute as pc

        def emptied(values: Any) -> Any:
            return pc.if_else(pa.array(missing), pa.scalar(None, values.type), values)

        read_again = None if self.read_again is None else lambda: emptied(self.text)
        return replace(self, values=emptied(self.values), read_again=read_again)

    @cached_property
    def units(self) -> dict[str, int]:
        """What stands behind the numbers of a column of text, as in 175 cm, and in how many cells; "": nothing does.

        Empty if no cell has a unit, or one holds something else.
        """
        import pyarrow as pa

        if not pa.types.is_string(self.values.type):
            return {}
        first = [text for text in self.text.drop_null()[:SAMPLE].to_pylist() if not is_gap(text)]
        if all(map(is_number, first)) or not all(is_number(text) or UNIT.fullmatch(text) for text in first):
            return {}
        codes, texts = self.distinct
        found: dict[str, int] = {}
        for text, n in zip(texts, np.bincount(codes, minlength=len(texts)).tolist(), strict=False):
            if is_gap(text):
                continue
            match = None if is_number(text) else UNIT.fullmatch(text)
            number = text if match is None else text.removesuffix(match[1]).rstrip()
            if not is_number(number) or is_gap(number) or (match is not None and re.match(r"0\d", number)):
                return {}
            unit = "" if match is None else match[1]
            found[unit] = found.get(unit, 0) + n
        return found if found.keys() > {""} or "" not in found else {}

    @property
    def unit(self) -> str:
        """The unit of all numbers, or of some beside bare numbers; "" if there is none, or there are several."""
        unit, *others = self.units.keys() - {""} or [""]
        if others or "" not in self.units:
            return "" if others else unit
        is_rare = self.units[unit] < WITH_UNIT * sum(self.units.values())
        return "" if is_rare or NO_UNIT.fullmatch(unit) else unit

    @property
    def has_units(self) -> bool:
        """Whether the numbers have several units of one quantity, as 12.5 kg and 500 g."""
        units = {unit.casefold() for unit in self.units if unit}
        return len(units) > 1 and any(units <= family for family in FAMILIES)

    @cached_property
    def scales(self) -> list[int]:
        """The rows of two numbers on different scales, the first of each; none where all are on one.

        Scales differ by currency or by unit, and where a bare number may be a share or per cent.
        """
        if self.has_units:
            first, second, *_ = filter(None, self.units)
            return [self._row_with(rf"\d\s*{re.escape(unit)}$") for unit in (first, second)]
        if not self.is_text or self.read_again is not None or self.numbers is None:
            return []
        if len(found := currencies_in(self.text)) > 1:
            return [self._row_with(CURRENCIES[name]) for name in found[:2]]
        values = np.abs(np.nan_to_num(self.numbers))
        if self._with_percent[1] is None:
            has_sign = self._ends_with("%")
        elif self.unit:
            has_sign = self._ends_with(self.unit)
            bare, others = values[~has_sign & (values > 0)], values[has_sign & (values > 0)]
            low, high = (others.min(), others.max()) if len(others) else (0, np.inf)
            if bare.max(initial=0) <= BARE_FACTOR * high and bare.min(initial=np.inf) >= low / BARE_FACTOR:
                return []
        else:
            return []
        return [int(np.flatnonzero(which & (values > 0))[0]) for which in (has_sign, ~has_sign)]

    def _row_with(self, form: str) -> int:
        """The first row whose text has a regular expression."""
        import pyarrow.compute as pc

        return int(pc.index(pc.match_substring_regex(self.text, form), True).as_py())

    def _ends_with(self, ending: str) -> NDArray[np.bool_]:
        """(n,) whether a cell ends so."""
        import pyarrow.compute as pc

        found: NDArray[np.bool_] = pc.fill_null(pc.ends_with(self.text, ending), False).to_numpy(zero_copy_only=False)
        return found

    @cached_property
    def _with_percent(self) -> tuple[Numbers, float | None]:
        """The numbers of text, and what of it bare ones were multiplied by beside those with a per cent sign."""
        found = parse_numbers(self.numerals, self.decimal)
        if found.is_plain or not has_mark(self.text, "%"):
            return found, 1.0
        has_sign = self._ends_with("%")
        factor = bare_percent(found.values, has_sign)
        if factor == 100:
            found = found._replace(values=np.where(has_sign, found.values, np.round(100 * found.values, 10)))
        return found, factor

    @property
    def has_shares(self) -> bool:
        """Whether shares such as 0.68 are read as per cent, because other cells have the sign."""
        return self.is_text and self.read_again is None and self._with_percent[1] == 100

    def numeral(self, text: str) -> str:
        """A cell without the unit of the column."""
        return text.removesuffix(self.unit).rstrip() if self.unit else text

    @cached_property
    def numerals(self) -> Any:
        """(n,) Arrow text: the cells without their unit."""
        import pyarrow.compute as pc

        ending = rf"\s*{re.escape(self.unit)}$"
        return pc.replace_substring_regex(self.text, ending, "") if self.unit else self.text

    def take(self, rows: NDArray[np.intp]) -> Column:
        """The column of some rows."""
        read_again = None if self.read_again is None else lambda: self.text.take(rows)
        return replace(self, values=self.values.take(rows), read_again=read_again)

    def cells(self) -> list[str]:
        """The cells as text, "" where empty."""
        return [cell or "" for cell in self.text.to_pylist()]

    @cached_property
    def distinct(self) -> tuple[NDArray[np.int32], list[str]]:
        """(n,) number of each cell's text, the number of texts where it is empty; the distinct texts."""
        import pyarrow.compute as pc

        coded = self.text.dictionary_encode()
        texts = coded.dictionary.to_pylist()
        return pc.fill_null(coded.indices, len(texts)).to_numpy(zero_copy_only=False).astype(np.int32), texts

    @cached_property
    def parsed(self) -> Numbers:
        """What of the column are numbers."""
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = self.values.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            return self._with_percent[0]
        if self.read_again is not None and self.decimal != ".":
            return parse_numbers(self.text, self.decimal)
        values = pc.cast(self.values, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return Numbers(np.asarray(values, dtype=np.float64), np.zeros(len(values), dtype=bool), True)

    @property
    def numbers(self) -> NDArray[np.float64] | None:
        """(n,) NaN where a cell is missing; None if a cell holds text."""
        values, is_other, _ = self.parsed
        return None if is_other.any() else values

    @property
    def not_numbers(self) -> NDArray[np.intp]:
        """The rows whose cells hold text that is no number."""
        return np.flatnonzero(self.parsed.is_other)

    @cached_property
    def n_filled(self) -> int:
        """How many cells are not missing."""
        return int(self.is_filled.sum())

    @property
    def is_filled(self) -> NDArray[np.bool_]:
        """(n,) which cells are not missing."""
        values, is_other, _ = self.parsed
        filled: NDArray[np.bool_] = ~np.isnan(values) | is_other
        return filled

    @property
    def is_numeric(self) -> bool:
        """Whether at least half of the cells that hold anything are numbers."""
        return 2 * len(self.not_numbers) <= self.n_filled

    @cached_property
    def looks_numeric(self) -> bool:
        """Whether half of the first filled cells are numbers in some way of writing."""
        texts = [t for t in self.numerals.drop_null()[:SAMPLE].to_pylist() if not is_missing(t)]
        return 2 * sum(map(is_number, texts)) >= len(texts)

    def differs_everywhere(self) -> bool:
        """Whether no cell is missing and no two are the same."""
        codes, texts = self.distinct
        return len(texts) == len(codes) and not any(map(is_missing, texts))


def short_times(text: Any) -> Any:
    """Arrow text with times as CSV files have them: no zeros after seconds, no date before a time of day, no midnights.

    Midnight is written if another time is in the column.
    """
    import pyarrow.compute as pc

    for written, short in ((r"(:\d\d)\.0+([+Z-].*)?$", r"\1\2"), (r"^1899-12-3[01] (\d\d:\d\d:\d\d)$", r"\1")):
        text = pc.replace_substring_regex(text, written, short)
    only_midnights = pc.all(pc.match_substring_regex(text, r"^\d{4}-\d\d-\d\d 00:00:00$")).as_py()
    return pc.replace_substring(text, " 00:00:00", "") if only_midnights else text
