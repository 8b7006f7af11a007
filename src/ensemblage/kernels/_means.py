"""Sums of the members of clusters of points."""

from typing import Any

from ensemblage.kernels._jit import jit


@jit
def add_members(X: Any, labels: Any, sums: Any, sizes: Any) -> None:
    """X : IN (n, m)
    labels : IN (n,) cluster of each row
    sums : IN/OUT (k, m) float64, to which the rows of each cluster are added in their order
    sizes : IN/OUT (k,) int64
    """
    for i in range(X.shape[0]):
        c = labels[i]
        sizes[c] += 1
        for t in range(X.shape[1]):
            sums[c, t] += X[i, t]
