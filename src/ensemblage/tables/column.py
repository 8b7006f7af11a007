"""A column as text, as numbers, as dates, as numbered distinct texts, and as labels.

Dates are recognised as people and programs write them, and become days. One rule makes labels of text, for files that
`Ensemble.load` reads and for tables that are combined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.tables.numbers import (
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


DATE = re.compile(
    r"(?:(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})"
    r"|(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second>\d{1,2})[-/.](?P<last>\d{4}|\d{2}))"
    r"(?:[ T](?P<h>\d{1,2}):(?P<min>\d{2})(?::(?P<s>\d{2})(?:[.,](?P<part>\d+))?)?"
    r"(?: ?(?P<half>[AaPp])[Mm])?(?: ?(?P<zone>Z|[+-]\d{2}:?\d{2}))?)?"
)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017


FEWEST_DAYS, FEWEST_MONTHS = 3, 10
"""Cells from which whole numbers such as 20240131, and 202401, are dates if each is one."""
YEARS = 1900, 2099


def are_compact_dates(numbers: NDArray[np.float64]) -> bool:
    """Whether whole numbers are all days, such as 20240131, or all months, such as 202401, and differ."""
    if len(numbers) < FEWEST_DAYS or numbers.min() == numbers.max():
        return False
    least, most = numbers.min(), numbers.max()
    if YEARS[0] * 100 <= least and most < (YEARS[1] + 1) * 100:
        return len(numbers) >= FEWEST_MONTHS and not np.isnan(_days_of(numbers * 100 + 1)).any()
    is_far = least < YEARS[0] * 10_000 or most >= (YEARS[1] + 1) * 10_000
    return not is_far and not np.isnan(_days_of(numbers)).any()


def _days_of(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) days since 1970-01-01 of numbers such as 20240131, NaN where one is none of the calendar."""
    days = np.full(len(numbers), np.nan)
    known = ~np.isnan(numbers)
    whole = numbers[known].astype(np.int64)
    year, month, day = whole // 10_000, whole // 100 % 100, whole % 100
    first = ((year - 1970) * 12 + np.clip(month, 1, 12) - 1).astype("datetime64[M]")
    last = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(np.int64)
    is_one = (month >= 1) & (month <= 12) & (day >= 1) & (day <= last)
    days[known] = np.where(is_one, first.astype("datetime64[D]").astype(np.int64) + day - 1, np.nan)
    return days


class Dates(NamedTuple):
    """A column of dates."""

    days: NDArray[np.float64]
    """(n,) since 1970-01-01, NaN where a cell is missing."""
    has_times: bool
    notes: tuple[str, ...]


def parse_dates(column: Column, source: str) -> Dates:
    """The dates of a column.

    Of 3.4.2024 and 3-4-2024 the day stands first, of 3/4/2024 the month, unless a number above 12 says otherwise.

    Raises
    ------
    ValueError
        If a cell holds no date of the calendar, or both orders occur.
    """
    if column.numbers is not None:
        numbers = column.numbers
        return Dates(_days_of(numbers * 100 + 1 if np.nanmax(numbers) < YEARS[0] * 10_000 else numbers), False, ())
    codes, texts = column.distinct
    found = {text: DATE.fullmatch(text) for text in texts if not is_missing(text)}
    day_first, notes = _day_first(column.name, [match for match in found.values() if match], source)
    moments = np.full(len(texts) + 1, np.nan)
    for j, text in enumerate(texts):
        if text in found:
            moments[j] = _days(found[text], day_first, text, column.name, source)
    has_times = any(match is not None and match["h"] is not None for match in found.values())
    return Dates(moments[codes], has_times, notes)


def _day_first(name: str, found: list[re.Match[str]], source: str) -> tuple[bool, tuple[str, ...]]:
    pairs = [match for match in found if match["first"]]
    if not pairs:
        return True, ()
    day_first = any(int(match["first"]) > 12 for match in pairs)
    month_first = any(int(match["second"]) > 12 for match in pairs)
    if day_first and month_first:
        raise ValueError(
            f"The dates of column {name!r} of {source} must have one format. Some begin with the day, some with the "
            "month. Write them as 2024-12-31."
        )
    if day_first or month_first:
        return day_first, ()
    day_first = pairs[0]["mark"] != "/"
    order = "day.month" if day_first else "month/day"
    return day_first, (f"dates of {name!r} are read as {order}: {pairs[0][0]}",)


