"""Seeding and Lloyd iterations on distinct label rows, for any utility."""

from __future__ import annotations

import threading
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ensemblage.consensus._short_tables import ShortTable, check_look_ups, whole_lanes
from ensemblage.kernels._label_kmeans import assign_many_rows, assign_rows, limit_distances, move_rows
from ensemblage.kernels._vectors import LANES
from ensemblage.labels import threads
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.links import Units
from ensemblage.labels.rows import Rows
from ensemblage.labels.threads import SUM_ROWS, row_blocks, thread_count

MOST_ROWS = 2**20
"""Rows of the largest block of one iteration."""
LABELS_OF_SHORT_TABLE = 2**20, 256
"""Labels of rows, in all and for each label of the table, from which on a `ShortTable` takes less time than it saves:
kernels have to be compiled, and the table made.
"""

_of_thread = threading.local()


class Utility(Protocol):
    """What seeding, Lloyd's iterations and `predict` ask for."""

    bounded: ClassVar[bool]
    """Whether distances are squared Euclidean between points, so that bounds on them may skip rows."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """(p + 1,) rows of partition j in `distances`; the last of them belongs to the missing entry."""

    def centroids(self, profile: NDArray[np.int64]) -> NDArray[np.float64]:
        """(k, d) centroids of the clusters with that profile."""

    def distances(self, centroids: NDArray[np.float64]) -> NDArray[np.float32]:
        """(d, k) table whose rows add up to a row's distance to every centroid, but for `base`."""

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
    """(k, d) label counts per cluster."""


class Start(NamedTuple):
    """The result of one start."""

    clusters: NDArray[np.int32]
    """(m,) cluster of each distinct row."""
    profile: NDArray[np.int64]
    """(k, d) label counts per cluster."""
    centroids: NDArray[np.float64]
    """(k, d) that the rows were assigned to last; those of ``profile``, unless the iterations were cut short."""
    relocated: NDArray[np.intp]
    """Rows that are in a cluster because it was empty otherwise; all others are at their nearest centroid."""
    loss: float
    n_iter: int


def profile_of_rows(rows: Rows, chosen: NDArray[np.intp]) -> NDArray[np.int64]:
    """Profile of clusters with one object each."""
    profile = np.zeros((len(chosen), int(rows.offsets[-1])), dtype=np.int64)
    np.put_along_axis(profile, rows.codes[chosen] + rows.offsets[:-1], 1, axis=1)
    return profile


def seed_at_random(rows: Rows, n_clusters: int, random: np.random.RandomState) -> NDArray[np.int64]:
    """Distinct random rows, each as likely as its number of objects."""
    share = rows.counts / rows.counts.sum()
    return profile_of_rows(rows, random.choice(len(rows), n_clusters, replace=False, p=share))


def seed_far_apart(
    rows: Rows, utility: Utility, n_clusters: int, random: np.random.RandomState, n_jobs: int | None
) -> NDArray[np.int64]:
    """Greedy k-means++ (Arthur & Vassilvitskii 2007): per step the best of 2 + ⌊ln k⌋ rows (at most 8), drawn by
    squared distance to the seeds so far, each row as often as it has objects.
    """
    n_candidates = min(2 + int(np.log(n_clusters)), LANES)
    chosen = [int(np.searchsorted(np.cumsum(rows.counts), random.uniform() * rows.counts.sum(), side="right"))]
    nearest = rows.codes.state(np.float32, np.inf)
    base = base_of_rows(rows, utility, n_jobs)
    # Of every step: new memory costs as much as filling it.
    room = [rows.codes.state(np.float32, 0) for _ in range(n_candidates)]
    best, totals = _best_candidate(rows, utility, base, chosen, nearest, room, n_jobs)
    nearest, room[best] = room[best], nearest
    while len(chosen) < n_clusters:
        if totals.any():
            candidates = _draw(rows, nearest, totals, random.uniform(size=n_candidates))
        else:  # Every row left is at distance 0 from a seed: where labels are missing, or weights very small.
            candidates = list(np.setdiff1d(np.arange(len(rows)), chosen)[:1])
        best, totals = _best_candidate(rows, utility, base, candidates, nearest, room, n_jobs)
        nearest, room[best] = room[best], nearest
        chosen.append(candidates[best])
    return profile_of_rows(rows, np.array(chosen))


def base_of_rows(rows: Rows, utility: Utility, n_jobs: int | None) -> Any:
    """(m,) the utility's `base` of every row."""
    codes = rows.codes
    base = codes.state(np.float32, 0)

    def fill(codes: Any, base: Any) -> None:
        base[:] = utility.base(codes)

    codes.map(fill, writes=[base], n_jobs=n_jobs)
    return base


