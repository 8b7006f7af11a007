"""From text to days: dates as people and programs write them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.io._column import Column
from ensemblage.io._numbers import is_missing

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
