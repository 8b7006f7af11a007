"""k-means of label rows for any utility: starts, seeding, assignment, update, empty clusters, stop.

It is KCC (Wu et al. 2015, Sec. 3): k-means on the binary matrix H with the distance that belongs to a utility. KM, QMI,
ECC, SEC, k-modes and each split of H-KM are `kmeans` with another `Utility`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ensemblage.base import threads
from ensemblage.base.random import task_seeds
from ensemblage.base.threads import SUM_ROWS, parallel_map, row_blocks, thread_count
from ensemblage.base.validation import MOST_TASKS, Constraints, Number, Seed, Values, Whole, Words
from ensemblage.kernels._label_kmeans import ShortTable, assign_many_rows, assign_rows, limit_distances, move_rows
from ensemblage.kernels._table_rows import check_look_ups, whole_lanes
from ensemblage.kernels._vectors import LANES
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.counts import count_labels
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.links import Units
from ensemblage.labels.rows import Rows

STARTS = Words(["k-means++", "random"])
N_INIT = [Whole(1, MOST_TASKS), Words(["auto"])]
KMEANS_CONSTRAINTS: Constraints = {
    "n_clusters": [Whole(1)],
    "init": [STARTS, Values("a partition of the objects")],
    "n_init": [Whole(1, MOST_TASKS)],
    "max_iter": [Whole(1)],
    "tol": [Number(least=0)],
    "random_state": [Seed()],
}
"""Of the parameters that all k-means of label rows have."""

LEAST_STARTS = 10
"""Of "auto", on large problems."""
MOST_STARTS = 300
"""Of "auto", on small problems: 100 to 300 reached the optima of other programs."""
NUMBERS_READ = 1_500_000
"""By all starts of "auto" together in one iteration: with the 1 to 2 ms that each start takes at least, a small problem
takes tenths of a second.
"""
MOST_ROWS = 2**20
"""Rows of the largest block of one iteration."""
LABELS_OF_SHORT_TABLE = 2**20, 256
"""Labels of rows, in all and for each label of the table, from which on a `ShortTable` takes less time than it saves:
kernels have to be compiled, and the table made.
"""

_of_thread = threading.local()


class Utility(Protocol):
    """What k-means and `nearest_centroids` ask for."""

    bounded: ClassVar[bool]
    """Whether distances are squared Euclidean between points, so that bounds on them may skip rows."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """(p + 1,) rows of partition j in `distances`; the last of them belongs to the missing entry."""

    def centroids(self, profile: NDArray[np.int64]) -> NDArray[np.float64]:
        """(k, offsets[p]) centroids of the clusters with that profile."""

    def distances(self, centroids: NDArray[np.float64]) -> NDArray[np.float32]:
        """(offsets[p], k) table whose rows add up to a row's distance to every centroid, but for `base`."""

    def base(self, codes: NDArray[Any]) -> NDArray[np.float32]:
        """(m,) part of each row's distance that is the same for every centroid and not in the table."""

    def loss(self, profile: NDArray[np.int64]) -> float:
        """Sum over the objects of the distance to their own centroid."""

    def shifts(self, before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k,) root of the distance that each centroid moved; only if `bounded`."""

    def rounding(self) -> float:
        """Bound of the float32 error of a row's distance; only if `bounded`."""


