"""How a text table is laid out: its delimiter and its header."""

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ensemblage.base.options import Message, Option
from ensemblage.base.text import some
from ensemblage.tables.numbers import ONE_GROUP, POINT_NUMBER, is_missing, is_number

DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "vertical bar", " ": "space"}
SAMPLE_ROWS = 100
LONGEST_CELL = 1 << 26
"""Characters: the csv module's own limit is 128 kB, for all who use it."""

Row = tuple[int, list[str]]
"""The number of a line and its cells."""


@dataclass(frozen=True)
class Layout:
    delimiter: str
    header: list[str]
    """One name per field of a row; empty where a field has none."""
    header_lines: int
    """How many lines of the file come before the first row of cells."""
    has_header: bool
    short_header: bool
    """R's habit: no field above the row names."""
    numbers: tuple[int, ...] = ()
    """The columns whose first cells are numbers as a program writes them ..."""
    fractions: tuple[int, ...] = ()
    """... and not all of them whole."""

    @property
    def width(self) -> int:
        return len(self.header)

    def notes(self) -> tuple[str, ...]:
        """What was found out."""
        notes = []
        if self.delimiter != ",":
            name = DELIMITERS.get(self.delimiter)
            notes.append(f"cells are separated by {name + 's' if name else repr(self.delimiter)}")
        if not self.has_header:
            named = f"column_1 to column_{self.width}"
            else_header = Option("has_header", True)
            notes.append(Message(f"the first row holds data: columns are called {named} (else: ", else_header, ")"))
        if self.short_header:
            notes.append("the header is one field shorter than the rows: the first field of a row is its name")
        return tuple(notes)


def split_rows(lines: Iterable[str], delimiter: str, name: str, strict: bool = True, skipped: int = 0) -> Iterator[Row]:
    """The rows of a text table that are not blank, with stripped cells; ``skipped`` lines of the file come before."""
    if delimiter == " ":
        lines = (line.strip() + "\n" for line in lines)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)
    while True:
        most = csv.field_size_limit(LONGEST_CELL)
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(
                f"{name} must be a table with a {DELIMITERS.get(delimiter, delimiter)} between its cells. "
                f"Line {skipped + reader.line_num} is not: {error}. Correct the quotes of that line."
            ) from None
        finally:
            csv.field_size_limit(most)
        if len(cells) > 1 or any(cells):
            yield skipped + reader.line_num, [cell.strip() for cell in cells]


def find_layout(
    lines: list[str],
    name: str,
    delimiter: str | None = None,
    has_header: bool | None = None,
    skip_rows: int = 0,
) -> Layout:
    """Find the delimiter and the header from the first rows; a first line ``sep=;`` says the delimiter."""
    said = re.fullmatch(r'"?sep=(.)"?\s*', lines[0], re.IGNORECASE) if lines else None
    skipped = max(skip_rows, 1 if said else 0)
    lines = lines[skipped:]
    delimiter = delimiter or (said[1] if said else None) or _delimiter(lines, name)
    rows = list(itertools.islice(split_rows(lines, delimiter, name, skipped=skipped), SAMPLE_ROWS))
    return layout_of_rows(rows, name, delimiter, has_header, skipped)


def layout_of_rows(rows: list[Row], name: str, delimiter: str, has_header: bool | None, skipped: int = 0) -> Layout:
    """The header of rows; the first ``skipped`` lines of the file are no rows."""
    if not rows:
        raise ValueError(f"{name} must hold a table. It holds nothing but blank lines. Save the table again.")
    n_lines, first = rows[0]
    body = [cells for _, cells in rows[1:]]
    short = bool(body) and len(first) == _usual_width(body) - 1
    if short and delimiter == ",":
        _check_commas(first, body, name)
    if has_header is None:
        _check_above(rows, name)
        has_header = short or not _is_data(first, body)
    if not has_header:
        names, n_lines, short = [f"column_{j}" for j in range(1, len(first) + 1)], skipped, False
        body = [first, *body]
    else:
        names = [""] * short + first
    columns = _columns(body, len(names))
    numbers = tuple(j for j, column in enumerate(columns) if _are_plain_numbers(column))
    fractions = tuple(j for j in numbers if any(re.search(r"\.\d*[1-9]", cell) for cell in columns[j]))
    return Layout(delimiter, names, n_lines, has_header, short, numbers, fractions)


def _columns(rows: list[list[str]], width: int) -> list[tuple[str, ...]]:
    """The columns of the rows of this width."""
    return list(zip(*(row for row in rows if len(row) == width), strict=True)) or [()] * width


