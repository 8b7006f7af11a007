"""Label rows that are read block by block: those on disk, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.indexing import row_index
from ensemblage.base.memory import give_back_freed
from ensemblage.base.options import Message, Option
from ensemblage.rows.blocks import row_blocks
from ensemblage.rows.distinct import DistinctRows, distinct_rows, merge_piece, merge_runs, part_of_run
from ensemblage.rows.memory import MemoryRows, recode
from ensemblage.rows.protocol import LabelRows
from ensemblage.rows.scratch import Scratch, write_array
from ensemblage.rows.threads import parallel_map, thread_count

READ_BYTES = 2**22
"""Most bytes that looking up some rows reads at once."""
TAKE_BYTES = 2**24
"""Most bytes of some rows that are taken into memory."""
LIBRARIES = 330_000_000
"""Bytes of the interpreter, its libraries and compiled kernels (measured)."""
LEAST_ROOM = 32_000_000
"""Bytes for blocks of rows below which nothing works well."""
BYTES_PER_ROW = 120
"""Memory of `distinct_rows` per row of 20 labels, all of them distinct (measured)."""
SMALL_PART = 8
"""Distinct rows are read into memory if they take at most this part of it."""


def room_beside_state(memory: int, n_objects: int, n_bytes: int) -> int:
    """Bytes for blocks of rows: what ``memory`` leaves besides libraries and ``n_bytes`` of state per object."""
    room = memory - LIBRARIES - n_bytes * n_objects
    if room < LEAST_ROOM:
        least = -(-(LIBRARIES + n_bytes * n_objects + LEAST_ROOM) // 10**8) / 10
        rule = (
            f" must be ≥ {least:g} GB for {n_objects:,} objects: about {n_bytes} bytes each, and the libraries. "
            f"Got {memory / 1e9:.3g} GB. Give more, or fewer objects."
        )
        raise ValueError(Message(Option("memory"), rule))
    return room


class BlockRows(LabelRows):
    """Rows that are not in memory. Requesting the whole matrix raises ValueError.

    A class of them says how a block is read; everything else is here. Intermediate rows go to ``scratch``.
    """

    where = "on disk"
    take_size: int | None = 2**20  # rows in no order are read from the beginning to the end
    scratch: Scratch | None

    def __init__(self, shape: tuple[int, int], dtype: np.dtype[Any], scratch: Scratch | None = None) -> None:
        super().__init__(shape, dtype)
        self.scratch = scratch

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        """Rows ``start`` to ``stop - 1`` as a contiguous array of its own."""
        raise NotImplementedError

    def check_state(self, n_objects: int, n_bytes: int) -> None:
        if self.scratch is not None:
            room_beside_state(self.scratch.memory, n_objects, n_bytes)

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

    def first(self, n_rows: int) -> LabelRows:
        return RowsView(self, (n_rows, self.shape[1]), self.dtype, self._read)

    def take(self, index: NDArray[np.intp]) -> LabelRows:
        if len(index) * self.shape[1] * self.dtype.itemsize <= TAKE_BYTES:
            return MemoryRows(self[index])
        return RowsView(self, (len(index), self.shape[1]), self.dtype, lambda a, b: self._take(index[a:b]))

    def columns(self, index: ArrayLike) -> LabelRows:
        chosen = np.asarray(index, dtype=np.intp)
        shape = len(self), len(chosen)
        return RowsView(self, shape, self.dtype, lambda a, b: np.ascontiguousarray(self._read(a, b)[:, chosen]))

    def with_columns(self, more: LabelRows) -> LabelRows:
        shape, dtype = (len(self), self.shape[1] + more.shape[1]), np.result_type(self.dtype, more.dtype)
        return RowsView(self, shape, dtype, lambda a, b: np.column_stack([self._read(a, b), more[a:b]]))

    def behind(self, first: MemoryRows) -> LabelRows:
        shape, dtype = (len(self), first.shape[1] + self.shape[1]), np.result_type(first.dtype, self.dtype)
        return RowsView(self, shape, dtype, lambda a, b: np.column_stack([first[a:b], self._read(a, b)]))

    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> LabelRows:
        return RowsView(self, self.shape, dtype, lambda a, b: recode(self._read(a, b), tables, dtype))

    def distinct(self, radices: NDArray[np.int64]) -> DistinctRows:
        scratch = self.scratch or Scratch(None)
        with scratch.folder() as folder:
            size = run_rows(scratch.memory, self.shape, self.dtype)
            codes, counts, inverse = merge_runs(StoredRuns(self, radices, folder, size), len(self))
        give_back_freed()
        return DistinctRows(small_in_memory(codes, scratch.memory // SMALL_PART), counts, inverse)

    def _refuse(self) -> ValueError:
        n, p = self.shape
        return ValueError(
            f"This needs all label rows in memory at once. Got {n:,} rows of {p:,} labels {self.where}. "
            "Use a method that works by blocks of rows, or some of the objects: ensemble[rows]."
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise self._refuse()

    def __reduce__(self) -> str:
        raise self._refuse()


class RowsView(BlockRows):
    """Rows that a function reads from other rows."""

    def __init__(
        self,
        rows: BlockRows,
        shape: tuple[int, int],
        dtype: np.dtype[Any],
        read: Callable[[int, int], NDArray[Any]],
    ) -> None:
        super().__init__(shape, dtype, rows.scratch)
        self._read = read  # type: ignore[method-assign, assignment]


class StoredRows(BlockRows):
    """Rows in a file, in C or Fortran order.

    Read, not mapped: pages of a map count as memory of the process for as long as they stay.
    """

    path: Path

    def __init__(
        self,
        path: Path,
        shape: tuple[int, int],
        dtype: np.dtype[Any],
        *,
        offset: int = 0,
        fortran: bool = False,
        scratch: Scratch | None = None,
    ) -> None:
        super().__init__(shape, dtype, scratch)  # which removes its files when it goes
        self.path, self._offset, self._fortran = path, offset, fortran

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        n, p = self.shape
        if not self._fortran:
            block = np.empty((stop - start, p), dtype=self.dtype)
            self._fill(block, [(start * p, block)])
            return block
        columns = np.empty((p, stop - start), dtype=self.dtype)
        self._fill(columns, [(j * n + start, columns[j]) for j in range(p)])
        return np.ascontiguousarray(columns.T)

    def _column(self, rows: Any, column: int) -> NDArray[Any]:
        if not (self._fortran and isinstance(rows, slice) and rows == slice(None)):
            return super()._column(rows, column)
        values = np.empty(len(self), dtype=self.dtype)
        self._fill(values, [(range(self.shape[1])[column] * len(self), values)])
        return values

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
                        f"{str(self.path)!r} must not change while it is used. It became shorter. Open it again."
                    )


class StoredRuns:
    """Runs of rows that are read here, ``size`` rows at a time over all threads, in a folder of their own."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    radices: NDArray[np.int64]
    folder: Scratch
    n_jobs: int | None
    runs: list[DistinctRows]

    def __init__(
        self, rows: LabelRows, radices: NDArray[np.int64], folder: Scratch, size: int, n_jobs: int | None = None
    ) -> None:
        self.radices, self.folder, self.n_jobs = radices, folder, n_jobs
        self.shape, self.dtype = (0, rows.shape[1]), rows.dtype
        whole = len(rows) <= size
        blocks = row_blocks(len(rows), len(rows) if whole else max(1, size // thread_count(n_jobs)))

        def run_of(i: int) -> DistinctRows:
            run = distinct_rows(rows[blocks[i]], radices)
            return run if whole else run._replace(codes=self._store(f"run-{i}", run.codes))

        self.runs = parallel_map(run_of, range(len(blocks)), n_jobs)

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return parallel_map(lambda run: function(run, *arguments), self.runs, self.n_jobs)

    def merge(self, pieces: list[list[slice]]) -> Iterator[tuple[NDArray[np.int64], list[NDArray[Any]]]]:
        def merged(piece: list[slice]) -> Any:
            return merge_piece(self.radices, *map(part_of_run, self.runs, piece))

        with self.folder.writing("distinct") as file:
            for some in row_blocks(len(pieces), thread_count(self.n_jobs)):
                for codes, counts, places in parallel_map(merged, pieces[some], self.n_jobs):
                    write_array(file, codes)
                    self.shape = self.shape[0] + len(codes), self.shape[1]
                    yield counts, places

    def merged_rows(self) -> StoredRows:
        for i in range(len(self.runs)):
            self.folder.file(f"run-{i}").unlink(missing_ok=True)
        return StoredRows(self.folder.file("distinct"), self.shape, self.dtype, scratch=self.folder)

    def _store(self, name: str, codes: NDArray[Any]) -> StoredRows:
        with self.folder.writing(name) as file:
            write_array(file, codes)
        return StoredRows(self.folder.file(name), codes.shape, codes.dtype, scratch=self.folder)


def run_rows(memory: int, shape: tuple[int, int], dtype: np.dtype[Any]) -> int:
    """Rows whose distinct ones may be found at a time by a process that may take so many bytes."""
    n, p = shape
    return max(2**16, (memory - LIBRARIES - 24 * n) // (BYTES_PER_ROW + 2 * p * dtype.itemsize))


def small_in_memory(rows: BlockRows, most: int) -> LabelRows:
    """The rows in memory, if they take at most so many bytes there."""
    return MemoryRows(rows[:]) if rows.shape[0] * rows.shape[1] * rows.dtype.itemsize <= most else rows
