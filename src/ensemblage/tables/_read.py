"""Reading a table: from a file or its bytes to named columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np

from ensemblage._validation import check_path
from ensemblage.tables._bytes import base_name, read_bytes, text_bytes
from ensemblage.tables._column import Column
from ensemblage.tables._formats import TYPED, WORKBOOKS, read_text, read_typed, read_workbook, row_places
from ensemblage.tables._layout import Layout
from ensemblage.tables._numbers import ConflictingMarks, Evidence, decimal_mark
from ensemblage.tables._table import Table

PANDAS_INDEX = "__index_level_0__"
ROW_NAMES = "row names"
"""What the unnamed first column is called."""


class Reading(TypedDict, total=False):
    """How a table is read."""

    transpose: bool
    encoding: str | None
    has_header: bool | None
    delimiter: str | None
    decimal: Literal[".", ","] | None
    sheet: str | None


def read_table(
    path: str | PathLike[str],
    *,
    transpose: bool = False,
    encoding: str | None = None,
    has_header: bool | None = None,
    delimiter: str | None = None,
    decimal: Literal[".", ","] | None = None,
    sheet: str | None = None,
    roles: Mapping[str, str] | None = None,
) -> Table:
    """Read the table that the commands of the shell work on.

    Parameters
    ----------
    path : path
        CSV and its relatives (plain, .gz or .zst), Parquet, Arrow, JSON lines, a workbook of Excel or OpenDocument.
    transpose : bool, default False
        The file's columns are the rows of the table.
    encoding : str, optional
        Of text. Default: by the byte order mark, else UTF-8.
    has_header : bool, optional
        Whether the first row holds names. Default: found out from the first rows.
    delimiter : str, optional
        What stands between cells of text. Default: found out.
    decimal : {".", ","}, optional
        The decimal mark of text. Default: found out from all numbers.
    sheet : str, optional
        Of a workbook. Default: the only one with cells.
    roles : mapping of column to {"id", "number", "category", "ordered", "drop"}, optional
        Instead of those that are found.

    Returns
    -------
    Table
        With ``columns``, ``roles`` and ``notes``.

    Raises
    ------
    ValueError
        If the file is not a table, or could be read in two ways: says where and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name;size;group\\nann;1,5;a\\nbob;1,75;b\\ncid;1,8;a\\n")
    >>> table = read_table(path)
    >>> table.roles
    {'name': 'id', 'size': 'number', 'group': 'category'}
    >>> table.features().X.tolist()
    [[1.5], [1.75], [1.8]]
    """
    file = check_path(path, "path")
    options = Reading(
        transpose=transpose,
        encoding=encoding,
        has_header=has_header,
        delimiter=delimiter,
        decimal=decimal,
        sheet=sheet,
    )
    return replace(parse_table(read_bytes(file), base_name(file), **options), given_roles=dict(roles or {}))


def parse_table(
    content: bytes,
    name: str,
    *,
    transpose: bool = False,
    encoding: str | None = None,
    has_header: bool | None = None,
    delimiter: str | None = None,
    decimal: Literal[".", ","] | None = None,
    sheet: str | None = None,
    keep_empty: bool = False,
) -> Table:
    """The table in the unpacked bytes of a file of this name; the suffix of the name says what it is."""
    suffix, may_have_commas = Path(name).suffix.lower(), True
    if suffix in TYPED:
        if transpose:
            raise ValueError("--transpose must be used with text tables. Got a typed file. Save the table as CSV.")
        table = _typed_table(content, name, suffix)
    elif suffix in WORKBOOKS:
        cells, layout = read_workbook(content, name, sheet, has_header)
        first = layout.has_header + 1
        table = _text_table(cells, layout, name, transpose, lambda: range(first, first + len(cells)), "row")
    else:
        text = text_bytes(content, name, encoding)
        cells, layout = read_text(text, name, delimiter, has_header)
        may_have_commas = layout.delimiter != "," or b'"' in text or transpose
        has_spaces = b" " in text or b"\t" in text or not text.isascii()
        table = _text_table(cells, layout, name, transpose, lambda: row_places(text, layout, name), "line", has_spaces)
    if len(table) == 0:
        raise ValueError(f"{name} must hold at least one row below its header. It has none. Save the table again.")
    if suffix not in TYPED:
        table = _with_decimal_mark(table, layout.delimiter, decimal if may_have_commas else ".")
    return table if keep_empty else _without_empty_columns(table)


def _typed_table(content: bytes, name: str, suffix: str) -> Table:
    frame = read_typed(content, name, suffix)
    _check_names(frame.column_names, name)
    columns = [_column(name, frame.column(j)) for j, name in enumerate(frame.column_names)]
    rows = range(1, frame.num_rows + 1)
    return Table(name, columns, lambda: rows, "row", PANDAS_INDEX if PANDAS_INDEX in frame.column_names else None)


def _text_table(
    cells: Any,
    layout: Layout,
    name: str,
    transpose: bool,
    places: Callable[[], Sequence[int]],
    unit: str,
    has_spaces: bool = True,
) -> Table:
    if transpose:
        return _transposed(cells, layout, name, places)
    names = [column or f"column_{j}" for j, column in enumerate(layout.header, start=1)]
    if not layout.header[0]:
        names[0] = ROW_NAMES
    _check_names(names, name)
    columns = [_column(column, cells.column(j), has_spaces=has_spaces) for j, column in enumerate(names)]
    return Table(name, columns, places, unit, None if layout.header[0] else ROW_NAMES, layout.notes())


def _column(name: str, values: Any, *, has_spaces: bool = True) -> Column:
    """A column of one Arrow array; text without spaces around it, null where empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = values.combine_chunks()
    if isinstance(values, pa.ChunkedArray):
        values = pa.concat_arrays(values.chunks)
    kind = values.type
    if str(kind) in ("null", "large_string", "string_view"):
        values = values.cast(pa.string())
    if has_spaces and pa.types.is_string(values.type):
        trimmed = pc.utf8_trim_whitespace(values)
        values = pc.if_else(pc.equal(trimmed, ""), None, trimmed)
    return Column(name, values)


