"""How well labels agree with known classes; noise of a reference is not scored, the best reference counts."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

MOST_CODED = 2**16 - 1
"""Objects whose clusters two bytes can number."""


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


def numbers_of(
    references: Sequence[NDArray[np.int64]], labels: NDArray[np.int64], of_members: NDArray[np.float64] | None
) -> dict[str, Any]:
    """What is kept of an answer; ``of_members`` are the adjusted Rand indices of the members of its pool."""
    numbers: dict[str, Any] = score(references, labels)
    numbers |= {"k": len(np.unique(labels[labels >= 0])), "labels": pack_labels(labels)}
    if of_members is not None:
        numbers |= {"best_member": float(of_members.max()), "mean_member": float(of_members.mean())}
    return numbers


def pack_labels(labels: NDArray[np.int64]) -> str:
    """Labels from 0, −1 for no cluster, as a short text."""
    named = np.unique(labels[labels >= 0], return_inverse=True)[1]
    codes = np.zeros(len(labels), dtype="<u2" if len(labels) <= MOST_CODED else "<u4")
    codes[labels >= 0] = named + 1
    return b64encode(zlib.compress(codes.tobytes())).decode()


def unpack_labels(text: str, n: int) -> NDArray[np.int64]:
    """(n,) the labels of a text of `pack_labels`."""
    return np.frombuffer(zlib.decompress(b64decode(text)), "<u2" if n <= MOST_CODED else "<u4").astype(np.int64) - 1


def aris(references: Sequence[NDArray[np.int64]], members: NDArray[np.int64]) -> NDArray[np.float64]:
    """(p,) adjusted Rand index of each column with the reference that fits best."""
    known = [(reference[reference > 0], members[reference > 0]) for reference in references]
    of_known = [[adjusted_rand_score(y, column) for column in columns.T] for y, columns in known]
    return np.asarray(np.max(of_known, axis=0))
