"""Base clusterers: name one, give it k and seeds, fit it, ask it; run many at once.

Each run has one native thread; progress is reported, and equal warnings become one.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline

from ensemblage.base.random import task_seeds
from ensemblage.base.threads import one_native_thread, thread_count
from ensemblage.base.validation import Estimator
from ensemblage.generation._nearest import are_for_cells, clearly_nearest

Labels = NDArray[np.int32]


CLUSTERER = Estimator(
    "a scikit-learn clusterer (an object with fit_predict)", "fit_predict", "Give for example KMeans(n_init=1)."
)


def class_name(estimator: Any) -> str:
    """Class of the clusterer in lower case; of a pipeline, its last step's."""
    while isinstance(estimator, Pipeline):
        _, estimator = estimator.steps[-1]
    return type(estimator).__name__.lower()


def k_parameter(estimator: Any) -> str | None:
    """Name of the parameter that holds the number of clusters, ``pipeline_step__n_clusters`` included, or None."""
    prefix = ""
    while isinstance(estimator, Pipeline):
        step, estimator = estimator.steps[-1]
        prefix += f"{step}__"
    found = [name for name in estimator.get_params() if _last_part(name) in ("n_clusters", "n_components")]
    # SpectralClustering has both; of a wrapped clusterer's and an outer one, the outer one counts.
    found.sort(key=lambda name: (_last_part(name) == "n_components", name.count("__"), name))
    return prefix + found[0] if found else None


def prepare_clusterer(estimator: Any, n_clusters: int | None, seed: int) -> Any:
    """A clone with its number of clusters (None: as it is) and every ``random_state`` of it set."""
    estimator = clone(estimator)
    if n_clusters is not None:
        estimator.set_params(**{str(k_parameter(estimator)): n_clusters})
    names = sorted(name for name in estimator.get_params() if _last_part(name) == "random_state")
    seeds = task_seeds(seed, len(names)).tolist()
    return estimator.set_params(**dict(zip(names, seeds, strict=True)))


def check_labels(labels: Any, n_rows: int) -> Labels:
    """The labels as int32, if they are one whole number per row."""
    labels = np.asarray(labels)
    if labels.shape != (n_rows,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"a clusterer must give one whole number for each of the {n_rows} rows. "
            f"Got {labels.dtype} of shape {labels.shape}."
        )
    whole: Labels = labels.astype(np.int32, copy=False)
    return whole


def nearest_rows(training: Any, X: Any, n_jobs: int | None = 1) -> NDArray[np.intp]:
    """Index of the training row that is nearest (Euclidean) to each row of X: scikit-learn's."""
    if are_for_cells(training, X) and (found := clearly_nearest(training, X, n_jobs)) is not None:
        return found
    neighbours = NearestNeighbors(n_neighbors=1, n_jobs=thread_count(n_jobs)).fit(training)
    index: NDArray[np.intp] = neighbours.kneighbors(X, return_distance=False)[:, 0]
    return index


def _last_part(name: str) -> str:
    return name.rpartition("__")[2]


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
    what: str = "base partition",
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
        more = f" (And {len(texts) - 1} more like it from other base partitions.)" if len(texts) > 1 else ""
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
