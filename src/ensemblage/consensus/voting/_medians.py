"""Euclidean and Manhattan medians of partitions (Hornik 2005; Hornik & Böhm 2008): match to a prototype, average."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ensemblage.base.random import task_seeds
from ensemblage.base.validation import Constraints, Flag, Seed, Whole, Words
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.kmeans._label_kmeans import N_INIT, number_of_starts
from ensemblage.consensus.voting._aggregation import (
    AggregatedPartition,
    PartitionOrder,
    SoftConsensus,
    check_cells,
    number_wanted,
    order_by_entropy,
    sum_labels,
)
from ensemblage.counting._contingency import any_tables
from ensemblage.labels.counts import LabelVotes, count_labels, most_voted
from ensemblage.labels.rows import Rows

GAIN = 1.5e-8
"""Least share by which the objective falls in an iteration that is followed by another, as in R's clue."""


LEAST_STARTS = 20
"""Of "auto", on large problems."""
ROUNDING = 1e-12
"""A matching that is better by a smaller share than this is not."""
MOST_SWEEPS = 100


class MembershipMatrices(NamedTuple):
    """The membership matrices M_b, by what their columns share: no M_b is made.

    Their labels stand partition by partition in an order by content, those of a partition by size: d of them. No result
    depends on the names of labels or the order of partitions.
    """

    labels: NDArray[np.int64]
    """(d,) their rows in a table over labels."""
    blocks: list[slice]
    """(p,) those of each partition."""
    tables: NDArray[np.float64]
    """(d, d) M_aᵀ M_b: objects with both labels, whole numbers."""
    weights: NDArray[np.float64]
    """(p,) with sum 1."""
    of_labels: NDArray[np.float64]
    """(d,) the weight of each label's partition."""
    squares: NDArray[np.float64]
    """(p,) |M_b|²: of a hard one, the objects that it labels."""
    labelled: NDArray[np.float64]
    """(p,) objects that each partition labels."""
    n_columns: int
    """K: columns of the largest partition, to which all are padded."""


class Prototype(NamedTuple):
    """Where a search ended."""

    columns: NDArray[np.int64]
    """(d,) column of the prototype to which each label is matched; those from k on are surplus."""
    trace: list[float]
    """The objective after each iteration; it falls while matching and averaging alternate."""


Refit = Callable[[NDArray[np.int64]], tuple[NDArray[np.float64], float]]
"""The prototype M that is fitted to M_b P_b, with these columns: M_bᵀ M of all labels, (d, k), and the objective."""


def euclidean_median(
    columns: NDArray[np.int64], members: MembershipMatrices, k: int, refit: Refit, max_iter: int, leave_one_out: bool
) -> Prototype:
    """Minimise Σ_b w_b |M_b P_b - M|² over permutations P_b and prototypes M with k columns, from these ``columns``.

    Hornik & Böhm 2008: alternate as long as the objective falls. Where that ends, with ``leave_one_out``, match one
    partition at a time, and begin again if that helps.
    """
    found = alternate(columns, members, refit, max_iter)
    while leave_one_out and len(found.trace) <= max_iter:
        others = match_to_others(found.columns, members, k)
        following = alternate(others, members, refit, max_iter - len(found.trace))
        if following.trace[-1] >= found.trace[-1]:
            break
        found = Prototype(following.columns, found.trace + following.trace)
    return found


def alternate(columns: NDArray[np.int64], members: MembershipMatrices, refit: Refit, max_iter: int) -> Prototype:
    """Fit M to the matched partitions, and match them anew."""
    sums, objective = refit(columns)
    trace = [objective]
    while len(trace) <= max_iter:
        following = match_columns(sums, members)
        if np.array_equal(following, columns):
            break
        sums, objective = refit(following)
        if objective >= trace[-1]:
            break
        columns = following
        trace.append(objective)
        if trace[-2] - objective <= GAIN * trace[-2]:
            break
    return Prototype(columns, trace)


def match_columns(sums: NDArray[np.float64], members: MembershipMatrices) -> NDArray[np.int64]:
    """(d,) P_b that maximise ⟨M_b P_b, M⟩, one to one, from M_bᵀ M, (d, k)."""
    columns = np.empty(len(sums), dtype=np.int64)
    for block in members.blocks:
        padded = np.zeros((block.stop - block.start, members.n_columns))
        padded[:, : sums.shape[1]] = sums[block]
        columns[block] = linear_sum_assignment(padded, maximize=True)[1]
    return columns


