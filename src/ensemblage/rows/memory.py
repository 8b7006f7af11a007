"""Label rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.rows.distinct import DistinctRows, distinct_rows
from ensemblage.rows.protocol import LabelRows

_workers: ContextVar[Any] = ContextVar("workers", default=None)


class MemoryRows(LabelRows):
    """A code matrix in memory."""

    random_access = True

    def __init__(self, array: NDArray[Any]) -> None:
        n, p = array.shape
        super().__init__((n, p), array.dtype)
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        return self._array[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self._array if dtype is None else self._array.astype(dtype)

    def unwrap(self) -> NDArray[Any]:
        return self._array

    def first(self, n_rows: int) -> MemoryRows:
        return MemoryRows(self._array[:n_rows])

    def take(self, index: NDArray[np.intp]) -> MemoryRows:
        return MemoryRows(self._array[index])

    def gather(self, index: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.intp]]:
        return self._array, index

    def columns(self, index: ArrayLike) -> MemoryRows:
        return MemoryRows(np.ascontiguousarray(self._array[:, np.asarray(index, dtype=np.intp)]))

    def with_columns(self, more: LabelRows) -> LabelRows:
        return more.behind(self)

    def behind(self, first: MemoryRows) -> MemoryRows:
        return MemoryRows(np.column_stack([first.unwrap(), self._array]))

    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> MemoryRows:
        return MemoryRows(recode(self._array, tables, dtype))

    def distinct(self, radices: NDArray[np.int64]) -> DistinctRows:
        codes, counts, inverse = distinct_rows(self._array, radices)
        return DistinctRows(MemoryRows(codes), counts, inverse)

    def on_workers(self) -> LabelRows:
        workers = _workers.get()
        return self if workers is None else workers.scatter(self)


def recode(codes: NDArray[Any], tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    """(n, p) codes looked up in one table per column; the same array, if nothing changes."""
    if codes.dtype == dtype and all(np.array_equal(table, np.arange(len(table))) for table in tables):
        return codes
    new = np.empty(codes.shape, dtype=dtype)
    for j, table in enumerate(tables):
        new[:, j] = table[codes[:, j]]
    return new
