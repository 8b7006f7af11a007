"""Several starts of k-means on few objects: for the many small fits of references and halves."""

from typing import Any

import numpy as np

from ensemblage._jit import jit


@jit
def best_start(
    X: Any, uniform: Any, max_iter: int, centres: Any, sums: Any, sizes: Any, nearest: Any, labels: Any,
    best_centres: Any, best_labels: Any,
) -> float:  # fmt: skip
    """The within-cluster sum of squares of the best of several starts of Lloyd's k-means, the first of equal ones.

    X : IN (n, d)
    uniform : IN (starts, k) in [0, 1), the draws of k-means++ with one trial per centre
    max_iter : IN steps at most; it ends when no label changes
    centres, sums : WORK (k, d)
    sizes : WORK (k,)
    nearest : WORK (n,)
    labels : WORK (n,) int32
    best_centres : OUT (k, d)
    best_labels : OUT (n,) int32
    """
    best = np.inf
    for start in range(uniform.shape[0]):
        plus_plus(X, uniform[start], centres, nearest)
        labels[:] = -1
        for _ in range(max_iter):
            changed = assign(X, centres, labels, nearest)
            if not changed:
                break
            move(X, labels, centres, sums, sizes)
        total = 0.0
        for i in range(X.shape[0]):
            total += nearest[i]
        if total < best:
            best = total
            best_centres[:] = centres
            best_labels[:] = labels
    return best


@jit
def plus_plus(X: Any, uniform: Any, centres: Any, nearest: Any) -> None:
    """k-means++: every further centre is an object, with a chance in proportion to its squared distance.

    X : IN (n, d)
    uniform : IN (k,)
    centres : OUT (k, d)
    nearest : WORK (n,)
    """
    n, d = X.shape
    nearest[:] = np.inf
    chosen = int(uniform[0] * n)
    for c in range(centres.shape[0]):
        if c > 0:
            total = 0.0
            for i in range(n):
                total += nearest[i]
            chosen, left = n - 1, uniform[c] * total
            for i in range(n):
                left -= nearest[i]
                if left < 0:
                    chosen = i
                    break
        centres[c] = X[chosen]
        for i in range(n):
            square = 0.0
            for f in range(d):
                square += (X[i, f] - centres[c, f]) ** 2
            nearest[i] = min(nearest[i], square)


@jit
def assign(X: Any, centres: Any, labels: Any, nearest: Any) -> bool:
    """Give each object to the nearest centre, the first of equally near ones; whether any label changed.

    X : IN (n, d)
    centres : IN (k, d)
    labels : IN/OUT (n,) int32
    nearest : OUT (n,) squared distance
    """
    changed = False
    for i in range(X.shape[0]):
        least, label = np.inf, 0
        for c in range(centres.shape[0]):
            square = 0.0
            for f in range(X.shape[1]):
                square += (X[i, f] - centres[c, f]) ** 2
            if square < least:
                least, label = square, c
        nearest[i] = least
        if labels[i] != label:
            labels[i] = label
            changed = True
    return changed


@jit
def move(X: Any, labels: Any, centres: Any, sums: Any, sizes: Any) -> None:
    """Move each centre to the mean of its objects; one without any stays.

    X : IN (n, d)
    labels : IN (n,) int32
    centres : IN/OUT (k, d)
    sums : WORK (k, d)
    sizes : WORK (k,)
    """
    sums[:] = 0.0
    sizes[:] = 0.0
    for i in range(X.shape[0]):
        sizes[labels[i]] += 1
        for f in range(X.shape[1]):
            sums[labels[i], f] += X[i, f]
    for c in range(centres.shape[0]):
        if sizes[c] > 0:
            for f in range(X.shape[1]):
                centres[c, f] = sums[c, f] / sizes[c]
