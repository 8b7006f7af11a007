"""Steps of expectation maximisation of Gaussian mixtures and latent class models.

Densities are in natural logarithms. A covariance is regularised by a prior: Σ = (Λ + S) / (ν + w), with the scatter S
and the weight w of a component, Λ = scale · diag(variance of each column) and ν degrees of freedom (Fraley & Raftery
2007, without the prior of the means). ν = 0 adds scale / w, so that a small scale is a ridge.
"""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit

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


@jit
def add_means(X: Any, R: Any, weights: Any, means: Any) -> None:
    """X : IN (n, m)
    R : IN (n, k) memberships
    weights : OUT (k,) their sums
    means : OUT (k, m)
    """
    for c in range(R.shape[1]):
        weights[c] = 1e-9
        for f in range(X.shape[1]):
            means[c, f] = 0.0
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
def add_scatter(X: Any, R: Any, c: int, means: Any, v: Any, S: Any) -> None:
    """X : IN (n, m)
    R : IN (n, k) memberships
    c : IN a component ...
    means : IN (k, m) ... and the means of all
    v : WORK (m,) or more
    S : IN/OUT (m, m) lower half
    """
    m = X.shape[1]
    for i in range(X.shape[0]):
        r = R[i, c]
        if r > 1e-6:
            for f in range(m):
                v[f] = X[i, f] - means[c, f]
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
def add_densities(
    columns: Any, c: int, means: Any, W: Any, base: float, centred: Any, part: Any, squares: Any, logarithms: Any
) -> None:
    """columns : IN (m, n)
    c : IN a component ...
    means : IN (k, m) ... and the means of all
    W : IN (m, m) inverse of the Cholesky factor of the covariance
    base : IN what does not depend on the row
    centred, part, squares : WORK (m, BLOCK), (BLOCK,), (BLOCK,)
    logarithms : OUT (n, k), column c
    """
    m, n = columns.shape
    for start in range(0, n, BLOCK):
        b = min(BLOCK, n - start)
        for f in range(m):
            for i in range(b):
                centred[f, i] = columns[f, start + i] - means[c, f]
        for i in range(BLOCK):
            squares[i] = 0.0
        for f in range(m):
            for i in range(BLOCK):
                part[i] = 0.0
            for h in range(f + 1):
                w = W[f, h]
                for i in range(BLOCK):
                    part[i] += w * centred[h, i]
            for i in range(BLOCK):
                squares[i] += part[i] * part[i]
        for i in range(b):
            logarithms[start + i, c] = base - 0.5 * squares[i]


@jit
def gaussian_step(
    X: Any,
    columns: Any,
    R: Any,
    ridge: Any,
    degrees: float,
    weights: Any,
    means: Any,
    S: Any,
    L: Any,
    W: Any,
    centred: Any,
    part: Any,
    squares: Any,
    logarithms: Any,
) -> None:
    """X : IN (n, m)
    columns : IN (m, n) the same
    R : IN (n, k) memberships
    ridge, degrees : IN (m,), and a number, of the prior
    weights, means : IN (k,), (k, m)
    S, L, W : WORK (m, m)
    centred, part, squares : WORK (m, BLOCK), (BLOCK,), (BLOCK,)
    logarithms : OUT (n, k) of weight times density
    """
    n, m = X.shape
    constant = 0.5 * m * np.log(2 * np.pi)
    for c in range(R.shape[1]):
        for f in range(m):
            for g in range(f + 1):
                S[f, g] = 0.0
        add_scatter(X, R, c, means, part, S)
        for f in range(m):
            S[f, f] += ridge[f]
        for f in range(m):
            for g in range(f + 1):
                S[f, g] /= weights[c] + degrees
        half = 0.5 * factorise(S, L)
        invert(L, W)
        add_densities(
            columns, c, means, W, np.log(weights[c] / n) - constant - half, centred, part, squares, logarithms
        )


@jit
def latent_step(
    X: Any,
    R: Any,
    ridge: Any,
    is_binary: Any,
    degrees: float,
    weights: Any,
    means: Any,
    spread: Any,
    first: Any,
    second: Any,
    logarithms: Any,
) -> None:
    """Columns are independent within a class: Bernoulli where they have two values, else Gaussian.

    X : IN (n, m), columns of two values are 0 and 1
    R : IN (n, k) memberships
    ridge, degrees : IN (m,), and a number, of the prior of the variances
    is_binary : IN (m,)
    weights, means : IN (k,), (k, m)
    spread, first, second : WORK (k, m)
    logarithms : OUT (n, k) of weight times density
    """
    (n, m), k = X.shape, R.shape[1]
    for c in range(k):
        for f in range(m):
            spread[c, f] = 0.0
    for i in range(n):
        for c in range(k):
            r = R[i, c]
            if r > 1e-9:
                for f in range(m):
                    spread[c, f] += r * (X[i, f] - means[c, f]) ** 2
    for c in range(k):
        base = np.log(weights[c] / n)
        for f in range(m):
            if is_binary[f]:
                share = 0.0
                for q in range(k):
                    share += means[q, f] * weights[q] / n
                p = (means[c, f] * weights[c] + share) / (weights[c] + 1.0)
                p = min(max(p, 1e-6), 1 - 1e-6)
                first[c, f], second[c, f] = np.log(p) - np.log(1 - p), 0.0
                base += np.log(1 - p)
            else:
                v = max((spread[c, f] + ridge[f]) / (weights[c] + degrees), LEAST_VARIANCE)
                first[c, f], second[c, f] = means[c, f], 0.5 / v
                base -= 0.5 * np.log(2 * np.pi * v)
        for i in range(n):
            logarithms[i, c] = base
    for i in range(n):
        for c in range(k):
            s = logarithms[i, c]
            for f in range(m):
                if is_binary[f]:
                    s += X[i, f] * first[c, f]
                else:
                    s -= (X[i, f] - first[c, f]) ** 2 * second[c, f]
            logarithms[i, c] = s


@jit
def memberships_of(logarithms: Any, R: Any) -> Any:
    """Returns the mean log likelihood of an object.

    logarithms : IN (n, k) of weight times density
    R : OUT (n, k) memberships
    """
    (n, k), likelihood = logarithms.shape, 0.0
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
    return likelihood / n
