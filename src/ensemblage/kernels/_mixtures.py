"""Expectation maximisation of Gaussian mixtures and latent class models, from a given partition.

Densities are in natural logarithms. A covariance is regularised by a prior: Σ = (Λ + S) / (ν + w), with the scatter S
and the weight w of a component, Λ = scale · diag(variance of each column) and ν degrees of freedom (Fraley & Raftery
2007, without the prior of the means). ν = 0 adds scale / w, so that a small scale is a ridge.
"""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit

FULL, LATENT = 0, 1
LEAST_VARIANCE = 1e-12
BLOCK = 256
"""Rows whose densities are computed at once."""


@inner_jit
def factorise(S: Any, L: Any) -> Any:
    """Returns log |S|.

    S : IN (m, m) lower half of a positive definite matrix
    L : OUT (m, m) its Cholesky factor
    """
    m, logarithm = len(S), 0.0
    for f in range(m):
        for g in range(f + 1):
            s = S[f, g]
            for h in range(g):
                s -= L[f, h] * L[g, h]
            L[f, g] = np.sqrt(max(s, LEAST_VARIANCE)) if f == g else s / L[g, g]
        logarithm += 2 * np.log(L[f, f])
    return logarithm


@inner_jit
def add_means(X: Any, R: Any, weights: Any, means: Any) -> None:
    """X : IN (n, m)
    R : IN (n, k) memberships
    weights : OUT (k,) their sums
    means : OUT (k, m)
    """
    weights[:] = 1e-9
    means[:] = 0.0
    for i in range(X.shape[0]):
        for c in range(R.shape[1]):
            r = R[i, c]
            if r > 1e-9:
                weights[c] += r
                for f in range(X.shape[1]):
                    means[c, f] += r * X[i, f]
    for c in range(R.shape[1]):
        for f in range(X.shape[1]):
            means[c, f] /= weights[c]


@inner_jit
def add_scatter(X: Any, R: Any, c: int, mean: Any, S: Any) -> None:
    """X : IN (n, m)
    R : IN (n, k) memberships
    c : IN a component ...
    mean : IN (m,) ... and its mean
    S : IN/OUT (m, m) lower half
    """
    m = X.shape[1]
    v = np.empty(m)
    for i in range(X.shape[0]):
        r = R[i, c]
        if r > 1e-6:
            for f in range(m):
                v[f] = X[i, f] - mean[f]
            for f in range(m):
                a = r * v[f]
                for g in range(f + 1):
                    S[f, g] += a * v[g]


@inner_jit
def invert(L: Any, W: Any) -> None:
    """L : IN (m, m) lower triangle
    W : OUT (m, m) its inverse, a lower triangle
    """
    for f in range(len(L)):
        W[f, f] = 1.0 / L[f, f]
        for g in range(f):
            s = 0.0
            for h in range(g, f):
                s += L[f, h] * W[h, g]
            W[f, g] = -s * W[f, f]


@inner_jit
def add_densities(columns: Any, mean: Any, W: Any, base: float, logarithms: Any) -> None:
    """columns : IN (m, n)
    mean : IN (m,)
    W : IN (m, m) inverse of the Cholesky factor of the covariance
    base : IN what does not depend on the row
    logarithms : OUT (n,)
    """
    m, n = columns.shape
    centred, part, squares = np.empty((m, BLOCK)), np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        b = min(BLOCK, n - start)
        for f in range(m):
            for i in range(b):
                centred[f, i] = columns[f, start + i] - mean[f]
        squares[:] = 0.0
        for f in range(m):
            part[:] = 0.0
            for h in range(f + 1):
                w = W[f, h]
                for i in range(BLOCK):
                    part[i] += w * centred[h, i]
            for i in range(BLOCK):
                squares[i] += part[i] * part[i]
        for i in range(b):
            logarithms[start + i] = base - 0.5 * squares[i]


@inner_jit
def gaussian_step(X: Any, columns: Any, R: Any, variances: Any, scale: float, degrees: float, logarithms: Any) -> None:
    """X : IN (n, m)
    columns : IN (m, n) the same
    R : IN (n, k) memberships
    variances : IN (m,) of the columns
    scale, degrees : IN of the prior
    logarithms : OUT (n, k) of weight times density
    """
    (n, m), k = X.shape, R.shape[1]
    weights, means = np.empty(k), np.empty((k, m))
    add_means(X, R, weights, means)
    S, L, W, column = np.zeros((m, m)), np.zeros((m, m)), np.zeros((m, m)), np.empty(n)
    constant = 0.5 * m * np.log(2 * np.pi)
    for c in range(k):
        S[:] = 0.0
        add_scatter(X, R, c, means[c], S)
        for f in range(m):
            S[f, f] += scale * variances[f]
        for f in range(m):
            for g in range(f + 1):
                S[f, g] /= weights[c] + degrees
        half = 0.5 * factorise(S, L)
        invert(L, W)
        add_densities(columns, means[c], W, np.log(weights[c] / n) - constant - half, column)
        for i in range(n):
            logarithms[i, c] = column[i]


