"""Label rows wherever they lie, in blocks; and those in memory: codes, or soft memberships in their place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.labels import threads
from ensemblage.labels.distinct import DistinctRows, distinct_rows
from ensemblage.labels.threads import parallel_map, parts_of, row_blocks, thread_count

R = TypeVar("R")


class LabelRows(ABC):
    """A matrix of codes, (n, p), that is read by rows: ``rows[a:b]`` and ``rows[index array]`` are arrays."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    random_access = False
    """Whether rows and columns cost no more in any order than in their own; ``rows[:]`` then costs nothing."""
    take_size: int | None = None
    """Rows in no order to take at once, where taking fewer would be slow."""
    where = "in memory"
    """Where they are, in words."""

    def __init__(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype = shape, dtype

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def __getitem__(self, key: Any) -> Any:
        """Rows, or a column, as an array in memory."""

    @abstractmethod
    def take(self, index: NDArray[np.intp] | slice) -> LabelRows:
        """Some rows, in the order of ``index``, or the first ones; they stay where they are while they are many."""

    @abstractmethod
    def columns(self, index: ArrayLike) -> LabelRows:
        """Some columns, in the order of ``index``."""

    @abstractmethod
    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> LabelRows:
        """The codes that ``tables[j]`` gives for those of column j."""

    @abstractmethod
    def distinct(self, radices: NDArray[np.int64]) -> DistinctRows:
        """The distinct rows; codes of column j are below ``radices[j]``."""

    def _as_saved(self) -> tuple[str, dict[str, Any]]:
        """Its name and its parts in the file of a model."""
        return "rows", {"codes": np.asarray(self[:])}

    def state(self, dtype: Any, fill: Any) -> Any:
        """(n,) numbers for `map` to read and write: they lie where the rows lie. ``np.asarray`` brings them here."""
        return np.full(len(self), fill, dtype=dtype)

    def map(
        self,
        function: Callable[..., R],
        *shared: Any,
        reads: Sequence[Any] = (),
        writes: Sequence[Any] = (),
        n_jobs: int | None = None,
        size: int | None = None,
    ) -> list[R]:
        """``function(codes, *reads, *writes, *shared)`` for every block of rows; results in order of the blocks.

        ``reads`` and ``writes`` are arrays or states of n rows, given block by block. The function changes nothing but
        ``writes``. Workers are sent an array of ``reads`` once: it must not change before a later call that reads it.
        """
        size = size or threads.BLOCK_ROWS
        if self.random_access and 0 < len(self) <= size:
            return [function(self[:], *reads, *writes, *shared)]
        work = partial(map_blocks, function, shared, size)
        return [result for results in self._run(work, reads, writes, n_jobs, size) for result in results]

    def add(
        self,
        function: Callable[..., object],
        shapes: Sequence[tuple[int, ...]],
        *shared: Any,
        reads: Sequence[Any] = (),
        n_jobs: int | None = None,
    ) -> list[NDArray[np.int64]]:
        """Sums of whole numbers over rows: ``function(codes, *reads, *totals, *shared)`` adds to ``totals``.

        ``shapes`` are those of the totals; each thread has its own, so that they may be large, and threads are few.
        ``reads`` are as in `map`.
        """
        if self.random_access and len(self) <= min(threads.BLOCK_ROWS, threads.LEAST_ROWS):
            totals = [np.zeros(shape, dtype=np.int64) for shape in shapes]
            function(self[:], *reads, *totals, *shared)
            return totals
        work = partial(add_blocks, function, shared, threads.BLOCK_ROWS, list(shapes))
        size = max(-(-len(self) // thread_count(n_jobs)), threads.LEAST_ROWS)
        first, *rest = self._run(work, reads, (), n_jobs, size)
        for totals in rest:
            for total, more in zip(first, totals, strict=True):
                total += more
        return first

    def _run(
        self, work: Callable[..., R], reads: Sequence[Any], writes: Sequence[Any], n_jobs: int | None, size: int
    ) -> list[R]:
        """``work([codes, *reads, *writes], rows)`` for slices of the rows, of ``size`` here; results in their order."""
        arrays = [self, *reads, *writes]
        return parallel_map(lambda rows: work(arrays, rows), row_blocks(len(self), size), n_jobs)


def map_blocks(
    function: Callable[..., R], shared: tuple[Any, ...], size: int, arrays: Sequence[Any], rows: slice
) -> list[R]:
    """``function(*arrays, *shared)`` for every block of ``size`` of the rows."""
    return [function(*(a[block] for a in arrays), *shared) for block in parts_of(rows, size)]


def add_blocks(
    function: Callable[..., object],
    shared: tuple[Any, ...],
    size: int,
    shapes: list[tuple[int, ...]],
    arrays: Sequence[Any],
    rows: slice,
) -> list[NDArray[np.int64]]:
    """The totals of the given shapes, to which the function adds every block of ``size`` of the rows."""
    totals = [np.zeros(shape, dtype=np.int64) for shape in shapes]
    map_blocks(function, (*totals, *shared), size, arrays, rows)
    return totals


def map_rows(
    function: Callable[..., R], arrays: Sequence[Any], *shared: Any, n_jobs: int | None = None, size: int | None = None
) -> list[R]:
    """``function(*(a[block] for a in arrays), *shared)`` for every block of rows of the arrays, by threads; results in
    order of the blocks.

    ``arrays`` share their first axis. ``function`` may write to the blocks it is given, and should release the GIL.
    """
    if 0 < len(arrays[0]) <= (size or threads.BLOCK_ROWS):
        return [function(*arrays, *shared)]
    tasks = row_blocks(len(arrays[0]), size)
    return parallel_map(lambda block: function(*(a[block] for a in arrays), *shared), tasks, n_jobs)


_workers: ContextVar[Any] = ContextVar("workers", default=None)


class MemoryRows(LabelRows):
    """A code matrix in memory."""

    random_access = True

    def __init__(self, array: NDArray[Any]) -> None:
        self.shape, self.dtype, self.array = array.shape, array.dtype, array

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.array if dtype is None else self.array.astype(dtype)

    def take(self, index: NDArray[np.intp] | slice) -> MemoryRows:
        return MemoryRows(self.array[index])

    def columns(self, index: ArrayLike) -> MemoryRows:
        return MemoryRows(np.ascontiguousarray(self.array[:, np.asarray(index, dtype=np.intp)]))

    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> MemoryRows:
        return MemoryRows(recode(self.array, tables, dtype))

    def distinct(self, radices: NDArray[np.int64]) -> DistinctRows:
        codes, counts, inverse = distinct_rows(self.array, radices)
        return DistinctRows(MemoryRows(codes), counts, inverse)


class MembershipRows(LabelRows):
    """The matrix H of memberships, (n, offsets[p]): ``rows[:]`` and the blocks of `map` are rows of it.

    The columns are those of a table over labels: partition j has ``offsets[j]`` to ``offsets[j + 1] - 1``, the last of
    them 1 where it says nothing of the object, else 0. So what is a look-up of an object's labels for codes, its sum
    over ``table[offsets[j] + code_j]``, is its row of H @ table here; where H holds zeros and ones both are the same.
    """

    random_access = True
    H: NDArray[np.float64]
    offsets: NDArray[np.int64]

    def __init__(self, H: NDArray[np.float64], offsets: NDArray[np.int64]) -> None:
        super().__init__((len(H), len(offsets) - 1), H.dtype)
        self.H, self.offsets = H, offsets

    def __getitem__(self, key: Any) -> Any:
        return self.H[key]

    def take(self, index: NDArray[np.intp] | slice) -> MembershipRows:
        return MembershipRows(self.H[index], self.offsets)

    def columns(self, index: ArrayLike) -> MembershipRows:
        blocks = [self.of_partition(j) for j in np.asarray(index, dtype=np.intp).tolist()]
        offsets = np.concatenate([[0], np.cumsum([block.stop - block.start for block in blocks])])
        return MembershipRows(np.hstack([self.H[:, block] for block in blocks]), offsets)

    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> LabelRows:
        raise TypeError("Memberships have no codes.")

    def distinct(self, radices: NDArray[np.int64]) -> DistinctRows:
        """In the order that rows of zeros and ones have as codes."""
        _, first, inverse, counts = np.unique(
            0 - self.H, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        return DistinctRows(self.take(first), counts.astype(np.int64), inverse.reshape(-1))

    def of_partition(self, j: int) -> slice:
        """Its columns, that of the missing entry included."""
        return slice(int(self.offsets[j]), int(self.offsets[j + 1]))

    def likeliest(self) -> NDArray[np.int32]:
        """(n, p) the cluster with the largest membership, the first on ties, as a code."""
        blocks = [self.H[:, self.of_partition(j)].argmax(axis=1) for j in range(self.shape[1])]
        return np.column_stack(blocks).astype(np.int32)

    def _as_saved(self) -> tuple[str, dict[str, Any]]:
        return "memberships", {"H": self.H, "offsets": self.offsets}


def in_memory(rows: LabelRows, name: str, instead: str, because: str = "") -> NDArray[Any]:
    """The whole matrix; an error that names the function and what to use instead, if it is not in memory."""
    if not rows.random_access:
        raise ValueError(
            f"{name} must hold all label rows in memory{because}. Got {len(rows):,} rows of {rows.shape[1]} labels "
            f"{rows.where}. Use {instead}, or select objects with ensemble[rows]."
        )
    array: NDArray[Any] = rows[:]
    return array


def read_slices(state: Any, slices: Sequence[slice]) -> list[NDArray[Any]]:
    """Several short slices of a state of rows, here: those on workers come together."""
    found: list[NDArray[Any]] = state.read(slices) if hasattr(state, "read") else [state[part] for part in slices]
    return found


def on_workers(rows: LabelRows) -> LabelRows:
    """The same rows, on the workers of a `parallel_backend` if there is one."""
    workers = _workers.get()
    return rows if workers is None or not isinstance(rows, MemoryRows) else workers.scatter(rows)


def recode(codes: NDArray[Any], tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    """(n, p) codes looked up in one table per column; the same array, if nothing changes."""
    if codes.dtype == dtype and all(np.array_equal(table, np.arange(len(table))) for table in tables):
        return codes
    new = np.empty(codes.shape, dtype=dtype)
    for j, table in enumerate(tables):
        new[:, j] = table[codes[:, j]]
    return new
