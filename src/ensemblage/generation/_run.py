"""Many base clusterings at once: one native thread each, their progress told, their warnings folded."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

from ensemblage._parallel import thread_count

T = TypeVar("T")
R = TypeVar("R")

_callback: ContextVar[Callable[[int, int], None] | None] = ContextVar("progress", default=None)


@contextmanager
def progress(callback: Callable[[int, int], None]) -> Iterator[None]:
    """Call ``callback(done, total)`` in the caller's thread after every base clustering of the block."""
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


def run_all(
    function: Callable[[T], R], tasks: Sequence[T], n_jobs: int | None, last: Callable[[R], bool] = lambda _: False
) -> list[R]:
    """``[function(task) for task in tasks]`` by joblib's threads, BLAS and OpenMP held to one thread each.

    The same bits for any ``n_jobs``. A ``last`` result, an error or Ctrl-C drops the tasks that have not begun.
    """
    _native_threads.cache_clear()  # libraries may have been loaded since the last call
    callback = _callback.get()
    parallel = Parallel(
        n_jobs=None if n_jobs is None else thread_count(n_jobs), prefer="threads", return_as="generator"
    )
    results: list[R] = []
    with _native_threads().limit(limits=1), closing(parallel(delayed(_alone)(function, t) for t in tasks)) as finished:
        for result in finished:
            results.append(result)
            if callback is not None:
                callback(len(results), len(tasks))
            if last(result):
                break
    return results


@contextmanager
def folded_warnings() -> Iterator[None]:
    """Hold back the warnings of the block, then give one per line of code they come from, with their number."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    by_line: dict[tuple[Any, str, int], list[str]] = {}
    for warning in caught:
        by_line.setdefault((warning.category, warning.filename, warning.lineno), []).append(str(warning.message))
    for (category, filename, line), texts in by_line.items():
        more = f" (And {len(texts) - 1} more like it from other base clusterings.)" if len(texts) > 1 else ""
        warnings.warn_explicit(texts[0] + more, category, filename, line)


@cache
def _native_threads() -> ThreadpoolController:
    return ThreadpoolController()


def _alone(function: Callable[[T], R], task: T) -> R:
    # OpenMP keeps its limit per thread: the one around all tasks does not reach the workers.
    with _native_threads().limit(limits=1, user_api="openmp"):
        return function(task)
