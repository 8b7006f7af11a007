"""From bytes to Arrow columns: text, workbooks, and what has types (Parquet, Arrow, JSON, data frames).

pyarrow splits text; fastexcel reads the cells of workbooks.
"""

from __future__ import annotations

import itertools
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ensemblage.base.options import Message, Option
from ensemblage.tables.archive import is_damage
from ensemblage.tables.column import short_times
from ensemblage.tables.formats import ARROW, JSON, JSON_LINES, PARQUET, Format, format_of
from ensemblage.tables.layout import SAMPLE_ROWS, Layout, Row, find_layout, layout_of_rows, split_rows
from ensemblage.tables.numbers import SPELLINGS

PANDAS_INDEX = "__index_level_0__"
ROW_NAMES = "row names"
"""What the unnamed first column is called."""


def read_typed(content: bytes, name: str, form: Format) -> tuple[Any, str | None]:
    """The Arrow table of a file, and the name of its column of row names."""
    with complete_file(name, form):
        table = TYPED[form](content)
        table.validate(full=True)
    return table, PANDAS_INDEX if PANDAS_INDEX in table.column_names else None


@contextmanager
def complete_file(name: str, form: Format) -> Iterator[None]:
    """Say what is wrong with a file that pyarrow cannot read."""
    try:
        yield
    except Exception as error:  # pyarrow has no one error for a damaged file
        if not is_damage(error):
            raise
        raise ValueError(
            f"{name} must be of the format of its name. It is not a complete {form.name} file. Save the table again."
        ) from None


@contextmanager
def whole(path: Path) -> Iterator[None]:
    """Say of a Parquet file that it is damaged, in whatever error of pyarrow that ends; the system's errors stay."""
    try:
        yield
    except Exception as error:
        if not is_damage(error):
            raise
        raise ValueError(
            f"A .parquet file must be of the format of its name. Got {str(path)!r}, which is not a complete Parquet "
            "file. Save it again."
        ) from None


class ParquetPart(NamedTuple):
    """A Parquet file, as its header says."""

    path: Path
    schema: Any
    """Arrow's."""
    n_rows: int


def parquet_parts(where: Path, holds: str) -> list[ParquetPart]:
    """One Parquet file, or those of a folder in the order of their names; ``holds`` says in errors what is in them."""
    import pyarrow.parquet as pq

    paths = [where] if where.is_file() else sorted(path for path in where.iterdir() if format_of(path) is PARQUET)
    if not paths:
        raise ValueError(
            f"A folder of {holds} must hold .parquet files. Got none in {str(where)!r}. Write one per part."
        )
    parts = []
    for path in paths:
        with whole(path), pq.ParquetFile(path) as file:
            parts.append(ParquetPart(path, file.schema_arrow, int(file.metadata.num_rows)))
    return parts


def release_unused() -> None:
    """Give the system what Arrow's allocator keeps of the parts that a file was read in."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def parquet_columns(content: bytes) -> Any:
    """The Arrow table of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet

    return pyarrow.parquet.read_table(pa.BufferReader(content))


def arrow_columns(content: bytes) -> Any:
    """The Arrow table of an Arrow file, or of the first version of Feather."""
    import pyarrow as pa
    import pyarrow.feather

    return pyarrow.feather.read_table(pa.BufferReader(content))


def json_columns(content: bytes) -> Any:
    """The Arrow table of JSON lines, or of a list of records."""
    import pyarrow as pa
    import pyarrow.json

    if content.lstrip().startswith(b"["):
        return pa.Table.from_pylist(json.loads(content))
    return pyarrow.json.read_json(pa.BufferReader(content))


TYPED = {PARQUET: parquet_columns, ARROW: arrow_columns, JSON_LINES: json_columns, JSON: json_columns}
"""What makes an Arrow table of the bytes of a file whose columns have types."""


def arrow_table(frame: Any) -> tuple[Any, str | None]:
    """The Arrow table of a data frame of narwhals, and the name of its column of row names: the index, if any."""
    import pyarrow as pa

    names = [str(name) for name in frame.columns]
    columns = [arrow_array(series) for series in frame.iter_columns()]
    index = _row_names(frame)
    if index is None:
        return pa.table(columns, names), None
    name = ROW_NAMES if index.name is None or str(index.name) in names else str(index.name)
    return pa.table([arrow_array(index), *columns], [name, *names]), name


