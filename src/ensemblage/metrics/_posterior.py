"""What draws from a posterior say: expected loss, credible balls, and the objects that most draws place alike.

Expected loss of a partition over the draws comes from contingency tables, in bits where it has a unit. Credible balls
(Wade & Ghahramani 2018) say how far from an estimate the draws are. CHIPS is of Barrientos, Page, Dahl & Dunson (2024).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.random import task_seeds
from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.threads import check_stopped, parallel_map
from ensemblage.base.validation import MOST_TASKS, Number, Whole, check_choice, check_value, check_weights, format_value
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.ensemble import as_ensemble
from ensemblage.metrics._agreement import fraction_bits, summand, sums_of_clustering
from ensemblage.metrics._clustering import code_clustering


class Sums(NamedTuple):
    """Sums of g over the contingency tables of a partition c and each draw: g(x) = x log₂ x, or x² for pairs."""

    u: NDArray[np.float64]
    """(p,) over the clusters of the draw."""
    v: NDArray[np.float64]
    """(p,) over the clusters of c."""
    t: NDArray[np.float64]
    """(p,) over the cells."""
    n: NDArray[np.float64]
    """(p,) objects that both label."""
    g_n: NDArray[np.float64]
    """(p,) g(n)."""


def _generalised_vi(sums: Sums, a: float) -> tuple[Any, Any]:
    return a * (sums.u - sums.t) + (2 - a) * (sums.v - sums.t), sums.n


def _binder(sums: Sums, a: float) -> tuple[Any, Any]:
    return a * (sums.u - sums.t) + (2 - a) * (sums.v - sums.t), sums.g_n


def _omari(sums: Sums, a: float) -> tuple[Any, Any]:
    """1 - ARI, from pairs of objects: (g(x) - x) / 2 of them are among x."""
    u, v, t, pairs = ((x - sums.n) / 2 for x in (sums.u, sums.v, sums.t, sums.g_n))
    mean = (u + v) / 2
    return mean - t, mean - u * v / np.maximum(pairs, 1)


def _nvi(sums: Sums, a: float) -> tuple[Any, Any]:
    return (sums.u - sums.t) + (sums.v - sums.t), sums.g_n - sums.t


def _information_distance(sums: Sums, a: float) -> tuple[Any, Any]:
    return np.maximum(sums.u, sums.v) - sums.t, sums.n


def _nid(sums: Sums, a: float) -> tuple[Any, Any]:
    return np.maximum(sums.u, sums.v) - sums.t, sums.g_n - np.minimum(sums.u, sums.v)


FRACTIONS: dict[str, Callable[[Sums, float], tuple[Any, Any]]] = {
    "vi": _generalised_vi,
    "gvi": _generalised_vi,
    "binder": _binder,
    "omari": _omari,
    "nvi": _nvi,
    "id": _information_distance,
    "nid": _nid,
}
"""Numerator and denominator of the loss of each draw, (p,) each."""
LOSSES = tuple(FRACTIONS)
PRICED = ("gvi", "binder")
"""Losses with a price of parting."""
POOLED = ("vi", "gvi", "binder", "id")
"""Losses whose numerators and denominators are summed over the draws before they are divided."""
OF_PAIRS = ("binder", "omari")
"""Losses that count pairs of objects: g(x) = x²."""


class DrawLosses(NamedTuple):
    """The losses of a partition and each draw, as fractions."""

    above: NDArray[np.float64]
    below: NDArray[np.float64]
    shared: NDArray[np.bool_]
    """(p,) whether the draw labels an object that the partition labels too."""

    @property
    def of_draws(self) -> NDArray[np.float64]:
        """(p,) loss of each draw: 0 for 0 / 0, NaN where no object has both labels."""
        known = np.where(self.above == 0, 0.0, self.above / np.where(self.above == 0, 1, self.below))
        return np.where(self.shared, known, np.nan)

    def expected(self, weights: NDArray[np.float64], loss: str) -> float:
        """Ratio of the weighted sums of a pooled loss, weighted mean of the ratios of another."""
        weights = weights * self.shared
        if not weights.any():
            return float("nan")
        if loss in POOLED:
            return float(weights @ self.above / (weights @ self.below))
        return float(weights @ np.nan_to_num(self.of_draws) / weights.sum())


def check_loss(loss: Any, a: Any, owner: str) -> None:
    """Raise unless it is a loss, and ``a`` a price that it has."""
    check_choice(loss, f"loss of {owner}", LOSSES)
    check_value(a, f"a of {owner}", [Number(least=0, most=2)])
    if a != 1 and loss not in PRICED:
        raise ValueError(
            f"a of {owner} must be 1 with loss={loss!r}, which has no such parameter. Got {format_value(a)}. "
            "Leave it out, or use loss='gvi' or 'binder'."
        )


def draw_losses(
    codes: LabelRows,
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    clusters: NDArray[Any],
    loss: str,
    a: float = 1.0,
    n_jobs: int | None = None,
) -> DrawLosses:
    """The losses of clusters of the rows, (m,) with -1 for none, and every draw. O(m p) time."""
    n_objects, k = int(counts.sum()), int(clusters.max(initial=-1)) + 1
    f = summand("ari" if loss in OF_PAIRS else "nmi", n_objects)
    t, v, u, n = sums_of_clustering(codes, counts, offsets, clusters, k, f, n_jobs)
    if loss in OF_PAIRS:
        sums = Sums(*(x.astype(np.float64) for x in (u, v, t, n, n * n)))
    else:
        bit = np.ldexp(np.log(2), fraction_bits(n_objects))
        sums = Sums(u / bit, v / bit, t / bit, n.astype(np.float64), f[n] / bit)
    return DrawLosses(*FRACTIONS[loss](sums, a), n > 0)


@renamed_parameters(clustering="partition")
def expected_loss(
    labels: ArrayLike | Any,
    partition: ArrayLike | Any,
    loss: str = "vi",
    *,
    a: float = 1.0,
    weights: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> float:
    """Use it to score a partition against a posterior: its expected loss under the draws.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    partition : array-like of shape (n_objects,)
        Cluster of each object. Objects with -1 or NaN are in no cluster and left out.
    loss : {"vi", "gvi", "binder", "omari", "nvi", "id", "nid"}, default "vi"
        With entropies H and the mutual information I of the partition c and a draw, in bits:

        - "vi": variation of information, H(c) + H(draw) - 2 I; "gvi": 2 times the mean of its two parts, of which the
          one that grows where c parts what the draw joins has the weight ``a`` / 2;
        - "binder": the same for pairs of objects: share of the ordered pairs, each object with itself included, that c
          and the draw see differently, in units of ``a`` for parted and 2 - ``a`` for joined ones;
        - "omari": 1 - the adjusted Rand index;
        - "nvi": VI over the joint entropy; "id": max(H) - I; "nid": 1 - I / max(H).
    a : float, default 1
        Price of parting objects that the draw joins, from 0 to 2, for "gvi" and "binder"; joining parted ones costs
        2 - ``a``. The larger, the fewer clusters are best.
    weights : array-like of shape (n_partitions,), optional
        Weights of the draws, ≥ 0; whole ones are to copies of the draws as one is to the other. Default: equal.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Returns
    -------
    float
        Bits for "vi", "gvi" and "id"; else without a unit. 0 where both are one cluster or both only single objects:
        equal partitions lose nothing. R's salso gives 1 there for "omari", and NaN for "nvi" and "nid".

    Raises
    ------
    ValueError
        If the partition has another number of objects or assigns none, or the weights do not fit.

    See Also
    --------
    ensemblage.consensus.SalsoConsensus : The partition with the least expected loss.
    partition_distances : VI in nats, of every two draws.

    Notes
    -----
    O(n p) time for n objects and p draws. Objects without a label count in no table of that draw. Then "vi", "gvi",
    "binder" and "id" are ratios of sums over the draws, as all aggregates here; the others are means of the draws that
    label some object of the partition. NaN if none does.

    References
    ----------
    S. Wade and Z. Ghahramani, "Bayesian cluster analysis: point estimation and credible balls", Bayesian Analysis 13,
    2018. D. B. Dahl, D. J. Johnson and P. Müller, "Search algorithms and loss functions for Bayesian clustering",
    Journal of Computational and Graphical Statistics 31, 2022.

    Examples
    --------
    >>> from ensemblage.posterior import expected_loss
    >>> draws = [[0, 0], [0, 0], [1, 0], [1, 1]]  # a row for each object, a column for each draw
    >>> round(expected_loss(draws, [0, 0, 1, 1]), 6)  # 0 for the first, 1.188722 for the second
    0.594361
    >>> expected_loss(draws, [0, 0, 1, 1], "binder", weights=[1, 3])
    0.28125
    """
    check_loss(loss, a, "expected_loss")
    ensemble = as_ensemble(labels)
    w = check_weights(weights, ensemble.shape[1], "expected_loss")
    clusters, _ = code_clustering(partition, len(ensemble))
    counts = np.ones(len(ensemble), dtype=np.int64)
    losses = draw_losses(ensemble.rows, counts, ensemble.offsets, clusters, loss, a, n_jobs)
    return losses.expected(w, loss)


ROUNDING = 1e-9
"""Losses and shares that differ by no more are the same."""


class CredibleBall(NamedTuple):
    """The draws around an estimate that have a share of the posterior; bounds are columns of the label matrix."""

    radius: float
    """Least loss within which the draws have the level's share."""
    share: float
    """Share of the draws in the ball, the level or more."""
    distances: NDArray[np.float64]
    """(p,) loss of each draw and the estimate; NaN of a draw that shares no object with it."""
    inside: NDArray[np.bool_]
    """(p,) whether each draw is in the ball."""
    horizontal: NDArray[np.intp]
    """The most distant draws of the ball, the first of each partition."""
    upper_vertical: NDArray[np.intp]
    """Of the draws in the ball with the fewest clusters, the most distant ones."""
    lower_vertical: NDArray[np.intp]
    """Of the draws in the ball with the most clusters, the most distant ones."""


