"""Distances of pairs of objects, summed within and between the clusters of several partitions at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._jit import jit
from ensemblage._parallel import map_rows, parts_of
from ensemblage._slices import check_stopped, rows_of_slice

TASK_ROWS = 64
"""Rows of one float sum; results depend on it in the last bits: it never changes."""


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


def distance_sums(
    X: NDArray[np.float64], codes: NDArray[Any], n_clusters: NDArray[np.int64], n_jobs: int | None = None
) -> NDArray[np.float64]:
    """(4, p) sum within and between clusters, largest within, smallest between, over unordered pairs of objects.

    O(n² (d + p)) time; no distance is kept.
    """
    p = codes.shape[1]
    at_once = rows_of_slice(len(X) * (X.shape[1] + p), TASK_ROWS)

    def of_task(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        sums = np.zeros((4, p))
        sums[3] = np.inf
        for few in parts_of(slice(int(rows[0]), int(rows[-1]) + 1), at_once):
            check_stopped()
            sum_distances_of_rows(X, codes, n_clusters, few.start, few.stop, *sums)
        return sums

    parts = np.stack(map_rows(of_task, [np.arange(len(X))], n_jobs=n_jobs, size=TASK_ROWS))
    return np.stack(
        [parts[:, 0].sum(axis=0), parts[:, 1].sum(axis=0), parts[:, 2].max(axis=0), parts[:, 3].min(axis=0)]
    )