def single_precision(table: NDArray[np.float64]) -> NDArray[np.float32]:
    """The table in float32, C-contiguous; infinite where it is too large, which `whole_lanes` refuses."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(table, dtype=np.float32)


class State(NamedTuple):
    """What an iteration changes, and `Utility.base`."""

    base: Any
    """(m,)"""
    clusters: Any
    """(m,) cluster of each distinct row."""
    bounds: Any
    """(m,) how much farther the next centroid is at least."""
    profile: NDArray[np.int64]
    """(k, offsets[p]) label counts per cluster."""


class Start(NamedTuple):
    """The result of one start."""

    clusters: NDArray[np.int32]
    """(m,) cluster of each distinct row."""
    profile: NDArray[np.int64]
    """(k, offsets[p]) label counts per cluster."""
    centroids: NDArray[np.float64]
    """(k, offsets[p]) to which rows were assigned last; those of ``profile``, unless the iterations were cut short."""
    relocated: NDArray[np.intp]
    """Rows that are in a cluster because it was empty otherwise; all others are at their nearest centroid."""
    loss: float
    n_iter: int
    init_size: int | None = None
    """Rows of the sample that the starts ran on; None: all."""


def kmeans(
    codes: LabelRows,
    counts: NDArray[np.int64],
    utility: Utility,
    k: int,
    init: str | NDArray[np.int64],
    max_iter: int,
    tol: float,
    n_jobs: int | None,
    seed: int | None = None,
    *,
    units: Units | None = None,
    owner: str = "KMeansConsensus",
) -> Start:
    """K-means of the rows of H that (m, p) ``codes`` stand for, (m,) ``counts`` objects each (Wu et al., Sec. 3).

    ``init`` names how k objects are drawn, with ``seed``, or is the (k, offsets[p]) profile of given clusters. With
    ``units`` the rows of a unit move together, and those that are kept apart stay in different clusters.

    O(m p k) per iteration, much less when few rows move and the utility has bounds; memory 16 bytes per distinct row
    and one profile per thread. The centroids of clusters follow from their label counts, the profile, which are whole
    numbers: it is brought up to date by the rows that move, and does not depend on blocks and threads.
    """
    # 1. Seeds: k objects, or given clusters.
    if not isinstance(init, str):
        seeds = init
    elif init == "random":
        seeds = seed_at_random(codes, counts, utility.offsets, k, np.random.RandomState(seed))
    else:
        seeds = seed_far_apart(codes, counts, utility, k, np.random.RandomState(seed), n_jobs)
    base, clusters, bounds = base_of_rows(codes, utility, n_jobs), codes.state(np.int32, -1), codes.state(np.float32, 0)
    state = State(base, clusters, bounds, np.zeros_like(seeds))
    rounding = np.float32(utility.rounding() if utility.bounded else -1)
    drift = np.zeros(k, dtype=np.float32)
    centroids, loss, n_iter = utility.centroids(seeds), np.inf, 0
    while n_iter < max_iter:
        n_iter += 1
        # 2. Assignment: every row to its nearest centroid, the first one on ties.
        table = utility.distances(centroids)
        placed = None if units is None else state.clusters[units.bound].copy()
        moved = _assign(codes, counts, utility.offsets, state, table, drift, rounding, n_jobs)
        if units is not None:
            moved += _assign_units(codes, counts, utility.offsets, state, table, units, placed, owner)
        # 3. Empty clusters: each takes the row farthest from its own centroid.
        relocated = _fill_empty(codes, counts, utility.offsets, state, table, units, n_jobs)
        # 4. Stop: no row moves, or the loss falls by no more than tol times itself.
        before, loss = loss, utility.loss(state.profile)
        if moved + len(relocated) == 0 or before - loss <= tol * loss:
            break
        # 5. Update: the centroids of the clusters as they are now.
        if n_iter < max_iter:
            previous, centroids = centroids, utility.centroids(state.profile)
            if utility.bounded:
                drift = drift_of(utility.shifts(previous, centroids))
    return Start(np.asarray(clusters), state.profile, centroids, relocated, loss, n_iter)


def best_start(model: Any, rows: Rows, utility: Utility, k: int, init_size: int | None = None) -> Start:
    """The start of least loss, the first one on ties, of those that a model's parameters ask for.

    A partition given as ``init`` makes one start. Where there are more than ``init_size`` rows, the starts run on a
    sample of so many, and the best one goes on with all rows.
    """
    steps = model.max_iter, model.tol, model.n_jobs
    run = partial(kmeans, units=rows.units, owner=type(model).__name__)
    if not isinstance(model.init, str):
        return run(rows.codes, rows.counts, utility, k, profile_of_init(model, rows, k), *steps)
    n_init, codes, counts = number_of_starts(model.n_init, rows, k, LEAST_STARTS), rows.codes, rows.counts
    if init_size is None or len(rows) <= init_size or rows.units is not None:
        seeds = task_seeds(model.random_state, n_init)
    else:
        if init_size < k:
            raise ValueError(
                f"init_size of {type(model).__name__} must be ≥ the {k} clusters. Got {init_size}. "
                "Give more rows, or 'auto'."
            )
        seeds = task_seeds(model.random_state, n_init + 1)
        chosen, share = sample_counts(rows.counts, init_size, np.random.RandomState(seeds[-1]))
        seeds = seeds[:-1]
        if len(chosen) >= k:  # fewer where a few rows are most of the objects
            codes, counts = rows.codes.take(chosen), share
    start = partial(run, codes, counts, utility, k, model.init, *steps)
    # Few rows: one start per thread. Many: every start uses all threads, and only the best is kept.
    starts = parallel_map(start, seeds, model.n_jobs) if len(codes) <= threads.BLOCK_ROWS else map(start, seeds)
    best = min(starts, key=lambda start: start.loss)
    if codes is rows.codes:
        return best
    return run(rows.codes, rows.counts, utility, k, best.profile, *steps)._replace(init_size=len(codes))


def number_of_starts(n_init: Any, rows: Rows, k: int, least: int) -> int:
    """``n_init``, or for "auto" as many starts as small problems can afford.

    An iteration of a start reads m p k numbers, for m distinct rows of p labels. The starts of all sizes of problems
    read as much together, until ``least`` is reached: larger problems take as many starts as that.
    """
    if n_init != "auto":
        return int(n_init)
    m, p = rows.codes.shape
    return int(np.clip(NUMBERS_READ // (m * p * k), least, MOST_STARTS))


def profile_of_init(estimator: Any, rows: Rows, k: int) -> NDArray[np.int64]:
    """(k, offsets[p]) label counts of the partition given as ``init``."""
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
    return count_labels(objects, clusters, counts, rows.offsets, k, estimator.n_jobs)


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


# ---- Seeds ----


def profile_of_rows(codes: LabelRows, chosen: NDArray[np.intp], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """(k, offsets[p]) label counts of clusters with one object each, of the rows ``chosen``."""
    profile = np.zeros((len(chosen), int(offsets[-1])), dtype=np.int64)
    np.put_along_axis(profile, codes[chosen] + offsets[:-1], 1, axis=1)
    return profile


def seed_at_random(
    codes: LabelRows, counts: NDArray[np.int64], offsets: NDArray[np.int64], k: int, random: np.random.RandomState
) -> NDArray[np.int64]:
    """Distinct random rows, each as likely as its number of objects."""
    share = counts / counts.sum()
    return profile_of_rows(codes, random.choice(len(codes), k, replace=False, p=share), offsets)


def seed_far_apart(
    codes: LabelRows,
    counts: NDArray[np.int64],
    utility: Utility,
    k: int,
    random: np.random.RandomState,
    n_jobs: int | None,
) -> NDArray[np.int64]:
    """Greedy k-means++ (Arthur & Vassilvitskii 2007): per step the best of 2 + ⌊ln k⌋ rows (at most 8), drawn by
    squared distance to the seeds so far, each row as often as it has objects.
    """
    n_candidates = min(2 + int(np.log(k)), LANES)
    candidates = [int(np.searchsorted(np.cumsum(counts), random.uniform() * counts.sum(), side="right"))]
    base, nearest, chosen = base_of_rows(codes, utility, n_jobs), codes.state(np.float32, np.inf), list[int]()
    # Of every step: new memory costs as much as filling it.
    room = [codes.state(np.float32, 0) for _ in range(n_candidates)]
    while True:
        best, totals = _best_candidate(codes, counts, utility, base, candidates, nearest, room, n_jobs)
        nearest, room[best] = room[best], nearest
        chosen.append(candidates[best])
        if len(chosen) == k:
            return profile_of_rows(codes, np.array(chosen), utility.offsets)
        if totals.any():
            candidates = _draw(codes, counts, nearest, totals, random.uniform(size=n_candidates))
        else:  # Every row left is at distance 0 from a seed: where labels are missing, or weights very small.
            candidates = list(np.setdiff1d(np.arange(len(codes)), chosen)[:1])


def base_of_rows(codes: LabelRows, utility: Utility, n_jobs: int | None) -> Any:
    """(m,) the utility's `base` of every row."""
    base = codes.state(np.float32, 0)

    def fill(codes: Any, base: Any) -> None:
        base[:] = utility.base(codes)

    codes.map(fill, writes=[base], n_jobs=n_jobs)
    return base


