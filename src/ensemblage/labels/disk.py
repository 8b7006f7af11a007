"""Label rows on disk, read block by block, and the folder of what is written on the way."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.atomic import LOCK, release, suppress_unsupported, take
from ensemblage.base.indexing import row_index
from ensemblage.base.memory import give_back_freed
from ensemblage.base.options import Message, Option
from ensemblage.base.threads import parallel_map, row_blocks, thread_count
from ensemblage.base.validation import check_path
from ensemblage.labels.blocks import (
    DistinctRows,
    LabelRows,
    MembershipRows,
    MemoryRows,
    distinct_rows,
    merge_piece,
    merge_runs,
    part_of_run,
    recode,
)
from ensemblage.tables.archive import read_header

PREFIX = "ensemblage-scratch-"
MARKER = ".ensemblage-scratch"
SUFFIX = ".scratch"
DEFAULT_MEMORY = 10**9
_locks: dict[Path, int | None] = {}
"""Every folder of this process, and the handle of its lock."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_locks.clear)  # a forked child leaves them to the process that made them


def remove_scratch(path: Path) -> None:
    """Remove a folder of this process; what a thread is still writing into it goes too.

    Marker and lock go last, so that another process knows the folder if this one is killed here.
    """
    if path not in _locks:
        return
    handle = _locks.pop(path)
    for _ in range(100):
        if _is_emptied(path):
            with suppress(OSError):
                (path / MARKER).unlink(missing_ok=True)
            if handle is not None:
                release(handle, path / LOCK)
                handle = None
            with suppress(OSError):
                path.rmdir()
            if not path.exists():
                return
        time.sleep(0.01)
    if handle is not None:  # on Windows a file that is open stays: the next process may take the folder
        os.close(handle)


def remove_all_scratch() -> None:
    """Remove every folder of this process, which is about to end without the usual clean-up."""
    for path in reversed(list(_locks)):  # inner folders before those that they lie in
        remove_scratch(path)


def _is_emptied(path: Path) -> bool:
    """Remove all but marker and lock; whether nothing else is left."""
    with suppress(OSError):
        for entry in path.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name not in (MARKER, LOCK):
                entry.unlink(missing_ok=True)
    try:
        return {entry.name for entry in path.iterdir()} <= {MARKER, LOCK}
    except OSError:
        return not path.exists()


def _remove_left(parent: Path, user: int) -> None:
    """Remove the folders that killed processes of the same user left: nobody has their locks."""
    for path in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if path in _locks or path.lstat().st_uid != user or not _was_made_here(path):
                continue
            handle = take(path / LOCK)
            if handle is not None:
                _locks[path] = handle
                remove_scratch(path)


def _was_made_here(path: Path) -> bool:
    """Whether a folder is a temporary one, by its marker and by all that is in it."""
    is_marked = not path.is_symlink() and (path / MARKER).is_file() and (path / MARKER).read_bytes() == _mark(path)
    return is_marked and _holds_only_ours(path)


def _mark(path: Path) -> bytes:
    """Content of the marker: it names its folder, so that no copy and no folder of another name has it."""
    return f"Temporary folder {path.name} of ensemblage, which may remove it.\n".encode()


def _holds_only_ours(path: str | Path) -> bool:
    with os.scandir(path) as entries:
        return all(
            entry.name.startswith(PREFIX) and _holds_only_ours(entry.path)
            if entry.is_dir(follow_symlinks=False)
            else entry.is_file(follow_symlinks=False) and (entry.name in (MARKER, LOCK) or entry.name.endswith(SUFFIX))
            for entry in entries
        )