def _draw(rows: Rows, nearest: Any, totals: NDArray[np.float64], shares: NDArray[np.float64]) -> list[int]:
    """The rows at shares of the total distance; ``totals`` are the sums over blocks of ``SUM_ROWS`` rows."""
    ends, last = np.cumsum(totals), int(np.flatnonzero(totals)[-1])
    chosen = np.minimum(np.searchsorted(ends, shares * ends[-1], side="right"), last)
    inside = [row_blocks(len(rows), SUM_ROWS)[block] for block in chosen]
    drawn, distances = [], rows.codes.slices(nearest, inside)
    for part, block, share, near in zip(inside, chosen, shares, distances, strict=True):
        potential = near * rows.counts[part]
        place = int(np.searchsorted(np.cumsum(potential), share * ends[-1] - (ends[block] - totals[block]), "right"))
        if place == len(potential):  # for sums are rounded
            place = int(np.flatnonzero(potential)[-1])
        drawn.append(int(part.start) + place)
    return drawn


def _best_candidate(
    rows: Rows,
    utility: Utility,
    base: NDArray[np.float32],
    candidates: list[int],
    nearest: Any,
    room: list[Any],
    n_jobs: int | None,
) -> tuple[int, NDArray[np.float64]]:
    """Which candidate leaves the least total distance, and the sums of the distances with it over blocks.

    ``room`` gets every row's distance with each candidate.
    """
    lanes = np.resize(candidates, LANES)
    table = whole_lanes(utility.distances(utility.centroids(profile_of_rows(rows, lanes))), np.inf)
    check_look_ups(rows.codes, rows.offsets, table)
    codes, offsets, distances = rows.codes, rows.offsets, room[: len(candidates)]

    def total(codes: Any, base: Any, nearest: Any, counts: Any, *of_candidates: Any) -> NDArray[np.float64]:
        totals, of_lanes = np.empty(LANES), _scratch(len(codes))
        limit_distances(codes, base, nearest, counts, of_lanes, offsets, table, totals)
        for kept, lane in zip(of_candidates, of_lanes.T, strict=False):
            kept[:] = lane
        return totals

    reads = [base, nearest, rows.counts]
    totals = np.array(codes.map(total, reads=reads, writes=distances, n_jobs=n_jobs, size=SUM_ROWS))
    best = int(np.argmin(totals.sum(axis=0)[: len(candidates)]))
    return best, totals[:, best]


def _scratch(n_rows: int) -> NDArray[np.float32]:
    """Room for a block's distances, the same for every block of a thread."""
    if not hasattr(_of_thread, "distances"):
        _of_thread.distances = np.empty((SUM_ROWS, LANES), dtype=np.float32)
    return np.asarray(_of_thread.distances[:n_rows])


def lloyd(
    rows: Rows,
    utility: Utility,
    seeds: NDArray[np.int64],
    max_iter: int,
    tol: float,
    n_jobs: int | None,
    bounded: bool = True,
    owner: str = "KMeansConsensus",
) -> Start:
    """Lloyd's iterations from the centroids of the profile ``seeds``.

    Stops when no row moves, or the loss falls by no more than ``tol`` times itself. An empty cluster takes the row
    that lies farthest from its own centre. O(m p k) per iteration for m distinct rows, much less when few rows move
    and the utility has bounds; memory 16 bytes per distinct row and one profile per thread.
    """
    bounded = bounded and utility.bounded
    codes = rows.codes
    base, clusters, bounds = base_of_rows(rows, utility, n_jobs), codes.state(np.int32, -1), codes.state(np.float32, 0)
    state = State(base, clusters, bounds, np.zeros_like(seeds))
    rounding = np.float32(utility.rounding() if bounded else -1)
    centroids, loss, n_iter = utility.centroids(seeds), np.inf, 0
    drift = np.zeros(len(seeds), dtype=np.float32)
    while n_iter < max_iter:
        n_iter += 1
        table = utility.distances(centroids)
        if rows.units is None:
            moved = _assign(rows, state, table, drift, rounding, n_jobs)
        else:
            moved = _assign_units(rows, rows.units, state, table, drift, rounding, n_jobs, owner)
        relocated = _fill_empty(rows, state, table, n_jobs)
        before, loss = loss, utility.loss(state.profile)
        if moved + len(relocated) == 0 or before - loss <= tol * loss:
            break
        if n_iter < max_iter:
            previous, centroids = centroids, utility.centroids(state.profile)
            drift = _drift(utility.shifts(previous, centroids)) if bounded else drift
    return Start(np.asarray(clusters), state.profile, centroids, relocated, loss, n_iter)


class Centroids(NamedTuple):
    """What tells in which cluster of a `Start` a row is."""

    centroids: NDArray[np.float64]
    """(k, d)"""
    relocated: NDArray[Any]
    """(q, p) codes of the rows that are not at their nearest centroid"""
    clusters: NDArray[np.int32]
    """(q,) where they are"""

    @classmethod
    def of(cls, start: Start, rows: Rows) -> Centroids:
        moved = start.relocated
        if rows.units is not None:  # what is bound says nothing of new rows
            moved = np.setdiff1d(moved, rows.units.bound)
        return cls(start.centroids, rows.codes[moved], start.clusters[moved])


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