def _best_candidate(
    codes: LabelRows,
    counts: NDArray[np.int64],
    utility: Utility,
    base: Any,
    candidates: list[int],
    nearest: Any,
    room: list[Any],
    n_jobs: int | None,
) -> tuple[int, NDArray[np.float64]]:
    """Which candidate leaves the least total distance, and the sums of the distances with it over blocks.

    ``room`` gets every row's distance with each candidate.
    """
    offsets, distances, lanes = utility.offsets, room[: len(candidates)], np.resize(candidates, LANES)
    table = whole_lanes(utility.distances(utility.centroids(profile_of_rows(codes, lanes, offsets))), np.inf)
    check_look_ups(codes, offsets, table)

    def total(codes: Any, base: Any, nearest: Any, counts: Any, *of_candidates: Any) -> NDArray[np.float64]:
        totals, of_lanes = np.empty(LANES), room_of_thread(len(codes))
        limit_distances(codes, base, nearest, counts, of_lanes, offsets, table, totals)
        for kept, lane in zip(of_candidates, of_lanes.T, strict=False):
            kept[:] = lane
        return totals

    totals = np.array(codes.map(total, reads=[base, nearest, counts], writes=distances, n_jobs=n_jobs, size=SUM_ROWS))
    best = int(np.argmin(totals.sum(axis=0)[: len(candidates)]))
    return best, totals[:, best]


