"""What the members of an ensemble score themselves (Candel, Sec. 5.4.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import check_choice, check_weights
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.metrics._agreement import MEASURES, agreement_matrix, mean_agreement, weighted_mean
from ensemblage.metrics._density import density_of


def ensemble_baselines(
    labels: ArrayLike | Any,
    measure: str = "nmi",
    *,
    average_method: str = "arithmetic",
    weights: ArrayLike | None = None,
) -> tuple[float, float]:
    """Use it to judge a consensus: the scores of the mean member and of the best member.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    measure : {"nmi", "ari", "density"}, default "nmi"
        For "nmi" and "ari" a member is compared with the others (ordered pairs i ≠ j); its density is taken in the
        whole ensemble, itself included, on the objects that it labels.
    average_method : {"arithmetic", "geometric", "min", "max"}, default "arithmetic"
        As in `ensemble_nmi`.
    weights : array-like of shape (n_partitions,), optional
        Weights of the partitions that a member is compared with; 0 leaves a partition out, as a member too. Default:
        equal.

    Returns
    -------
    mean : float
        Mean score of the members.
    best : float
        The largest.

    Raises
    ------
    ValueError
        If there is one partition only (of weight above 0), or an argument is none of the above.

    Notes
    -----
    O(n p²) time.

    References
    ----------
    Candel, "Linear time evidence accumulation clustering with KMeans", Sec. 5.4.3 and 5.4.4.

    Examples
    --------
    >>> from ensemblage.metrics import ensemble_baselines
    >>> ensemble_baselines([[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0]], "nmi")
    (0.3333333333333333, 0.5)
    """
    ensemble = as_ensemble(labels)
    check_choice(measure, "measure of ensemble_baselines", (*MEASURES, "density"))
    w = check_weights(weights, ensemble.shape[1], "ensemble_baselines")
    ensemble, w = ensemble.select(w > 0), w[w > 0]
    p = len(w)
    if p < 2:
        raise ValueError(
            "labels of ensemble_baselines must have at least 2 partitions. Got 1. Add partitions of weight above 0 to "
            "compare it with."
        )
    if measure == "density":
        scores = np.array([_member_density(ensemble, j, w) for j in range(p)])
    else:
        scores = mean_agreement(agreement_matrix(ensemble, measure, average_method), w)
    return weighted_mean(scores, np.ones(p)), float(np.fmax.reduce(scores))


def _member_density(ensemble: Ensemble, j: int, weights: NDArray[np.float64]) -> float:
    clusters = ensemble.codes[:, j].astype(np.int32)
    sizes = np.bincount(clusters)[: ensemble.n_clusters[j]]
    if not len(sizes):
        return np.nan
    clusters[clusters == len(sizes)] = -1
    return density_of(ensemble, clusters, sizes, weights)
