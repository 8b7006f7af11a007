"""Label rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.rows.protocol import LabelRows

_workers: ContextVar[Any] = ContextVar("workers", default=None)


class MemoryRows(LabelRows):
    """A code matrix in memory."""

    array: NDArray[Any]

    def __init__(self, array: NDArray[Any]) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def first(self, n_rows: int) -> NDArray[Any]:
        return self.array[:n_rows]

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        return self.array[index]

    def columns(self, index: ArrayLike) -> NDArray[Any]:
        return np.ascontiguousarray(self.array[:, np.asarray(index, dtype=np.intp)])

    def with_columns(self, more: Any) -> NDArray[Any]:
        return np.column_stack([self.array, more])

    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
        return recoded(self.array, tables, dtype)

    def on_workers(self) -> Any:
        workers = _workers.get()
        return self.array if workers is None else workers.of(self.array)


def as_rows(codes: Any) -> LabelRows:
    """The codes, an array or rows already, as rows."""
    return codes if isinstance(codes, LabelRows) else MemoryRows(codes)


def recoded(codes: NDArray[Any], tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    """(n, p) codes looked up in one table per column; the same array, if nothing changes."""
    if codes.dtype == dtype and all(np.array_equal(table, np.arange(len(table))) for table in tables):
        return codes
    new = np.empty(codes.shape, dtype=dtype)
    for j, table in enumerate(tables):
        new[:, j] = table[codes[:, j]]
    return new