def room_of_thread(n_rows: int) -> NDArray[np.float32]:
    """(n_rows, LANES) for a block's distances, the same memory for every block of a thread.

    A function of the module: workers find it by its name, for what a thread has cannot be sent to them.
    """
    if not hasattr(_of_thread, "distances"):
        _of_thread.distances = np.empty((SUM_ROWS, LANES), dtype=np.float32)
    return np.asarray(_of_thread.distances[:n_rows])


def _draw(
    codes: LabelRows,
    counts: NDArray[np.int64],
    nearest: Any,
    totals: NDArray[np.float64],
    shares: NDArray[np.float64],
) -> list[int]:
    """The rows at shares of the total distance; ``totals`` are the sums over blocks of ``SUM_ROWS`` rows."""
    ends, last = np.cumsum(totals), int(np.flatnonzero(totals)[-1])
    chosen = np.minimum(np.searchsorted(ends, shares * ends[-1], side="right"), last)
    inside = [row_blocks(len(codes), SUM_ROWS)[block] for block in chosen]
    drawn, on_workers = [], hasattr(nearest, "read")  # then they come together
    distances = nearest.read(inside) if on_workers else [nearest[part] for part in inside]
    for part, block, share, near in zip(inside, chosen, shares, distances, strict=True):
        potential = near * counts[part]
        place = int(np.searchsorted(np.cumsum(potential), share * ends[-1] - (ends[block] - totals[block]), "right"))
        if place == len(potential):  # for sums are rounded
            place = int(np.flatnonzero(potential)[-1])
        drawn.append(int(part.start) + place)
    return drawn


# ---- Assignment ----


