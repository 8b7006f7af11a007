"""DISCOTEC: members of an ensemble ranked by their distance from its consensus matrix (Ohl & Lindsten 2025).

What it sums over pairs of objects is at the end: over all of them in whole numbers, or over random ones.
"""

from __future__ import annotations

import logging
import warnings
from dataclasses import KW_ONLY, dataclass, field
from itertools import pairwise
from math import frexp
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.random import task_seeds
from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.threads import locked_property, parallel_map, rows_per_call
from ensemblage.base.validation import Constraints, Seed, Whole, Words, check_fitted
from ensemblage.counting._bitmaps import Bitmaps, add_over_pairs, bitmaps_pay
from ensemblage.counting._contingency import sums_of_pairs
from ensemblage.kernels._jit import is_small_work
from ensemblage.kernels._pair_sums import CHUNK, sum_distances, sum_marked_pairs, sum_pairs, sum_squares
from ensemblage.labels.blocks import LabelRows, in_memory, map_rows
from ensemblage.labels.counts import count_labels
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics._agreement import sums_of_clustering
from ensemblage.ranking._base import BaseRanker, order_and_ranks

MOST_SAMPLED = 10**9
"""Random pairs: 16 GB of them are kept."""


DISTANCES = ("binary", "tv", "kl", "hellinger")


