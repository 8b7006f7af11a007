"""Reading a table: from bytes to named columns."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from ensemblage.tables._cells import looks_like_thousands, numbers
from ensemblage.tables._fast import read_plain
from ensemblage.tables._layout import DELIMITERS, Layout, Row, find_layout, split_rows
from ensemblage.tables._parquet import read_parquet
from ensemblage.tables._table import Column, Table
from ensemblage.tables._text import decode, text_lines

PARQUET_SUFFIXES = (".parquet", ".pq")
ROW_NAMES = "row names"
"""What the unnamed first column is called."""
CHUNK_ROWS = 10_000


def read_table(
    content: bytes,
    name: str,
    *,
    as_text: Collection[str] = (),
    transpose: bool = False,
    encoding: str | None = None,
    has_header: bool | None = None,
) -> Table:
    """Read a table.

    Parameters
    ----------
    content : bytes
        Of the file, unpacked.
    name : str
        Of the file: ``.parquet`` and ``.pq`` are Parquet, everything else is text.
    as_text : names of columns whose cells are wanted as they stand in the file ("007", not 7)
    transpose : bool
        The file's columns are the rows of the table.
    encoding : str, optional
        Default: by the byte order mark, else UTF-8.
    has_header : bool, optional
        Default: found out from the first rows.

    Raises
    ------
    ValueError
        If the file is not a table: says where and what to do.
    """
    if Path(name).suffix.lower() in PARQUET_SUFFIXES:
        if transpose:
            raise ValueError("--transpose must be used with text tables. Got a Parquet file. Save the table as CSV.")
        table = read_parquet(content, name, as_text)
    else:
        table = _read_text(decode(content, name, encoding), name, as_text, transpose, has_header)
    if len(table) == 0:
        raise ValueError(f"{name} must hold at least one row below its header. It has none. Save the table again.")
    return _without_empty_columns(table)


def _read_text(text: str, name: str, as_text: Collection[str], transpose: bool, has_header: bool | None) -> Table:
    lines = text_lines(text)
    layout = find_layout(lines, name, has_header)
    if not transpose:
        names = _column_names(layout, name)
        plain = read_plain(lines, layout, names, as_text)
        if plain is not None:
            return Table(name, *plain, "line", _index(layout), _notes(layout))
    texts, places = _read_cells(lines, layout, name)
    if transpose:
        table = _transposed(texts, places, layout, name)
    else:
        columns = [Column(column, text, numbers(text)) for column, text in zip(names, texts, strict=True)]
        table = Table(name, columns, places, "line", _index(layout), _notes(layout))
    return _with_decimal_marks(table, layout.delimiter)


def _read_cells(lines: list[str], layout: Layout, name: str) -> tuple[list[list[str]], list[int]]:
    """The cells of each column, and the numbers of the lines."""
    texts: list[list[str]] = [[] for _ in layout.header]
    places: list[int] = []
    rows = itertools.islice(split_rows(lines, layout.delimiter, name), layout.n_header_rows, None)
    while chunk := list(itertools.islice(rows, CHUNK_ROWS)):
        _check_widths(chunk, layout, name)
        places += [place for place, _ in chunk]
        for text, cells in zip(texts, zip(*(cells for _, cells in chunk), strict=True), strict=True):
            shared: dict[str, str] = {}  # equal cells of a chunk are one object: label tables stay small
            text += map(shared.setdefault, cells, cells)
    return texts, places


def _transposed(texts: list[list[str]], places: list[int], layout: Layout, name: str) -> Table:
    """A table whose columns stand in rows: the first field of each is its name, the header names the objects."""
    named = not layout.header[0] or numbers(texts[0]) is None
    names = texts[0] if named else [f"row_{place}" for place in places]
    _check_names(names, name)
    cells = list(zip(*texts[named:], strict=True)) or [()] * len(names)
    columns = [Column(column, text, numbers(text)) for column, text in zip(names, cells, strict=True)]
    index = [Column(ROW_NAMES, layout.header[named:], None)] if layout.n_header_rows else []
    objects = range(1 + named, 1 + layout.width)
    return Table(name, index + columns, objects, "column", ROW_NAMES if index else None, _notes(layout))


def _check_widths(rows: list[Row], layout: Layout, name: str) -> None:
    for place, cells in rows:
        if len(cells) != layout.width:
            raise ValueError(
                f"Every row of {name} must have {layout.width} fields, as the first one has. "
                f"Got {len(cells)} in line {place}. Correct that line."
            )


def _column_names(layout: Layout, name: str) -> list[str]:
    names = [column or f"column_{j}" for j, column in enumerate(layout.header, start=1)]
    if not layout.header[0]:
        names[0] = ROW_NAMES
    _check_names(names, name)
    return names


def _check_names(names: list[str], source: str) -> None:
    (name, count), *_ = Counter(names).most_common(1) or [("", 1)]
    if count > 1:
        raise ValueError(
            f"The columns of {source} must have different names. Got {name!r} {count} times. "
            "Rename one, or add --no-header if the first row holds data."
        )


def _index(layout: Layout) -> str | None:
    return None if layout.header[0] else ROW_NAMES


def _notes(layout: Layout) -> tuple[str, ...]:
    notes = []
    if layout.delimiter != ",":
        notes.append(f"cells are separated by {DELIMITERS[layout.delimiter]}s")
    if not layout.n_header_rows:
        notes.append(f"the first row holds data: columns are called column_1 to column_{layout.width} (else: --header)")
    if layout.short_header:
        notes.append("the header is one field shorter than the rows: the first field of a row is its name")
    return tuple(notes)


def _with_decimal_marks(table: Table, delimiter: str) -> Table:
    """Check that the numbers have one decimal mark, and note a comma; between commas a quoted 1,234 is in doubt."""
    with_comma, with_point = _first_marked(table, ","), _first_marked(table, ".")
    if with_comma is None:
        return table
    cell, place = with_comma
    if with_point is not None:
        raise ValueError(
            f"The numbers of {table.source} must have one decimal mark. Got {cell} in {place} and {with_point[0]} in "
            f"{with_point[1]}. Write them all with a point or all with a comma."
        )
    texts = [column.text or () for column in table.columns if column.numbers is not None]
    if delimiter != ";" and all(looks_like_thousands(c) for text in texts for c in text if "," in c):
        raise ValueError(
            f"The numbers of {table.source} must have a clear decimal mark. Got {cell} in {place}, which may be a "
            "thousand or a fraction. Write them without thousands separators and with a decimal point."
        )
    return replace(table, notes=(*table.notes, f"the decimal mark is a comma: {cell} is {cell.replace(',', '.')}"))


def _first_marked(table: Table, mark: str) -> tuple[str, str] | None:
    """The first number with a mark, and where it stands."""
    for column in table.columns:
        if column.numbers is not None and column.text and mark in "".join(column.text):
            return next((cell, table.where(row)) for row, cell in enumerate(column.text) if mark in cell)
    return None


def _without_empty_columns(table: Table) -> Table:
    empty = [c.name for c in table.columns if c.numbers is not None and bool(np.isnan(c.numbers).all())]
    if not empty:
        return table
    columns = [column for column in table.columns if column.name not in empty]
    if not columns:
        raise ValueError(f"{table.source} must hold values. All its cells are empty. Save the table again.")
    index = None if table.index in empty else table.index
    return replace(table, columns=columns, index=index, notes=(*table.notes, f"left out, empty: {', '.join(empty)}"))
