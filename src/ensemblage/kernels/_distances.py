"""Distances of pairs of objects, summed within and between the clusters of several partitions at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage.kernels._jit import jit


@jit
def sum_distances_of_rows(
    X: Any,
    codes: Any,
    n_clusters: Any,
    first: int,
    last: int,
    within: Any,
    between: Any,
    diameter: Any,
    separation: Any,
) -> None:
    """X : IN (n, d)
    codes : IN (n, p)
    n_clusters : IN (p,) the code that means missing
    first : IN rows of this call: first, ...
    last : IN ... to last - 1; pairs with all later rows
    within : IN/OUT (p,) sum of the distances within clusters
    between : IN/OUT (p,) and between them
    diameter : IN/OUT (p,) largest distance within a cluster
    separation : IN/OUT (p,) smallest distance between clusters
    """
    n, d = X.shape
    for i in range(first, last):
        for j in range(i + 1, n):
            square = 0.0
            for f in range(d):
                square += (X[i, f] - X[j, f]) ** 2
            distance = np.sqrt(square)
            for t in range(codes.shape[1]):
                a, b = codes[i, t], codes[j, t]
                if a == b:
                    if a != n_clusters[t]:
                        within[t] += distance
                        diameter[t] = max(diameter[t], distance)
                elif a != n_clusters[t] and b != n_clusters[t]:
                    between[t] += distance
                    separation[t] = min(separation[t], distance)
