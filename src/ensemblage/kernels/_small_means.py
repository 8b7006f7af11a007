"""k-means of the objects of small data, many times: k-means++ and Lloyd's iterations (Arthur & Vassilvitskii 2007)."""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit

BLOCK = 256
"""Objects whose distances are counted at once: feature by feature, so that the compiler makes vectors of them."""


@inner_jit
def squared_distances(columns: Any, first: int, centres: Any, squares: Any) -> None:
    """Of some objects in a row to centres, summed in the order of the features; each feature is read once.

    columns : IN (d, n)
    first : IN the first of the objects
    centres : IN (k, d)
    squares : OUT (k, m) of objects first to first + m - 1
    """
    d, (k, m) = columns.shape[0], squares.shape
    squares[:] = 0.0
    # Four features at a time, added in their order: a sum is loaded and stored once for them.
    for f in range(0, d - 3, 4):
        p, q = columns[f, first : first + m], columns[f + 1, first : first + m]
        r, s = columns[f + 2, first : first + m], columns[f + 3, first : first + m]
        for c in range(k):
            row, w, x, y, z = squares[c], centres[c, f], centres[c, f + 1], centres[c, f + 2], centres[c, f + 3]
            for i in range(m):
                row[i] = row[i] + (p[i] - w) ** 2 + (q[i] - x) ** 2 + (r[i] - y) ** 2 + (s[i] - z) ** 2
    for f in range(d - d % 4, d):
        part = columns[f, first : first + m]
        for c in range(k):
            row, at = squares[c], centres[c, f]
            for i in range(m):
                row[i] += (part[i] - at) ** 2


@jit
def spread_seeds(columns: Any, uniforms: Any, least: Any, centres: Any) -> None:
    """k-means++: each further centre is an object, with a chance that grows with its squared distance to the others.

    columns : IN (d, n)
    uniforms : IN (k,) in [0, 1)
    least : WORK (n,)
    centres : OUT (k, d)
    """
    n = columns.shape[1]
    squares = np.empty((1, n))
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
        centres[c] = columns[:, chosen]
        squared_distances(columns, 0, centres[c : c + 1], squares)
        for i in range(n):
            if c == 0 or squares[0, i] < least[i]:
                least[i] = squares[0, i]


@jit
def iterate(X: Any, columns: Any, centres: Any, labels: Any, least: Any, sizes: Any, max_iter: int) -> float:
    """Lloyd's iterations until no label changes; returns the sum of squared distances to the means.

    A cluster that loses all its objects begins again at the object that is farthest from its mean.

    X : IN (n, d)
    columns : IN (d, n) the same
    centres : IN/OUT (k, d)
    labels : OUT (n,)
    least : WORK (n,)
    sizes : WORK (k,) int64
    """
    n, k = X.shape[0], centres.shape[0]
    room, nearest = np.empty(k * min(BLOCK, n)), np.empty(BLOCK, dtype=np.int32)
    labels[:] = -1
    total = 0.0
    for _ in range(max_iter):
        changed, total = False, 0.0
        for first in range(0, n, BLOCK):
            size = min(BLOCK, n - first)
            best = least[first : first + size]
            best[:] = np.inf
            nearest[:] = 0
            squares = room[: k * size].reshape(k, size)
            squared_distances(columns, first, centres, squares)
            for c in range(k):
                for i in range(size):
                    if squares[c, i] < best[i]:
                        best[i], nearest[i] = squares[c, i], c
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
            row, centre = X[i], centres[labels[i]]
            for f in range(row.shape[0]):
                centre[f] += row[f]
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
    columns, found, best = np.ascontiguousarray(X.T), np.empty_like(labels), np.inf
    for start in range(n_init):
        spread_seeds(columns, uniforms[start], least, centres)
        total = iterate(X, columns, centres, found, least, sizes, max_iter)
        if total < best:
            best = total
            labels[:] = found
    return best
