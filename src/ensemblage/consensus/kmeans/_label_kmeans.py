"""k-means of label rows, for any utility: what KCC (with QMI, KM and ECC), SEC and H-KM share."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import task_seeds
from ensemblage.base.validation import MOST_TASKS, Constraints, Number, Seed, Values, Whole, Words
from ensemblage.consensus._base import InductiveConsensus
from ensemblage.consensus.kmeans._lloyd import (
    Centroids,
    Start,
    Utility,
    lloyd,
    nearest_centroids,
    seed_at_random,
    seed_far_apart,
)
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows
from ensemblage.labels.threads import BLOCK_ROWS, parallel_map, row_blocks

U = TypeVar("U", bound=Utility)

ROWS_OF_STARTS = 2**17
"""Distinct rows that "auto" starts on."""
ROWS_OF_CLUSTER = 200
"""Of them, so that each cluster has proportions."""
STARTS = Words(["k-means++", "random"])

N_INIT = [Whole(1, MOST_TASKS), Words(["auto"])]
LEAST_STARTS = 10
"""Of "auto", on large problems."""
MOST_STARTS = 300
"""Of "auto", on small problems: 100 to 300 reached the optima of other programs."""
NUMBERS_READ = 1_500_000
"""By all starts of "auto" together in one iteration: with the 1 to 2 ms that each start takes at least, a small problem
takes tenths of a second.
"""


def number_of_starts(n_init: Any, rows: Rows, k: int, least: int) -> int:
    """``n_init``, or for "auto" as many starts as small problems can afford.

    An iteration of a start reads m p k numbers, for m distinct rows of p labels. The starts of all sizes of problems
    read as much together, until ``least`` is reached: larger problems take as many starts as that.
    """
    if n_init != "auto":
        return int(n_init)
    m, p = rows.codes.shape
    return int(np.clip(NUMBERS_READ // (m * p * k), least, MOST_STARTS))


class BaseKMeans(InductiveConsensus, Generic[U]):
    """Starts, Lloyd's iterations and ``predict`` for a utility that the method names in ``_make_utility``."""

    _parameter_constraints: ClassVar[Constraints] = {
        "n_clusters": [Whole(1)],
        "init": [STARTS, Values("a clustering of the objects")],
        "n_init": [Whole(1, MOST_TASKS)],
        "max_iter": [Whole(1)],
        "tol": [Number(least=0)],
        "random_state": [Seed()],
    }

    init: Any
    n_init: int | str
    max_iter: int
    tol: float
    random_state: Any
    objective_: float
    n_iter_: int
    _utility: U

    def _make_utility(self, rows: Rows) -> U:
        raise NotImplementedError

    def _fit(self, rows: Rows) -> NDArray[Any]:
        self._utility = self._make_utility(rows)
        best = self._polish(rows, self._best(rows))
        self._centroids = Centroids.of(best, rows)
        self.objective_, self.n_iter_ = best.loss, best.n_iter
        return best.clusters

    def _best(self, rows: Rows) -> Start:
        return self._best_start(rows, self._check_n_clusters(rows))

    def _polish(self, rows: Rows, best: Start) -> Start:
        return best

    def _best_start(self, rows: Rows, k: int) -> Start:
        if not isinstance(self.init, str):
            given = profile_of_init(self, rows, k)
            return self._iterate(rows, self._utility, given)
        n_init = number_of_starts(self.n_init, rows, k, LEAST_STARTS)
        return self._best_of_starts(rows, k, task_seeds(self.random_state, n_init))

    def _best_of_starts(self, rows: Rows, k: int, seeds: NDArray[np.int64]) -> Start:
        def start(seed: int) -> Start:
            return self._start(rows, self._utility, k, int(seed))

        return best_starts(start, seeds.tolist(), 1, rows, self.n_jobs)[0]

    def _start(self, rows: Rows, utility: U, k: int, seed: int) -> Start:
        random = np.random.RandomState(seed)
        if self.init == "random":
            seeds = seed_at_random(rows, k, random)
        else:
            seeds = seed_far_apart(rows, utility, k, random, self.n_jobs)
        return self._iterate(rows, utility, seeds)

    def _iterate(self, rows: Rows, utility: U, seeds: NDArray[np.int64]) -> Start:
        name = type(self).__name__
        return lloyd(rows, utility, seeds, self.max_iter, self.tol, self.n_jobs, owner=name)

    def _predict_codes(self, codes: LabelRows) -> NDArray[np.int32]:
        # In the order of the fit, in which ties went to the first.
        nearest = nearest_centroids(codes, self._utility, self._centroids, self.n_jobs)
        return np.append(self._number, -1)[nearest].astype(np.int32)