def _transposed(cells: Any, layout: Layout, name: str, places: Callable[[], Sequence[int]]) -> Table:
    """A table whose columns stand in rows: the first field of each is its name, the header names the objects."""
    import pyarrow as pa

    first = _column("", cells.column(0))
    named = not layout.header[0] or first.numbers is None
    names = first.cells() if named else [f"row_{place}" for place in places()]
    _check_names(names, name)
    rows = zip(*(cells.column(j).to_pylist() for j in range(int(named), layout.width)), strict=True)
    columns = [_column(column, pa.chunked_array([row], pa.string())) for column, row in zip(names, rows, strict=True)]
    header = pa.chunked_array([layout.header[named:]], pa.string())
    index = [_column(ROW_NAMES, header)] if layout.has_header else []
    objects = range(1 + named, 1 + layout.width)
    return Table(name, index + columns, lambda: objects, "column", ROW_NAMES if index else None, layout.notes())


def _check_names(names: Sequence[str], source: str) -> None:
    (name, count), *_ = Counter(names).most_common(1) or [("", 1)]
    if count > 1:
        raise ValueError(
            f"The columns of {source} must have different names. Got {name!r} {count} times. "
            "Rename one, or add --no-header if the first row holds data."
        )


def _with_decimal_mark(table: Table, delimiter: str, wanted: str | None) -> Table:
    """The table with the decimal mark of its numbers, and what was chosen as a note."""
    try:
        mark, doubt = decimal_mark(table.columns, delimiter, wanted)
    except ConflictingMarks as marks:
        comma, point = marks.args
        raise ValueError(
            f"The numbers of {table.source} must have one decimal mark. Got {comma.cell} in {table.where(comma.row)} "
            f"and {point.cell} in {table.where(point.row)}. Write them alike, or say it: --decimal , or --decimal ."
        ) from None
    columns = [replace(column, decimal=mark) for column in table.columns]
    return replace(table, columns=columns, notes=(*table.notes, *_mark_notes(columns, mark, doubt)))


def _mark_notes(columns: Sequence[Column], mark: str, doubt: Evidence | None) -> list[str]:
    """How numbers were read that are not written as a program would."""
    if doubt is not None:
        read, other = (doubt.cell.replace(",", "."), ".") if mark == "," else (doubt.cell.replace(",", ""), ",")
        return [f"{doubt.cell} may be a thousand or a fraction: it is read as {read} (else: --decimal {other})"]
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

    odd = pc.match_substring_regex(column.text, r"[^-+0-9.eE]")
    row = pc.index(odd, True).as_py()
    values = column.numbers
    if row < 0 or values is None or np.isnan(values[row]):
        return None
    return f"{column.text[row]} is {values[row]:.15g}"


def _without_empty_columns(table: Table) -> Table:
    with ThreadPoolExecutor() as threads:  # Arrow works without the lock of the interpreter
        n_filled = list(threads.map(lambda column: column.n_filled, table.columns))
    empty = [column.name for column, n in zip(table.columns, n_filled, strict=True) if n == 0]
    if not empty:
        return table
    columns = [column for column in table.columns if column.name not in empty]
    if not columns:
        raise ValueError(f"{table.source} must hold values. All its cells are empty. Save the table again.")
    index = None if table.index in empty else table.index
    return replace(table, columns=columns, index=index, notes=(*table.notes, f"left out, empty: {', '.join(empty)}"))
