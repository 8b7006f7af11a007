"""How a text table is laid out: its delimiter and its header."""

import csv
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ensemblage.tables._cells import number, numbers

DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "vertical bar", " ": "space"}
SAMPLE_ROWS = 100

Row = tuple[int, list[str]]
"""The number of a line and its cells."""


@dataclass(frozen=True)
class Layout:
    delimiter: str
    header: list[str]
    """One name per field of a row; empty where a field has none."""
    n_header_rows: int
    short_header: bool
    """R's habit: no field above the row names."""

    @property
    def width(self) -> int:
        return len(self.header)


def split_rows(lines: Iterable[str], delimiter: str, name: str) -> Iterator[Row]:
    """The rows of a text table that are not blank, with stripped cells."""
    if delimiter == " ":
        lines = (line.strip() + "\n" for line in lines)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(
                f"{name} must be a table with a {DELIMITERS[delimiter]} between its cells. "
                f"Line {reader.line_num} is not: {error}. Correct its quotes."
            ) from None
        if len(cells) > 1 or any(cells):
            yield reader.line_num, [cell.strip() for cell in cells]


def find_layout(lines: list[str], name: str, has_header: bool | None = None) -> Layout:
    """Find the delimiter and the header from the first rows."""
    samples = {delimiter: _sample(lines, delimiter, name) for delimiter in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda d: _fit(samples[d]))
    first, *body = samples[delimiter] or [cells for _, cells in split_rows(lines, delimiter, name)]
    short = bool(body) and len(first) == _usual_width(body) - 1
    if has_header is None:
        has_header = short or not _is_data(first, body)
    if not has_header:
        return Layout(delimiter, [f"column_{j}" for j in range(1, len(first) + 1)], 0, short_header=False)
    return Layout(delimiter, [""] * short + first, 1, short)


def _sample(lines: list[str], delimiter: str, name: str) -> list[list[str]]:
    try:
        return [cells for _, cells in itertools.islice(split_rows(lines, delimiter, name), SAMPLE_ROWS)]
    except ValueError:
        return []


def _usual_width(rows: list[list[str]]) -> int:
    return Counter(map(len, rows)).most_common(1)[0][0]


def _fit(rows: list[list[str]]) -> float:
    """How well a delimiter fits: rows of equal width, cells that are numbers. The first of equals is chosen."""
    body = rows[1:] or rows
    if not body or (width := _usual_width(body)) == 1:
        return 0.0
    alike = [row for row in body if len(row) == width]
    parsed = sum(number(cell) is not None for row in alike for cell in row)
    header_fits = len(rows[0]) in (width - 1, width)
    return len(alike) / len(body) * (0.1 + parsed / (width * len(alike))) * (1.0 if header_fits else 0.5)


def _is_data(first: list[str], body: list[list[str]]) -> bool:
    """Whether the first row looks like the rows below it: numbers above numbers, and text that comes again below."""
    if not first[0]:
        return False
    values = [number(cell) for cell in first]
    if None not in values and values in ([*range(len(first))], [*range(1, len(first) + 1)]):
        return False  # a data frame's default column names
    columns = list(zip(*(row for row in body if len(row) == len(first)), strict=True)) or [()] * len(first)
    return all(
        value is not None if numbers(column) is not None else cell in column
        for cell, value, column in zip(first, values, columns, strict=True)
    )
