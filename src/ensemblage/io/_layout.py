"""How a text table is laid out: its delimiter and its header."""

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ensemblage.base.options import Message, Option
from ensemblage.io._numbers import ONE_GROUP, POINT_NUMBER, is_missing, is_number

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


def find_layout(lines: list[str], name: str, delimiter: str | None = None, has_header: bool | None = None) -> Layout:
    """Find the delimiter and the header from the first rows; a first line ``sep=;`` says the delimiter."""
    said = re.fullmatch(r'"?sep=(.)"?\s*', lines[0], re.IGNORECASE) if lines else None
    skipped = 1 if said else 0
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
        _check_title(first, rows[1:], name)
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
    if len(even) > 1 and "," in even and all(re.search(r"\d,\d", c) for c in _around_commas(lines)):
        even.remove(",")
    return max(even or DELIMITERS, key=lambda d: _fit(samples[d]))


def _around_commas(lines: list[str]) -> list[str]:
    return [line[max(i - 1, 0) : i + 2] for line in lines[:SAMPLE_ROWS] for i, c in enumerate(line) if c == ","]


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


def _check_title(first: list[str], below: list[Row], name: str) -> None:
    """A first row with one cell, above a row of names and rows with numbers, is the title of the table."""
    if len(below) < 2 or any(first[1:]):
        return
    (place, header), *body = below
    width = _usual_width([cells for _, cells in body])
    are_names = len(header) == width > 2 and all(header) and not any(map(is_number, header))
    if are_names and any(is_number(cell) for _, cells in body for cell in cells):
        got = f"Got one cell, {first[0]!r}, and what looks like the names in line {place}"
        raise ValueError(
            f"The first row of {name} must name its {width} columns. {got}. Delete the lines above the names."
        )


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
