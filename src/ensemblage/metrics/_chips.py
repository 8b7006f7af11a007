"""CHIPS (Barrientos, Page, Dahl & Dunson 2024): the objects that most draws of a posterior place alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.random import task_seeds
from ensemblage.base.validation import MOST_TASKS, Number, Whole, check_value, check_weights
from ensemblage.labels.ensemble import as_ensemble
from ensemblage.labels.threads import check_stopped, parallel_map

ROUNDING = 1e-9
"""Shares that differ by no more are the same."""
NEW = 0
"""Column of the cluster that there is not yet."""


class PartialPartition(NamedTuple):
    """A partition of some of the objects, with its probability."""

    labels: NDArray[np.int32]
    """(n,) clusters numbered by decreasing size; -1 for an object that is left out."""
    n_placed: int
    """Objects that have a cluster."""
    probability: float
    """Share of the draws that place all of them so."""


class Placement:
    """A partial partition that grows row by row, and the draws that agree with it."""

    def __init__(
        self,
        codes: NDArray[Any],
        counts: NDArray[np.int64],
        weights: NDArray[np.float64],
        n_clusters: NDArray[np.int64],
    ) -> None:
        """codes : (m, p); counts : (m,) objects of each row"""
        m, p = codes.shape
        self.codes, self.counts, self.weights = codes, counts, weights
        self.active = np.ones(p, dtype=bool)
        self.labels = np.zeros(m, dtype=np.int64)
        """(m,) column of the cluster of each row; 0 for none."""
        self.n_columns = 1
        self.columns = np.zeros((p, int(n_clusters.max())), dtype=np.int64)
        """The column of each label of each draw."""
        self.agreeing = np.zeros((m, int(n_clusters.max()) + 1))
        """(m, K + 1) weight of the active draws that would place a row into each cluster."""
        self.agreeing[:, NEW] = weights.sum()

    def place_next(self, least: float, random: np.random.RandomState) -> bool:
        """Place the row on whose cluster the most active draws agree, if their weight is ``least`` or more.

        Of several, the one of an object that is drawn at random.
        """
        agreeing = np.where(self.labels[:, None] > 0, -1.0, self.agreeing[:, : self.n_columns])
        most = agreeing.max()
        if most < least:
            return False
        rows, columns = np.nonzero(agreeing >= most - ROUNDING * self.weights.sum())
        objects = np.cumsum(self.counts[rows])
        chosen = int(np.searchsorted(objects, random.randint(objects[-1]), side="right"))
        self._place(int(rows[chosen]), int(columns[chosen]))
        return True

    def _place(self, i: int, column: int) -> None:
        draws = np.flatnonzero(self.active)
        agree = self.columns[draws, self.codes[i, draws]] == column
        every = np.arange(len(self.codes))
        for j in draws[~agree]:
            self.agreeing[every, self.columns[j, self.codes[:, j]]] -= self.weights[j]
        self.active[draws[~agree]] = False
        if column == NEW:
            draws, column = draws[agree], self.n_columns
            together = (self.codes[:, draws] == self.codes[i, draws]) @ self.weights[draws]
            self.agreeing[:, NEW] -= together
            self.agreeing[:, column] = together
            self.columns[draws, self.codes[i, draws]] = column
            self.n_columns += 1
        self.labels[i] = column

    @property
    def probability(self) -> float:
        return float(self.weights[self.active].sum() / self.weights.sum())


def chips(
    labels: ArrayLike | Any,
    level: float = 0.95,
    *,
    n_init: int = 64,
    weights: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> PartialPartition:
    """Use it for the certain part of a posterior: the largest set of objects that most draws partition alike (CHIPS).

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    level : float, default 0.95
        Share of the draws that must place all chosen objects alike, above 0 and at most 1.
    n_init : int, default 64
        Number of starts, the one that places the most objects wins; of equal ones the one with the larger share.
    weights : array-like of shape (n_partitions,), optional
        Weights of the draws, ≥ 0. Default: equal.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the choice between objects that equally many draws place alike.

    Returns
    -------
    PartialPartition
        Its ``labels``, -1 for the objects left out, ``n_placed`` and ``probability``.

    Raises
    ------
    ValueError
        If labels are missing, ``level`` or ``n_init`` is out of its range, or the weights do not fit.

    See Also
    --------
    credible_ball : How far from an estimate the draws are.

    Notes
    -----
    Greedy: the object and the cluster, an old one or a new one, on which the most draws agree that agree with all
    before; the others are dropped. Ties are drawn among objects. Those with the same label in every draw are placed
    together. O(m p + m s k) time
    for a start of s steps, m distinct label rows and k clusters; memory 8 m k bytes for each start that runs at the
    same time, and m p at a step.

    References
    ----------
    A. F. Barrientos, G. L. Page, D. B. Dahl and D. B. Dunson, 2024: CHIPS partition greedy search, the function
    ``chips`` of salso for R.

    Examples
    --------
    >>> from ensemblage.metrics import chips
    >>> draws = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> chips(draws, 1, random_state=0).labels
    array([ 1,  1, -1,  0,  0, -1], dtype=int32)
    """
    check_value(level, "level of chips", [Number(above=0, most=1)])
    check_value(n_init, "n_init of chips", [Whole(1, MOST_TASKS)])
    ensemble = as_ensemble(labels)
    given = check_weights(weights, ensemble.shape[1], "chips")
    draws = np.flatnonzero(given > 0)
    codes, counts, inverse = ensemble.select(draws).distinct
    matrix, n_clusters, w = np.asarray(codes[:]), ensemble.n_clusters[draws], given[draws]
    if n_missing := int((matrix == n_clusters).sum()):
        raise ValueError(
            "labels of chips must have a label for every object in every draw. Got distinct rows with "
            f"{n_missing} missing ones. Leave out these objects or draws."
        )
    seeds, least = task_seeds(random_state, n_init), (level - ROUNDING) * w.sum()

    def run(start: int) -> tuple[int, float, NDArray[np.int64]]:
        placement, random = Placement(matrix, counts, w, n_clusters), np.random.RandomState(seeds[start])
        while placement.place_next(least, random):
            check_stopped()
        return int(counts[placement.labels > 0].sum()), placement.probability, placement.labels

    n_placed, probability, columns = max(parallel_map(run, range(n_init), n_jobs), key=lambda found: found[:2])
    sizes = np.bincount(columns, counts)[1:]
    number = np.empty(len(sizes) + 1, dtype=np.int32)
    number[0] = -1
    number[1 + np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return PartialPartition(number[columns][inverse], n_placed, probability)
