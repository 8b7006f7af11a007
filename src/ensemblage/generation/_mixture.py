"""Expectation maximisation of Gaussian mixtures and latent class models, from a given partition.

A step of many objects is made by kernels (`ensemblage.kernels._mixtures` has the prior), of few objects in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._jit import is_small_work
from ensemblage.kernels._mixtures import (
    BLOCK,
    LEAST_VARIANCE,
    add_means,
    gaussian_step,
    latent_step,
    memberships_of,
)

Matrix = NDArray[np.float64]
FULL, LATENT = 0, 1
OPERATIONS = 256
"""Of NumPy for a number and a component."""


class Mixture(NamedTuple):
    """A mixture that is fitted to (n, m) objects X."""

    X: Matrix
    is_binary: NDArray[np.bool_]
    """(m,)"""
    shape: int
    ridge: Matrix
    """(m,) the diagonal of Λ."""
    degrees: float
    R: Matrix
    """(n, k) memberships."""


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
    n = len(X)
    # Sums in the order of the rows.
    mean = np.cumsum(X, axis=0)[-1] / n
    ridge = scale * np.maximum(np.cumsum((X - mean) ** 2 / n, axis=0)[-1], LEAST_VARIANCE)
    R = np.zeros((n, k))
    R[np.arange(n), labels] = 1.0
    mixture = Mixture(X, is_binary, shape, ridge, degrees, R)
    step = small_step(mixture) if is_small_work(OPERATIONS * k * X.size) else large_step(mixture)
    before = likelihood = -np.inf
    for _ in range(steps):
        likelihood = step()
        if likelihood - before < tolerance:
            break
        before = likelihood
    labels[:] = R.argmax(axis=1)
    return likelihood


def large_step(mixture: Mixture) -> Callable[[], float]:
    """A step, to be called again and again: it changes the memberships and returns the likelihood."""
    X, is_binary, shape, ridge, degrees, R = mixture
    (n, m), k = X.shape, R.shape[1]
    logarithms, weights, means, columns = np.empty((n, k)), np.empty(k), np.empty((k, m)), np.ascontiguousarray(X.T)
    (S, L, W), centred, of_classes = np.empty((3, m, m)), np.zeros((m, BLOCK)), np.empty((3, k, m))
    work = np.empty(max(m, BLOCK)), np.empty(BLOCK)

    def step() -> float:
        add_means(X, R, weights, means)
        if shape == LATENT:
            spread, first, second = of_classes
            latent_step(X, R, ridge, is_binary, degrees, weights, means, spread, first, second, logarithms)
        else:
            gaussian_step(X, columns, R, ridge, degrees, weights, means, S, L, W, centred, *work, logarithms)
        likelihood: float = memberships_of(logarithms, R)
        return likelihood

    return step


def small_step(mixture: Mixture) -> Callable[[], float]:
    """The same in NumPy; sums may differ by rounding."""
    n, R = len(mixture.X), np.ascontiguousarray(mixture.R.T)
    densities = latent_densities if mixture.shape == LATENT else gaussian_densities

    def step() -> float:
        R[R <= 1e-9] = 0.0
        weights = R.sum(axis=1) + 1e-9
        means = (R @ mixture.X) / weights[:, None]
        logarithms = densities(mixture, R, weights, means)
        logarithms += np.log(weights / n)[:, None]
        largest = logarithms.max(axis=0)
        np.exp(logarithms - largest, out=R)
        sums = R.sum(axis=0)
        np.divide(R, sums, out=R)
        mixture.R[:] = R.T
        return float((largest + np.log(sums)).sum() / n)

    return step


def gaussian_densities(mixture: Mixture, R: Matrix, weights: Matrix, means: Matrix) -> Matrix:
    """(k, n) logarithms, with the covariances of components of (k,) weights and (k, m) means; R is (k, n)."""
    m = means.shape[1]
    away = mixture.X - means[:, None]
    S = (away * (R * (R > 1e-6))[:, :, None]).transpose(0, 2, 1) @ away
    S[:, np.arange(m), np.arange(m)] += mixture.ridge
    S /= (weights + mixture.degrees)[:, None, None]
    L = cholesky_factors(S)
    half = np.log(L.diagonal(axis1=1, axis2=2)).sum(axis=1) + 0.5 * m * np.log(2 * np.pi)
    away = away @ np.linalg.inv(L).transpose(0, 2, 1)
    squares: Matrix = np.einsum("cnf,cnf->cn", away, away)
    return np.asarray(-0.5 * squares - half[:, None])


def cholesky_factors(S: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of positive definite matrices, (k, m, m); on their diagonals at least √``LEAST_VARIANCE``."""
    try:
        L = np.asarray(np.linalg.cholesky(S))
        if L.diagonal(axis1=1, axis2=2).min() ** 2 > LEAST_VARIANCE:
            return L
    except np.linalg.LinAlgError:
        pass
    L = np.zeros_like(S)
    for f in range(S.shape[1]):
        column = S[:, f:, f] - np.einsum("cgh,ch->cg", L[:, f:, :f], L[:, f, :f])
        L[:, f, f] = np.sqrt(np.maximum(column[:, 0], LEAST_VARIANCE))
        L[:, f + 1 :, f] = column[:, 1:] / L[:, f, f, None]
    return L


def latent_densities(mixture: Mixture, R: Matrix, weights: Matrix, means: Matrix) -> Matrix:
    """The same of columns that are independent within a class: Bernoulli where they have two values, else Gaussian."""
    X, is_binary = mixture.X, mixture.is_binary
    squares = np.square(X - means[:, None])
    spread = (R[:, None] @ squares)[:, 0]
    v = np.maximum((spread + mixture.ridge) / (weights + mixture.degrees)[:, None], LEAST_VARIANCE)
    # One more object of the overall share.
    p = (means * weights[:, None] + weights @ means / len(X)) / (weights + 1.0)[:, None]
    p = np.clip(p, 1e-6, 1 - 1e-6)
    constants = np.where(is_binary, np.log(1 - p), -0.5 * np.log(2 * np.pi * v)).sum(axis=1)
    of_two = np.where(is_binary, np.log(p) - np.log(1 - p), 0.0) @ X.T
    of_numbers = (squares @ np.where(is_binary, 0.0, 0.5 / v)[:, :, None])[:, :, 0]
    return np.asarray(constants[:, None] + of_two - of_numbers)
