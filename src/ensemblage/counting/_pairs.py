"""Pairs of objects that clusters and partitions join, counted without listing them; distances, summed over pairs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base import threads
from ensemblage.base.threads import check_stopped, parallel_map, parts_of, row_blocks, rows_per_call
from ensemblage.kernels._pair_sums import sum_distances_of_rows
from ensemblage.kernels._pairs import group_objects, square_label_counts
from ensemblage.labels.blocks import LabelRows, map_rows
from ensemblage.labels.counts import count_labels

SMALL_TABLE = 2**20
"""Largest table of clusters by labels to count: faster than cluster after cluster while it fits into the cache."""


def label_count_squares(
    codes: LabelRows,
    clusters: NDArray[Any],
    sizes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    n_jobs: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per cluster and partition: the sum of alpha² over its labels, and the members it labels; both (k, p) int64.

    ``sizes`` is the number of objects of each cluster. O(n p) time and O(n + k p) memory however many clusters there
    are. Exact to n = 3·10⁹.
    """
    if len(sizes) * offsets[-1] <= SMALL_TABLE:
        return _squares_of_profile(codes, clusters, len(sizes), offsets, n_jobs)
    if not codes.random_access:
        return _squares_by_rows(codes, clusters, len(sizes), offsets, n_jobs)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    order = np.empty(starts[-1], dtype=np.int32 if len(codes) < 2**31 else np.int64)
    group_objects(clusters, starts[:-1].copy(), order)
    shape = (len(sizes), codes.shape[1])
    squares, labelled = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)

    def count(block: slice) -> None:
        alpha = np.zeros(offsets[-1], dtype=np.int64)
        bounds = starts[block.start : block.stop + 1]
        square_label_counts(codes[:], order, bounds, offsets, alpha, squares[block], labelled[block])

    # Runs of clusters that start within the same ``BLOCK_ROWS`` objects.
    first = np.flatnonzero(np.diff(starts[:-1] // threads.BLOCK_ROWS, prepend=-1))
    runs = [slice(a, b) for a, b in zip(first, [*first[1:], len(sizes)], strict=True)]
    parallel_map(count, runs, n_jobs)
    return squares, labelled


def _squares_of_profile(
    codes: LabelRows, clusters: NDArray[Any], n_clusters: int, offsets: NDArray[np.int64], n_jobs: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ones = np.ones(len(codes), dtype=np.int64)
    profile = count_labels(codes, clusters, ones, offsets, n_clusters, n_jobs)
    profile[:, offsets[1:] - 1] = 0
    return np.add.reduceat(profile**2, offsets[:-1], axis=1), np.add.reduceat(profile, offsets[:-1], axis=1)


LARGE_TABLE = 2**23
"""Largest such table for rows without random access, which are read once per table: as many clusters at a time."""


def _squares_by_rows(
    codes: LabelRows, clusters: NDArray[Any], n_clusters: int, offsets: NDArray[np.int64], n_jobs: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    found = []
    for some in row_blocks(n_clusters, max(1, LARGE_TABLE // int(offsets[-1]))):
        numbers = np.where((clusters >= some.start) & (clusters < some.stop), clusters - some.start, -1)
        found.append(_squares_of_profile(codes, numbers, some.stop - some.start, offsets, n_jobs))
    squares, labelled = zip(*found, strict=True)
    return np.concatenate(squares), np.concatenate(labelled)


DISTANCE_ROWS = 64
"""Rows of one float sum of distances; results depend on it in the last bits: it never changes."""


def distance_sums(
    X: NDArray[np.float64], codes: NDArray[Any], n_clusters: NDArray[np.int64], n_jobs: int | None = None
) -> NDArray[np.float64]:
    """(4, p) sum within and between clusters, largest within, smallest between, over unordered pairs of objects.

    O(n² (d + p)) time; no distance is kept.
    """
    p = codes.shape[1]
    at_once = rows_per_call(len(X) * (X.shape[1] + p), DISTANCE_ROWS)

    def of_task(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        sums = np.zeros((4, p))
        sums[3] = np.inf
        for few in parts_of(slice(int(rows[0]), int(rows[-1]) + 1), at_once):
            check_stopped()
            sum_distances_of_rows(X, codes, n_clusters, few.start, few.stop, *sums)
        return sums

    parts = np.stack(map_rows(of_task, [np.arange(len(X))], n_jobs=n_jobs, size=DISTANCE_ROWS))
    return np.stack(
        [parts[:, 0].sum(axis=0), parts[:, 1].sum(axis=0), parts[:, 2].max(axis=0), parts[:, 3].min(axis=0)]
    )
