"""From the bytes of a text file to Arrow columns: pyarrow splits them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ensemblage.io._layout import Layout, Row, find_layout, split_rows
from ensemblage.io._numbers import SPELLINGS

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
