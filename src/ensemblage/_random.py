"""Randomness: one seed per task, all drawn up front, so that no result depends on the order of execution."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ensemblage._validation import shown


def random_source(random_state: Any) -> np.random.RandomState:
    """scikit-learn's `check_random_state`, with an error in our voice."""
    try:
        source: np.random.RandomState = check_random_state(random_state)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(
            "random_state must be None, a whole number from 0 to 4294967295 or a numpy RandomState. "
            f"Got {shown(random_state)}. Give such a seed."
        ) from None
    return source


def task_seeds(random_state: Any, n_tasks: int) -> NDArray[np.int64]:
    """Draw one seed per task, in the order of the tasks."""
    seeds: NDArray[np.int64] = random_source(random_state).randint(np.iinfo(np.int32).max, size=n_tasks, dtype=np.int64)
    return seeds
