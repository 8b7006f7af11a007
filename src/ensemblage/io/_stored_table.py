"""A table in Parquet parts: one column at a time is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.text import some
from ensemblage.io._cells import StoredCells
from ensemblage.io._roles import ids_must_differ
from ensemblage.io._table import Table
from ensemblage.labels.disk import LIBRARIES
from ensemblage.tables.arrow import PANDAS_INDEX, parquet_parts, whole
from ensemblage.tables.cells import column_of
from ensemblage.tables.column import Column, Dates, parse_dates

TEXT_COPIES, NUMBER_COPIES = 6, 7
"""Copies of a column that are made of it at most while it is looked at (measured)."""
SHORT_TEXT = 16
"""Bytes of a cell as text, at least."""
OF_A_TEXT = 160
"""Bytes of a different text, as Python holds it."""
STAYS = {"name", "decimal", "read_again", "parts", "empty", "n_filled", "units"}
"""What is kept of a column when the next one is read."""
MOST_TEXT = 2**31
"""Bytes of a column of text, which Arrow counts so."""


class Parts:
    """Parquet files with the same columns, in the order of their names."""

    def __init__(self, folder: Path, memory: int) -> None:
        parts = parquet_parts(folder, "features")
        self.title, self.memory = folder.name, memory
        self.paths, self.n_rows = [part.path for part in parts], sum(part.n_rows for part in parts)
        self.names = check_schemas([part.schema for part in parts], [path.name for path in self.paths])
        if not self.n_rows:
            raise ValueError(f"Features must have objects. Got no rows in {str(folder)!r}. Give one row per object.")
        self._read: StoredColumn | None = None

    def values(self, column: StoredColumn) -> Column:
        """The column in memory; what was made of the one before is let go."""
        if self._read is not None and self._read is not column:
            self._read.forget()
        self._read = column
        return column_of(column.name, self._chunks(column.name))

    def _chunks(self, name: str) -> Any:
        """The (n,) Arrow values of a column, refused where they and what is made of them have no room."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        chunks, n_bytes, n_texts = [], 0, 0
        for part in self.paths:
            with whole(part), pq.ParquetFile(part) as file:
                read = file.read(columns=[name]).column(0)
                read.validate(full=True)
            chunks += read.chunks
            n_bytes += read.nbytes
            is_number = pa.types.is_floating(read.type) or pa.types.is_integer(read.type)
            n_texts += 0 if is_number else _n_different(read)
            as_text = TEXT_COPIES * max(n_bytes, SHORT_TEXT * self.n_rows) + OF_A_TEXT * n_texts
            self._check_room(name, NUMBER_COPIES * 8 * self.n_rows if is_number else as_text)
            if n_bytes >= MOST_TEXT and not is_number:
                raise ValueError(
                    f"A column of text must be at most {MOST_TEXT / 1e9:.0f} GB. Got more in {name!r} of {self.title}. "
                    "Write parts without this column."
                )
        return pa.chunked_array(chunks)

    def _check_room(self, name: str, needed: int) -> None:
        if LIBRARIES + needed > self.memory:
            least = -(-(LIBRARIES + needed) // 10**8) / 10
            raise ValueError(
                f"memory must be ≥ {least:g} GB for column {name!r} of {self.title}: one column at a time is read. Got "
                f"{self.memory / 1e9:.3g} GB for {self.n_rows:,} objects. Give more, or write parts without it."
            )


def _n_different(values: Any) -> int:
    """How many different values an Arrow column has, at most."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(values.type):
        return sum(len(chunk.dictionary) for chunk in values.chunks)
    try:
        return int(pc.count_distinct(values).as_py())
    except pa.ArrowNotImplementedError:
        return len(values)


def check_schemas(schemas: Sequence[Any], titles: Sequence[str]) -> list[str]:
    """Names of the columns that all parts have, of the same types, one value in a cell."""
    import pyarrow as pa

    first = schemas[0]
    for schema, title in zip(schemas, titles, strict=True):
        if schema.names != first.names:
            raise ValueError(
                f"Parts of features must have the same columns. Got {some(schema.names, 5)} in {title}, and "
                f"{some(first.names, 5)} in {titles[0]}. Select the same in each part."
            )
        for name, kind, known in zip(schema.names, schema.types, first.types, strict=True):
            if kind != known:
                raise ValueError(
                    f"Parts of features must have the same types. Got {kind} in column {name!r} of {title}, and "
                    f"{known} in {titles[0]}. Cast that column in every part."
                )
            if pa.types.is_nested(kind):
                raise ValueError(
                    f"The columns of {title} must hold one value per cell. Got {kind} in {name!r}. Flatten it."
                )
    return list(map(str, first.names))


class StoredColumn(Column):
    """A column that is read when its values are asked for, and let go when those of another one are.

    Parameters
    ----------
    name : of the column
    parts : where it lies
    empty : (n / 8,) bits of the cells that mean missing; None: none does
    """

    parts: Parts
    empty: NDArray[np.uint8] | None

    def __init__(self, name: str, parts: Parts, empty: NDArray[np.uint8] | None = None) -> None:
        self.name, self.decimal, self.read_again = name, ".", None
        self.parts, self.empty = parts, empty

    @cached_property
    def _held(self) -> Column:
        """The column in memory."""
        column = self.parts.values(self)
        if self.empty is None:
            return column
        return column.without(np.unpackbits(self.empty, count=self.parts.n_rows).astype(bool))

    @property
    def values(self) -> Any:
        """(n,) Arrow array."""
        return self._held.values

    @property
    def categories(self) -> list[str] | None:  # type: ignore[override]
        """The values in their order, if the table's type says that they are ordered."""
        return self._held.categories

    def forget(self) -> None:
        """Let go what was read, and what was made of it."""
        for name in vars(self).keys() - STAYS:
            delattr(self, name)

    def without(self, missing: NDArray[np.bool_]) -> Column:
        """The column with these cells empty."""
        empty = np.packbits(missing) if self.empty is None else self.empty | np.packbits(missing)
        return StoredColumn(self.name, self.parts, empty)

    def take(self, rows: NDArray[np.intp]) -> Column:
        """The column of some rows, in memory."""
        return self._held.take(rows)


@dataclass(eq=False, repr=False)
class StoredTable(Table):
    """A table whose columns are `StoredColumn`."""

    place: ClassVar[str] = "a table on disk"
    """Where the rows lie, in words."""

    n_rows: int = field(kw_only=True)
    cells: StoredCells = field(kw_only=True)
    """Its columns as numbers."""

    @classmethod
    def of(cls, parts: Parts, scratch: str | PathLike[str] | None) -> StoredTable:
        """The table of parts, without empty columns; its cells are written to ``scratch``."""
        columns = [StoredColumn(name, parts) for name in parts.names]
        empty = [column.name for column in columns if column.n_filled == 0]
        kept: list[Column] = [column for column in columns if column.name not in empty]
        if not kept:
            raise ValueError(f"{parts.title} must hold values. All its cells are empty. Save the table again.")
        index = PANDAS_INDEX if PANDAS_INDEX in parts.names and PANDAS_INDEX not in empty else None
        notes = (f"left out, empty: {', '.join(empty)}",) if empty else ()
        n, cells = parts.n_rows, StoredCells(parts.memory, scratch)
        return cls(parts.title, kept, lambda: range(1, n + 1), "row", index, notes, n_rows=n, cells=cells)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self.columns)

    def __len__(self) -> int:
        return self.n_rows

    def dates(self, name: str) -> Dates:
        """The dates of a column, parsed anew: they take as much memory as the column."""
        return parse_dates(self[name], self.source)

    def take(self, rows: NDArray[np.intp]) -> Table:
        """The table of some rows, in memory; its columns keep their roles."""
        columns = [column.take(rows) for column in self.columns]
        numbers = rows.tolist()
        fields = self.index, self.notes, self.delimiter, self.given_roles
        taken = Table(self.source, columns, lambda: [row + 1 for row in numbers], self.unit, *fields)
        taken.found_roles = self.found_roles
        return taken

    def _check_ids(self, name: str) -> None:
        """Refuse ids that are empty, or that two rows have."""
        import pyarrow.compute as pc

        text = self[name].text
        if pc.count_distinct(text, mode="only_valid").as_py() == len(text):
            return
        codes = np.asarray(pc.fill_null(text.dictionary_encode().indices, -1))
        _, first_of, places = np.unique(codes, return_index=True, return_inverse=True)
        second = int(np.flatnonzero((first_of[places] != np.arange(len(codes))) | (codes < 0))[0])
        raise ids_must_differ(self, name, text[second].as_py() or "", int(first_of[places[second]]), second)
