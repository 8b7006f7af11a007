"""How well labels agree with known classes; noise of a reference is not scored, the best reference counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix


def clustering_accuracy(classes: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    """Normalised clustering accuracy: the mean share of a class in the cluster that is matched with it, above chance.

    (1/k · max over matchings Σ_i c_{i,σ(i)} / c_{i·} − 1/k) / (1 − 1/k) for k classes; one without a cluster counts 0.

    References
    ----------
    Gagolewski, M. (2025). Normalised clustering accuracy: an asymmetric external cluster validity measure. Journal of
    Classification 42.
    """
    table = contingency_matrix(classes, labels).astype(np.float64)
    shares = table / table.sum(axis=1, keepdims=True)
    k = len(shares)
    matched = shares[linear_sum_assignment(shares, maximize=True)].sum() / k
    return float((matched - 1 / k) / (1 - 1 / k))


SCORES: dict[str, Callable[[NDArray[np.int64], NDArray[np.int64]], float]] = {
    "ari": adjusted_rand_score,
    "ami": adjusted_mutual_info_score,
    "nca": clustering_accuracy,
}


def score(references: Sequence[NDArray[np.int64]], labels: NDArray[np.int64]) -> dict[str, float]:
    """Every score with the reference that fits best; objects without a cluster (−1) are one cluster more."""
    known = [(reference[reference > 0], labels[reference > 0]) for reference in references]
    return {name: max(float(measure(*pair)) for pair in known) for name, measure in SCORES.items()}


def aris(references: Sequence[NDArray[np.int64]], members: NDArray[np.int64]) -> NDArray[np.float64]:
    """(p,) adjusted Rand index of each column with the reference that fits best."""
    return np.array([score(references, column)["ari"] for column in members.T])
