"""What DISCOTEC sums over pairs of objects: over all of them in whole numbers, or over random ones."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import task_seeds
from ensemblage.counting._bitmaps import Bitmaps, add_over_pairs, bitmaps_pay
from ensemblage.counting._contingency import sums_of_pairs
from ensemblage.kernels._jit import are_few
from ensemblage.kernels._pair_sums import CHUNK, sum_distances, sum_marked_pairs, sum_pairs, sum_squares
from ensemblage.labels.blocks import LabelRows, map_rows
from ensemblage.labels.counts import count_labels
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.threads import parallel_map, rows_per_call
from ensemblage.metrics._agreement import sums_of_clustering

logger = logging.getLogger(__name__)

TASK_ROWS = 128
"""Rows of one task, or fewer. Results do not depend on it."""
SAMPLE_PAIRS = 65_536
"""Random pairs of one task: float sums are added in the order of the tasks."""


def sizes_of_labels(
    codes: Any, counts: NDArray[np.int64], n_clusters: NDArray[np.int64], n_jobs: int | None = None
) -> list[NDArray[np.int64]]:
    """Objects per cluster of each partition, those without a label left out."""
    offsets = np.concatenate([[0], np.cumsum(n_clusters + 1)])
    profile = count_labels(codes, np.zeros(len(codes), dtype=np.int32), counts, offsets, 1, n_jobs)[0]
    return [profile[start : stop - 1] for start, stop in pairwise(offsets.tolist())]


def pairs_within(sizes: NDArray[np.int64]) -> int:
    """Ordered pairs of objects in one cluster, an object with itself included."""
    return int(sizes @ sizes)


class ComparedRows(NamedTuple):
    """Distinct rows of an ensemble together with the clusterings to be compared with it."""

    codes: LabelRows
    """(m, p) the ensemble."""
    judged: LabelRows
    """(m, s) the clusterings; the ensemble itself where its members are judged."""
    counts: NDArray[np.int64]
    """(m,) objects with each row."""
    n_clusters: NDArray[np.int64]
    """(p,) the code that means missing."""
    judged_clusters: NDArray[np.int64]
    """(s,)"""

    @classmethod
    def members(cls, ensemble: Ensemble) -> ComparedRows:
        codes, counts, _ = ensemble.distinct
        return cls(codes, codes, counts, ensemble.n_clusters, ensemble.n_clusters)

    @classmethod
    def outsider(cls, ensemble: Ensemble, clustering: Ensemble) -> ComparedRows:
        joint = ensemble.append_partitions(clustering)
        codes, counts, _ = joint.distinct
        p = ensemble.shape[1]
        ours, theirs = (codes.columns(part) for part in np.split(np.arange(joint.shape[1]), [p]))
        return cls(ours, theirs, counts, ensemble.n_clusters, clustering.n_clusters)

    @property
    def n_pairs(self) -> int:
        """Pairs of distinct rows."""
        m = len(self.codes)
        return m * (m + 1) // 2

    @property
    def complete(self) -> bool:
        """Whether no label is missing."""
        every = int(self.counts.sum())
        sizes = self.sizes()
        if self.judged is not self.codes:
            sizes += sizes_of_labels(self.codes, self.counts, self.n_clusters)
        return all(int(z.sum()) == every for z in sizes)

    def sizes(self) -> list[NDArray[np.int64]]:
        """Objects per cluster of each clustering."""
        return sizes_of_labels(self.judged, self.counts, self.judged_clusters)

    def pair_rows(self, pairs: NDArray[np.int64]) -> tuple[NDArray[np.intp], tuple[NDArray[Any], ...]]:
        """Pairs as numbers of rows, and the arrays that kernels compare those rows by: only the rows of the pairs,
        where they are not in memory.
        """
        codes, places = gathered(self.codes, pairs.ravel())
        judged = codes if self.judged is self.codes else gathered(self.judged, pairs.ravel())[0]
        return places.reshape(pairs.shape), (codes, self.n_clusters, judged, self.judged_clusters)


@dataclass(frozen=True)
class SampledMeans:
    """Means over random pairs, with the statistics of their standard errors."""

    means: NDArray[np.float64]
    shares: NDArray[np.float64]
    """(s,) share of the pairs that each clustering labels."""
    pairs: list[NDArray[np.int64]]
    tables: NDArray[np.float64]
    rows: ComparedRows


class Codes(NamedTuple):
    """Codes of some clusterings, by row and by column; two objects are together where one's equals the other's.

    A missing entry equals nothing: its code by row is none of those by column.
    """

    by_row: NDArray[Any]
    """(m, s)"""
    by_column: NDArray[Any]
    """(s, m)"""
    known_by_row: NDArray[np.uint8]
    """(m, s) 1 where labelled, else 2."""
    known_by_column: NDArray[np.uint8]
    """(s, m) 1 where labelled, else 0. Both empty, (m, 0) and (0, m), if every entry is."""

    @property
    def complete(self) -> bool:
        """Whether no label is missing."""
        return bool(self.known_by_row.shape[1] == 0)

    @classmethod
    def of(cls, codes: NDArray[Any], n_clusters: NDArray[np.int64]) -> Codes:
        """Of an (m, s) matrix in which ``n_clusters[j]`` means missing."""
        missing = codes == n_clusters.astype(codes.dtype)
        if not missing.any():
            nothing = np.empty((len(codes), 0), dtype=np.uint8)
            return cls(codes, np.ascontiguousarray(codes.T), nothing, nothing.T)
        dtype: Any = np.uint8 if n_clusters.max() < 255 else np.int32
        by_row = codes.astype(dtype) + dtype(1)
        by_column = np.ascontiguousarray((by_row * ~missing).T)
        known = np.where(missing, np.uint8(2), np.uint8(1))
        return cls(by_row, by_column, known, np.ascontiguousarray(known.T) % np.uint8(2))


class WideSums(NamedTuple):
    """Sums over ordered pairs of objects, themselves included; whole numbers beyond 2⁶³, as high · 2³¹ + low."""

    joined: NDArray[np.int64]
    """(s, 2) over the pairs that each clustering joins."""
    labelled: NDArray[np.int64]
    """(s, 2) over the pairs that it labels; (1, 2) if all label all."""


def sums_over_pairs(
    rows: ComparedRows, thresholds: NDArray[np.int64], tables: NDArray[np.int64] | None, n_jobs: int | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sums over the pairs that are joined and over those that are labelled, as Python integers."""
    order = np.argsort(rows.counts, kind="stable")
    ensemble = Codes.of(rows.codes[order], rows.n_clusters)
    same = rows.judged is rows.codes
    judged = ensemble if same else Codes.of(rows.judged[order], rows.judged_clusters)
    no_tables = np.empty((0, 0, 0), dtype=np.int64)
    sums = wide_sums_over_pairs(
        ensemble, judged, rows.counts[order], thresholds, no_tables if tables is None else tables, n_jobs
    )
    joined, labelled = (wide.astype(object)[:, 0] * 2**31 + wide.astype(object)[:, 1] for wide in sums)
    return joined, labelled


