"""Tables of draws, a block of rows at a time: text, Parquet, and tables in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Message, Option
from ensemblage.base.text import some
from ensemblage.io._arrow import PANDAS_INDEX, complete_file, read_typed
from ensemblage.io._bytes import BYTE_ORDER_MARKS, ByteStream, base_name, read_bytes, text_bytes
from ensemblage.io._draws_labels import BLOCK_LABELS
from ensemblage.io._formats import PACKINGS, format_of, table_format
from ensemblage.io._layout import Layout
from ensemblage.io._numbers import SPELLINGS, is_missing, is_number
from ensemblage.io._text import end_of_lines, layout_of, text_splitter

TEXT_BYTES = 1 << 21
"""Bytes of text that are split at once, of rows that are not longer."""
LEAST_LINES = 5
"""Lines of the first block: some below the header."""
MOST_BACK = 100
"""Line ends before which a quote may be open that are tried, before a block ends inside of quotes."""


class Block(Protocol):
    """Some rows of a table."""

    def numbers(self, columns: Sequence[int]) -> NDArray[Any]:
        """(rows, columns) the cells of some columns, NaN for none. Raises `NotNumbers`."""

    def values(self, column: int) -> list[Any]:
        """The cells of a column, None where it has none."""


class NotNumbers(ValueError):
    """A column has cells that are no numbers."""

    def __init__(self, column: int, kind: str) -> None:
        super().__init__(column, kind)
        self.column, self.kind = column, kind


@dataclass(frozen=True)
class TableBlocks:
    """A table that is read block by block."""

    names: list[str]
    """Of the columns."""
    index: str | None
    """The column of row names."""
    n_rows: int | None
    """About how many rows it has; None where that is not known."""
    blocks: Iterator[Block]
    has_names: bool = True
    """Whether names of columns are those of the source."""
    notes: tuple[str, ...] = ()


def blocks_of_file(file: Path, delimiter: str | None, has_header: bool | None) -> TableBlocks:
    """The rows of a text table, or of one with types."""
    name = base_name(file)
    form, found = table_format(name), format_of(name)
    if form.cells == "workbook" or (found is not None and not found.table):
        raise ValueError(
            f"Draws must be CSV, Parquet, Arrow, .npy, .npz or NetCDF. Got {file.name}. Save them in such a file."
        )
    if form.cells == "text":
        return _text_table(file, name, delimiter, has_header)
    if form.name == "Parquet" and name == file.name:
        return _parquet_table(file)
    return blocks_of_table(*read_typed(read_bytes(file), name, form))


# -- Arrow -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ArrowBlock:
    """Some rows of an Arrow table."""

    table: Any

    def numbers(self, columns: Sequence[int]) -> NDArray[Any]:
        """As `Block` has it."""
        return np.column_stack([self._numbers(j) for j in columns])

    def _numbers(self, j: int) -> NDArray[Any]:
        values = self.table.column(j)
        if str(values.type).startswith(("string", "large_string", "dictionary")):
            cells = [None if cell is None or is_missing(str(cell)) else str(cell) for cell in values.to_pylist()]
            try:
                return np.array([np.nan if cell is None else float(cell) for cell in cells])
            except ValueError:
                raise NotNumbers(j, "text") from None
        array: NDArray[Any] = values.to_numpy()  # with nulls: floats, NaN there
        if array.dtype.kind not in "biuf":
            raise NotNumbers(j, str(values.type))
        return array

    def values(self, column: int) -> list[Any]:
        """As `Block` has it."""
        return list(self.table.column(column).to_pylist())


def blocks_of_table(table: Any, index: str | None) -> TableBlocks:
    """The rows of an Arrow table, of which one column holds row names."""
    step = _rows_at_once(table.num_columns)
    blocks = (ArrowBlock(table.slice(start, step)) for start in range(0, table.num_rows, step))
    return TableBlocks(list(table.column_names), index, table.num_rows, blocks)


def _rows_at_once(n_columns: int) -> int:
    return max(1, BLOCK_LABELS // max(1, n_columns))


def _parquet_table(file: Path) -> TableBlocks:
    import pyarrow as pa
    import pyarrow.parquet

    with ByteStream(file):  # says what is wrong with a file that cannot be one
        pass
    form = table_format(file.name)
    with complete_file(file.name, form):
        parquet = pyarrow.parquet.ParquetFile(file)
    names = list(parquet.schema_arrow.names)

    def blocks() -> Iterator[Block]:
        with complete_file(file.name, form), parquet:
            for batch in parquet.iter_batches(_rows_at_once(len(names))):
                yield ArrowBlock(pa.Table.from_batches([batch]))

    return TableBlocks(names, PANDAS_INDEX if PANDAS_INDEX in names else None, parquet.metadata.num_rows, blocks())


# -- text --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextBlock:
    """Some rows of text, without a header."""

    body: bytes
    layout: Layout
    name: str
    lines_before: int

    def numbers(self, columns: Sequence[int]) -> NDArray[Any]:
        """As `Block` has it: by NumPy where all cells are numbers or missing, else by `text_splitter`."""
        found = self._loaded(self.body, columns)
        if found is None:
            found = self._loaded(self._gaps().sub(b"nan", self.body), columns)
        return self._table().numbers(columns) if found is None else found

    def _loaded(self, body: bytes, columns: Sequence[int]) -> NDArray[np.float64] | None:
        """The cells of whole rows that are numbers; None if there are others."""
        try:
            found = np.loadtxt(BytesIO(body), usecols=columns, ndmin=2, **self._settings())
        except ValueError:
            return None
        is_whole = body.count(self.layout.delimiter.encode()) == len(found) * (self.layout.width - 1)
        return found if is_whole else None

    def _settings(self) -> dict[str, Any]:
        return {"delimiter": self.layout.delimiter, "quotechar": '"', "comments": None, "encoding": "utf-8"}

    def _gaps(self) -> re.Pattern[bytes]:
        """Cells without a value."""
        mark, spellings = self.layout.delimiter.encode(), "|".join(map(re.escape, SPELLINGS)).encode()
        parts = {b"MARK": re.escape(mark), b"CELL": rb'"?(?:' + spellings + rb')?"?'}
        pattern = rb"(?m)(?<=MARK)CELL(?=MARK|\r?$)|^CELL(?=MARK)"
        return re.compile(re.sub(rb"MARK|CELL", lambda match: parts[match[0]], pattern))

    def values(self, column: int) -> list[Any]:
        """As `Block` has it."""
        try:
            found = np.loadtxt(BytesIO(self.body), dtype=str, usecols=[column], ndmin=1, **self._settings())
        except ValueError:
            return self._table().values(column)
        return [None if is_missing(cell) else cell for cell in map(str.strip, found.tolist())]

    def _table(self) -> ArrowBlock:
        return ArrowBlock(text_splitter(self.body, self.layout, self.name, self.lines_before)(True))


def _text_table(file: Path, name: str, delimiter: str | None, has_header: bool | None) -> TableBlocks:
    blocks = _text_blocks(file, name)
    first, _ = next(blocks)
    while first.count(b"\n") < LEAST_LINES and (more := next(blocks, None)) is not None:
        first += more[0]
    layout = layout_of(first, name, delimiter, has_header)
    if layout.has_header and has_header is None and all(map(is_number, layout.header)):
        cells = some(layout.header, 4)
        raise ValueError(
            Message(
                f"The first row of {file.name} must be names or a draw. Got {cells}, which may be both. Add ",
                *(Option("has_header", True), " or ", Option("has_header", False), "."),
            )
        )
    text_splitter(first, layout, name)  # raises where there is no row
    names = [column or f"column_{j}" for j, column in enumerate(layout.header, start=1)]
    index = None if layout.header[0] else names[0]
    n_rows = _count_lines(file) - layout.header_lines if file.suffix.lower() not in PACKINGS else None
    return TableBlocks(names, index, n_rows, _bodies(first, blocks, layout, name), layout.has_header, layout.notes())


def _bodies(first: bytes, others: Iterator[tuple[bytes, int]], layout: Layout, name: str) -> Iterator[Block]:
    """Blocks of text, the first without its header."""
    body = replace(layout, header_lines=0)
    yield TextBlock(first[end_of_lines(first, layout.header_lines) :], body, name, layout.header_lines)
    for block, n_lines in others:
        yield TextBlock(block, body, name, n_lines)


def _text_blocks(file: Path, name: str) -> Iterator[tuple[bytes, int]]:
    """Some whole lines at a time as UTF-8, cut outside of quotes, and the number of lines before them."""
    n_lines, n_blocks, content = 0, 0, b""
    with ByteStream(file) as stream:
        while more := stream.read(TEXT_BYTES):
            is_last = not content and not n_blocks and _is_wide(more)
            content += more + stream.read() if is_last else more
            end = len(content) if is_last else _end_of_rows(content)
            block, content = content[:end], content[end:]
            if block.strip():
                yield text_bytes(block, name, lines_before=n_lines), n_lines
                n_blocks += 1
            n_lines += block.count(b"\n")
        if content.strip() or not n_blocks:
            yield text_bytes(content, name, lines_before=n_lines), n_lines


def _is_wide(content: bytes) -> bool:
    """Whether characters have two or four bytes, so that its lines cannot be found before it is decoded."""
    return any(content.startswith(mark) and codec != "utf-8-sig" for mark, codec in BYTE_ORDER_MARKS.items())


def _end_of_rows(content: bytes) -> int:
    """Where the last row ends that is whole; 0 if none is."""
    mark = b"\n" if b"\n" in content else b"\r"
    last = end = content.rfind(mark) + 1
    for _ in range(MOST_BACK):
        if content.count(b'"', 0, end) % 2 == 0:
            return end
        end = content.rfind(mark, 0, end - 1) + 1
    return last


def _count_lines(file: Path) -> int:
    n_lines, last = 0, b"\n"
    with file.open("rb") as stream:
        while content := stream.read(TEXT_BYTES):
            n_lines, last = n_lines + content.count(b"\n"), content
    return n_lines + (not last.endswith(b"\n"))
