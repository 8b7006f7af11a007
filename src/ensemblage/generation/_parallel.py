"""Many base clusterings at once: one native thread each, their progress told, their warnings folded."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from joblib import Parallel, delayed

from ensemblage.labels.threads import one_native_thread, thread_count

logger = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

OF_THREADS = "`sklearn.utils.parallel.delayed` should be used with"
"""scikit-learn says this by mistake where one of its threads clears the list of filters while another reads it."""


def run_all(
    function: Callable[[T], R],
    tasks: Sequence[T],
    n_jobs: int | None,
    last: Callable[[R], bool] = lambda _: False,
    progress: Callable[[int, int], None] | None = None,
    what: str = "base clustering",
) -> list[R]:
    """``[function(task) for task in tasks]`` by joblib's threads, BLAS and OpenMP held to one thread each.

    Bitwise identical for any ``n_jobs``. A ``last`` result, an error or Ctrl-C drops the tasks that have not begun.
    ``progress(done, total)`` is called here, after every task, which the log calls ``what``.
    """
    parallel = Parallel(n_jobs=thread_count(n_jobs), prefer="threads", return_as="generator")
    results: list[R] = []
    with (
        one_native_thread(),
        _closing(parallel(delayed(_run_single_threaded)(function, task) for task in tasks)) as finished,
    ):
        for result in finished:
            results.append(result)
            logger.info("%s %d of %d", what, len(results), len(tasks))
            if progress is not None:
                progress(len(results), len(tasks))
            if last(result):
                break
    return results


@contextmanager
def _closing(finished: Any) -> Iterator[Any]:
    """Close a generator of joblib's results, without its warning that tasks were done whose results nobody took."""
    try:
        yield finished
    finally:
        if threading.current_thread() is threading.main_thread():
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", category=UserWarning, module=r"joblib\.parallel")
                finished.close()
        else:
            finished.close()


@contextmanager
def fold_warnings() -> Iterator[None]:
    """Hold back the warnings of the block, then give one per line of code they come from, with their number."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python's warnings can be held back by one thread at a time
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    by_line: dict[tuple[Any, str, int], list[str]] = {}
    for warning in (w for w in caught if not str(w.message).startswith(OF_THREADS)):
        by_line.setdefault((warning.category, warning.filename, warning.lineno), []).append(str(warning.message))
    for (category, filename, line), texts in by_line.items():
        more = f" (And {len(texts) - 1} more like it from other base clusterings.)" if len(texts) > 1 else ""
        warnings.warn_explicit(texts[0] + more, category, filename, line)


MOST_NAMED = 5
"""Partitions with fewer clusters than were asked for that a sentence names."""


def fewer_clusters_text(names: Sequence[str], asked: Sequence[int], found: Sequence[int]) -> str:
    """The partitions with fewer clusters than were asked for, in a sentence; "" if there is none."""
    of_all = [
        f"{name} has {n_found} of {k}" for name, k, n_found in zip(names, asked, found, strict=True) if n_found < k
    ]
    named = [*of_all[:MOST_NAMED], *([f"{len(of_all) - MOST_NAMED} more have fewer"] * (len(of_all) > MOST_NAMED))]
    return f"fewer clusters than were asked for: {', '.join(named)}" if of_all else ""


def failures_text(failures: Iterable[tuple[str, Exception]]) -> str:
    """Names of what failed, by their errors."""
    names_by_error: dict[str, list[str]] = {}
    for name, error in failures:
        names_by_error.setdefault(error_text(error), []).append(name)
    return "; ".join(f"{', '.join(names)}: {error}" for error, names in names_by_error.items())


def error_text(error: Exception) -> str:
    """Its kind and the first line of its message."""
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"


def _run_single_threaded(function: Callable[[T], R], task: T) -> R:
    with one_native_thread():
        return function(task)
