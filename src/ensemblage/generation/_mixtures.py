"""Expectation maximisation of Gaussian mixtures and latent class models, from a given partition."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ensemblage.generation._views import Matrix
from ensemblage.kernels._mixtures import BLOCK, LEAST_VARIANCE, add_means, gaussian_step, latent_step, memberships_of

FULL, LATENT = 0, 1


def fit_mixture(
    X: Matrix,
    is_binary: NDArray[np.bool_],
    shape: int,
    scale: float,
    degrees: float,
    steps: int,
    tolerance: float,
    labels: NDArray[np.int32],
    k: int,
) -> float:
    """The mean log likelihood of an object; ``labels``, (n,), the start, become the most probable of k components.

    ``X`` is (n, m). ``shape`` is FULL, covariances, or LATENT, independent columns, of which those of ``is_binary``,
    (m,), are 0 and 1. ``scale`` and ``degrees`` are those of the prior. There are at most so many ``steps``; a gain of
    the likelihood less than ``tolerance`` ends it. O(n k m²) time for each step, O(n (k + m)) memory.
    """
    n, m = X.shape
    # Sums in the order of the rows.
    mean = np.cumsum(X, axis=0)[-1] / n
    ridge = scale * np.maximum(np.cumsum((X - mean) ** 2 / n, axis=0)[-1], LEAST_VARIANCE)
    R, logarithms = np.zeros((n, k)), np.empty((n, k))
    R[np.arange(n), labels] = 1.0
    weights, means, columns = np.empty(k), np.empty((k, m)), np.ascontiguousarray(X.T)
    step: Callable[[], None]
    if shape == LATENT:
        spread, first, second = np.empty((3, k, m))
        step = partial(latent_step, X, R, ridge, is_binary, degrees, weights, means, spread, first, second, logarithms)
    else:
        (S, L, W), centred = np.empty((3, m, m)), np.zeros((m, BLOCK))
        work = np.empty(max(m, BLOCK)), np.empty(BLOCK)
        step = partial(
            gaussian_step, X, columns, R, ridge, degrees, weights, means, S, L, W, centred, *work, logarithms
        )
    before = likelihood = -np.inf
    for _ in range(steps):
        add_means(X, R, weights, means)
        step()
        likelihood = memberships_of(logarithms, R)
        if likelihood - before < tolerance:
            break
        before = likelihood
    labels[:] = R.argmax(axis=1)
    return likelihood
