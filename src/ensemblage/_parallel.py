"""Threads over blocks of rows, or the workers of a cluster: the only module that knows about them.

Kernels are serial and release the GIL. Sums over rows are integers and may be cut into blocks of any size;
where a float sum cannot be avoided, it goes in fixed blocks of ``SUM_ROWS`` rows, added in order.
"""

import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ensemblage._slices import Stopped, check_stopped, unless
from ensemblage._validation import shown

T = TypeVar("T")
R = TypeVar("R")

BLOCK_ROWS = 16_384
"""Rows of one task. Results do not depend on it (tests change it)."""

SUM_ROWS = 16_384
"""Rows of one partial float sum. Results do depend on it: it never changes."""

MOST_JOBS = 1_000
"""Most threads, as in the shell."""

LEAST_ROWS = 8_192
"""Rows below which a thread is not worth totals of its own."""

_executor: ThreadPoolExecutor | None = None
_workers: ContextVar[Any] = ContextVar("workers", default=None)


def available_cores() -> int:
    """Cores this process may use; ``OMP_NUM_THREADS`` lowers it, as loky and Dask workers rely on."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores


def thread_count(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``: None means every available core, -1 too, -2 all but one."""
    if n_jobs is None:
        return available_cores()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0 or n_jobs > MOST_JOBS:
        raise ValueError(
            f"n_jobs must be None or a whole number other than 0, at most {MOST_JOBS:,}. Got {shown(n_jobs)}. "
            "-1 uses every core."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, available_cores() + 1 + int(n_jobs))


def row_blocks(n_rows: int, size: int | None = None) -> list[slice]:
    """Consecutive slices of at most ``size`` rows (default ``BLOCK_ROWS``) that cover ``range(n_rows)``."""
    size = size or BLOCK_ROWS
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def parts_of(block: slice, size: int | None = None) -> list[slice]:
    """A slice of rows, cut like `row_blocks`: rows on disk are in memory only part by part."""
    return [slice(block.start + s.start, block.start + s.stop) for s in row_blocks(block.stop - block.start, size)]


def parallel_map(function: Callable[[T], R], tasks: Iterable[T], n_jobs: int | None = None) -> list[R]:
    """``[function(task) for task in tasks]`` over threads; the calling thread works too.

    Results are in the order of the tasks. The first error, Ctrl-C included, stops the other threads at their next task
    or slice of a kernel and is raised. Ctrl-C is seen between two tasks or slices of the calling thread: neither should
    be long. Safe to nest: a thread never waits for one that has not started.
    """
    todo: Sequence[T] = list(tasks)
    n_threads = min(thread_count(n_jobs), len(todo))
    if n_threads <= 1:
        return [function(task) for task in todo]
    results: list[Any] = [None] * len(todo)
    counter = itertools.count()
    stopped = False

    def work() -> None:
        nonlocal stopped
        try:
            with unless(lambda: stopped):
                while (i := next(counter)) < len(todo):
                    check_stopped()
                    results[i] = function(todo[i])
        except Stopped:
            # Not where another thread of ours failed: its error is raised below.
            if not stopped:
                stopped = True
                raise
        except BaseException:
            stopped = True
            raise

    helpers = [_pool().submit(work) for _ in range(n_threads - 1)]
    try:
        work()
        _wait_for(helpers)
    except BaseException:
        stopped = True
        raise
    finally:
        _wait_for(helpers)
    for helper in helpers:
        if not helper.cancelled():
            helper.result()
    return results


def _wait_for(helpers: Sequence[Future[None]]) -> None:
    """Until those that have started are done; the others never start."""
    for helper in helpers:
        if not helper.cancel():
            helper.exception()


