"""A stage of greedy k-means: k-means from k − 1 centres and each of many rows as the k-th (Li & Liu 2018)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base import threads
from ensemblage.base.threads import parallel_map, row_blocks, rows_per_call, run_interruptibly
from ensemblage.kernels._joint_kmeans import (
    Lloyd,
    add_centre,
    count_members,
    lloyd_mixed,
    loss_of,
    means,
    nearest_two,
    renumber,
)
from ensemblage.labels.blocks import map_rows

CANDIDATES_AT_ONCE = 256
"""Candidates whose labels are held before equal ones are put together."""


class Space(NamedTuple):
    """Features beside partitions as codes: the matrix [X | one-hot] that is never built."""

    X: NDArray[np.float64]
    """(n, m)"""
    codes: NDArray[Any]
    """(n, u) distinct partitions"""
    offsets: NDArray[np.int64]
    """(u + 1,)"""
    weights: NDArray[np.float64]
    """(u,) weight of a partition times the number of its copies"""

    @property
    def rounding(self) -> float:
        """Bound of the float error of a row's squared distance."""
        largest = 4 * (float(np.square(self.X).sum(axis=1).max(initial=0)) + float(self.weights.sum()))
        return float(8 * (self.X.shape[1] + len(self.weights)) * np.finfo(np.float64).eps * largest)

    def with_partitions(self, labels: NDArray[Any], n_clusters: int, weights: NDArray[np.float64]) -> Space:
        ends = self.offsets[-1] + n_clusters * np.arange(1, labels.shape[1] + 1)
        codes = np.ascontiguousarray(np.hstack([self.codes, labels]))
        return Space(self.X, codes, np.append(self.offsets, ends), np.append(self.weights, weights))

    def centres(self, labels: NDArray[Any], n_clusters: int) -> Centres:
        """Means of the clusters."""
        counts = np.empty((int(self.offsets[-1]), n_clusters), dtype=np.int64)
        sizes = np.empty(n_clusters, dtype=np.int64)
        count_members(self.codes, self.offsets, labels, counts, sizes)
        features, proportions = np.empty((self.X.shape[1], n_clusters)), np.empty(counts.shape)
        means(self.X, labels, counts, sizes, features, proportions)
        return Centres(features, proportions)

    def nearest(self, centres: Centres) -> Nearest:
        """Nearest centre of every row, and the squared distances to the nearest two."""
        n, operations = len(self.X), centres.features.shape[1] * (self.X.shape[1] + self.codes.shape[1])
        nearest = Nearest(np.empty(n, dtype=np.int32), np.empty(n), np.empty(n))
        # Every row for itself: no result depends on the blocks.
        map_rows(
            lambda X, codes, *out: nearest_two((X, codes, self.offsets, self.weights), *centres, *out),
            [self.X, self.codes, *nearest],
            size=rows_per_call(operations, threads.BLOCK_ROWS),
        )
        return nearest


class Centres(NamedTuple):
    """Centres of clusters in a space."""

    features: NDArray[np.float64]
    """(m, k)"""
    proportions: NDArray[np.float64]
    """(d, k)"""


class Nearest(NamedTuple):
    """Where rows are among centres."""

    labels: NDArray[np.int32]
    first: NDArray[np.float64]
    second: NDArray[np.float64]


class Run(NamedTuple):
    """k-means from given centres and one row as a further centre."""

    space: Space
    centres: Centres
    nearest: Nearest
    rounding: float
    max_iter: int

    def from_row(self, row: int) -> tuple[NDArray[np.int32], bytes, float, int]:
        """Labels, what equal partitions share, the loss, and the number of iterations."""
        space, k = self.space, self.centres.features.shape[1]
        one_hot = np.zeros((int(space.offsets[-1]), 1))
        one_hot[space.offsets[:-1] + space.codes[row]] = 1
        features = np.hstack([self.centres.features, space.X[row][:, None]])
        proportions = np.hstack([self.centres.proportions, one_hot])
        labels, bounds = self.nearest.labels.copy(), np.empty(len(space.X))
        distances = self.nearest.first, self.nearest.second
        add_centre(tuple(space), row, k, *distances, self.rounding, labels, bounds)
        lloyd = Lloyd.of(space, labels, bounds, features, proportions)
        n_iter = run_lloyd(space, self.max_iter, self.rounding, lloyd)
        loss = loss_of(space.X, space.offsets, space.weights, labels, lloyd.counts, lloyd.sizes)
        key = np.empty_like(labels)
        renumber(labels, np.empty(k + 1, dtype=np.int64), key)
        return labels, key.tobytes(), loss, n_iter


class Stage(NamedTuple):
    """The partitions into k clusters."""

    n_clusters: int
    labels: NDArray[Any]
    """(n, q) distinct partitions"""
    which: NDArray[np.intp]
    """(n_candidates,) the one that each candidate led to"""
    losses: NDArray[np.float64]
    """(n_candidates,) k-means loss in the space of the stage"""
    n_iter: NDArray[np.intp]
    """(n_candidates,) iterations of k-means"""

    @property
    def winner(self) -> int:
        """Candidate with the least loss."""
        return int(np.argmin(self.losses))

    def best(self) -> NDArray[np.int32]:
        """Labels of the winner."""
        return self.labels[:, self.which[self.winner]].astype(np.int32)


def grow_stage(
    space: Space,
    centres: Centres,
    rows: NDArray[np.intp],
    max_iter: int,
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None = None,
) -> Stage:
    """k-means from the centres and each row in turn; equal partitions are kept once.

    ``progress(done, len(rows))`` is called in this thread.
    """
    k = centres.features.shape[1] + 1
    run = Run(space, centres, space.nearest(centres), space.rounding, max_iter)
    distinct: dict[bytes, int] = {}
    kept: list[NDArray[Any]] = []
    which, n_iter = np.empty((2, len(rows)), dtype=np.intp)
    losses = np.empty(len(rows))
    for block in row_blocks(len(rows), CANDIDATES_AT_ONCE):
        found = parallel_map(
            run.from_row, rows[block].tolist(), n_jobs, shift_progress(progress, block.start, len(rows))
        )
        for i, (labels, key, loss, iterations) in enumerate(found, start=block.start):
            if key not in distinct:
                kept.append(labels.astype(np.min_scalar_type(k - 1)))
            which[i], losses[i], n_iter[i] = distinct.setdefault(key, len(distinct)), loss, iterations
    return Stage(k, np.stack(kept, axis=1), which, losses, n_iter)


def shift_progress(
    progress: Callable[[int, int], None] | None, done_before: int, total: int
) -> Callable[[int, int], None] | None:
    """``progress`` of a part of a work, after what was done before; None without."""
    return None if progress is None else lambda done, _: progress(done_before + done, total)


def settle(space: Space, labels: NDArray[np.int32], n_clusters: int, max_iter: int) -> None:
    """Change the labels by k-means, from the means of their clusters on."""
    centres, bounds = space.centres(labels, n_clusters), np.full(len(labels), -1.0)
    run_lloyd(space, max_iter, space.rounding, Lloyd.of(space, labels, bounds, *centres))


def run_lloyd(space: Space, max_iter: int, rounding: float, lloyd: Lloyd) -> int:
    """The iterations of `lloyd_mixed`."""
    operations = 10 * (space.X.size + space.codes.size) * len(lloyd.sizes)
    return run_interruptibly(lloyd_mixed, space, max_iter, rounding, lloyd, operations=operations)
