"""Randomness: one seed per task, all drawn up front, so that no result depends on the order of execution."""

import numbers
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh
from sklearn.utils import check_random_state

from ensemblage.base.parameters import Seed
from ensemblage.base.validation import check_value

MOST_KEYS, LEAST_CUT = 50, 4
"""Columns by which rows are ordered before they are spread, and how many rows are not cut."""
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


def spread_rows(X: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """All rows of X, (n, m), or so many of more, ascending: one of every few neighbours, so that each place has its
    share. Nothing is random, and another order of the rows chooses the same ones.

    The rows are cut at the median of the column that varies most there, again and again; of those in the order of
    these cuts every (n / most)th is taken. O(n log n m) time.
    """
    n = len(X)
    if n <= most:
        return np.arange(n)
    first = np.lexsort(X[:, :MOST_KEYS].T[::-1])  # sums of floats depend on the order
    parts, leaves = [first], list[NDArray[np.intp]]()
    while parts:
        part = parts.pop()
        if len(part) <= LEAST_CUT:
            leaves.append(part)
            continue
        some = X[part]
        ascending = part[np.argsort(some[:, some.var(axis=0).argmax()], kind="stable")]
        half = len(part) // 2
        parts += [ascending[half:], ascending[:half]]
    places = (np.arange(most) * 2 + 1) * n // (2 * most)
    return np.sort(np.concatenate(leaves)[places])


def eigsh_start(start: NDArray[np.float64]) -> dict[str, Any]:
    """The parameters of `eigsh` that make its result depend on the start vector alone.

    An invariant subspace, the rule where eigenvalues repeat, is left by a random vector, which is the system's if
    ``rng`` is not given.
    """
    rng = {"rng": np.random.default_rng(start.view(np.uint64))} if RESTARTS_ARE_SEEDED else {}
    return {"v0": start, **rng}
