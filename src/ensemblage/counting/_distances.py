"""Distances of pairs of objects, summed within and between the clusters of several partitions at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._pair_sums import sum_distances_of_rows
from ensemblage.labels.blocks import map_rows
from ensemblage.labels.threads import check_stopped, parts_of, rows_per_call

TASK_ROWS = 64
"""Rows of one float sum; results depend on it in the last bits: it never changes."""


def distance_sums(
    X: NDArray[np.float64], codes: NDArray[Any], n_clusters: NDArray[np.int64], n_jobs: int | None = None
) -> NDArray[np.float64]:
    """(4, p) sum within and between clusters, largest within, smallest between, over unordered pairs of objects.

    O(n² (d + p)) time; no distance is kept.
    """
    p = codes.shape[1]
    at_once = rows_per_call(len(X) * (X.shape[1] + p), TASK_ROWS)

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