class Scratch:
    """A folder of its own; it is removed with the last object that holds on to it, by the process that made it.

    ``memory`` is what the process may take, in bytes, when it works there.
    """

    def __init__(
        self, parent: str | PathLike[str] | None, memory: int = DEFAULT_MEMORY, outer: Scratch | None = None
    ) -> None:
        self.memory = memory
        self._outer = outer  # is not removed before this one
        if parent is not None:
            parent = check_path(parent, "scratch")
        try:
            self.path: Path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
            _locks[self.path] = None
            with suppress_unsupported():
                _locks[self.path] = take(self.path / LOCK)
                (self.path / MARKER).write_bytes(_mark(self.path))  # from now on it may be removed, if nobody locks it
        except OSError as error:
            raise ValueError(
                f"scratch must be a folder that can be written. Got {str(parent)!r} ({error.strerror}). "
                "Name another one, or make it first."
            ) from None
        self._remove = weakref.finalize(self, remove_scratch, self.path)
        _remove_left(self.path.parent, self.path.stat().st_uid)

    def file(self, name: str) -> Path:
        """Where the file of that name lies."""
        return self.path / f"{name}{SUFFIX}"

    def check_room(self, n_bytes: int) -> None:
        free = shutil.disk_usage(self.path).free
        if free < n_bytes:
            raise self._full(f"{free / 1e9:.1f} GB free of {n_bytes / 1e9:.1f} GB needed")

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """A new file of the folder."""
        try:
            with open(self.file(name), "wb", buffering=0) as file:
                yield file
        except OSError as error:
            self.file(name).unlink(missing_ok=True)
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise self._full(error.strerror or "an error") from None

    def _full(self, got: str) -> ValueError:
        return ValueError(
            f"The temporary folder must have room for the coded labels. Got {got} in {self.path.parent}. "
            "Name a folder on a larger disk with scratch=."
        )

    @contextmanager
    def folder(self) -> Iterator[Scratch]:
        """A folder in this one, for work that another thread or a forked process may do at the same time."""
        with Scratch(self.path, self.memory, self).or_removed() as inner:
            yield inner

    @contextmanager
    def or_removed(self) -> Iterator[Scratch]:
        """This folder, which an error removes at once: who shows the error may hold on to what was there."""
        try:
            yield self
        except BaseException:
            self._remove()
            raise


def write_array(file: IO[bytes], array: np.ndarray[Any, Any]) -> None:
    """All of a contiguous array: a raw file may take less than it is given."""
    buffer = np.ascontiguousarray(array).data.cast("B")
    while len(buffer):
        buffer = buffer[file.write(buffer) :]


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


def check_state(rows: LabelRows, n_objects: int, n_bytes: int) -> None:
    """Refuse work that keeps so many bytes per object, where the memory that was given has no room for them."""
    if isinstance(rows, BlockRows) and rows.scratch is not None:
        room_beside_state(rows.scratch.memory, n_objects, n_bytes)


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

    def take(self, index: NDArray[np.intp] | slice) -> LabelRows:
        if isinstance(index, slice):
            return RowsView(self, (len(range(len(self))[index]), self.shape[1]), self.dtype, self._read)
        if len(index) * self.shape[1] * self.dtype.itemsize <= TAKE_BYTES:
            return MemoryRows(self[index])
        return RowsView(self, (len(index), self.shape[1]), self.dtype, lambda a, b: self._take(index[a:b]))

    def columns(self, index: ArrayLike) -> LabelRows:
        chosen = np.asarray(index, dtype=np.intp)
        shape = len(self), len(chosen)
        return RowsView(self, shape, self.dtype, lambda a, b: np.ascontiguousarray(self._read(a, b)[:, chosen]))

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
        self.where = rows.where
        self._read = read  # type: ignore[method-assign, assignment]


def side_by_side(first: LabelRows, more: LabelRows) -> LabelRows:
    """The columns of both, of the same objects; what is not in memory stays where it is."""
    if isinstance(first, MembershipRows) and isinstance(more, MembershipRows):
        return MembershipRows(
            np.hstack([first.H, more.H]), np.append(first.offsets, first.offsets[-1] + more.offsets[1:])
        )
    elsewhere = [rows for rows in (first, more) if isinstance(rows, BlockRows)]
    if not elsewhere:
        return MemoryRows(np.column_stack([first[:], more[:]]))
    shape, dtype = (len(first), first.shape[1] + more.shape[1]), np.result_type(first.dtype, more.dtype)
    return RowsView(elsewhere[0], shape, dtype, lambda a, b: np.column_stack([first[a:b], more[a:b]]))


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


class NpyRule(NamedTuple):
    """What a .npy file must hold, and the sentences of errors that say so."""

    kinds: str
    """Of its numbers, as in `numpy.dtype.kind`."""
    least: int
    """How many rows and columns there must be."""
    written: str
    matrix: str
    complete: str
    advice: str
    """How another matrix is to be saved."""


def npy_rows(path: Path, rule: NpyRule) -> StoredRows:
    """The rows of a .npy file."""
    try:
        with open(path, "rb") as file:
            shape, fortran, dtype = read_header(file)
            offset = file.tell()
    except ValueError as error:
        raise ValueError(f"{rule.written} Got {str(path)!r} ({error}). Save it again.") from None
    if dtype.kind not in rule.kinds or len(shape) != 2 or min(shape) < rule.least:
        raise ValueError(f"{rule.matrix} Got {dtype} of shape {shape} in {str(path)!r}. {rule.advice}")
    size, needed = path.stat().st_size, offset + shape[0] * shape[1] * dtype.itemsize
    if size < needed:
        raise ValueError(f"{rule.complete} Got {size:,} of {needed:,} bytes in {str(path)!r}. Copy or save it again.")
    return StoredRows(path, shape, dtype, offset=offset, fortran=fortran)


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
