"""The gap statistic: how much nearer to their centres clusters are than those of data without any (Tibshirani 2001)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import task_seeds
from ensemblage.generation._kmeans import member_sums
from ensemblage.kernels._points import best_of_starts
from ensemblage.kernels._squares import best_of_starts_by_squares

MAX_ITER = 300
"""Of a start of k-means."""
STEPS = 2
"""Numbers of clusters that the one chosen is compared with: with one, super-clusters are chosen too often."""


class Gaps(NamedTuple):
    """The gap of each number of clusters, and its standard error."""

    gap: NDArray[np.float64]
    s: NDArray[np.float64]


def log_within(X: NDArray[np.float64], labels: NDArray[np.int32], n_clusters: int) -> float:
    """ln W_k: of the sum of squared distances to the means of clusters 0 to k - 1; -∞ if it is 0.

    That is the paper's W_k; R's ``clusGap`` has half of it, and with its default distances of power 1.
    """
    sums, sizes = member_sums(X, labels, n_clusters)
    means = sums / np.maximum(sizes, 1)[:, None]
    with np.errstate(divide="ignore"):
        return float(np.log(((X - means[labels]) ** 2).sum()))


def log_within_by_k(
    X: NDArray[np.float64], ks: Sequence[int], n_init: int, seed: int, squares: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """(len(ks),) ln W_k of the best of some k-means starts for each k; a k above the objects counts as their number.

    O(n k d) time per iteration of a start; O(n k) and n for each object that moves where the squared distances of all
    pairs, ``squares``, (n, n), are given. A k of some seed has the same starts whatever the other ks are.
    """
    centred = np.ascontiguousarray(X - X.mean(axis=0), dtype=np.float64) if squares is None else squares
    kmeans = best_of_starts if squares is None else best_of_starts_by_squares
    labels = np.empty(len(X), dtype=np.int32)
    seeds, random, found = task_seeds(seed, max(ks) + 1), np.random.RandomState(0), []
    for k in ks:
        random.seed(seeds[k])  # a new one of each seed draws the same, and takes several times as long to make
        uniforms = random.random_sample((n_init, min(k, len(X))))
        found.append(kmeans(centred, uniforms, MAX_ITER, labels))
    with np.errstate(divide="ignore"):
        return np.log(found)


def gaps(log_w: NDArray[np.float64], reference_log_w: NDArray[np.float64]) -> Gaps:
    """The gaps from (K,) ln W_k of the data and (R, K) of references: E*[ln W_k] - ln W_k, s_k = sd_k √(1 + 1/R)."""
    n_references = len(reference_log_w)
    deviations = reference_log_w.std(axis=0)  # divided by R, as in the paper
    return Gaps(reference_log_w.mean(axis=0) - log_w, deviations * np.sqrt(1 + 1 / n_references))


def first_that_lasts(found: Gaps, ks: Sequence[int], steps: int = STEPS) -> int:
    """The smallest k with gap(k) ≥ gap(j) - s(j) for the next ``steps`` numbers j; the last k has none.

    ``ks`` ascend by 1. One step is the paper's rule.
    """
    lower = found.gap - found.s
    lasts = (i for i in range(len(ks)) if (found.gap[i] >= lower[i + 1 : i + 1 + steps]).all())
    return ks[next(lasts)]
