"""Lloyd's steps for points that stand for objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.threads import SUM_ROWS, parallel_map, row_blocks
from ensemblage.kernels._points import move_points


def lloyd(
    points_of: Callable[[slice], NDArray[np.float32]],
    counts: NDArray[np.int64] | None,
    clusters: NDArray[Any],
    centres: NDArray[np.float32],
    n_steps: int,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.float32], int]:
    """Centres after so many steps, or fewer where no point moves, and how many; an empty cluster keeps its centre.

    ``points_of`` makes the points of some rows; ``counts`` are their objects, None: one each. ``clusters``, (n,), are
    written: the nearest of the centres, the first on ties.
    """
    ones = np.ones(min(SUM_ROWS, len(clusters)), dtype=np.int64)

    def step(block: slice) -> tuple[int, NDArray[np.float64]]:
        points, sums = points_of(block), np.empty((len(centres), centres.shape[1] + 1))
        of_block = ones[: len(points)] if counts is None else counts[block]
        return move_points(points, of_block, centres, clusters[block], sums), sums

    for done in range(n_steps + 1):
        moved, sums = zip(*parallel_map(step, row_blocks(len(clusters), SUM_ROWS), n_jobs), strict=True)
        if done == n_steps or not any(moved):
            break
        total = np.sum(sums, axis=0)
        filled = total[:, -1] > 0
        centres = centres.copy()
        centres[filled] = (total[filled, :-1] / total[filled, -1:]).astype(np.float32)
    return centres, done
