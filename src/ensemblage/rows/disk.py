"""Label rows on disk: they give a block of rows, or a few rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage._index import row_index
from ensemblage.rows.blocks import row_blocks
from ensemblage.rows.memory import recoded
from ensemblage.rows.protocol import LabelRows

READ_BYTES = 2**22
"""Most bytes that looking up some rows reads at once."""
TAKE_BYTES = 2**24
"""Most bytes of some rows that are taken into memory."""


class BlockRows(LabelRows):
    """Rows that are not in memory. Whoever asks for all of them at once is told why that cannot be."""

    take_size = 2**20  # rows in no order are read from the beginning to the end

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        """Rows ``start`` to ``stop - 1`` as a contiguous array of its own."""
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            rows, columns = key
            if isinstance(columns, int | np.integer):
                return self._column(rows, int(columns))
            return self[rows][:, columns]
        if isinstance(key, int | np.integer):
            row = range(len(self))[key]
            return self._read(row, row + 1)[0]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            return self._read(start, max(start, stop)) if step == 1 else self._take(np.arange(len(self))[key])
        return self._take(row_index(key, len(self)))

    def _column(self, rows: Any, column: int) -> NDArray[Any]:
        if not isinstance(rows, slice):
            values: NDArray[Any] = self[rows][:, column]
            return values
        wanted = range(len(self))[rows]
        if not len(wanted):
            return np.empty(0, dtype=self.dtype)
        start, stop = min(wanted[0], wanted[-1]), max(wanted[0], wanted[-1]) + 1
        values = np.empty(stop - start, dtype=self.dtype)
        for block in row_blocks(len(values), self._rows_at_once):
            values[block] = self._read(start + block.start, start + block.stop)[:, column]
        return values[:: wanted.step]

    def _take(self, index: NDArray[Any]) -> NDArray[Any]:
        """Rows by their numbers from 0, in any order: read from the beginning to the end, where rows are wanted."""
        taken = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        order = np.argsort(index, kind="stable")
        rows = index[order]
        edges = np.flatnonzero(np.diff(rows // self._rows_at_once, prepend=-1))
        for first, last in pairwise([*edges, len(rows)]):
            start, stop = int(rows[first]), int(rows[last - 1]) + 1
            taken[order[first:last]] = self._read(start, stop)[rows[first:last] - start]
        return taken

    @property
    def _rows_at_once(self) -> int:
        return max(1, READ_BYTES // max(1, self.dtype.itemsize * self.shape[1]))

    def first(self, n_rows: int) -> BlockRows:
        return FirstRows(self, n_rows)

    def take(self, index: NDArray[np.intp]) -> Any:
        many = len(index) * self.shape[1] * self.dtype.itemsize > TAKE_BYTES
        return SelectedRows(self, index) if many else self[index]

    def columns(self, index: ArrayLike) -> BlockRows:
        return SelectedColumns(self, np.asarray(index, dtype=np.intp))

    def with_columns(self, more: Any) -> BlockRows:
        return JoinedColumns(self, more)

    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> BlockRows:
        return RecodedRows(self, tables, dtype)

    def _refuse(self) -> ValueError:
        n, p = self.shape
        return ValueError(
            f"This needs all label rows in memory at once. Got {n:,} rows of {p:,} labels that lie on disk. "
            "Use a method that works by blocks of rows, or some of the objects: ensemble[rows]."
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise self._refuse()

    @property
    def T(self) -> NDArray[Any]:
        """Always an error: columns are not held."""
        raise self._refuse()

    def __reduce__(self) -> str:
        raise self._refuse()


class StoredRows(BlockRows):
    """Rows in a file, in C or Fortran order.

    Read, not mapped: pages of a map count as memory of the process for as long as they stay.
    """

    def __init__(
        self,
        path: Path,
        shape: tuple[int, int],
        dtype: np.dtype[Any],
        *,
        offset: int = 0,
        fortran: bool = False,
        keep: object = None,
    ) -> None:
        self.path, self.shape, self.dtype = path, shape, dtype
        self._offset, self._fortran = offset, fortran
        self._keep = keep  # what removes the file when it goes

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        n, p = self.shape
        if not self._fortran:
            block = np.empty((stop - start, p), dtype=self.dtype)
            self._fill(block, [(start * p, block)])
            return block
        columns = np.empty((p, stop - start), dtype=self.dtype)
        self._fill(columns, [(j * n + start, columns[j]) for j in range(p)])
        return np.ascontiguousarray(columns.T)

    def _fill(self, block: NDArray[Any], pieces: list[tuple[int, NDArray[Any]]]) -> None:
        if not block.size:
            return
        with open(self.path, "rb", buffering=0) as file:
            for place, piece in pieces:
                file.seek(self._offset + place * self.dtype.itemsize)
                buffer = piece.data.cast("B")
                while len(buffer) and (n_read := file.readinto(buffer)):
                    buffer = buffer[n_read:]
                if len(buffer):
                    raise ValueError(
                        f"{str(self.path)!r} must stay as it is while it is used. Got shorter than it was. "
                        "Open it again."
                    )


class SelectedRows(BlockRows):
    """Some rows of another matrix, in the order of their numbers."""

    def __init__(self, rows: BlockRows, index: NDArray[Any]) -> None:
        self._rows, self._index = rows, index
        self.shape, self.dtype = (len(index), rows.shape[1]), rows.dtype

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        return self._rows._take(self._index[start:stop])


class FirstRows(BlockRows):
    """The first rows of another matrix."""

    def __init__(self, rows: BlockRows, n_rows: int) -> None:
        self._rows = rows
        self.shape, self.dtype = (n_rows, rows.shape[1]), rows.dtype

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        return self._rows._read(start, stop)


class SelectedColumns(BlockRows):
    """Some columns of another matrix."""

    def __init__(self, rows: BlockRows, columns: NDArray[np.intp]) -> None:
        self._rows, self._columns = rows, columns
        self.shape, self.dtype = (rows.shape[0], len(columns)), rows.dtype

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        return np.ascontiguousarray(self._rows._read(start, stop)[:, self._columns])


class JoinedColumns(BlockRows):
    """The columns of another matrix, and more of them."""

    def __init__(self, rows: BlockRows, more: Any) -> None:
        self._rows, self._more = rows, more
        self.shape, self.dtype = (len(rows), rows.shape[1] + more.shape[1]), np.result_type(rows.dtype, more.dtype)

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        return np.column_stack([self._rows._read(start, stop), self._more[start:stop]])


class RecodedRows(BlockRows):
    """Another matrix of codes, each column looked up in a table."""

    def __init__(self, rows: BlockRows, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> None:
        self._rows, self._tables = rows, tables
        self.shape, self.dtype = rows.shape, dtype

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        return recoded(self._rows._read(start, stop), self._tables, self.dtype)