def map_rows(
    function: Callable[..., R], arrays: Sequence[Any], *shared: Any, n_jobs: int | None = None, size: int | None = None
) -> list[R]:
    """Call ``function(*(a[block] for a in arrays), *shared)`` for every block of rows; results in order of the blocks.

    ``arrays`` share their first axis. ``function`` may write to the blocks it is given.
    """
    remote = _remote(arrays)
    if remote is not None:
        results: list[R] = remote.map_blocks(function, arrays, shared, size or BLOCK_ROWS)
        return results
    blocks = row_blocks(len(arrays[0]), size)
    return parallel_map(lambda block: function(*(a[block] for a in arrays), *shared), blocks, n_jobs)


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
        return sum_of(remote.add_blocks(function, arrays, shapes, shared, BLOCK_ROWS))
    n_rows = len(arrays[0])

    def add(chunk: slice) -> list[NDArray[np.int64]]:
        totals = [np.zeros(shape, dtype=np.int64) for shape in shapes]
        for part in parts_of(chunk):
            function(*(a[part] for a in arrays), *totals, *shared)
        return totals

    chunks = row_blocks(n_rows, max(-(-n_rows // thread_count(n_jobs)), LEAST_ROWS))
    return sum_of(parallel_map(add, chunks, n_jobs))


@contextmanager
def parallel_backend(client: Any) -> Iterator[None]:
    """Let the workers of a Dask cluster do the work of the consensus estimators that are fitted in the block.

    For label matrices that fit the memory here. Their distinct rows are found here and sent to the workers once; then
    every pass over them runs there. The result is the same, bit by bit, and ``n_jobs`` has no effect. Labels that do
    not fit the memory, or lie on the cluster already, are for `Ensemble.from_dask`.

    Parameters
    ----------
    client : distributed.Client
        Yours to open and to close. Only its ``submit``, ``scatter``, ``gather`` and ``nthreads`` are used.

    Raises
    ------
    ValueError
        If ``client`` is not a client.

    Notes
    -----
    Methods that must see all rows at once (docs/SCALE.md) and ensembles of at most 16,384 distinct rows stay here, and
    so do metrics, rankers, base clusterings and ``predict``. What was sent lives as long as the block. If a worker is
    lost, the fit fails with a RuntimeError that says so and has to be done again: nothing else has the rows, unlike
    those of `Ensemble.from_dask`.

    Examples
    --------
    >>> from distributed import Client  # doctest: +SKIP
    >>> with Client() as client, ensemblage.parallel_backend(client=client):  # doctest: +SKIP
    ...     labels = KMeansConsensus(20).fit_predict(ensemble)
    """
    check_client(client, "parallel_backend")
    from ensemblage._cluster import SentRows

    token = _workers.set(SentRows(client))
    try:
        yield
    finally:
        _workers.reset(token)


def check_client(client: Any, name: str) -> Any:
    """What has the methods of a `distributed.Client` that are used."""
    if isinstance(client, type) or not all(hasattr(client, m) for m in ("submit", "scatter", "gather", "nthreads")):
        raise ValueError(
            f"client of {name} must be a Client of dask.distributed. Got {shown(client)}. Give the one you work with."
        )
    return client


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


class _BlasLimit:
    """BLAS held to one thread from the first user's entry to the last one's exit, in whatever order they leave.

    Its limit is the process's. Two overlapping fits, or a clustering that Ctrl-C left running, would each restore what
    they found, and the last to leave found 1.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0

    def __enter__(self) -> ThreadpoolController:
        with self._lock:
            if self._users == 0:
                self._controller = ThreadpoolController()
                self._limiter = self._controller.limit(limits=1, user_api="blas")
            self._users += 1
            return self._controller

    def forget_lock(self) -> None:
        """For a forked child: BLAS stays held to one thread where a thread of the parent held it."""
        self._lock = threading.Lock()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limiter.restore_original_limits()


_blas_limit = _BlasLimit()


@contextmanager
def one_native_thread() -> Iterator[None]:
    """Hold BLAS and OpenMP to one thread: their results may depend on the number of threads."""
    # OpenMP keeps its limit per thread: each worker needs its own.
    with _blas_limit as native, native.limit(limits=1, user_api="openmp"):
        yield


def _pool() -> ThreadPoolExecutor:
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(max_workers=max(1, available_cores()), thread_name_prefix="ensemblage")
    return _executor


def _forget_threads() -> None:
    # A forked child inherits the pool but none of its threads, and a lock that one of them may have held.
    global _executor
    _executor = None
    _blas_limit.forget_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