def _drift(shifts: NDArray[np.float64]) -> NDArray[np.float32]:
    """How much closer the rows of each cluster may have come to another centroid, rounded up."""
    others = np.array([np.delete(shifts, c).max(initial=0) for c in range(len(shifts))])
    drift: NDArray[np.float32] = np.nextafter((shifts + others).astype(np.float32), np.float32(np.inf))
    return drift * np.float32(1 + 1e-6)


def _assign(
    rows: Rows, state: State, table: NDArray[np.float32], drift: Any, rounding: np.float32, n_jobs: int | None
) -> int:
    """Move every row to its nearest centroid; bring the profile up to date."""
    offsets, shape = rows.offsets, state.profile.shape
    assign_to, tables = _assign_function(rows.codes, table, offsets, float(rounding))

    def step(codes: Any, base: Any, counts: Any, clusters: Any, bounds: Any) -> tuple[int, NDArray[np.int64] | None]:
        before = clusters.copy()
        moved = assign_to(codes, base, clusters, bounds, offsets, *tables, drift, rounding)
        if not moved:
            return 0, None
        change = np.zeros(shape, dtype=np.int64)
        move_rows(codes, before, clusters, counts, offsets, change)
        return moved, change

    # Few blocks, for each costs a profile; but rows on disk are in memory block by block.
    size = min(max(threads.BLOCK_ROWS, -(-len(rows) // (4 * thread_count(n_jobs)))), MOST_ROWS)
    total, reads, writes = 0, [state.base, rows.counts], [state.clusters, state.bounds]
    for moved, change in rows.codes.map(step, reads=reads, writes=writes, n_jobs=n_jobs, size=size):
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
    rows: Rows,
    units: Units,
    state: State,
    table: NDArray[np.float32],
    drift: Any,
    rounding: np.float32,
    n_jobs: int | None,
    owner: str,
) -> int:
    """The same, but that the rows of a unit go where they are nearest together, and what is kept apart stays so.

    Where that would be farther in all than where the bound rows are, they stay: no iteration raises the loss.
    """
    bound, offsets = units.bound, rows.offsets
    codes, counts, before = rows.codes[bound], rows.counts[bound], state.clusters[bound].copy()
    moved = _assign(rows, state, table, drift, rounding, n_jobs)
    nearest = state.clusters[bound].copy()
    costs = np.zeros((len(bound), table.shape[1]))
    for j, offset in enumerate(offsets[:-1]):
        costs += table[offset + codes[:, j]]
    costs *= counts[:, None]
    placed, row = units.assign(costs, owner).astype(np.int32), np.arange(len(bound))
    if (before >= 0).all() and costs[row, before].sum() <= costs[row, placed].sum():
        placed = before
    move_rows(codes, nearest, placed, counts, offsets, state.profile)
    state.clusters[bound], state.bounds[bound] = placed, -1
    return moved - int(np.count_nonzero(nearest != before)) + int(np.count_nonzero(placed != before))


def _fill_empty(rows: Rows, state: State, table: NDArray[np.float32], n_jobs: int | None) -> NDArray[np.intp]:
    """Give each empty cluster the row farthest from its own centroid, out of a cluster with two rows or more.

    Returns these rows.
    """
    base, clusters, bounds, profile = state
    empty = np.flatnonzero(~profile.any(axis=1))
    if not len(empty):
        return np.empty(0, dtype=np.intp)
    relocated: list[int] = []
    near, distance, offsets = np.array(clusters), np.array(base), rows.offsets
    unit = None if rows.units is None else rows.units.of_rows
    one_of_each = slice(None) if unit is None else np.unique(unit, return_index=True)[1]
    sizes = np.bincount(near[one_of_each], minlength=len(profile))

    def add(codes: Any, clusters: Any, distance: Any) -> None:
        for j, offset in enumerate(offsets[:-1]):
            distance += table[offset + codes[:, j], clusters]

    rows.codes.map(add, reads=[near], writes=[distance], n_jobs=n_jobs)
    for c in empty:
        farthest = int(np.argmax(np.where(sizes[near] > 1, distance, -np.inf)))
        sizes[near[farthest]] -= 1
        sizes[c] += 1
        for row in [farthest] if unit is None else np.flatnonzero(unit == unit[farthest]).tolist():
            labels = rows.codes[row] + rows.offsets[:-1]
            profile[near[row], labels] -= rows.counts[row]
            profile[c, labels] += rows.counts[row]
            clusters[row] = near[row] = c
            bounds[row] = distance[row] = 0
            relocated.append(row)
    return np.array(relocated, dtype=np.intp)
