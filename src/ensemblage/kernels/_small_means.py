"""k-means of the objects of small data, many times: k-means++ and Lloyd's iterations (Arthur & Vassilvitskii 2007)."""

from typing import Any

import numpy as np

from ensemblage._jit import inner_jit, jit

BLOCK = 512
"""Objects whose distances are counted at once: feature by feature, so that the compiler makes vectors of them."""


@inner_jit
def squared_distances(columns: Any, first: int, centre: Any, squares: Any) -> None:
    """Of some objects in a row to a centre, summed in the order of the features.

    columns : IN (d, n)
    first : IN the first of the objects
    centre : IN (d,)
    squares : OUT (m,) of objects first to first + m - 1
    """
    squares[:] = 0.0
    for f in range(columns.shape[0]):
        part, at = columns[f, first : first + squares.shape[0]], centre[f]
        for i in range(squares.shape[0]):
            squares[i] += (part[i] - at) ** 2


@jit
def spread_seeds(X: Any, uniforms: Any, least: Any, centres: Any) -> None:
    """k-means++: each further centre is an object, with a chance that grows with its squared distance to the others.

    X : IN (n, d)
    uniforms : IN (k,) in [0, 1)
    least : WORK (n,)
    centres : OUT (k, d)
    """
    n = X.shape[0]
    columns, squares = np.ascontiguousarray(X.T), np.empty(n)
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
        squared_distances(columns, 0, centres[c], squares)
        for i in range(n):
            if c == 0 or squares[i] < least[i]:
                least[i] = squares[i]


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
    columns, squares, nearest = np.ascontiguousarray(X.T), np.empty(BLOCK), np.empty(BLOCK, dtype=np.int32)
    labels[:] = -1
    total = 0.0
    for _ in range(max_iter):
        changed, total = False, 0.0
        for first in range(0, n, BLOCK):
            size = min(BLOCK, n - first)
            best = least[first : first + size]
            best[:] = np.inf
            nearest[:] = 0
            for c in range(k):
                squared_distances(columns, first, centres[c], squares[:size])
                for i in range(size):
                    if squares[i] < best[i]:
                        best[i], nearest[i] = squares[i], c
            for i in range(size):
                changed = changed or labels[first + i] != nearest[i]
                labels[first + i] = nearest[i]
                total += best[i]
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
            for f in range(X.shape[1]):
                centres[labels[i], f] += X[i, f]
        for c in range(k):
            for f in range(X.shape[1]):
                centres[c, f] /= max(sizes[c], 1)
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