def _row_names(frame: Any) -> Any:
    """The index of a pandas frame as a series, if it does more than count the rows."""
    import narwhals.stable.v1 as nw

    if not frame.implementation.is_pandas():
        return None
    index = frame.to_native().index
    if index.nlevels > 1:
        index = index.map(lambda levels: ", ".join(map(str, levels)))
    counts = index.dtype.kind == "i" and index.tolist() == list(range(len(index)))
    return None if counts else nw.from_native(index.to_series(), series_only=True)


def arrow_array(series: Any) -> Any:
    """An Arrow array: of the type of the series, of text where it has none that Arrow knows."""
    import narwhals.stable.v1 as nw
    import pyarrow as pa

    try:
        values = series.to_arrow()
        if isinstance(series.dtype, nw.Enum) and pa.types.is_dictionary(values.type):  # ordered, which polars said late
            return pa.DictionaryArray.from_arrays(values.indices, values.dictionary, ordered=True)
        if not isinstance(values.type, pa.BaseExtensionType | pa.FixedSizeBinaryType):  # periods, objects of polars
            return values
    except (ValueError, TypeError, NotImplementedError, OverflowError):
        pass
    cells = zip(series.to_list(), series.is_null().to_list(), strict=True)
    return pa.array([None if gap else str(value) for value, gap in cells], pa.string())


SAMPLE_BYTES, SAMPLE_LINES = 1 << 18, 4
"""The layout is found from so much of the file, and from so many lines at least."""
LINE_END = re.compile(rb"\r\n|\r|\n")
BLOCK_SIZES = (1 << 20, 1 << 26)
"""Bytes that pyarrow splits at once: the second try is for long lines."""


def read_text(
    content: bytes, name: str, delimiter: str | None, has_header: bool | None, skip_rows: int = 0
) -> tuple[Callable[[bool], Any], Layout]:
    """What splits the rows below the header of UTF-8 text, and their layout; ``skip_rows`` lines are none of them.

    The rows come as an Arrow table of text, null where empty. On demand the columns that begin as numbers come as
    such, null where missing, if all their cells are numbers; text that is empty is "" then.
    """
    layout = layout_of(content, name, delimiter, has_header, skip_rows)
    return text_splitter(content, layout, name), layout


def layout_of(content: bytes, name: str, delimiter: str | None, has_header: bool | None, skip_rows: int = 0) -> Layout:
    """The layout of UTF-8 text, from its first lines."""
    lines = text_lines(content[: _end_of_sample(content, name)].decode("utf-8", "ignore"))
    return find_layout(lines, name, delimiter, has_header, skip_rows)


def text_splitter(content: bytes, layout: Layout, name: str, lines_before: int = 0) -> Callable[[bool], Any]:
    """What splits the rows below the header, as `read_text` has it; ``lines_before`` of the file come before."""
    if b'"' in content and content.count(b'"') % 2:
        _check_rows(content, layout, name, lines_before)  # one may never be closed
    start, mark = end_of_lines(content, layout.header_lines), re.escape(layout.delimiter.encode())
    if not content[start : start + 4096].strip() and not content[start:].strip():
        raise ValueError(f"{name} must hold at least one row below its header. It has none. Save the table again.")
    body: bytes | memoryview = memoryview(content)[start:]  # no copy
    has_quotes = content.find(b'"', start) >= 0
    if layout.delimiter == " ":
        body = re.sub(rb"(?m)^ +| +$", b"", _without_gaps(content[start:], rb" +", b" "))
    elif has_quotes and re.compile(mark + b' +"').search(content, start):
        body = _without_gaps(content[start:], rb"(?<=" + mark + rb") +(?=\")", b"")
    return lambda typed: _split(body, has_quotes, layout, name, content, typed, lines_before)


