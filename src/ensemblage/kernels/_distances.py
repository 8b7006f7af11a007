"""Distances of pairs of objects, summed within and between the clusters of several partitions at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage._jit import jit


@jit
def sum_distances_of_rows(
    X: Any,  # IN (n, d)
    codes: Any,  # IN (n, p)
    n_clusters: Any,  # IN (p,) the code that means missing
    first: int,  # IN rows of this call: first, ...
    last: int,  # IN ... to last - 1; pairs with all later rows
    within: Any,  # IN/OUT (p,) sum of the distances within clusters
    between: Any,  # IN/OUT (p,) and between them
    diameter: Any,  # IN/OUT (p,) largest distance within a cluster
    separation: Any,  # IN/OUT (p,) smallest distance between clusters
) -> None:
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
