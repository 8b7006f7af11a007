"""Randomness: one seed per task, all drawn up front, so that no result depends on the order of execution."""

import numbers
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh
from sklearn.utils import check_random_state

from ensemblage.base.validation import Seed, check_value

MOST_KEYS = 50
"""Columns by which rows are ordered before some are drawn."""
RESTARTS_ARE_SEEDED = "rng" in signature(eigsh).parameters
"""From SciPy 1.17 on. Before, ARPACK's own generator draws the vectors of a restart, the same in every process."""


def random_source(random_state: Any) -> np.random.RandomState:
    """scikit-learn's `check_random_state`, with an error in our voice; draws on a Generator's own stream of bits."""
    check_value(random_state, "random_state", [Seed()])
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    return check_random_state(random_state)  # type: ignore[no-any-return]


def task_seeds(random_state: Any, n_tasks: int) -> NDArray[np.int64]:
    """Draw one seed per task, in the order of the tasks."""
    seeds: NDArray[np.int64] = random_source(random_state).randint(np.iinfo(np.int32).max, size=n_tasks, dtype=np.int64)
    return seeds


def seed_of(random_state: Any, subject: str = "random_state") -> int:
    """The whole number that was given as a seed; else one that is drawn."""
    check_value(random_state, subject, [Seed()])
    return int(random_state if isinstance(random_state, numbers.Integral) else task_seeds(random_state, 1)[0])


def sample_rows(n: int, most: int, seed: int) -> NDArray[np.intp]:
    """All of n rows, or so many of more, drawn by the seed, ascending."""
    return np.arange(n) if n <= most else np.sort(np.random.RandomState(seed).permutation(n)[:most])


def settled_rows(X: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """All rows of X, (n, m), or so many of more, ascending: drawn, but the same for each seed and order of the rows.

    Rows that are equal in the first columns stand for each other. O(n log n) time.
    """
    n = len(X)
    if n <= most:
        return np.arange(n)
    ordered = np.lexsort(X[:, :MOST_KEYS].T[::-1])
    return np.sort(ordered[np.random.RandomState(0).permutation(n)[:most]])


def eigsh_start(start: NDArray[np.float64]) -> dict[str, Any]:
    """The parameters of `eigsh` that make its result depend on the start vector alone.

    An invariant subspace, the rule where eigenvalues repeat, is left by a random vector, which is the system's if
    ``rng`` is not given.
    """
    rng = {"rng": np.random.default_rng(start.view(np.uint64))} if RESTARTS_ARE_SEEDED else {}
    return {"v0": start, **rng}