def _end_of_sample(content: bytes, name: str) -> int:
    """Where the rows end that the layout is found from: some at least, and with all quotes closed."""
    end = n_quotes = 0
    for n_lines, line in enumerate(LINE_END.finditer(content, 0, BLOCK_SIZES[1]), start=1):
        n_quotes += content.count(b'"', end, line.end())
        end = line.end()
        if end >= SAMPLE_BYTES and n_lines >= SAMPLE_LINES and n_quotes % 2 == 0:
            return end
    if len(content) <= BLOCK_SIZES[1]:
        return len(content)
    if end == 0:
        raise _long_row(name)
    return end


def text_lines(text: str) -> list[str]:
    """Lines with their ends."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def end_of_lines(content: bytes, n_lines: int) -> int:
    """Where the first lines end, as many as there are."""
    ends = itertools.islice(LINE_END.finditer(content), n_lines)
    return max((line.end() for line in ends), default=0)


def _long_row(name: str) -> ValueError:
    most = f"{BLOCK_SIZES[1]:,}"
    return ValueError(f"A row of {name} must be shorter than {most} bytes. Got a longer one. Save the table again.")


def _without_gaps(body: bytes, gap: bytes, instead: bytes) -> bytes:
    """Text with something else where the regular expression ``gap`` fits outside of quotes."""
    return re.sub(rb'("(?:[^"]|"")*")|' + gap, lambda match: match[1] or instead, body)


def _split(
    body: bytes | memoryview,
    has_quotes: bool,
    layout: Layout,
    name: str,
    content: bytes,
    typed: bool,
    lines_before: int,
) -> Any:
    """The rows of ``body``, which is what ``content`` has below its header."""
    import pyarrow as pa

    numbers: Sequence[int] = ()
    if typed:
        whole = len(layout.numbers) > len(layout.fractions)
        numbers = layout.fractions if whole and _has_leading_zeros(body, layout.delimiter) else layout.numbers
    reason = ""
    for block_size in (max(BLOCK_SIZES[0], min(BLOCK_SIZES[1], 1_000 * layout.width)), BLOCK_SIZES[1]):
        try:
            return _arrow_rows(body, has_quotes, layout, block_size, numbers)
        except pa.ArrowInvalid as error:
            reason = str(error)
            if numbers and "conversion error" in reason:  # a cell below the first ones is no number
                return _split(body, has_quotes, layout, name, content, False, lines_before)
            if "block size" not in reason:
                break
    if "block size" in reason:
        raise _long_row(name)
    _check_rows(content, layout, name, lines_before)
    raise ValueError(f"{name} must be a text table. It could not be split into cells ({reason}). Save the table again.")


def _has_leading_zeros(body: bytes | memoryview, delimiter: str) -> bool:
    """Whether a cell may begin with 0 and a digit, as codes do."""
    characters = np.frombuffer(b"\n" + body + b"\n", dtype=np.uint8)
    zeros = np.flatnonzero(characters == ord("0"))
    zeros = zeros[np.isin(characters[zeros - 1], list(delimiter.encode() + b'\r\n"\t '))]
    return bool(((characters[zeros + 1] >= ord("0")) & (characters[zeros + 1] <= ord("9"))).any())


def _arrow_rows(
    body: bytes | memoryview, has_quotes: bool, layout: Layout, block_size: int, numbers: Sequence[int]
) -> Any:
    import pyarrow as pa
    import pyarrow.csv as csv

    names = [str(j) for j in range(layout.width)]
    kinds = dict.fromkeys(names, pa.string()) | {names[j]: pa.float64() for j in numbers}
    return csv.read_csv(
        pa.BufferReader(body),
        read_options=csv.ReadOptions(column_names=names, block_size=block_size),
        parse_options=csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=has_quotes),
        convert_options=csv.ConvertOptions(
            column_types=kinds, null_values=SPELLINGS if numbers else [""], strings_can_be_null=not numbers
        ),
    )


def row_places(content: bytes, layout: Layout, name: str) -> list[int]:
    """The number of the line of each row below the header: slow, for messages."""
    return [place for place, _ in _rows(content, layout, name, strict=False)]


def _rows(content: bytes, layout: Layout, name: str, strict: bool, lines_before: int = 0) -> Iterator[Row]:
    lines = text_lines(content.decode("utf-8", "replace"))[layout.header_lines :]
    return split_rows(lines, layout.delimiter, name, strict, lines_before + layout.header_lines)


def _check_rows(content: bytes, layout: Layout, name: str, lines_before: int) -> None:
    for place, cells in _rows(content, layout, name, True, lines_before):
        if len(cells) != layout.width:
            raise ValueError(
                f"Every row of {name} must have {layout.width} field{'s' * (layout.width > 1)}, as the first one has. "
                f"Got {len(cells)} in line {place}. Correct that line."
            )


def read_workbook(
    content: bytes, name: str, sheet: str | None, has_header: bool | None, skip_rows: int
) -> tuple[Any, Layout]:
    """The rows below the header of a sheet of Excel or OpenDocument as Arrow text, and its layout."""
    import pyarrow as pa

    cells = _sheet(content, name, sheet)
    rows = list(zip(*(column.to_pylist() for column in cells.columns), strict=True))
    places = [place for place, row in enumerate(rows, start=1) if any(row) and place > skip_rows]
    sample = [(place, [(cell or "").strip() for cell in rows[place - 1]]) for place in places[:SAMPLE_ROWS]]
    layout = layout_of_rows(sample, name, ",", has_header, skip_rows)
    columns = list(zip(*rows[layout.header_lines :], strict=True)) or [()] * layout.width
    names = [str(j) for j in range(layout.width)]
    return pa.table([short_times(pa.array(column, pa.string())) for column in columns], names), layout


def _sheet(content: bytes, name: str, sheet: str | None) -> Any:
    import fastexcel

    if _is_encrypted(content):
        raise ValueError(f"{name} must open without a password. It needs one. Save it without a password.")
    try:
        book = fastexcel.read_excel(content)
        sheets = {
            s: book.load_sheet(s, header_row=None, skip_rows=0, dtypes="string")
            for s in book.sheet_names
            if sheet in (None, s)
        }
    except Exception as error:
        if not is_damage(error):
            raise
        raise ValueError(
            f"{name} must be a workbook of Excel or OpenDocument. It is another kind of file, or damaged. Save the "
            f"table again."
        ) from None
    filled = [s for s, cells in sheets.items() if cells.total_height] if sheet is None else [sheet]
    if len(filled) != 1 or filled[0] not in sheets:
        got = f"{sheet!r}" if sheet is not None else f"{len(filled)} with cells" if filled else "no cells at all"
        known = f"Its sheets are {', '.join(book.sheet_names[:8])}."
        rule = "A workbook must have one sheet with cells, or ", Option("sheet"), " must name one."
        raise ValueError(Message(*rule, f" Got {got} for {name}. {known}"))
    _check_formulas(content, name, filled[0])
    return sheets[filled[0]].to_arrow()


def _is_encrypted(content: bytes) -> bool:
    """Whether a workbook needs a password: of Excel since 2007, of OpenDocument, of Excel before (FilePass)."""
    return (
        "EncryptedPackage".encode("utf-16-le") in content
        or b"encryption-data" in _part(content, "META-INF/manifest.xml")
        or re.search(rb"\x09\x08\x10\0.{16}(?:\x86\0\0\0)?\x2f\0", content, re.DOTALL) is not None
    )


def _part(content: bytes, part: str) -> bytes:
    """A file in a ZIP archive, nothing if there is none."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            return archive.read(part)
    except (zipfile.BadZipFile, OSError, KeyError, RuntimeError):
        return b""


def _check_formulas(content: bytes, name: str, sheet: str) -> None:
    """Formulas of Excel whose results a program did not store are no cells."""
    from xml.etree.ElementTree import fromstring

    book, relations = (_part(content, f"xl/{part}") for part in ("workbook.xml", "_rels/workbook.xml.rels"))
    if not (book and relations):
        return
    found = next(s for s in fromstring(book).iterfind(".//{*}sheet") if s.get("name") == sheet)
    key = next(value for name, value in found.items() if name.endswith("}id"))
    target = next(r.get("Target", "") for r in fromstring(relations) if r.get("Id") == key)
    cells = _part(content, f"xl/{target.removeprefix('/xl/')}")
    empty = re.search(rb'<c r="(\w+)"[^>]*><f[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v></v>|</c>)', cells)
    if empty:
        raise ValueError(
            f"The formulas of {name} must have results. Got none in cell {empty[1].decode()}. "
            "Open the workbook in a spreadsheet program and save it again."
        )
