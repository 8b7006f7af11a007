"""Reading a table: from a file or its bytes to named columns.

The decimal mark is found in all of its numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.frames import as_frame
from ensemblage.base.options import Message, Option
from ensemblage.base.validation import Codes, check_path, check_value, check_whole, format_value
from ensemblage.io._missing import with_gaps
from ensemblage.io._table import Table
from ensemblage.tables.arrow import ROW_NAMES, arrow_table, read_text, read_typed, read_workbook, row_places
from ensemblage.tables.bytes import base_name, read_bytes, text_bytes
from ensemblage.tables.cells import check_column_names, column_of, may_have_spaces, text_columns
from ensemblage.tables.column import Column
from ensemblage.tables.formats import table_format
from ensemblage.tables.layout import Layout
from ensemblage.tables.numbers import (
    COMMA_GROUPS,
    COMMA_NUMBER,
    ONE_GROUP,
    POINT_GROUPS,
    POINT_NUMBER,
    SAMPLE_ROWS,
    has_mark,
    strip_marks,
)


def read_table(
    source: Any,
    *,
    name: str | None = None,
    transpose: bool = False,
    encoding: str | None = None,
    has_header: bool | None = None,
    delimiter: str | None = None,
    decimal: Literal[".", ","] | None = None,
    sheet: str | None = None,
    roles: Mapping[str, str] | None = None,
    missing: Sequence[str | float] | None = None,
    keep_empty: bool = False,
    skip_rows: int = 0,
) -> Table:
    """Use it to read a file or a data frame as the command line does, with roles of the columns.

    Parameters
    ----------
    source : path, bytes or data frame
        CSV and its relatives (plain, .gz or .zst), Parquet, Arrow, JSON lines, a workbook of Excel or OpenDocument; the
        unpacked bytes of such a file; a frame of pandas or polars, a table of pyarrow. The index of a pandas frame
        holds row names, unless it counts the rows from 0.
    name : str, optional
        What messages call the table; the suffix says what ``bytes`` are. Default: the name of the file.
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
    roles : mapping of column to {"id", "number", "category", "ordered", "feature", "drop"}, optional
        Instead of those that are found; "feature" keeps what was found, and uses a column whose name says known
        classes.
    missing : sequence of str or float, optional
        What means missing beside empty cells, NA and the like, as ``[-999, 99, "n/a"]``: numbers however they are
        written, text in any case. In all columns but that of the ids.
    keep_empty : bool, default False
        Keep columns without values.
    skip_rows : int, default 0
        Rows of text or of a sheet above the names of the columns, such as a title.

    Returns
    -------
    Table
        With ``columns``, ``roles`` and ``notes``. Rows of a file without any value are left out, and the notes
        name them; the others keep their numbers. A frame keeps all rows.

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
    >>> table.features(categories="drop").X.tolist()
    [[1.5], [1.75], [1.8]]
    """
    check_value(missing, "missing of read_table", [Codes(), None])
    table = read_rows(
        source,
        name=name,
        transpose=transpose,
        encoding=encoding,
        has_header=has_header,
        delimiter=delimiter,
        decimal=decimal,
        sheet=sheet,
        roles=roles,
        skip_rows=check_whole(skip_rows, "skip_rows of read_table", 0),
    )
    table = with_gaps(table, missing)
    if isinstance(source, bytes | str | PathLike):
        table = _without_blank_rows(table)
    return table if keep_empty else _without_empty_columns(table)


def read_rows(
    source: Any,
    *,
    name: str | None = None,
    transpose: bool = False,
    encoding: str | None = None,
    has_header: bool | None = None,
    delimiter: str | None = None,
    decimal: Literal[".", ","] | None = None,
    sheet: str | None = None,
    roles: Mapping[str, str] | None = None,
    skip_rows: int = 0,
) -> Table:
    """`read_table` of all rows and columns, with or without values."""
    dropped = {column for column, role in (roles or {}).items() if transpose and role == "drop"}
    content, frame = source if isinstance(source, bytes) else None, None
    if isinstance(source, str | PathLike):
        file = check_path(source, "source")
        content, name = read_bytes(file), name or base_name(file)
    elif content is None:
        frame, name = _frame(source), name or type(source).__name__
    name = name or "table.csv"
    form, delimiter_of, may_have_commas = table_format(name), ",", True
    if content is None or form.cells == "typed":
        if asked := [option for option, value in (("transpose", transpose), ("skip_rows", skip_rows)) if value]:
            got = f" must be used with text tables and workbooks. Got {name}. Save the table as CSV."
            raise ValueError(Message(Option(asked[0]), got))
        table = _typed_table(*(arrow_table(frame) if content is None else read_typed(content, name, form)), name)
    elif form.cells == "workbook":
        cells, layout = read_workbook(content, name, sheet, has_header, skip_rows)
        rows = range(layout.header_lines + 1, layout.header_lines + 1 + len(cells))
        table = _text_table(lambda typed: cells, layout, name, transpose, lambda: rows, "row", dropped)
        dropped &= set(layout.header)
    else:
        text = text_bytes(content, name, encoding)
        split, layout = read_text(text, name, delimiter, has_header, skip_rows)
        delimiter_of = layout.delimiter
        may_have_commas = delimiter_of != "," or b'"' in text or transpose
        places = partial(row_places, text, layout, name)
        table = _text_table(split, layout, name, transpose, places, "line", dropped, may_have_spaces(text))
        dropped &= set(layout.header)
    if len(table) == 0:
        raise ValueError(f"{name} must hold at least one row below its header. It has none. Save the table again.")
    table = with_decimal_mark(table, delimiter_of, decimal, may_have_commas)
    given = {column: role for column, role in (roles or {}).items() if column not in dropped}
    return replace(table, given_roles=given, delimiter=delimiter_of)


def _frame(source: Any) -> Any:
    """A data frame of narwhals."""
    frame = as_frame(source)
    if frame is None:
        raise TypeError(
            f"source must be a path, the bytes of a file, or a data frame. Got {format_value(source)}. "
            "Collect a lazy frame, or save other data as a file."
        )
    return frame


def _typed_table(frame: Any, index: str | None, name: str) -> Table:
    """The table of an Arrow table, its row names in the column ``index``."""
    import pyarrow as pa

    check_column_names(frame.column_names, name)
    for field in frame.schema:
        if pa.types.is_nested(field.type):
            raise ValueError(
                f"The columns of {name} must hold one value per cell. Got {field.type} in {field.name!r}. Flatten "
                f"that column."
            )
    columns = [column_of(column, frame.column(j)) for j, column in enumerate(frame.column_names)]
    return Table(name, columns, lambda: range(1, frame.num_rows + 1), "row", index)


def _text_table(
    split: Callable[[bool], Any],
    layout: Layout,
    name: str,
    transpose: bool,
    places: Callable[[], Sequence[int]],
    unit: str,
    dropped: Collection[str],
    has_spaces: bool = True,
) -> Table:
    if transpose:
        return _transpose(split(False), layout, name, places, dropped)
    columns = text_columns(split, layout, name, has_spaces)
    return Table(name, columns, places, unit, None if layout.header[0] else ROW_NAMES, layout.notes())


def _transpose(
    cells: Any, layout: Layout, name: str, places: Callable[[], Sequence[int]], dropped: Collection[str]
) -> Table:
    """A table whose columns stand in rows: the first field of each is its name, the header names the objects.

    No objects are the columns of the file that are ``dropped``, and those of text alone where most hold numbers alone.
    """
    import pyarrow as pa

    first = column_of("", cells.column(0))
    named = not layout.header[0] or first.numbers is None
    names = first.cells() if named else [f"row_{place}" for place in places()]
    _check_row_names(names, name, places)
    read = {
        j: column_of("", cells.column(j)) for j in range(int(named), layout.width) if layout.header[j] not in dropped
    }
    texts = [j for j, column in read.items() if 0 < column.n_filled == len(column.not_numbers)]
    texts = texts if 2 * sum(column.numbers is not None for column in read.values()) >= len(read) else []
    kept = [j for j in read if j not in texts]
    left = [layout.header[j] for j in range(int(named), layout.width) if j not in kept]
    notes = (f"left out, no objects: {', '.join(left)}",) if left else ()
    rows = zip(*(cells.column(j).to_pylist() for j in kept), strict=True)
    columns = [column_of(column, pa.chunked_array([row], pa.string())) for column, row in zip(names, rows, strict=True)]
    header = pa.chunked_array([[layout.header[j] for j in kept]], pa.string())
    index = [column_of(ROW_NAMES, header)] if layout.has_header else []
    objects, index_name = [1 + j for j in kept], ROW_NAMES if index else None
    return Table(name, index + columns, lambda: objects, "column", index_name, (*layout.notes(), *notes))


def _check_row_names(names: Sequence[str], source: str, places: Callable[[], Sequence[int]]) -> None:
    (name, count), *_ = Counter(names).most_common(1) or [("", 1)]
    if count > 1:
        lines = [place for place, other in zip(places(), names, strict=True) if other == name]
        raise ValueError(
            f"The rows of {source} must have different names, for they become columns. Got {name!r} in lines "
            f"{lines[0]} and {lines[1]}. Rename one, or make one row of them."
        )


def _without_blank_rows(table: Table) -> Table:
    """The table without the rows that hold no value; the others keep their numbers."""
    blank = np.ones(len(table), dtype=bool)
    for column in sorted(table.columns, key=lambda column: -column.n_filled):
        blank &= ~column.is_filled
        if not blank.any():
            return table
    left, rows = np.flatnonzero(blank), np.flatnonzero(~blank)
    if not len(rows):
        return table
    places = table.places()
    rows_are = f"{len(left):,} rows" if len(left) > 1 else "1 row"
    note = f"left out, without any value: {rows_are}, the first in {table.unit} {places[left[0]]}"
    columns = [column.take(rows) for column in table.columns]
    some_places = [places[row] for row in rows.tolist()]
    notes = (*table.notes, note)
    return replace(table, columns=columns, places=lambda: some_places, notes=notes, numbers=rows + 1)


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


def _mark_notes(columns: Sequence[Column], mark: str, doubt: DecimalMark | None) -> list[str]:
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


class DecimalMark(NamedTuple):
    """The first cell of a table whose decimal mark is sure, or in doubt (1,234), and where it stands."""

    cell: str
    column: str
    row: int


def decimal_mark(
    columns: Sequence[Column], delimiter: str, wanted: str | None, may_have_commas: bool = True
) -> tuple[str, DecimalMark | None]:
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


def _doubtful_point(columns: Sequence[Column], delimiter: str) -> DecimalMark | None:
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


def _first(columns: Sequence[Column], forms: Sequence[str], mark: str) -> tuple[DecimalMark | None, DecimalMark | None]:
    """The first cells with this decimal mark for sure, and in doubt."""
    doubt = None
    for column in columns:
        for n_rows in (SAMPLE_ROWS, len(column.numerals)):
            sure, unsure = _rows_with(column.numerals[:n_rows], forms, mark)
            if doubt is None and unsure >= 0:
                doubt = DecimalMark(column.text[unsure].as_py(), column.name, unsure)
            if sure >= 0:
                return DecimalMark(column.text[sure].as_py(), column.name, sure), doubt
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