def _days(match: re.Match[str] | None, day_first: bool, text: str, name: str, source: str) -> float:
    try:
        if match is None:
            raise ValueError
        if match["year"]:
            year, month, day = int(match["year"]), int(match["month"]), int(match["day"])
        else:
            first, second = int(match["first"]), int(match["second"])
            day, month = (first, second) if day_first else (second, first)
            year = int(match["last"])
            # As POSIX has it: 69 to 99 are of the last century.
            year += 0 if len(match["last"]) == 4 else 1900 if year >= 69 else 2000
        hour, minute, second = (int(match[part] or 0) for part in ("h", "min", "s"))
        if match["half"]:
            hour = hour % 12 + (12 if match["half"] in "pP" else 0)
        moment = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)  # noqa: UP017
    except ValueError:
        raise ValueError(
            f"Column {name!r} of {source} must hold dates, as its other cells do. Got {text!r}. Correct it."
        ) from None
    fraction = float(f"0.{match['part']}") if match["part"] else 0.0
    seconds = (moment - EPOCH).total_seconds() + fraction - _zone_seconds(match["zone"])
    return seconds / timedelta(days=1).total_seconds()


def _zone_seconds(zone: str | None) -> int:
    if zone in (None, "Z"):
        return 0
    digits = zone[1:].replace(":", "")
    return (1 if zone[0] == "+" else -1) * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)


def date_parts(dates: Dates, with_hour: bool) -> dict[str, NDArray[np.float64]]:
    """Year, month, day of the week from Monday, and hour, each (n,) with NaN where a cell is missing."""
    moments = np.full(len(dates.days), np.datetime64("NaT", "s"))
    known = ~np.isnan(dates.days)
    moments[known] = np.round(dates.days[known] * 86_400).astype("timedelta64[s]") + np.datetime64(0, "s")
    years, months = moments.astype("datetime64[Y]"), moments.astype("datetime64[M]")
    parts = {
        "year": years.astype(np.int64) + 1970.0,
        "month": (months - years).astype(np.int64) + 1.0,
        "weekday": (moments.astype("datetime64[D]").astype(np.int64) + 3.0) % 7,
    }
    if with_hour:
        parts["hour"] = (moments - moments.astype("datetime64[D]")).astype(np.int64) / 3_600.0
    return {part: np.where(known, values, np.nan) for part, values in parts.items()}


WHOLE = re.compile(r"-?(0|[1-9][0-9]*)(\.0*)?")
FRACTION = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


def label_values(texts: Sequence[str]) -> list[Any]:
    """The labels that the distinct texts of a column are, None where they mean missing.

    Whole numbers if all are whole decimals (1, −1.0), numbers if all are decimals and no two the same number, else
    text: with leading zeros, with exponents, whole and beyond 64 bits.
    """
    filled = [text for text in texts if not is_missing(text)]
    if all(map(WHOLE.fullmatch, filled)):
        whole = {text: int(text.partition(".")[0]) for text in filled}
        if all(-(2**63) <= value < 2**63 for value in whole.values()):
            return [whole.get(text) for text in texts]
    if all(map(FRACTION.fullmatch, filled)):
        values = {text: float(text) for text in filled}
        beyond = any("." not in text and abs(value) >= 2**53 for text, value in values.items())
        if len(set(values.values())) == len(filled) and not beyond:
            return [values.get(text) for text in texts]
    return [None if is_missing(text) else text for text in texts]


def as_labels(column: Column) -> NDArray[np.object_]:
    """(n,) texts, None where they are missing."""
    codes, texts = column.distinct
    labels = np.array([*(None if is_missing(text) else text for text in texts), None], dtype=object)
    return labels[codes]
