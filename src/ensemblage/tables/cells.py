"""From Arrow arrays to the columns of a table: text without spaces around it, null where empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from ensemblage.base.options import Message, Option
from ensemblage.tables.arrow import ROW_NAMES, release_unused
from ensemblage.tables.column import Column
from ensemblage.tables.layout import Layout


def may_have_spaces(text: bytes) -> bool:
    """Whether there may be spaces around the cells of UTF-8 text."""
    return b" " in text or b"\t" in text or not text.isascii()


def text_columns(split: Callable[[bool], Any], layout: Layout, name: str, has_spaces: bool = True) -> list[Column]:
    """The columns of a text table, from what `read_text` gives; row names come first where there are any."""
    names = [column or f"column_{j}" for j, column in enumerate(layout.header, start=1)]
    if not layout.header[0]:
        names[0] = ROW_NAMES
    cells, all_text = split(True), cache(lambda: split(False))
    check_column_names(names, name)

    def read_again(j: int) -> Any:
        return column_of(names[j], all_text().column(j), has_spaces).values

    columns = [column_of(column, cells.column(j), has_spaces or bool(layout.numbers)) for j, column in enumerate(names)]
    del cells
    release_unused()
    return [c if c.is_text else replace(c, read_again=partial(read_again, j)) for j, c in enumerate(columns)]


def column_of(name: str, values: Any, may_be_blank: bool = True) -> Column:
    """A column of one Arrow array; text without spaces around it, null where empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = values.combine_chunks()
    if isinstance(values, pa.ChunkedArray):
        values = pa.concat_arrays(values.chunks)
    levels = None
    if pa.types.is_dictionary(values.type):
        if values.type.ordered:
            levels = [level.strip() for level in Column(name, values.dictionary).cells()]
        values = values.dictionary_decode()
    if str(values.type) in ("null", "large_string", "string_view"):
        values = values.cast(pa.string())
    if may_be_blank and pa.types.is_string(values.type):
        trimmed = pc.utf8_trim_whitespace(values)
        values = pc.if_else(pc.equal(trimmed, ""), None, trimmed)
    return Column(name, values, categories=levels)


def check_column_names(names: Sequence[str], source: str) -> None:
    (name, count), *_ = Counter(names).most_common(1) or [("", 1)]
    if count > 1:
        got = f"The columns of {source} must have different names. Got {name!r} {count} times. Rename one, or add "
        raise ValueError(Message(got, Option("has_header", False), " if the first row holds data."))