@renamed_parameters(clustering="partition")
def credible_ball(
    labels: ArrayLike | Any,
    partition: ArrayLike | Any,
    level: float = 0.95,
    loss: str = "vi",
    *,
    weights: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> CredibleBall:
    """Use it for the uncertainty of a point estimate: the ball that holds a share of the posterior draws, with bounds.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    partition : array-like of shape (n_objects,)
        Cluster of each object. Objects with -1 or NaN are in no cluster and left out.
    level : float, default 0.95
        Share of the posterior that the ball holds at least, above 0 and at most 1.
    loss : {"vi", "gvi", "binder", "omari", "nvi", "id", "nid"}, default "vi"
        What the distance is, see `expected_loss`. "vi" and "binder" are the usual ones.
    weights : array-like of shape (n_partitions,), optional
        Weights of the draws, ≥ 0. Default: equal.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Returns
    -------
    CredibleBall
        Its ``radius``, ``share``, ``distances``, ``inside``, and the draws that are its bounds: ``horizontal``,
        ``upper_vertical`` (fewest clusters) and ``lower_vertical`` (most clusters).

    Raises
    ------
    ValueError
        If ``level`` is out of its range, the partition has another number of objects or shares none with any draw, or
        the weights do not fit.

    See Also
    --------
    ensemblage.consensus.SalsoConsensus : The estimate.
    coassociation : The posterior similarity of two objects: the share of the draws that join them.

    Notes
    -----
    O(n p) time. All draws on the rim are in the ball, and a bound is every partition that fits: losses that differ by
    10⁻⁹ or less are the same.

    References
    ----------
    S. Wade and Z. Ghahramani, "Bayesian cluster analysis: point estimation and credible balls", Bayesian Analysis 13,
    2018, Section 3.

    Examples
    --------
    >>> from ensemblage.posterior import credible_ball
    >>> draws = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> ball = credible_ball(draws, [0, 0, 0, 1, 1, 1], 0.6)
    >>> round(ball.radius, 3), ball.lower_vertical, ball.upper_vertical
    (0.459, array([1]), array([0]))
    """
    check_value(level, "level of credible_ball", [Number(above=0, most=1)])
    check_loss(loss, 1.0, "credible_ball")
    ensemble = as_ensemble(labels)
    w = check_weights(weights, ensemble.shape[1], "credible_ball")
    clusters, _ = code_clustering(partition, len(ensemble))
    counts = np.ones(len(ensemble), dtype=np.int64)
    distances = draw_losses(ensemble.rows, counts, ensemble.offsets, clusters, loss, 1.0, n_jobs).of_draws
    known = ~np.isnan(distances) & (w > 0)
    if not known.any():
        raise ValueError(
            "partition of credible_ball must share an object with some draw. Got none. Give labels of these objects."
        )
    order = np.flatnonzero(known)[np.argsort(distances[known], kind="stable")]
    shares = np.cumsum(w[order]) / w[known].sum()
    radius = float(distances[order[np.argmax(shares >= level - ROUNDING)]])
    inside = known & (np.nan_to_num(distances, nan=np.inf) <= radius + ROUNDING)

    def most_distant(members: NDArray[np.intp]) -> NDArray[np.intp]:
        """The most distant of some draws, the first of each partition."""
        rim = members[distances[members] >= distances[members].max() - ROUNDING]
        seen: dict[bytes, int] = {}
        for j in rim.tolist():
            seen.setdefault(_by_first_appearance(ensemble.rows[:, j]).tobytes(), j)
        return np.array(list(seen.values()), dtype=np.intp)

    members, numbers = np.flatnonzero(inside), ensemble.n_clusters
    few, many = (members[numbers[members] == f(numbers[members])] for f in (np.min, np.max))
    bounds = (most_distant(draws) for draws in (members, few, many))
    return CredibleBall(radius, float(w[inside].sum() / w[known].sum()), distances, inside, *bounds)


def _by_first_appearance(codes: NDArray[Any]) -> NDArray[np.int64]:
    """Codes renamed by the place where each is first seen."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return first[inverse]


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
    >>> from ensemblage.posterior import chips
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
