"""k-means of the objects of small data, many times: k-means++ and Lloyd's iterations (Arthur & Vassilvitskii 2007)."""

from typing import Any

import numpy as np

from ensemblage._jit import jit


@jit
def squared_distance(X: Any, i: int, centres: Any, c: int) -> float:
    total = 0.0
    for f in range(X.shape[1]):
        total += (X[i, f] - centres[c, f]) ** 2
    return total


@jit
def spread_seeds(X: Any, uniforms: Any, least: Any, centres: Any) -> None:
    """k-means++: each further centre is an object, with a chance that grows with its squared distance to the others.

    X : IN (n, d)
    uniforms : IN (k,) in [0, 1)
    least : WORK (n,)
    centres : OUT (k, d)
    """
    n = X.shape[0]
    least[:] = 1.0
    for c in range(centres.shape[0]):
        total = 0.0
        for i in range(n):
            total += least[i]
        passed, chosen = uniforms[c] * total, n - 1
        for i in range(n):
            passed -= least[i]
            if passed < 0:
                chosen = i
                break
        centres[c] = X[chosen]
        for i in range(n):
            distance = squared_distance(X, i, centres, c)
            if c == 0 or distance < least[i]:
                least[i] = distance


@jit
def iterate(X: Any, centres: Any, labels: Any, least: Any, sizes: Any, max_iter: int) -> float:
    """Lloyd's iterations until no label changes; returns the sum of squared distances to the means.

    A cluster that loses all its objects begins again at the object that is farthest from its mean.

    X : IN (n, d)
    centres : IN/OUT (k, d)
    labels : OUT (n,)
    least : WORK (n,)
    sizes : WORK (k,) int64
    """
    n, k = X.shape[0], centres.shape[0]
    labels[:] = -1
    total = 0.0
    for _ in range(max_iter):
        changed, total = False, 0.0
        for i in range(n):
            best, nearest = np.inf, 0
            for c in range(k):
                distance = squared_distance(X, i, centres, c)
                if distance < best:
                    best, nearest = distance, c
            changed = changed or labels[i] != nearest
            labels[i], least[i] = nearest, best
            total += best
        if not changed:
            break
        sizes[:] = 0
        for i in range(n):
            sizes[labels[i]] += 1
        for c in range(k):
            if sizes[c] == 0:
                farthest = least.argmax()
                if least[farthest] > 0:
                    sizes[labels[farthest]] -= 1
                    labels[farthest], least[farthest], sizes[c] = c, 0.0, 1
        centres[:] = 0.0
        for i in range(n):
            centres[labels[i]] += X[i]
        for c in range(k):
            centres[c] /= max(sizes[c], 1)
    return total


@jit
def best_of_starts(X: Any, uniforms: Any, max_iter: int, labels: Any) -> float:
    """The least sum of squared distances to the means over some starts of k-means.

    X : IN (n, d)
    uniforms : IN (n_init, k) in [0, 1)
    labels : OUT (n,) int32, of the best start
    """
    n, (n_init, k) = X.shape[0], uniforms.shape
    centres, least, sizes = np.empty((k, X.shape[1])), np.empty(n), np.empty(k, dtype=np.int64)
    found, best = np.empty_like(labels), np.inf
    for start in range(n_init):
        spread_seeds(X, uniforms[start], least, centres)
        total = iterate(X, centres, found, least, sizes, max_iter)
        if total < best:
            best = total
            labels[:] = found
    return best
