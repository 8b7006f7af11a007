"""Weights of partitions by their agreement with the others (Huang, Lai & Wang 2015)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import check_number
from ensemblage.labels.ensemble import as_ensemble
from ensemblage.labels.rows import Distinct
from ensemblage.metrics._agreement import agreement_matrix

BETA = 2.0


def agreement_weights(labels: ArrayLike | Any, beta: float = BETA, *, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Use it to give outlying partitions less weight: weights by the mean agreement with the others.

    The mean normalised mutual information of each partition with the others, over the larger of the two entropies, is
    divided by the largest of them and raised to the power ``beta`` [1]_.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    beta : float, default 2
        How much it counts, ≥ 0; 0 makes equal weights.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Returns
    -------
    ndarray of shape (n_partitions,)
        From 0 to 1, for the partition that agrees most; all 1 if none agrees with any.

    Raises
    ------
    ValueError
        If ``beta`` is no number ≥ 0.

    See Also
    --------
    ensemblage.ranking.AverageAgreement : The order of the partitions by it.

    Notes
    -----
    Of two partitions the objects count that both label; two without any agree by 0. O(n p²) time.

    ``weights="agreement"`` in a consensus method is this with ``beta=2``: WEAC's weights, in any method.

    References
    ----------
    .. [1] D. Huang, J.-H. Lai, C.-D. Wang, "Combining multiple clusterings via crowd agreement estimation and
       multi-granularity link analysis", Neurocomputing 170, 2015.

    Examples
    --------
    >>> from ensemblage.metrics import agreement_weights
    >>> agreement_weights([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    array([1., 1., 0.])
    """
    return weights_by_agreement(as_ensemble(labels), check_number(beta, "beta of agreement_weights", least=0), n_jobs)


def weights_by_agreement(labels: Distinct, beta: float = BETA, n_jobs: int | None = None) -> NDArray[np.float64]:
    """`agreement_weights` of partitions whose distinct rows are known."""
    p = len(labels.n_clusters)
    agreement = np.nan_to_num(agreement_matrix(labels, "nmi", "max", n_jobs), nan=0.0)
    others = (agreement.sum(axis=1) - 1) / max(p - 1, 1)
    largest = others.max()
    # Rounding of a sum is no agreement.
    return (others / largest) ** beta if largest > 1e-12 else np.ones(p)
