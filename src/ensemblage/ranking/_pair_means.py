"""What DISCOTEC sums over pairs of objects: over all of them in whole numbers, or over random ones."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import task_seeds
from ensemblage.counting._contingency import sums_of_pairs
from ensemblage.counting._pair_sums import Codes, wide_sums_over_pairs
from ensemblage.kernels._pair_sums import sum_distances, sum_squares
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.threads import parallel_map
from ensemblage.metrics._agreement import sums_of_clustering

SAMPLE_PAIRS = 65_536
"""Random pairs of one task: float sums are added in the order of the tasks."""


def sizes_of_labels(
    codes: Any, counts: NDArray[np.int64], n_clusters: NDArray[np.int64], n_jobs: int | None = None
) -> list[NDArray[np.int64]]:
    """Objects per cluster of each partition, those without a label left out."""
    offsets = np.concatenate([[0], np.cumsum(n_clusters + 1)])
    profile = codes.profile(np.zeros(len(codes), dtype=np.int32), counts, offsets, 1, n_jobs)[0]
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
        sizes = self.sizes() + ([] if self.judged is self.codes else self._sizes(self.codes, self.n_clusters))
        return all(int(z.sum()) == every for z in sizes)

    def sizes(self) -> list[NDArray[np.int64]]:
        """Objects per cluster of each clustering."""
        return self._sizes(self.judged, self.judged_clusters)

    def _sizes(self, codes: Any, n_clusters: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        return sizes_of_labels(codes, self.counts, n_clusters)

    def pair_rows(self, pairs: NDArray[np.int64]) -> tuple[NDArray[np.intp], tuple[NDArray[Any], ...]]:
        """Pairs as numbers of rows, and the arrays that kernels compare those rows by: only the rows of the pairs,
        where they are not in memory.
        """
        codes, places = self.codes.gather(pairs.ravel())
        judged = codes if self.judged is self.codes else self.judged.gather(pairs.ravel())[0]
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