def wide_sums_over_pairs(
    ensemble: Codes,
    judged: Codes,
    counts: NDArray[np.int64],
    thresholds: NDArray[np.int64],
    tables: NDArray[np.int64],
    n_jobs: int | None = None,
) -> WideSums:
    """Sum a value of every pair of objects over the pairs that clusterings join, and over those that they label.

    Rows are in increasing order of ``counts``. The value depends on how many partitions of the ensemble label the pair,
    b, and how many join it, a: 1 if a ≥ ``thresholds[b]`` else 0, or, if there are ``tables``, ``tables[0, b, a]`` in
    the sum over joined pairs and ``tables[1, b, a]`` in that over labelled pairs. n · |value| must stay below 2⁶¹.
    O(m² (p + s)) time, m (p + s) bytes besides the codes.
    """
    p, s = len(ensemble.by_column), len(judged.by_column)
    if not len(tables) and ensemble.complete and judged.complete:
        if are_few(len(counts) ** 2 * (p + s)) and counts.sum() < 2**31:
            return _sums_of_few_rows(ensemble, judged, counts, int(thresholds[-1]))
        same = judged is ensemble
        both = ensemble.by_row if same else np.hstack([ensemble.by_row, judged.by_row])
        bitmaps = Bitmaps.of(both, counts)
        if bitmaps_pay(bitmaps):
            arguments = p, 0 if same else p, int(thresholds[-1])
            zeros = np.zeros((s, 2), np.int64), np.zeros((1, 2), np.int64)
            return WideSums(*add_over_pairs(bitmaps, sum_marked_pairs, arguments, zeros, 8 + p + s, n_jobs))
    starts = np.flatnonzero(np.diff(counts, prepend=-1))
    stops = np.append(starts[1:], len(counts))
    runs = [np.arange(start, stop, CHUNK) for start, stop in zip(starts, stops, strict=True)]  # of equal counts
    edges = np.append(np.concatenate(runs), len(counts))
    thresholds = thresholds.astype(np.uint8 if p < 256 else np.int32)
    if not len(tables):
        tables = tables.astype(np.uint8)
    codes = tuple(ensemble), tuple(judged)

    def of_task(rows: NDArray[np.int64]) -> WideSums:
        task = WideSums(np.zeros((s, 2), np.int64), np.zeros((s if judged.known_by_row.size else 1, 2), np.int64))
        first, last = int(rows[0]), int(rows[-1]) + 1
        logger.info("pairs of label rows: %d to %d of %d with those up to them", first + 1, last, len(counts))
        sum_pairs(*codes, counts, edges, thresholds, tables, first, last, *task)
        return task

    # Bytes are compared 16 at a time, values of 8 bytes one by one.
    operations = len(counts) * (1 + (p + (8 if len(tables) else 1) * s) // 8)
    tasks = map_rows(of_task, [np.arange(len(counts))], n_jobs=n_jobs, size=rows_per_call(operations, TASK_ROWS))
    return WideSums(*(np.sum(parts, axis=0) for parts in zip(*tasks, strict=True)))


def _sums_of_few_rows(ensemble: Codes, judged: Codes, counts: NDArray[np.int64], threshold: int) -> WideSums:
    """`wide_sums_over_pairs` of marks where nothing is missing, by (m, m) matrices."""
    joined = np.zeros((len(counts), len(counts)), dtype=np.int32)
    for column in ensemble.by_column:
        joined += column[:, None] == column
    pairs = np.where(joined >= threshold, np.outer(counts, counts), 0)
    sums = np.array([(pairs * (column[:, None] == column)).sum() for column in judged.by_column]), pairs.sum()[None]
    return WideSums(*(np.column_stack(np.divmod(part, 2**31)) for part in sums))


def ratios_of(sums: NDArray[Any], by: NDArray[Any]) -> NDArray[np.float64]:
    """Ratios of Python integers; NaN where there are no pairs."""
    ratios = [above / below if below else np.nan for above, below in zip(sums, by, strict=True)]
    return np.array(ratios, dtype=np.float64)


def squares_of_tables(rows: ComparedRows, n_jobs: int | None) -> NDArray[Any]:
    """(s, p) Σ n_kl² over the contingency table of each clustering with each partition, as Python integers.

    That is Σ_ij A_ij A^t_ij: the pairs that both join. Of a complete ensemble.
    """
    none = np.empty(0, dtype=np.int64)
    if rows.judged is rows.codes:
        above = sums_of_pairs(rows.codes, rows.counts, rows.n_clusters, none, n_jobs)[0].astype(object)
        within = np.array([pairs_within(z) for z in rows.sizes()], dtype=object)
        return np.asarray(above + above.T + np.diag(within))
    offsets = np.concatenate([[0], np.cumsum(rows.n_clusters + 1)])
    sums = (
        sums_of_clustering(rows.codes, rows.counts, offsets, rows.judged[:, t], int(k), none, n_jobs)
        for t, k in enumerate(rows.judged_clusters)
    )
    return np.stack([of_clustering[0] for of_clustering in sums]).astype(object)


def sampled_means(
    rows: ComparedRows, tables: NDArray[np.float64], n_pairs: int, random_state: Any, n_jobs: int | None = None
) -> SampledMeans:
    """Means over random ordered pairs of objects, drawn with replacement, of the distances that `table_1` gives."""
    ends = np.cumsum(rows.counts)
    starts = range(0, n_pairs, SAMPLE_PAIRS)
    seeds = task_seeds(random_state, len(starts))

    def draw(task: int) -> NDArray[np.int64]:
        size = min(SAMPLE_PAIRS, n_pairs - starts[task])
        objects = np.random.default_rng(int(seeds[task])).integers(ends[-1], size=2 * size)
        # Looked up in ascending order: of many rows five times as fast, as memory is read in order.
        order, rows = np.argsort(objects), np.empty(2 * size, dtype=np.int64)
        rows[order] = np.searchsorted(ends, objects[order], side="right")
        return rows.reshape(2, size)

    def add(pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        sums = np.zeros((2, len(rows.judged_clusters)))
        sum_distances(*rows.pair_rows(pairs), tables, sums)
        return sums

    pairs = parallel_map(draw, range(len(starts)), n_jobs)
    total, labelled = np.sum(parallel_map(add, pairs, n_jobs), axis=0)
    with np.errstate(invalid="ignore"):
        return SampledMeans(total / labelled, labelled / n_pairs, pairs, tables, rows)


def standard_errors(
    sampled: SampledMeans, order: NDArray[np.intp], n_jobs: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(s,) standard errors of the means, and (s - 1,) of the differences between neighbours in the order."""
    rows = sampled.rows

    def add(pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        squares = np.zeros((2, len(order)))
        sum_squares(*rows.pair_rows(pairs), sampled.tables, sampled.means, sampled.shares, order, squares)
        return squares

    squares = np.sum(parallel_map(add, sampled.pairs, n_jobs), axis=0)
    errors = np.sqrt(squares) / sum(pairs.shape[1] for pairs in sampled.pairs)
    return errors[0], errors[1, :-1]


def gathered(rows: LabelRows, index: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """An array that has the rows ``index``, and their places in it."""
    return (rows[:], index) if rows.random_access else (rows[index], np.arange(len(index)))