@inner_jit
def latent_step(X: Any, R: Any, variances: Any, is_binary: Any, scale: float, degrees: float, logarithms: Any) -> None:
    """Columns are independent within a class: Bernoulli where they have two values, else Gaussian.

    X : IN (n, m), columns of two values are 0 and 1
    R : IN (n, k) memberships
    variances : IN (m,) of the columns
    is_binary : IN (m,)
    scale, degrees : IN of the prior of the variances
    logarithms : OUT (n, k) of weight times density
    """
    (n, m), k = X.shape, R.shape[1]
    weights, means = np.empty(k), np.empty((k, m))
    add_means(X, R, weights, means)
    spread = np.zeros((k, m))
    for i in range(n):
        for c in range(k):
            r = R[i, c]
            if r > 1e-9:
                for f in range(m):
                    spread[c, f] += r * (X[i, f] - means[c, f]) ** 2
    first, second, base = np.empty((k, m)), np.empty((k, m)), np.empty(k)
    share = np.zeros(m)
    for f in range(m):
        for c in range(k):
            share[f] += means[c, f] * weights[c] / n
    for c in range(k):
        base[c] = np.log(weights[c] / n)
        for f in range(m):
            if is_binary[f]:
                p = (means[c, f] * weights[c] + share[f]) / (weights[c] + 1.0)
                p = min(max(p, 1e-6), 1 - 1e-6)
                first[c, f], second[c, f] = np.log(p) - np.log(1 - p), 0.0
                base[c] += np.log(1 - p)
            else:
                v = max((spread[c, f] + scale * variances[f]) / (weights[c] + degrees), LEAST_VARIANCE)
                first[c, f], second[c, f] = means[c, f], 0.5 / v
                base[c] -= 0.5 * np.log(2 * np.pi * v)
    for i in range(n):
        for c in range(k):
            s = base[c]
            for f in range(m):
                if is_binary[f]:
                    s += X[i, f] * first[c, f]
                else:
                    s -= (X[i, f] - first[c, f]) ** 2 * second[c, f]
            logarithms[i, c] = s


@jit
def fit_mixture(
    X: Any, is_binary: Any, shape: int, scale: float, degrees: float, steps: int, tolerance: float, labels: Any, k: int
) -> Any:
    """Returns the mean log likelihood of an object.

    X : IN (n, m)
    is_binary : IN (m,) columns of two values, 0 and 1, for LATENT
    shape : IN FULL or LATENT
    scale, degrees : IN of the prior
    steps : IN the most
    tolerance : IN a smaller gain of the mean log likelihood ends it
    labels : IN/OUT (n,) int32, the start and the most probable component
    k : IN number of components
    """
    n, m = X.shape
    variances = np.zeros(m)
    for f in range(m):
        mean = 0.0
        for i in range(n):
            mean += X[i, f]
        mean /= n
        for i in range(n):
            variances[f] += (X[i, f] - mean) ** 2 / n
        variances[f] = max(variances[f], LEAST_VARIANCE)
    R, logarithms = np.zeros((n, k)), np.empty((n, k))
    for i in range(n):
        R[i, labels[i]] = 1.0
    columns = np.empty((m, n))
    for i in range(n):
        for f in range(m):
            columns[f, i] = X[i, f]
    before, likelihood = -np.inf, -np.inf
    for _ in range(steps):
        if shape == LATENT:
            latent_step(X, R, variances, is_binary, scale, degrees, logarithms)
        else:
            gaussian_step(X, columns, R, variances, scale, degrees, logarithms)
        likelihood = 0.0
        for i in range(n):
            largest, s = logarithms[i, 0], 0.0
            for c in range(1, k):
                largest = max(largest, logarithms[i, c])
            for c in range(k):
                R[i, c] = np.exp(logarithms[i, c] - largest)
                s += R[i, c]
            for c in range(k):
                R[i, c] /= s
            likelihood += largest + np.log(s)
        likelihood /= n
        if likelihood - before < tolerance:
            break
        before = likelihood
    for i in range(n):
        best = 0
        for c in range(1, k):
            if R[i, c] > R[i, best]:
                best = c
        labels[i] = best
    return likelihood
