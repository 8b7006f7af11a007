"""What algorithms ask of label rows, wherever these lie, and the work on rows that are read here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.rows import blocks
from ensemblage.rows.blocks import parts_of, row_blocks
from ensemblage.rows.threads import parallel_map, thread_count

R = TypeVar("R")


class LabelRows(ABC):
    """A matrix of codes, (n, p), that is read by rows: ``rows[a:b]`` and ``rows[index array]`` are arrays.

    Codes are an array in memory or `LabelRows`: `as_rows` makes the latter of both. Methods that give some or other
    codes give either.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    ndim = 2

    array: NDArray[Any] | None = None
    """The whole matrix, if it is in memory."""
    take_size: int | None = None
    """Rows in no order to take at once, where taking fewer would be slow."""

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def __getitem__(self, key: Any) -> Any:
        """Rows, or a column, as an array in memory."""

    @abstractmethod
    def first(self, n_rows: int) -> Any:
        """Codes of the first rows."""

    @abstractmethod
    def take(self, index: NDArray[np.intp]) -> Any:
        """Codes of some rows, in the order of ``index``; they stay where they are while they are many."""

    @abstractmethod
    def columns(self, index: ArrayLike) -> Any:
        """Codes of some columns, in the order of ``index``."""

    @abstractmethod
    def with_columns(self, more: Any) -> Any:
        """Codes of these columns and, after them, those of other codes of the same objects."""

    @abstractmethod
    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> Any:
        """Codes that ``tables[j]`` gives for those of column j."""

    def in_memory(self, name: str, instead: str, because: str = "") -> NDArray[Any]:
        """The whole matrix; an error that names the function and what to use instead, if it is not in memory."""
        if self.array is None:
            raise ValueError(
                f"{name} must hold all label rows in memory{because}. Got {len(self):,} rows of {self.shape[1]} labels "
                f"on disk or on a cluster. Use {instead}, or some of the objects: ensemble[rows]."
            )
        return self.array

    def on_workers(self) -> Any:
        """The codes, on the workers of a `parallel_backend` if there is one."""
        return self

    def state(self, dtype: Any, fill: Any) -> Any:
        """(n,) numbers for `map` to read and write: they lie where the rows lie. ``np.asarray`` brings them here."""
        return np.full(len(self), fill, dtype=dtype)

    def slices(self, state: Any, slices: Sequence[slice]) -> list[NDArray[Any]]:
        """Several short slices of a `state`, here."""
        return [state[part] for part in slices]

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
        return map_rows(function, [self, *reads, *writes], *shared, n_jobs=n_jobs, size=size)

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

        def totals_of(chunk: slice) -> list[NDArray[np.int64]]:
            totals = [np.zeros(shape, dtype=np.int64) for shape in shapes]
            for part in parts_of(chunk):
                function(self[part], *(a[part] for a in reads), *totals, *shared)
            return totals

        chunks = row_blocks(len(self), max(-(-len(self) // thread_count(n_jobs)), blocks.LEAST_ROWS))
        return sum_of(parallel_map(totals_of, chunks, n_jobs))


def map_rows(
    function: Callable[..., R], arrays: Sequence[Any], *shared: Any, n_jobs: int | None = None, size: int | None = None
) -> list[R]:
    """``function(*(a[block] for a in arrays), *shared)`` for every block of rows of the arrays, by threads; results in
    order of the blocks.

    ``arrays`` share their first axis. ``function`` may write to the blocks it is given, and should release the GIL.
    """
    tasks = row_blocks(len(arrays[0]), size)
    return parallel_map(lambda block: function(*(a[block] for a in arrays), *shared), tasks, n_jobs)


def sum_of(parts: list[list[NDArray[np.int64]]]) -> list[NDArray[np.int64]]:
    """Add up the totals of several threads or workers, in the first ones."""
    first, *rest = parts
    for totals in rest:
        for total, more in zip(first, totals, strict=True):
            total += more
    return first
