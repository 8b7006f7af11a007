"""Tables of draws, a block of rows at a time, and their labels in the narrowest whole numbers.

Blocks come from text, Parquet, and tables in memory. Chains are without burn-in, thinned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.memory import size_text
from ensemblage.base.options import Message, Option
from ensemblage.base.text import some
from ensemblage.tables.arrow import PANDAS_INDEX, complete_file, end_of_lines, layout_of, read_typed, text_splitter
from ensemblage.tables.bytes import BYTE_ORDER_MARKS, ByteStream, base_name, read_bytes, text_bytes
from ensemblage.tables.formats import PACKINGS, PARQUET, format_of, table_format
from ensemblage.tables.layout import Layout
from ensemblage.tables.numbers import SPELLINGS, is_missing, is_number

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
    if form.cells == "workbook" or (found is not None and not found.cells):
        raise ValueError(
            f"Draws must be CSV, Parquet, Arrow, .npy, .npz or NetCDF. Got {file.name}. Save them in such a file."
        )
    if form.cells == "text":
        return _text_table(file, name, delimiter, has_header)
    if form is PARQUET and name == file.name:
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


LARGEST = 2**31 - 1
"""Labels are at most so large."""
WIDTHS = (np.int8, np.int16, np.int32)
COPIES = 3
"""How often a label that is kept is in memory at the most: in its block, in its chain, and as a code."""
BLOCK_LABELS = 2**20
"""Labels of a block."""
IN_BLOCK = 64
"""Most bytes that a label of a block takes while it is read, where a row is not longer than a block."""


class Chain(NamedTuple):
    """The draws of one chain that are kept."""

    labels: NDArray[Any]
    """(n_draws, n_objects) whole numbers"""
    numbers: NDArray[np.intp]
    """(n_draws,) their places in the chain, from 1"""
    n_given: int


class Room:
    """What reading may take, and what the labels take that were read."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._n_labels, self._width = 0, 1

    def take(self, n_labels: int, width: int, source: str) -> None:
        """Count more labels of so many bytes each; refuse them if there is no room."""
        self._n_labels += n_labels
        self._width = max(self._width, width)
        self._check(self._n_labels, source)

    def expect(self, n_labels: int, source: str) -> None:
        """Refuse more labels than there is room for, before they are read."""
        self._check(self._n_labels + n_labels, source)

    def _check(self, n_labels: int, source: str) -> None:
        needed = bytes_to_read(n_labels, self._width)
        if needed > self.max_bytes:
            raise ValueError(
                Message(
                    f"Reading {source} must fit into ",
                    *(Option("max_bytes"), f" = {size_text(self.max_bytes)}. Got {size_text(needed)} for "),
                    f"{n_labels:,} labels. Give more, or keep fewer draws with ",
                    *(Option("thin"), " or ", Option("burn_in"), "."),
                )
            )


def bytes_to_read(n_labels: int, width: int) -> int:
    """At the peak, for so many labels of so many bytes each."""
    return IN_BLOCK * min(n_labels, BLOCK_LABELS) + COPIES * width * n_labels


class DrawSelection(NamedTuple):
    """What is kept of a source."""

    burn_in: int
    thin: int
    missing: int | None
    """The number that means "not labelled"."""
    room: Room


class LabelBlocks:
    """A matrix of labels that grows by blocks of rows."""

    def __init__(self, kept: DrawSelection, source: str, subject_of: Callable[[int], str]) -> None:
        """subject_of : says in messages what a column is."""
        self.kept, self.source, self.subject_of = kept, source, subject_of
        self._blocks: list[NDArray[Any]] = []

    def add(self, values: NDArray[Any]) -> None:
        """Add rows of numbers, NaN for none."""
        block = narrowest(whole_numbers(values, self.kept.missing, self.subject_of))
        self.kept.room.take(block.size, block.itemsize, self.source)
        self._blocks.append(block)

    def matrix(self) -> NDArray[Any]:
        """All rows; the blocks are let go."""
        blocks, self._blocks = self._blocks, []
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


