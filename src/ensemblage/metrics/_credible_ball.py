"""Credible balls of partitions (Wade & Ghahramani 2018): how far from an estimate the draws of a posterior are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import Number, check_value, check_weights
from ensemblage.labels.ensemble import as_ensemble
from ensemblage.metrics._clustering import code_clustering
from ensemblage.metrics._expected_loss import check_loss, draw_losses

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


def credible_ball(
    labels: ArrayLike | Any,
    clustering: ArrayLike | Any,
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
    clustering : array-like of shape (n_objects,)
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
        If ``level`` is out of its range, the clustering has another number of objects or shares none with any draw, or
        the weights do not fit.

    See Also
    --------
    ensemblage.SalsoConsensus : The estimate.
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
    >>> from ensemblage.metrics import credible_ball
    >>> draws = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> ball = credible_ball(draws, [0, 0, 0, 1, 1, 1], 0.6)
    >>> round(ball.radius, 3), ball.lower_vertical, ball.upper_vertical
    (0.459, array([1]), array([0]))
    """
    check_value(level, "level of credible_ball", [Number(above=0, most=1)])
    check_loss(loss, 1.0, "credible_ball")
    ensemble = as_ensemble(labels)
    w = check_weights(weights, ensemble.shape[1], "credible_ball")
    clusters, _ = code_clustering(clustering, len(ensemble))
    counts = np.ones(len(ensemble), dtype=np.int64)
    distances = draw_losses(ensemble.rows, counts, ensemble.offsets, clusters, loss, 1.0, n_jobs).of_draws
    known = ~np.isnan(distances) & (w > 0)
    if not known.any():
        raise ValueError(
            "clustering of credible_ball must share an object with some draw. Got none. Give labels of these objects."
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