def _are_plain_numbers(cells: Sequence[str]) -> bool:
    """Whether cells are numbers, surely with a decimal point, or missing; leading zeros make them codes."""
    filled = [cell for cell in cells if not is_missing(cell)]
    are_plain = all(re.match(POINT_NUMBER, cell) and not re.match(r"0\d", cell) for cell in filled)
    pointed = [cell for cell in filled if "." in cell]
    in_doubt = bool(pointed) and all(re.match(ONE_GROUP["."], cell) for cell in pointed)  # 1.234
    return bool(filled) and are_plain and not in_doubt


def _delimiter(lines: list[str], name: str) -> str:
    """The one that splits the header and the rows into as many cells; of several the one with most numbers.

    A comma that stands between digits only is a decimal mark if another character splits the rows too.
    """
    samples = {delimiter: _sample(lines, delimiter, name) for delimiter in DELIMITERS}
    even = [d for d, rows in samples.items() if _is_even(rows)]
    even = even or [d for d, rows in samples.items() if _is_even(rows, n_unnamed=1)]
    around = (line[max(i - 1, 0) : i + 2] for line in lines[:SAMPLE_ROWS] for i, c in enumerate(line) if c == ",")
    if len(even) > 1 and "," in even and all(re.search(r"\d,\d", three) for three in around):
        even.remove(",")
    return max(even or DELIMITERS, key=lambda d: _fit(samples[d]))


def _is_even(rows: list[list[str]], n_unnamed: int = 0) -> bool:
    """Whether nine of ten rows are of one width of at least two, of which the header names all but ``n_unnamed``."""
    widths = [len(row) for row in rows]
    if not rows or (width := widths[0] + n_unnamed) < 2:
        return False
    return 1 + widths[1:].count(width) >= max(0.9 * len(rows), min(len(rows), 2))


def _check_commas(header: list[str], body: list[list[str]], name: str) -> None:
    """One comma too many in every row: row names, or the decimal mark of a column."""
    pairs = [row[-2:] for row in body if len(row) == len(header) + 1]
    if all(re.fullmatch(r"[+-]?\d+", left) and re.fullmatch(r"\d+", right) for left, right in pairs) and (
        len(header) == 1 or any(re.fullmatch(r"0\d+", right) for _, right in pairs)
    ):
        got = f"Got {','.join(body[0])} below {','.join(header)}, which may be a decimal comma or a row name"
        raise ValueError(
            Message(
                f"The commas of {name} must be clear. {got}. Add ",
                Option("delimiter", ";"),
                " for a decimal comma, or give every column a name.",
            )
        )


MOST_ABOVE = 30
"""Rows above the names that are looked at."""


def _check_above(rows: list[Row], name: str) -> None:
    """Rows that come before the names of the columns are no rows of the table: titles, comments, a second header."""
    first = rows[0][1]
    for i, (place, names) in enumerate(rows[1 : MOST_ABOVE + 1], start=1):
        body = [cells for _, cells in rows[i + 1 :]]
        width = _usual_width(body) if body else 0
        above = rows[i - 1][1]
        is_note = sum(map(bool, above)) < width or above[0].startswith("#")
        if width < 2 or (i > 1 and not is_note):
            return
        if len(names) == width and not any(cell and is_number(cell) for cell in names):
            below = [[cell for cell in column if not is_missing(cell)] for column in _columns(body, width)]
            numbers = [j for j, cells in enumerate(below) if cells and all(map(is_number, cells))]
            named = [j for j in numbers if not is_missing(names[j])]
            if is_note and named == numbers != [] and all(names):
                rule = f"The first row of {name} must name its {width} columns. Got "
                cell = repr(next(filter(None, first)))
                got = f"{'one cell, ' * (not any(first[1:]))}{cell}, and what looks like the names in line {place}"
                raise ValueError(Message(f"{rule}{got}. Add ", Option("skip_rows", place - 1), "."))
            if i == 1 and not is_note and len(numbers) > 1 and 2 * len(named) > len(numbers):
                is_better = len(set(filter(None, names))) == width > len(set(first))
                advice = ("Add ", Option("skip_rows", place - 1), ".") if is_better else (f"Delete line {place}.",)
                got = f"Got {some(map(repr, first), 3)}, and text above numbers in line {place}, too. "
                raise ValueError(Message(f"The names of the columns of {name} must stand in one row. {got}", *advice))


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
    parsed = sum(is_number(cell) for row in alike for cell in row)
    return len(alike) / len(body) * (0.1 + parsed / (width * len(alike)))


def _is_data(first: list[str], body: list[list[str]]) -> bool:
    """Whether the first row looks like the rows below it: numbers above numbers, and text that comes again below."""
    if not first[0]:
        return False
    if first in ([str(j) for j in range(len(first))], [str(j) for j in range(1, len(first) + 1)]):
        return False  # a data frame's default column names
    return all(
        is_number(cell) if all(map(is_number, column)) else cell in column
        for cell, column in zip(first, _columns(body, len(first)), strict=True)
    )
