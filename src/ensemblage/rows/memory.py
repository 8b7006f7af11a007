"""Work over blocks of rows: by the threads of this process, or by the workers that have the rows.

Kernels are serial and release the GIL.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.rows import blocks
from ensemblage.rows.blocks import parts_of, row_blocks
from ensemblage.rows.threads import parallel_map, thread_count

R = TypeVar("R")

_workers: ContextVar[Any] = ContextVar("workers", default=None)


def map_rows(
    function: Callable[..., R], arrays: Sequence[Any], *shared: Any, n_jobs: int | None = None, size: int | None = None
) -> list[R]:
    """Call ``function(*(a[block] for a in arrays), *shared)`` for every block of rows; results in order of the blocks.

    ``arrays`` share their first axis. ``function`` may write to the blocks it is given.
    """
    remote = _remote(arrays)
    if remote is not None:
        results: list[R] = remote.map_blocks(function, arrays, shared, size or blocks.BLOCK_ROWS)
        return results
    tasks = row_blocks(len(arrays[0]), size)
    return parallel_map(lambda block: function(*(a[block] for a in arrays), *shared), tasks, n_jobs)


def add_rows(
    function: Callable[..., object],
    arrays: Sequence[Any],
    shapes: Sequence[tuple[int, ...]],
    *shared: Any,
    n_jobs: int | None = None,
) -> list[NDArray[np.int64]]:
    """Sums of whole numbers over rows: ``function(*(a[block] for a in arrays), *totals, *shared)`` adds to ``totals``.

    ``shapes`` are those of the totals; each thread has its own, so that they may be large, and threads are few.
    """
    remote = _remote(arrays)
    if remote is not None:
        return sum_of(remote.add_blocks(function, arrays, shapes, shared, blocks.BLOCK_ROWS))
    n_rows = len(arrays[0])

    def add(chunk: slice) -> list[NDArray[np.int64]]:
        totals = [np.zeros(shape, dtype=np.int64) for shape in shapes]
        for part in parts_of(chunk):
            function(*(a[part] for a in arrays), *totals, *shared)
        return totals

    chunks = row_blocks(n_rows, max(-(-n_rows // thread_count(n_jobs)), blocks.LEAST_ROWS))
    return sum_of(parallel_map(add, chunks, n_jobs))


def placed(codes: Any) -> Any:
    """A code matrix that nobody writes to: on the workers, inside `parallel_backend`."""
    workers = _workers.get()
    return codes if workers is None or not isinstance(codes, np.ndarray) else workers.of(codes)


def sum_of(parts: list[list[NDArray[np.int64]]]) -> list[NDArray[np.int64]]:
    """Add up the totals of several threads or workers, in the first ones."""
    first, *rest = parts
    for totals in rest:
        for total, more in zip(first, totals, strict=True):
            total += more
    return first


def _remote(arrays: Sequence[Any]) -> Any:
    """The array whose blocks lie on the workers of a cluster, if there is one: the work goes to them."""
    return next((a for a in arrays if hasattr(a, "map_blocks")), None)


def slices_of(array: Any, slices: Sequence[slice]) -> list[NDArray[Any]]:
    """Several slices of an array, here; those of a state on workers are brought at once."""
    found: list[NDArray[Any]] = array.several(slices) if hasattr(array, "several") else [array[s] for s in slices]
    return found


def row_state(codes: Any, dtype: Any, fill: Any) -> Any:
    """An array with one number per row of ``codes``, for `map_rows` to read and write: it lies where the rows lie."""
    remote = _remote([codes])
    return np.full(len(codes), fill, dtype=dtype) if remote is None else remote.state(dtype, fill)


def finished(state: Any) -> Any:
    """The `row_state`, that nobody writes to any more: where workers keep it, no task needs a copy of it."""
    if hasattr(state, "finished"):
        state.finished = True
    return state


def only_read(array: NDArray[Any], codes: Any) -> NDArray[Any]:
    """The array, that nobody writes to any more: workers that keep ``codes`` are sent it once."""
    if _remote([codes]) is not None:
        array = array.view()
        array.flags.writeable = False
    return array