def match_to_others(columns: NDArray[np.int64], members: MembershipMatrices, k: int) -> NDArray[np.int64]:
    """Match one partition after the other to the mean of the others, until none changes.

    A partition's own share of M holds it where it is: this is a better search of the same objective.
    """
    columns, shares = columns.copy(), shares_of(columns, k)
    sums = members.tables @ (members.of_labels[:, None] * shares)
    for _ in range(MOST_SWEEPS):
        changed = False
        for block, weight in zip(members.blocks, members.weights, strict=True):
            padded = np.zeros((block.stop - block.start, members.n_columns))
            padded[:, :k] = sums[block] - weight * members.tables[block, block] @ shares[block]
            found = linear_sum_assignment(padded, maximize=True)[1]
            place = np.arange(len(found))
            if padded[place, found].sum() > padded[place, columns[block]].sum() * (1 + ROUNDING):
                its_shares = shares_of(found, k)
                sums += members.tables[:, block] @ (weight * (its_shares - shares[block]))
                columns[block], shares[block], changed = found, its_shares, True
        if not changed:
            break
    return columns


def shares_of(columns: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """(d, k) membership in M that labels with these columns stand for: a surplus one is spread over all columns.

    That is the projection of K columns onto k: what a row lacks to 1 is added in equal parts.
    """
    return np.where((columns < k)[:, None], columns[:, None] == np.arange(k), 1 / k)


def objective_of(
    sums: NDArray[np.float64],
    columns: NDArray[np.int64],
    members: MembershipMatrices,
    lengths: NDArray[np.float64] | float,
) -> float:
    """Σ_b w_b (|M_b|² + |M|² - 2 ⟨M_b P_b, M⟩), from M_bᵀ M and ``lengths`` |M|² over the objects that b labels."""
    k = sums.shape[1]
    own = np.where(columns < k, sums[np.arange(len(sums)), np.minimum(columns, k - 1)], 0)
    agreed = np.array([own[block].sum() for block in members.blocks])
    return float(members.weights @ (members.squares + lengths - 2 * agreed))


def mean_of_complete(
    columns: NDArray[np.int64], members: MembershipMatrices, k: int
) -> tuple[NDArray[np.float64], float]:
    """M is the mean Σ_b w_b M_b P_b: where every partition labels every object, the tables are all that it takes."""
    shares = shares_of(columns, k) * members.of_labels[:, None]
    sums = members.tables @ shares
    return sums, objective_of(sums, columns, members, float((shares * sums).sum()))


def starts(members: MembershipMatrices, k: int, n_init: int, random_state: Any) -> Iterator[NDArray[np.int64]]:
    """Columns to begin with: matched to each partition, then at random."""
    for block in members.blocks[:n_init]:
        own = shares_of(np.arange(block.stop - block.start), k)
        yield match_columns(members.tables[:, block] @ own, members)
    for seed in task_seeds(random_state, max(n_init - len(members.blocks), 0)):
        random = np.random.RandomState(seed)
        drawn = [random.permutation(members.n_columns)[: block.stop - block.start] for block in members.blocks]
        yield np.concatenate(drawn).astype(np.int64)


def members_of(rows: Rows, order: PartitionOrder, n_jobs: int | None = None) -> MembershipMatrices:
    """What the partitions of the rows share; O(d²) memory."""
    check_cells(int(rows.n_clusters.sum()) ** 2)
    partitions = order.partitions.tolist()
    sizes = [len(order.labels[b]) for b in partitions]
    ends = np.cumsum(sizes).tolist()
    blocks = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    labels = np.concatenate([rows.offsets[b] + order.labels[b] for b in partitions])
    counted = any_tables(rows.codes, rows.counts, rows.n_clusters, n_jobs)
    tables = np.zeros((ends[-1], ends[-1]))
    for a, of_a in zip(partitions, blocks, strict=True):
        for b, of_b in zip(partitions, blocks, strict=True):
            table = counted.table(a, b) if a != b else counted.itself(a, order.sizes[rows.of_partition(a)])
            tables[of_a, of_b] = table[np.ix_(order.labels[a], order.labels[b])]
    weights = rows.weights[partitions] / rows.weights[partitions].sum()
    squares = np.array([np.trace(tables[block, block]) for block in blocks])
    labelled = (rows.counts.sum() - order.sizes[rows.offsets[1:] - 1][partitions]).astype(np.float64)
    return MembershipMatrices(
        labels, blocks, tables, weights, np.repeat(weights, sizes), squares, labelled, int(rows.n_clusters.max())
    )


def refit_of(
    rows: Rows, order: PartitionOrder, members: MembershipMatrices, k: int, hard: bool, n_jobs: int | None
) -> Refit:
    """The step of the search that fits M: the mean, or for a ``hard`` M its largest entry in every row."""

    def hard_one(columns: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
        meant = np.full(int(rows.offsets[-1]), -1)
        meant[members.labels] = np.where(columns < k, columns, -1)
        votes = LabelVotes(meant, rows.weights, rows.offsets, order.partitions, k)
        clusters = most_voted(rows.codes, votes, n_jobs)
        profile = count_labels(rows.codes, clusters, rows.counts, rows.offsets, k, n_jobs)
        sums = profile.T[members.labels].astype(np.float64)
        return sums, objective_of(sums, columns, members, members.labelled)

    def mean(columns: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
        found = sum_labels(rows, mean_of_rows(rows, order, members, shares_of(columns, k)), n_jobs)
        sums, squares = found.rows[members.labels], found.squares[members.labels]
        lengths = np.array([squares[block].sum() for block in members.blocks])
        return sums, objective_of(sums, columns, members, lengths)

    if hard:
        return hard_one
    complete = (members.labelled == rows.counts.sum()).all()
    return partial(mean_of_complete, members=members, k=k) if complete else mean


def mean_of_rows(
    rows: Rows, order: PartitionOrder, members: MembershipMatrices, shares: NDArray[np.float64]
) -> AggregatedPartition:
    """M as the mean of the partitions whose labels have these shares, (d, k)."""
    W = np.zeros((int(rows.offsets[-1]), shares.shape[1]))
    W[members.labels] = shares * np.repeat(rows.weights, rows.n_clusters + 1)[members.labels, None]
    return AggregatedPartition(W, order.partitions, rows.weights, rows.offsets)


@dataclass(eq=False, repr=False)
class EuclideanMedian(SoftConsensus):
    """Use it for members with about the same clusters: the median of their membership matrices, soft or hard.

    It minimises Σ_b w_b d(M_b, M)², where d is the Frobenius norm of the difference of two membership matrices, least
    over permutations of columns. Two steps alternate: every partition is matched to M one to one, then M is fitted to
    the matched ones: their mean, or, for a hard M, its largest entry of every row [1]_, [2]_.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, the columns of M: at most the clusters of the largest partition, which None
        takes. There may be fewer: some column may be the largest of no object.
    prototype : {"soft", "hard"}, default "soft"
        Whether M has rows that sum to 1, or a single 1 in each. With "hard" the objective is that of the Manhattan
        distance too: for zeros and ones, |x| = x².
    n_init : int or "auto", default "auto"
        Number of starts, the one with the least loss wins: from the partitions themselves, in an order by content,
        then from random matchings. "auto": 1.5·10⁶ / (m p k) for m distinct rows of p labels, but at least 20 and at
        most 300.
    max_iter : int, default 100
        Most iterations per start. It ends when no label is matched anew, or the objective falls by a share of 1.5e-8 or
        less.
    leave_one_out : bool, default True
        Whether partitions are then matched one after the other to the mean of the others, and the steps begin again if
        that helps. Matched to a mean that holds itself, a partition hardly moves, and the published steps end at once.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out. Default: one each. "agreement": `metrics.agreement_weights`.
        2 is the partition twice, but the search moves it at once, and may end elsewhere.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the starts beyond the number of partitions.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters numbered by decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Confidence: for / (for + against), over the partitions that join the object with members of its own cluster or
        of another one but not of both; see `metrics.confidence`. 1: no partition supports another cluster. ½: two
        clusters have equal support. 1 for all objects if there is one cluster. Not a probability of being correct.
    runner_up_ : ndarray of shape (n_objects,), int32
        The other cluster with the most support; -1 if there is none.
    cohesion_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1: small if the
        partitions are fine, even if they agree.
    n_clusters_ : int
    membership_ : ndarray of shape (n_objects, k)
        Rows of M, columns by the numbers of the clusters; of the mean also with "hard". NaN where no partition labels.
        Computed at every access.
    objective_ : float
        Σ w_b d(M_b, M)² / Σ w_b. Least is best.
    n_iter_ : int
        Iterations of the best start.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` exceeds the clusters of every partition, if fewer than 2 partitions vote, or if a parameter is
        out of its range.

    See Also
    --------
    BipartiteVoting : One pass in random order instead: each partition is matched to the mean of those before it.
    ComembershipMedian : The nearest by pairs of objects, which need no matching.

    Notes
    -----
    "soft" without missing labels: O(p² m) time for m distinct label rows once, then O(d² k + p k³) per iteration from
    contingency tables alone, for d labels in all; O(d²) memory. "hard", and where labels are missing: O(m p k) more per
    iteration. Beside them 8 d² bytes and a copy of the codes.

    A partition with more clusters than M has columns leaves its surplus to all columns in equal parts. A partition that
    does not label an object says nothing of its row, which is the mean of the others.

    There are many local optima, even on ten objects: hence the many starts. Neither the order of the
    partitions nor the names of labels matter, nor, unless the ensemble is symmetric, the order of the objects. Copies
    of all objects may lead the search for "hard" elsewhere.

    References
    ----------
    .. [1] K. Hornik, "A CLUE for CLUster Ensembles", Journal of Statistical Software 14(12), 2005.
    .. [2] K. Hornik and W. Böhm, "Hard and soft Euclidean consensus partitions", Data Analysis, Machine Learning and
       Applications (GfKl 2007), 2008.

    Examples
    --------
    >>> from ensemblage.consensus import EuclideanMedian
    >>> labels = [[0, 1, 2], [0, 1, 2], [0, 1, 0], [1, 2, 0], [1, 2, 0], [2, 0, 1], [2, 0, 1]]
    >>> median = EuclideanMedian(n_clusters=3).fit(labels)
    >>> median.labels_
    array([0, 0, 0, 2, 2, 1, 1], dtype=int32)
    >>> median.membership_[2].round(2)
    array([0.67, 0.  , 0.33])
    >>> EuclideanMedian(prototype="hard").fit(labels).objective_  # one of three moves an object: 2 / 3
    0.6666666666666666
    """

    _capabilities: ClassVar[Capabilities] = Capabilities(
        memberships=True, cannot_link=True, in_memory="", finds_n_clusters=True, predict=True
    )
    _parameter_constraints: ClassVar[Constraints] = {
        "prototype": [Words(["soft", "hard"])],
        "n_init": N_INIT,
        "max_iter": [Whole(1)],
        "leave_one_out": [Flag()],
        "random_state": [Seed()],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    prototype: str = "soft"
    n_init: int | str = "auto"
    max_iter: int = 100
    leave_one_out: bool = True
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    objective_: float = field(init=False)
    n_iter_: int = field(init=False)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k = number_wanted(self, rows, "a median has no others") or int(rows.n_clusters.max())
        order = order_by_entropy(rows, self.n_jobs)
        members = members_of(rows, order, self.n_jobs)
        refit = refit_of(rows, order, members, k, self.prototype == "hard", self.n_jobs)
        n_init = number_of_starts(self.n_init, rows, k, LEAST_STARTS)
        ends = (
            euclidean_median(start, members, k, refit, self.max_iter, self.leave_one_out)
            for start in starts(members, k, n_init, self.random_state)
        )
        columns, trace = min(ends, key=lambda found: found.trace[-1])
        self.objective_, self.n_iter_ = trace[-1], len(trace)
        shares = shares_of(columns, k)
        # A surplus label is for no column: shares alike in all of them would break ties by rounding.
        votes = np.where((columns < k)[:, None], shares, 0)
        return self._place(rows, *(mean_of_rows(rows, order, members, part) for part in (votes, shares)))