class DrawBlocks:
    """Draws in rows, of one chain or of several, of which some are kept."""

    def __init__(self, labels: LabelBlocks) -> None:
        self._labels = labels
        self._n_given: dict[Any, int] = {}
        """Draws of each chain so far, by the order of their first ones."""
        self._chains: list[NDArray[np.intp]] = []
        self._numbers: list[NDArray[np.intp]] = []

    def add(self, values: NDArray[Any], chains: Sequence[Any] | None = None) -> None:
        """Add draws, and the name of the chain of each."""
        names, codes = (None,), np.zeros(len(values), dtype=np.intp)
        if chains is not None:
            names = tuple(dict.fromkeys(chains))
            place = {name: c for c, name in enumerate(names)}
            codes = np.array([place[name] for name in chains], dtype=np.intp)
        of_chain, numbers = np.empty_like(codes), np.empty_like(codes)
        for c, name in enumerate(names):
            own = np.flatnonzero(codes == c)
            before = self._n_given.setdefault(name, 0)
            of_chain[own] = list(self._n_given).index(name)
            numbers[own] = np.arange(before, before + len(own))
            self._n_given[name] += len(own)
        burn_in, thin = self._labels.kept.burn_in, self._labels.kept.thin
        is_kept = (numbers >= burn_in) & ((numbers - burn_in) % thin == 0)
        self._labels.add(values[is_kept])
        self._chains.append(of_chain[is_kept])
        self._numbers.append(numbers[is_kept] + 1)

    def chains(self) -> list[Chain]:
        """The draws that are kept, chain by chain."""
        labels, of_chain, numbers = self._labels.matrix(), np.concatenate(self._chains), np.concatenate(self._numbers)
        if len(self._n_given) == 1:
            return [Chain(labels, numbers, n_given) for n_given in self._n_given.values()]
        own = [of_chain == c for c in range(len(self._n_given))]
        return [
            Chain(labels[is_own], numbers[is_own], n_given)
            for is_own, n_given in zip(own, self._n_given.values(), strict=True)
        ]


def chains_of_array(array: NDArray[Any], kept: DrawSelection, source: str, subject: str) -> list[Chain]:
    """The chains of an array of draws and objects, or of chains, draws and objects."""
    chains = []
    for chain in array if array.ndim == 3 else array[None]:
        draws = DrawBlocks(LabelBlocks(kept, source, lambda _: subject))
        step = max(1, BLOCK_LABELS // chain.shape[1])
        for start in range(0, len(chain), step):
            draws.add(chain[start : start + step])
        chains += draws.chains()
    return chains


def whole_numbers(values: NDArray[Any], missing: int | None, subject_of: Callable[[int], str]) -> NDArray[Any]:
    """(r, c) numbers as whole ones; NaN becomes the number that means missing."""
    if values.dtype.kind == "b":
        return values.astype(np.int8)
    if values.dtype.kind not in "iuf":
        raise ValueError(f"Labels must be whole numbers. Got {values.dtype} in {subject_of(0)}. Number the clusters.")
    if values.dtype.kind == "f":
        absent = np.isnan(values)
        if absent.any():
            if missing is None:
                got = f"Got none in {subject_of(_first_column(absent))}. Give the number that means so."
                raise ValueError(Message("Every object must have a label where ", Option("missing", None), f". {got}"))
            values = np.where(absent, missing, values)
        with np.errstate(invalid="ignore"):
            is_broken = ~np.isfinite(values) | (values != np.rint(values))
        if is_broken.any():
            raise ValueError(
                f"Labels must be whole numbers. Got {float(values[is_broken][0]):g} in "
                f"{subject_of(_first_column(is_broken))}. Give the clusters of the objects, not parameters of the "
                "model."
            )
    if values.size and (values.min() < -LARGEST or values.max() > LARGEST):
        is_large = (values < -LARGEST) | (values > LARGEST)
        raise ValueError(
            f"Labels must be at most {LARGEST:,}. Got a larger one in {subject_of(_first_column(is_large))}. Number "
            "the clusters anew."
        )
    return values


def _first_column(marked: NDArray[np.bool_]) -> int:
    """The column of the first row with a mark."""
    return int(np.argwhere(marked)[0, 1])


def narrowest(values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers that are at most `LARGEST`, in the narrowest signed type."""
    low, high = values.min(initial=0), values.max(initial=0)
    width = next(width for width in WIDTHS if np.iinfo(width).min <= low and high <= np.iinfo(width).max)
    return values.astype(width)