def _assign(
    codes: LabelRows,
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    state: State,
    table: NDArray[np.float32],
    drift: NDArray[np.float32],
    rounding: np.float32,
    n_jobs: int | None,
) -> int:
    """Move every row to its nearest centroid, and bring the profile up to date; how many rows moved."""
    shape, (assign_to, tables) = state.profile.shape, _assign_function(codes, table, offsets, float(rounding))

    def step(codes: Any, base: Any, counts: Any, clusters: Any, bounds: Any) -> tuple[int, NDArray[np.int64] | None]:
        before = clusters.copy()
        moved = assign_to(codes, base, clusters, bounds, offsets, *tables, drift, rounding)
        if not moved:
            return 0, None
        change = np.zeros(shape, dtype=np.int64)
        move_rows(codes, before, clusters, counts, offsets, change)
        return moved, change

    # Few blocks, for each costs a profile; but rows on disk are in memory block by block.
    size = min(max(threads.BLOCK_ROWS, -(-len(codes) // (4 * thread_count(n_jobs)))), MOST_ROWS)
    total, reads, writes = 0, [state.base, counts], [state.clusters, state.bounds]
    for moved, change in codes.map(step, reads=reads, writes=writes, n_jobs=n_jobs, size=size):
        total += moved
        if change is not None:
            np.add(state.profile, change, out=state.profile)
    return total


def _assign_function(codes: LabelRows, table: NDArray[np.float32], offsets: NDArray[np.int64], rounding: float) -> Any:
    """`assign_rows`, or where there are rows enough `assign_many_rows`, and what it gets of a table of distances."""
    wide = whole_lanes(table, np.inf)
    check_look_ups(codes, offsets, wide)
    least, least_each = LABELS_OF_SHORT_TABLE
    if codes.shape[0] * codes.shape[1] >= max(least, least_each * len(table)):
        short = ShortTable.of(table, offsets, rounding)
        if short is not None:
            return assign_many_rows, (wide, tuple(short))
    return assign_rows, (wide,)


def _assign_units(
    codes: LabelRows,
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    state: State,
    table: NDArray[np.float32],
    units: Units,
    before: Any,
    owner: str,
) -> int:
    """Move the rows of a unit to where they are nearest together; what is kept apart stays so.

    Where that would be farther in all than where the bound rows were, ``before``, they stay there: no iteration raises
    the loss. Returns by how much the number of rows that moved changes.
    """
    bound = units.bound
    own, weights, nearest = codes[bound], counts[bound], state.clusters[bound].copy()
    costs = np.zeros((len(bound), table.shape[1]))
    for j, offset in enumerate(offsets[:-1]):
        costs += table[offset + own[:, j]]
    costs *= weights[:, None]
    placed, row = units.assign(costs, owner).astype(np.int32), np.arange(len(bound))
    if (before >= 0).all() and costs[row, before].sum() <= costs[row, placed].sum():
        placed = before
    move_rows(own, nearest, placed, weights, offsets, state.profile)
    state.clusters[bound], state.bounds[bound] = placed, -1
    return int(np.count_nonzero(placed != before)) - int(np.count_nonzero(nearest != before))


def _fill_empty(
    codes: LabelRows,
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    state: State,
    table: NDArray[np.float32],
    units: Units | None,
    n_jobs: int | None,
) -> NDArray[np.intp]:
    """Give each empty cluster the row farthest from its own centroid, out of a cluster with two rows or more.

    Returns these rows. Of units, all rows of one move.
    """
    base, clusters, bounds, profile = state
    empty = np.flatnonzero(~profile.any(axis=1))
    if not len(empty):
        return np.empty(0, dtype=np.intp)
    relocated: list[int] = []
    near, distance = np.array(clusters), np.array(base)
    unit = None if units is None else units.of_rows
    one_of_each = slice(None) if unit is None else np.unique(unit, return_index=True)[1]
    sizes = np.bincount(near[one_of_each], minlength=len(profile))

    def add(codes: Any, clusters: Any, distance: Any) -> None:
        for j, offset in enumerate(offsets[:-1]):
            distance += table[offset + codes[:, j], clusters]

    codes.map(add, reads=[near], writes=[distance], n_jobs=n_jobs)
    for c in empty:
        farthest = int(np.argmax(np.where(sizes[near] > 1, distance, -np.inf)))
        sizes[near[farthest]] -= 1
        sizes[c] += 1
        for row in [farthest] if unit is None else np.flatnonzero(unit == unit[farthest]).tolist():
            labels = codes[row] + offsets[:-1]
            profile[near[row], labels] -= counts[row]
            profile[c, labels] += counts[row]
            clusters[row] = near[row] = c
            bounds[row] = distance[row] = 0
            relocated.append(row)
    return np.array(relocated, dtype=np.intp)


def drift_of(shifts: NDArray[np.float64]) -> NDArray[np.float32]:
    """(k,) how much closer the rows of each cluster may have come to another centroid, rounded up (Hamerly 2010)."""
    others = np.array([np.delete(shifts, c).max(initial=0) for c in range(len(shifts))])
    drift: NDArray[np.float32] = np.nextafter((shifts + others).astype(np.float32), np.float32(np.inf))
    return drift * np.float32(1 + 1e-6)


# ---- New rows ----


class Centroids(NamedTuple):
    """What tells in which cluster of a `Start` a row is."""

    centroids: NDArray[np.float64]
    """(k, offsets[p])"""
    relocated: NDArray[Any]
    """(q, p) codes of the rows that are not at their nearest centroid"""
    clusters: NDArray[np.int32]
    """(q,) where they are"""

    @classmethod
    def of(cls, start: Start, codes: LabelRows, units: Units | None = None) -> Centroids:
        moved = start.relocated
        if units is not None:  # what is bound says nothing of new rows
            moved = np.setdiff1d(moved, units.bound)
        return cls(start.centroids, codes[moved], start.clusters[moved])


def nearest_centroids(
    codes: LabelRows, utility: Utility, centroids: Centroids, n_jobs: int | None
) -> NDArray[np.int32]:
    """Cluster of each row of codes: as in the `Start`, the nearest centroid, the first one on ties; -1 for a row that
    no partition labels.
    """
    nearest = np.full(len(codes), -1, dtype=np.int32)
    assign_to, tables = _assign_function(codes, utility.distances(centroids.centroids), utility.offsets, -1)
    nothing = np.zeros(len(centroids.centroids), dtype=np.float32)

    def assign(codes: Any, nearest: Any) -> None:
        unused = np.empty(len(codes), dtype=np.float32)  # bounds and base: every row is looked at
        assign_to(codes, unused, nearest, unused, utility.offsets, *tables, nothing, np.float32(-1))
        for row, cluster in zip(centroids.relocated, centroids.clusters, strict=True):
            nearest[(codes == row).all(axis=1)] = cluster
        nearest[(codes == np.diff(utility.offsets) - 1).all(axis=1)] = -1

    codes.map(assign, writes=[nearest], n_jobs=n_jobs)
    return nearest


def predicted_clusters(model: Any, codes: LabelRows) -> NDArray[np.int32]:
    """Cluster of each new row by a fitted model, in the order of the fit, in which ties went to the first."""
    nearest = nearest_centroids(codes, model._utility, model._centroids, model.n_jobs)
    return np.append(model._number, -1)[nearest].astype(np.int32)
