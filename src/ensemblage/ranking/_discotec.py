"""DISCOTEC: members of an ensemble ranked by their distance from its consensus matrix (Ohl & Lindsten 2025)."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, field
from math import frexp
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import Constraints, Seed, Whole, Words, check_fitted
from ensemblage.labels.blocks import in_memory
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.threads import once
from ensemblage.ranking._base import BaseRanker, order_and_ranks
from ensemblage.ranking._pair_means import (
    ComparedRows,
    SampledMeans,
    pairs_within,
    ratios_of,
    sampled_means,
    sizes_of_labels,
    squares_of_tables,
    standard_errors,
    sums_over_pairs,
)

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

    @once
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
    """(s,) Eq. 3, as a mean over the ordered pairs that the clustering labels, an object with itself included.

    Sums are whole numbers: of pairs, or of distances in multiples of a tiny unit.
    """
    sizes = rows.sizes()
    within = np.array([pairs_within(z) for z in sizes], dtype=object)  # |A|, the pairs that a clustering joins
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
class Discotec(BaseRanker):
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
    >>> from ensemblage import Discotec
    >>> labels = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 2], [1, 1, 1, 3], [1, 1, 2, 4], [1, 2, 2, 5]]
    >>> ranker = Discotec().fit(labels)
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
                f"Discotec needs at least 3 partitions to find a consensus. Got {p}. The order is unreliable.",
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
            in_memory(rows.codes, "Discotec", instead, because=": an exact score compares all pairs of them")
        if exact or from_counts:
            return exact_means(rows, self._C, self.measure, self.n_jobs), None
        tables = table_1(self.measure, self._C)
        sampled = sampled_means(rows, tables, self.n_sampled_pairs, self.random_state, self.n_jobs)
        return sampled.means, sampled

    def score_labels(self, clustering: ArrayLike) -> float:
        """Score of a clustering that is not in the ensemble, a consensus for instance; comparable with ``scores_``.

        The consensus matrix is that of the fitted ensemble; the constraints given to ``fit`` count.

        Parameters
        ----------
        clustering : array-like of shape (n_objects,)
            Cluster of each object, -1 or NaN where it has none.

        Returns
        -------
        float
            Lower is better. Infinite under "kl" if the clustering joins a pair that no member joins, or separates one
            that all join. A member's own score for a copy of it.

        Raises
        ------
        ValueError
            If the clustering has another number of objects or labels none of them.

        Examples
        --------
        >>> from ensemblage import Discotec
        >>> ranker = Discotec("tv").fit([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 0, 1]])
        >>> round(ranker.score_labels([0, 0, 1, 1]), 4), ranker.scores_.round(4)
        (0.25, array([0.25  , 0.2917, 0.2917]))
        """
        check_fitted(self)
        given = Ensemble.from_partitions([clustering], names=["labels"])
        if len(given) != len(self._ensemble):
            raise ValueError(
                f"clustering must have one entry for each of the {len(self._ensemble)} objects of the ensemble. "
                f"Got {len(given)}. Mark objects without a cluster as -1."
            )
        means, _ = self._means(ComparedRows.outsider(self._ensemble, given))
        return float(means[0] + self._constraints.violations(given)[0])
