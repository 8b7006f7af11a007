"""Expected loss of a partition over draws from a posterior, from contingency tables; in bits where it has a unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import Number, check_choice, check_value, check_weights, format_value
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


def expected_loss(
    labels: ArrayLike | Any,
    clustering: ArrayLike | Any,
    loss: str = "vi",
    *,
    a: float = 1.0,
    weights: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> float:
    """Use it to score a clustering against a posterior: its expected loss under the draws.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    clustering : array-like of shape (n_objects,)
        Cluster of each object. Objects with -1 or NaN are in no cluster and left out.
    loss : {"vi", "gvi", "binder", "omari", "nvi", "id", "nid"}, default "vi"
        With entropies H and the mutual information I of the clustering c and a draw, in bits:

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
        If the clustering has another number of objects or assigns none, or the weights do not fit.

    See Also
    --------
    ensemblage.SalsoConsensus : The partition with the least expected loss.
    partition_distances : VI in nats, of every two draws.

    Notes
    -----
    O(n p) time for n objects and p draws. Objects without a label count in no table of that draw. Then "vi", "gvi",
    "binder" and "id" are ratios of sums over the draws, as all aggregates here; the others are means of the draws that
    label some object of the clustering. NaN if none does.

    References
    ----------
    S. Wade and Z. Ghahramani, "Bayesian cluster analysis: point estimation and credible balls", Bayesian Analysis 13,
    2018. D. B. Dahl, D. J. Johnson and P. Müller, "Search algorithms and loss functions for Bayesian clustering",
    Journal of Computational and Graphical Statistics 31, 2022.

    Examples
    --------
    >>> from ensemblage.metrics import expected_loss
    >>> draws = [[0, 0], [0, 0], [1, 0], [1, 1]]  # a row for each object, a column for each draw
    >>> round(expected_loss(draws, [0, 0, 1, 1]), 6)  # 0 for the first, 1.188722 for the second
    0.594361
    >>> expected_loss(draws, [0, 0, 1, 1], "binder", weights=[1, 3])
    0.28125
    """
    check_loss(loss, a, "expected_loss")
    ensemble = as_ensemble(labels)
    w = check_weights(weights, ensemble.shape[1], "expected_loss")
    clusters, _ = code_clustering(clustering, len(ensemble))
    counts = np.ones(len(ensemble), dtype=np.int64)
    losses = draw_losses(ensemble.rows, counts, ensemble.offsets, clusters, loss, a, n_jobs)
    return losses.expected(w, loss)
