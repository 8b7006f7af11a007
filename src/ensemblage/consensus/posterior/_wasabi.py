"""WASABI (Balocchi & Wade 2025): several partitions that stand for the draws from a posterior."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from ensemblage.base.memory import MAX_BYTES
from ensemblage.base.random import task_seeds
from ensemblage.base.sklearn import BaseEstimator
from ensemblage.base.threads import parallel_map
from ensemblage.base.validation import (
    MOST_TASKS,
    Bytes,
    Constraints,
    Jobs,
    Seed,
    Values,
    Whole,
    check_parameters,
    check_weights,
    takes_labels,
)
from ensemblage.consensus.posterior._salso import SalsoConsensus
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.metrics._posterior import draw_losses

LEAST_GAIN = 1e-4
"""Share of log₂ n by which an iteration must lower the distance."""
N_INIT = 4
"""Starts of the search for each particle."""


class Particles(NamedTuple):
    """Partitions, and the draws that each stands for."""

    labels: NDArray[np.int32]
    """(L, n)"""
    modes: NDArray[np.intp]
    """(p,)"""
    distances: NDArray[np.float64]
    """(p,) VI of each draw and its particle, in bits."""


def wasabi(
    draws: Ensemble,
    weights: NDArray[np.float64],
    n_modes: int,
    n_clusters: int | None,
    max_iter: int,
    max_bytes: int | str,
    seed: int,
) -> Particles:
    """WASABI (Balocchi & Wade 2025) of p draws: k-means with the variation of information, from one start.

    1. Begin with draws that are far from each other.
    2. Each draw goes to the nearest particle.
    3. Each particle becomes the partition with the least expected VI to its draws, by SALSO.
    4. Go on from 2 as long as the distance falls.

    weights : (p,)
    """
    random = np.random.RandomState(seed)
    particles = assign(draws, far_apart(draws, weights, n_modes, random))  # 1, 2
    least = LEAST_GAIN * np.log2(max(2, len(draws))) * weights.sum()
    for _ in range(max_iter):
        labels = particles.labels.copy()
        for one in np.unique(particles.modes):  # 3
            own, seed_of_one = np.flatnonzero(particles.modes == one), int(random.randint(2**31 - 1))
            labels[one] = centre(draws, weights, own, particles.labels[one], n_clusters, max_bytes, seed_of_one)
        before, particles = particles, assign(draws, labels)  # 2
        if weights @ (before.distances - particles.distances) < least:  # 4
            break
    return particles


def far_apart(
    draws: Ensemble, weights: NDArray[np.float64], n_modes: int, random: np.random.RandomState
) -> NDArray[np.int32]:
    """(L, n) draws far from each other: k-means++ by weight times VI."""
    chosen = [draw(draws, random.choice(len(weights), p=weights / weights.sum()))]
    nearest = distances(draws, chosen[0])
    while len(chosen) < n_modes:
        odds = weights * nearest
        j = random.choice(len(odds), p=odds / odds.sum()) if odds.sum() > 0 else random.randint(len(odds))
        chosen.append(draw(draws, j))
        nearest = np.minimum(nearest, distances(draws, chosen[-1]))
    return np.stack(chosen)


def assign(draws: Ensemble, labels: NDArray[np.int32]) -> Particles:
    """Each draw to the nearest partition; one that gets none takes the place of the draw that is farthest off."""
    table = np.stack([distances(draws, one) for one in labels])
    labels = labels.copy()
    for _ in range(len(labels)):
        modes, nearest = table.argmin(axis=0), table.min(axis=0)
        empty = np.setdiff1d(np.arange(len(labels)), modes)
        if not len(empty) or nearest.max() <= 0:
            break
        labels[empty[0]] = draw(draws, int(nearest.argmax()))
        table[empty[0]] = distances(draws, labels[empty[0]])
    return Particles(labels, table.argmin(axis=0), table.min(axis=0))


def centre(
    draws: Ensemble,
    weights: NDArray[np.float64],
    own: NDArray[np.intp],
    before: NDArray[np.int32],
    n_clusters: int | None,
    max_bytes: int | str,
    seed: int,
) -> NDArray[np.int32]:
    """(n,) the partition with the least expected VI to the ``own`` draws that is found, or the one before."""
    if len(own) == 1:
        return draw(draws, int(own[0]))
    some = draws.select(own)
    k = None if n_clusters is None else min(n_clusters, len(some.distinct.counts))
    limits: dict[str, Any] = {"max_bytes": max_bytes, "n_jobs": 1, "random_state": seed}
    found = SalsoConsensus(k, n_init=N_INIT, n_rounds=0, weights=weights[own], **limits).fit(some).labels_
    losses = [weights[own] @ distances(draws, one)[own] for one in (found, before)]
    return before if losses[1] <= losses[0] else found


def distances(draws: Ensemble, labels: NDArray[Any]) -> NDArray[np.float64]:
    """(p,) VI of a partition, (n,), and each draw; 0 where they share no object."""
    counts = np.ones(len(draws), dtype=np.int64)
    return np.nan_to_num(draw_losses(draws.rows, counts, draws.offsets, labels, "vi", 1.0, 1).of_draws)


def draw(draws: Ensemble, j: int) -> NDArray[np.int32]:
    """(n,) labels of a draw."""
    codes = np.asarray(draws.rows[:, j]).astype(np.int32)
    return np.where(codes == draws.n_clusters[j], -1, codes)


@dataclass(eq=False, repr=False)
class WasabiModes(BaseEstimator):
    """Use it if one partition cannot represent draws from a posterior: several partitions with weights (WASABI).

    Where the posterior has several modes, no single estimate is near all draws. This finds as many partitions as are
    asked for so that the draws are as near to them as can be: the Wasserstein distance by variation of information.

    Parameters
    ----------
    n_modes : int, default 2
        Number of partitions. Fewer are found if there are fewer different draws.
    n_clusters : int, optional
        Number of clusters of the consensus, of each at most. Default: as many as the draw with most of them has.
    n_init : int, default 10
        Number of starts, the one with the least loss wins: the mean distance of the draws to the nearest estimate.
    max_iter : int, default 10
        Most iterations per start.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out. Default: one each. "agreement": `metrics.agreement_weights`.
    max_bytes : int or str, default 2 GiB
        Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
        would take more is refused.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects, n_modes_), int32
        The partitions, by decreasing weight; -1 for an object that no draw of it labels.
    weights_ : ndarray of shape (n_modes_,)
        Share of the draws that are nearest to each.
    modes_ : ndarray of shape (n_partitions,)
        The nearest partition of each draw.
    objective_ : float
        Mean variation of information of the draws and their nearest partition, in bits: the Wasserstein distance.
    expected_losses_ : ndarray of shape (n_modes_,)
        The same over the draws of each partition.
    n_modes_ : int
    names_in_ : ndarray of str
        Names of the members.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ValueError
        If the search for one of them would take more than ``max_bytes``, or a parameter is out of its range.

    See Also
    --------
    SalsoConsensus : One partition.
    ConsensusModes : Finds the number of modes, by description length.

    Notes
    -----
    k-means of partitions: starts are draws far from each other; then each draw goes to the nearest partition, and each
    partition becomes the one with the least expected variation of information to its draws, by `SalsoConsensus` with 4
    starts. A partition without draws is replaced by the draw that is farthest from all. It ends when an iteration
    lowers the distance by less than 10⁻⁴ log₂ n bits. Look at ``objective_`` for several ``n_modes``: it falls slowly
    after the number that is needed.

    Time: of as many fits of `SalsoConsensus` as there are starts, iterations and partitions, each on its share of the
    draws; 4 n ``n_modes`` bytes beside the fit.

    References
    ----------
    C. Balocchi and S. Wade, "Interpreting uncertainty in Bayesian cluster analysis", arXiv:2506.16295, 2025; the first
    version: "Understanding uncertainty in Bayesian cluster analysis".

    Examples
    --------
    >>> import numpy as np
    >>> from ensemblage.consensus import WasabiModes
    >>> one, other = np.repeat([0, 1], 20), np.tile([0, 1], 20)
    >>> model = WasabiModes(2, random_state=0).fit(np.column_stack([one, one, one, other, 1 - other]))
    >>> model.modes_, model.weights_, model.objective_
    (array([0, 0, 0, 1, 1]), array([0.6, 0.4]), 0.0)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_modes": [Whole(1)],
        "n_clusters": [Whole(1), None],
        "n_init": [Whole(1, MOST_TASKS)],
        "max_iter": [Whole(1)],
        "weights": [Values("one number ≥ 0 per partition", "Give one weight per partition."), None],
        "max_bytes": [Bytes()],
        "n_jobs": [Jobs()],
        "random_state": [Seed()],
    }

    n_modes: int = 2
    _: KW_ONLY
    n_clusters: int | None = None
    n_init: int = 10
    max_iter: int = 10
    weights: Any = None
    max_bytes: int | str = MAX_BYTES
    n_jobs: int | None = None
    random_state: Any = None

    labels_: NDArray[np.int32] = field(init=False)
    weights_: NDArray[np.float64] = field(init=False)
    modes_: NDArray[np.intp] = field(init=False)
    objective_: float = field(init=False)
    expected_losses_: NDArray[np.float64] = field(init=False)
    n_modes_: int = field(init=False)
    names_in_: NDArray[Any] = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the partitions that stand for a label matrix of draws.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
            Labels. -1, NaN and None mean that the partition did not label the object.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        ensemble = as_ensemble(X)
        validate_data(self, X, skip_check_array=True)
        given = check_weights(self.weights, ensemble.shape[1], type(self).__name__)
        voting = np.flatnonzero((given > 0) & (ensemble.n_clusters > 0))
        weights = given[voting]
        limits = self.n_modes, self.n_clusters, self.max_iter, self.max_bytes
        run = partial(wasabi, ensemble.select(voting), weights, *limits)
        runs = parallel_map(run, task_seeds(self.random_state, self.n_init).tolist(), self.n_jobs)
        best = min(runs, key=lambda run: float(weights @ run.distances))
        shares = np.bincount(best.modes, weights, len(best.labels))
        order = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares)]
        number = np.empty(len(shares), dtype=np.intp)
        number[order] = np.arange(len(order))
        modes = number[best.modes]
        self.names_in_ = np.array(ensemble.names, dtype=object)
        self.n_modes_, self.weights_ = len(order), shares[order] / weights.sum()
        self.labels_ = np.column_stack([_by_size(best.labels[one]) for one in order])
        self.objective_ = float(weights @ best.distances / weights.sum())
        self.expected_losses_ = np.bincount(modes, weights * best.distances) / shares[order]
        self.modes_ = np.full(ensemble.shape[1], -1, dtype=np.intp)
        self.modes_[voting] = modes
        return self

    def __sklearn_tags__(self) -> Any:
        return takes_labels(super().__sklearn_tags__())


def _by_size(labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Clusters numbered by decreasing size, -1 for none."""
    found, first, inverse, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((first, -sizes, found < 0))
    number = np.empty(len(found), dtype=np.int32)
    number[order] = np.arange(len(order))
    number[found < 0] = -1
    return number[inverse]