@dataclass(frozen=True)
class ConsensusMatrix:
    """C = T⁻¹ Σ_t A^t (Algorithm 1), never made: C_ij = n_ij / m_ij, of whose parts it has the sums over all i and j.

    n_ij members join i and j, m_ij label both: all T where no label is missing. The diagonal counts.
    """

    n_objects: int
    n_partitions: int
    joined: int
    """Σ n_ij"""
    labelled: int
    """Σ m_ij"""

    @classmethod
    def of(cls, ensemble: Ensemble) -> ConsensusMatrix:
        ones = np.ones(len(ensemble), dtype=np.int64)
        sizes = sizes_of_labels(ensemble.rows, ones, ensemble.n_clusters)
        return cls(*ensemble.shape, sum(pairs_within(z) for z in sizes), sum(int(z.sum()) ** 2 for z in sizes))

    @property
    def mean(self) -> float:
        """μ"""
        return self.joined / self.labelled

    @locked_property
    def thresholds(self) -> NDArray[np.int64]:
        """Q = [C_ij ≥ μ] (Eq. 4) as the least n_ij for m_ij = 0, ..., T, in whole numbers; out of reach for 0."""
        reached = [-(-m * self.joined // self.labelled) for m in range(self.n_partitions + 1)]
        return np.array([1, *reached[1:]], dtype=np.int64)


def table_1(distance: str, C: ConsensusMatrix) -> NDArray[np.float64]:
    """(2, T + 1, T + 1) D(B(1) ‖ B(C_ij)) and D(B(0) ‖ B(C_ij)) by m_ij and n_ij; "binary": of Q_ij.

    Where no partition labels the pair, C_ij is 0, as in ``coassociation``.
    """
    labelled, joined = np.ogrid[: C.n_partitions + 1, : C.n_partitions + 1]
    C_ij = np.minimum(joined, labelled) / np.maximum(labelled, 1)
    if distance == "binary":
        C_ij = (joined >= C.thresholds[:, None]).astype(float)
    if distance in ("binary", "tv"):
        return np.stack([1 - C_ij, C_ij])
    if distance == "hellinger":
        return np.stack([1 - np.sqrt(C_ij), 1 - np.sqrt(1 - C_ij)])
    with np.errstate(divide="ignore"):
        return np.stack([-np.log(C_ij), -np.log1p(-C_ij)]) + 0.0


def exact_means(
    rows: ComparedRows, C: ConsensusMatrix, distance: str, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """(s,) Eq. 3, as a mean over the ordered pairs that the partition labels, an object with itself included.

    Sums are whole numbers: of pairs, or of distances in multiples of a tiny unit.
    """
    sizes = rows.sizes()
    within = np.array([pairs_within(z) for z in sizes], dtype=object)  # |A|, the pairs that a partition joins
    pairs = np.array([int(z.sum()) ** 2 for z in sizes], dtype=object)
    if distance == "tv" and rows.complete:  # |A - C| = |A| + |C| - 2 ⟨A, C⟩
        T = C.n_partitions
        return ratios_of(T * within + C.joined - 2 * squares_of_tables(rows, n_jobs).sum(axis=1), T * pairs)
    if distance == "binary":  # |A - Q| = |A| + |Q| - 2 ⟨A, Q⟩
        joined, frequent = sums_over_pairs(rows, C.thresholds, None, n_jobs)
        return ratios_of(frequent + within - 2 * joined, pairs)

    def mean_of(tables: NDArray[np.float64]) -> NDArray[np.float64]:
        together, apart = tables
        room = 60 - frexp(C.n_objects)[1] - frexp(max(1.0, np.abs(tables).max()))[1]
        units = np.rint(np.ldexp(np.stack([together - apart, apart]), room)).astype(np.int64)
        joined, labelled = sums_over_pairs(rows, C.thresholds, units, n_jobs)
        return ratios_of(joined + labelled, pairs * 2**room)

    tables = table_1(distance, C)
    means = mean_of(np.where(np.isinf(tables), 0, tables))
    if np.isinf(tables).any() and rows.judged is not rows.codes:
        means[mean_of(np.isinf(tables).astype(float)) > 0] = np.inf
    return means


@dataclass(eq=False, repr=False)
class DISCOTEC(BaseRanker):
    """Use it to find the members nearest to the consensus matrix, without features: DISCOTEC.

    The consensus matrix C holds for each pair of objects the share of the partitions that join it. A member that joins
    what most join, and separates what most separate, has a low score.

    Parameters
    ----------
    measure : {"binary", "tv", "kl", "hellinger"}, default "binary"
        "binary" compares with Q = [C ≥ mean of C] (Eq. 4): the share of pairs on which member and Q differ. The others
        compare with C itself (Table 1): total variation, Kullback-Leibler (natural logarithm), squared Hellinger.
    max_pairs : int, default 10_000_000_000
        Up to as many pairs of distinct label rows, all are compared: the scores are exact. Beyond, they are estimated
        from random pairs ("tv" never, unless labels are missing).
    n_sampled_pairs : int, default 10_000_000
        Number of random pairs, where they are needed, from 2 to 10⁹. Each takes 16 bytes.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the random pairs.

    Attributes
    ----------
    scores_ : ndarray of shape (n_partitions,)
        Mean distance over all ordered pairs of objects, an object with itself included, plus ``violations_``; lower is
        better.
    order_ : ndarray of shape (n_partitions,)
        Members, best first; ties by position, those without a score last.
    ranks_ : ndarray of shape (n_partitions,)
        Rank of each member, 1 = best; equal scores share the better rank.
    violations_ : ndarray of shape (n_partitions,)
        Share of the constraints that each member violates (Ohl & Lindsten, Eq. 5); 0 without constraints.
    standard_errors_ : ndarray of shape (n_partitions,)
        Standard errors of the scores; 0 where they are exact.
    separated_ : ndarray of shape (n_partitions - 1,)
        Whether the r-th and the (r + 1)-th in the order differ by more than twice the standard error of their
        difference.
    mean_association_ : float
        Mean of C: the threshold of Q.
    names_in_ : ndarray of str
        Names of the members.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ValueError
        In ``fit``: if a parameter is none of the above.

    Warns
    -----
    UserWarning
        In ``fit``: with fewer than 3 partitions. Of two, both are equally far from the consensus in all but "binary".

    Notes
    -----
    With missing labels, C_ij is the share among the partitions that label both i and j, the mean of C is the ratio of
    the sums of joins and of labels, and a member's score is the mean over the pairs that it labels: where it abstains
    it is not judged.

    Sums are whole numbers, so scores depend neither on the threads nor on the order of the objects, and copies of a
    member tie exactly. O(m² p) time for m distinct label rows ("binary" without missing labels, by bitmaps,
    n = 100,000, p = 50: 3 s of one core) and O(m p) memory, and up to 64 MB of bitmaps; "tv" without missing labels
    O(m p²) from contingency tables.

    Which distance: of 50 k-means with k drawn from 2 to √n, the member that one of the other three puts first has on
    most public sets more clusters than there are classes, that of "binary" has fewer on average and agrees better with
    the classes; among several algorithms they differ within noise. Numbers: docs/LEADERBOARD.md, rankers as selectors.

    References
    ----------
    Ohl & Lindsten, "Discriminative ordering through ensemble consensus", 2025, Eqs. 1-5, Table 1, Algorithm 1. Sums
    are means here, as in the authors' code, so that constraints weigh in as in Algorithm 1; where C equals its mean,
    Q is 1 as in the paper (their code says 0).

    Examples
    --------
    >>> from ensemblage.ranking import DISCOTEC
    >>> labels = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 2], [1, 1, 1, 3], [1, 1, 2, 4], [1, 2, 2, 5]]
    >>> ranker = DISCOTEC().fit(labels)
    >>> ranker.scores_.round(5)
    array([0.05556, 0.05556, 0.22222, 0.27778])
    >>> ranker.fit(labels, must_link=[[0, 2], [3, 5]]).order_
    array([0, 1, 2, 3])
    """

    greater_is_better = False
    _parameter_constraints: ClassVar[Constraints] = {
        "measure": [Words(DISTANCES)],
        "max_pairs": [Whole(0)],
        "n_sampled_pairs": [Whole(2, MOST_SAMPLED)],
        "random_state": [Seed()],
    }

    measure: str = "binary"
    _: KW_ONLY
    max_pairs: int = 10_000_000_000
    n_sampled_pairs: int = 10_000_000
    n_jobs: int | None = None
    random_state: Any = None

    standard_errors_: NDArray[np.float64] = field(init=False)
    separated_: NDArray[np.bool_] = field(init=False)
    mean_association_: float = field(init=False)

    def _score(self, ensemble: Ensemble, features: Any) -> NDArray[np.float64]:
        p = ensemble.shape[1]
        if p < 3:
            warnings.warn(
                f"DISCOTEC needs at least 3 partitions to find a consensus. Got {p}. The order is unreliable.",
                UserWarning,
                stacklevel=3,
            )
        self._ensemble, self._C = ensemble, ConsensusMatrix.of(ensemble)
        self.mean_association_ = self._C.mean
        scores, sampled = self._means(ComparedRows.members(ensemble))
        order, _ = order_and_ranks(scores + self.violations_, self.greater_is_better)
        self.standard_errors_, differences = np.zeros(p), np.zeros(p - 1)
        if sampled is not None:
            self.standard_errors_, differences = standard_errors(sampled, order, self.n_jobs)
        self.separated_ = np.diff((scores + self.violations_)[order]) > 2 * differences
        return scores

    def _means(self, rows: ComparedRows) -> tuple[NDArray[np.float64], SampledMeans | None]:
        from_counts = self.measure == "tv" and rows.complete
        exact = rows.n_pairs <= self.max_pairs
        if exact and not from_counts:
            instead = f"a max_pairs below {rows.n_pairs:,}, measure='tv' if no label is missing"
            in_memory(rows.codes, "DISCOTEC", instead, because=": an exact score compares all pairs of them")
        if exact or from_counts:
            return exact_means(rows, self._C, self.measure, self.n_jobs), None
        tables = table_1(self.measure, self._C)
        sampled = sampled_means(rows, tables, self.n_sampled_pairs, self.random_state, self.n_jobs)
        return sampled.means, sampled

    @renamed_parameters(clustering="partition")
    def score_labels(self, partition: ArrayLike) -> float:
        """Score of a partition that is not in the ensemble, a consensus for instance; comparable with ``scores_``.

        The consensus matrix is that of the fitted ensemble; the constraints given to ``fit`` count.

        Parameters
        ----------
        partition : array-like of shape (n_objects,)
            Cluster of each object, -1 or NaN where it has none.

        Returns
        -------
        float
            Lower is better. Infinite under "kl" if the partition joins a pair that no member joins, or separates one
            that all join. A member's own score for a copy of it.

        Raises
        ------
        ValueError
            If the partition has another number of objects or labels none of them.

        Examples
        --------
        >>> from ensemblage.ranking import DISCOTEC
        >>> ranker = DISCOTEC("tv").fit([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 0, 1]])
        >>> round(ranker.score_labels([0, 0, 1, 1]), 4), ranker.scores_.round(4)
        (0.25, array([0.25  , 0.2917, 0.2917]))
        """
        check_fitted(self)
        given = Ensemble.from_partitions([partition], names=["labels"])
        if len(given) != len(self._ensemble):
            raise ValueError(
                f"partition must have one entry for each of the {len(self._ensemble)} objects of the ensemble. "
                f"Got {len(given)}. Mark objects without a cluster as -1."
            )
        means, _ = self._means(ComparedRows.outsider(self._ensemble, given))
        return float(means[0] + self._constraints.violations(given)[0])


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
    """Distinct rows of an ensemble together with the partitions to be compared with it."""

    codes: LabelRows
    """(m, p) the ensemble."""
    judged: LabelRows
    """(m, s) the partitions; the ensemble itself where its members are judged."""
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
    def outsider(cls, ensemble: Ensemble, partition: Ensemble) -> ComparedRows:
        joint = ensemble.append_partitions(partition)
        codes, counts, _ = joint.distinct
        p = ensemble.shape[1]
        ours, theirs = (codes.columns(part) for part in np.split(np.arange(joint.shape[1]), [p]))
        return cls(ours, theirs, counts, ensemble.n_clusters, partition.n_clusters)

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
        """Objects per cluster of each partition."""
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
    """(s,) share of the pairs that each partition labels."""
    pairs: list[NDArray[np.int64]]
    tables: NDArray[np.float64]
    rows: ComparedRows


class Codes(NamedTuple):
    """Codes of some partitions, by row and by column; two objects are together where one's equals the other's.

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
    """(s, 2) over the pairs that each partition joins."""
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
    """Sum a value of every pair of objects over the pairs that partitions join, and over those that they label.

    Rows are in increasing order of ``counts``. The value depends on how many partitions of the ensemble label the pair,
    b, and how many join it, a: 1 if a ≥ ``thresholds[b]`` else 0, or, if there are ``tables``, ``tables[0, b, a]`` in
    the sum over joined pairs and ``tables[1, b, a]`` in that over labelled pairs. n · |value| must stay below 2⁶¹.
    O(m² (p + s)) time, m (p + s) bytes besides the codes.
    """
    p, s = len(ensemble.by_column), len(judged.by_column)
    if not len(tables) and ensemble.complete and judged.complete:
        if is_small_work(len(counts) ** 2 * (p + s)) and counts.sum() < 2**31:
            return _small_sums(ensemble, judged, counts, int(thresholds[-1]))
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


def _small_sums(ensemble: Codes, judged: Codes, counts: NDArray[np.int64], threshold: int) -> WideSums:
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
    """(s, p) Σ n_kl² over the contingency table of each judged partition with each of the ensemble, as Python integers.

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