class Judged(Protocol):
    """What a start ends with."""

    @property
    def loss(self) -> float: ...


S = TypeVar("S", bound=Judged)
T = TypeVar("T")


def best_starts(start: Callable[[T], S], tasks: Iterable[T], n_best: int, rows: Rows, n_jobs: int | None) -> list[S]:
    """The starts of least loss, at most ``n_best`` of them, the earlier ones on ties."""
    # Few rows: one start per thread. Many: every start uses all threads, and only the best are kept.
    starts = parallel_map(start, tasks, n_jobs) if len(rows) <= BLOCK_ROWS else map(start, tasks)
    return heapq.nsmallest(n_best, starts, key=lambda start: start.loss)


def profile_of_init(estimator: Any, rows: Rows, k: int) -> NDArray[np.int64]:
    """Profile of the clustering given as ``init``."""
    init, n = Ensemble.from_partitions([estimator.init]), len(rows.inverse)
    codes, n_clusters = init.rows, init.n_clusters
    if rows.sample_weight is not None and len(init) == n:
        _, codes, _, n_clusters = init._with_sample_weight(rows.sample_weight)
    if len(init) != n or n_clusters[0] != k:
        raise ValueError(
            f"init of {type(estimator).__name__} must label the {n} objects with {k} clusters. "
            f"Got {len(init)} labels of {n_clusters[0]} clusters. Give one label per object, or a name."
        )
    clusters = np.where(codes[:, 0] < k, codes[:, 0].astype(np.int32), -1)
    counts = np.ones(n, dtype=np.int64) if rows.sample_weight is None else rows.sample_weight
    objects: LabelRows = rows.objects
    return objects.profile(clusters, counts, rows.offsets, k, estimator.n_jobs)


def sample_rows(rows: Rows, size: int, random: np.random.RandomState) -> Rows:
    """Random rows, ``size`` at most, whose counts stand for those of all."""
    chosen, counts = sample_counts(rows.counts, size, random)
    return replace(rows, codes=rows.codes.take(chosen), counts=counts)


def sample_counts(
    counts: NDArray[np.int64], size: int, random: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """A sample of ``size`` rows at most, in their order, and how many objects each stands for: O(size) memory.

    A row of as many objects as the largest weight or more is in the sample with its own count. Of the others, in their
    order, one object is drawn of every ``weight`` consecutive ones, and its row counts as much.
    """
    blocks = [counts[block] for block in row_blocks(len(counts))]
    weight = _least_weight(blocks, size)
    n_light = sum(int(block[block < weight].sum()) for block in blocks)
    places = np.arange(0, n_light, weight)
    places += random.randint(weight, size=len(places))
    places = places[places < n_light]
    chosen, sampled, first, start = [], [], 0, 0
    for block in blocks:
        is_light = block < weight
        ends = start + np.cumsum(np.where(is_light, block, 0))
        drawn = places[slice(*np.searchsorted(places, [start, ends[-1]]))]
        own = np.where(is_light, 0, block)
        np.add.at(own, np.searchsorted(ends, drawn, side="right"), weight)
        in_block = np.flatnonzero(own)
        chosen.append(first + in_block)
        sampled.append(own[in_block])
        first, start = first + len(block), int(ends[-1])
    return np.concatenate(chosen), np.concatenate(sampled)


def _least_weight(blocks: Sequence[NDArray[np.int64]], size: int) -> int:
    """The least number w with Σ min(count, w) ≤ ``size`` w: so many rows that each stands for w objects at least."""
    low, high = 0, max(-(-sum(int(block.sum()) for block in blocks) // size), 1)
    while high - low > 1:
        middle = (low + high) // 2
        enough = sum(int(np.minimum(block, middle).sum()) for block in blocks) <= size * middle
        low, high = (low, middle) if enough else (middle, high)
    return high
