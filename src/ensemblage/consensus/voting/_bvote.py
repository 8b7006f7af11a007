"""bVote (Ayad & Kamel 2010, Algorithm 1): voting by bipartite matching, and the estimator with JS-ALink after it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ensemblage.base.random import task_seeds
from ensemblage.base.validation import MOST_TASKS, Constraints, Flag, Seed, Whole, Words
from ensemblage.consensus import _incremental
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.diagnostics import Diagnostics
from ensemblage.consensus.voting._aggregation import (
    AggregatedPartition,
    PartitionOrder,
    SoftConsensus,
    VotingLosses,
    check_cells,
    number_wanted,
    order_by_entropy,
    relabelling_losses,
    sum_labels,
)
from ensemblage.consensus.voting._js_alink import LINKAGES, diagnostics_of_merges, extract_clusters
from ensemblage.counting._contingency import ContingencyTables, any_tables
from ensemblage.labels.counts import SoftTables, shared_masses
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows


def bvote(
    rows: Rows, order: PartitionOrder, tables: ContingencyTables | SoftTables, sequence: NDArray[np.intp]
) -> AggregatedPartition:
    """bVote (Alg. 1) for one sequence of the partitions, on the contingency tables N^ij = U^iᵀ U^j of all pairs.

    The first reference of Alg. 1 only names the columns: its weight is 0 after the first step. Partitions with fewer
    clusters than the largest are padded with dummy clusters. O(p k³) beside the p² tables.
    """
    k = max(len(order.labels[i]) for i in order.partitions)
    W = np.zeros((rows.offsets[-1], k))
    column: dict[int, NDArray[np.intp]] = {}  # of the 1 in each row of W^j
    for i in sequence.tolist():
        G = np.zeros((len(order.labels[i]), k))  # U^iᵀ U⁰ (i - 1) = Σ_{j < i} N^ij W^j
        for j, columns in column.items():
            G[:, columns] += rows.weights[j] * tables.table(i, j)[np.ix_(order.labels[i], order.labels[j])]
        column[i] = linear_sum_assignment(G, maximize=True)[1]  # 3: Eq. 2
        W[rows.offsets[i] + order.labels[i], column[i]] = rows.weights[i]
    return AggregatedPartition(W, sequence, rows.weights, rows.offsets)


def matching_losses(
    sums: NDArray[np.float64], squares: NDArray[np.float64], own: NDArray[np.float64] | None = None
) -> tuple[float, float]:
    """Squared error (Eq. 3) and error rate, times n, of V = U W with the W of Eq. 2, matched to Ū itself.

    ``own`` is UᵀU of a soft U, |U|² on whose trace.
    """
    G = np.zeros((len(sums), max(sums.shape)))
    G[:, : sums.shape[1]] = sums
    agreed = G[linear_sum_assignment(G, maximize=True)].sum()
    length = sums.sum() if own is None else np.trace(own)
    return squares.sum() - 2 * agreed + length, sums.sum() - agreed


@dataclass(eq=False, repr=False)
class BipartiteVoting(SoftConsensus):
    """Use it for members with the same number of clusters: each cluster votes for one of the aggregate (BV).

    bVote (Ayad & Kamel, Alg. 1), several passes in random order, the one with the least mean squared error (Eq. 6);
    then JS-ALink as in `CumulativeVoting`. Meant for partitions with the number of clusters that is wanted; where they
    have more, `CumulativeVoting` is far better (Ayad & Kamel, Sec. 4.5).

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most that of the largest partition. A cluster may be the likeliest of
        no object, so there may be fewer. None: the number with the longest lifetime in the hierarchy of the columns of
        ``aggregate_``, at least 2 and less than all of them; all of them where they are 1 or 2, for nothing is in
        between.
    n_init : int, default 10
        Number of starts, the one with the least loss wins: random orders of the partitions.
    linkage : {"average", "aib"}, default "average"
        JS-ALink: average linkage of the divergences between the columns of ``aggregate_``. Or the agglomerative
        information bottleneck, which merges what costs the least I(C; X) and then computes the divergences anew: k0
        times the work.
    include_singletons : bool, default False
        Without ``n_clusters``: whether all clusters of the aggregate are a candidate too.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out. Default: one each. It is that of its votes: 2 is the partition
        twice, but other orders are drawn of more partitions.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the orders.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Cluster of largest membership (on ties the one with the largest cluster of ``aggregate_``), numbered by
        decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Confidence: for / (for + against), over the partitions that join the object with members of its own cluster or
        of another one but not of both; see `metrics.confidence`. 1: no partition supports another cluster. ½: two
        clusters have equal support. 1 for all objects if there is one cluster. Not a probability of being correct.
    runner_up_ : ndarray of shape (n_objects,), int32
        The other cluster with the most support; -1 if there is none.
    cohesion_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1: small if the
        partitions are fine, even if they agree.
    membership_ : ndarray of shape (n_objects, k)
        Share of votes for each cluster; rows sum to 1, NaN where no partition votes. Computed at every access.
    aggregate_ : ndarray of shape (n_objects, k0)
        The same before the merges, columns by decreasing mass (Ū). Computed at every access.
    n_clusters_ : int
        Clusters that have objects: now and then fewer than k, when a cluster is no object's most likely one.
    order_ : ndarray of int
        Partitions in the order of the best pass.
    objective_ : float
        Mean squared error between Ū and the partitions matched to it (Eq. 6), weighted.
    linkage_matrix_ : ndarray of shape (k0 - 1, 4)
        SciPy's format, over the columns of ``aggregate_``; heights are Jensen-Shannon divergences in nats (times the
        clusters' share of the objects with "aib").
    clusters_of_reference_ : ndarray of shape (k0,)
        Cluster to which each column of ``aggregate_`` went.
    lifetimes_ : dict of int to float
        How long each number of clusters lives in that hierarchy; the longest is the number that None takes. Empty where
        no number is a candidate.
    losses_ : VotingLosses
        ``mse`` (Eq. 3) and ``error_rate`` of each partition, matched to ``aggregate_``, each (n_partitions,); NaN
        for a partition of weight 0.
    entropy_, mutual_information_ : float
        H(C) of the aggregate's clusters, and I(C; X) between them and the objects (Eq. 7), in nats.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` exceeds the clusters of every partition, if fewer than 2 partitions vote, or if a parameter is
        out of its range.

    Notes
    -----
    O(n p² + s n p k0 + n k0² + s p k0³) time for s passes; memory O((Σk_i)² + n p) beyond the ensemble, for the
    contingency tables of all pairs and a copy of the codes.

    A fitted estimator keeps the distinct label rows, for ``aggregate_`` and ``membership_``.

    Missing labels: a partition that does not label an object does not vote for it; the object's row of Ū is the mean
    of the votes it has. Matching counts the votes on the objects that the partition labels.

    One pass over partitions of as many clusters as are wanted is the voting of Dimitriadou et al. (DWH): with shares
    s_b = w_b / Σ w so far, M ← (1 - s_b) M + s_b (the partition matched to M), which is the mean of the matched ones.
    Where they have fewer columns than some partition, DWH projects after every step; `EuclideanMedian` does so.

    With the same seed, neither the order of the partitions nor the names of the labels matter, nor, unless the ensemble
    is symmetric, that of the objects: ties are broken as in `CumulativeVoting`.

    References
    ----------
    H. G. Ayad, M. S. Kamel, "On voting-based consensus of cluster ensembles", Pattern Recognition 43, 2010, Alg. 1,
    Eqs. 2 and 6. E. Dimitriadou, A. Weingessel, K. Hornik, "A combination scheme for fuzzy clustering", IJPRAI 16(7),
    2002.

    Examples
    --------
    >>> from ensemblage.consensus import BipartiteVoting
    >>> labels = [[0, 1, 2], [0, 1, 2], [0, 1, 0], [1, 2, 0], [1, 2, 0], [2, 0, 1], [2, 0, 1]]
    >>> bv = BipartiteVoting(n_clusters=3, random_state=0).fit(labels)
    >>> bv.labels_
    array([0, 0, 0, 1, 1, 2, 2], dtype=int32)
    >>> bv.membership_[2].round(2)
    array([0.67, 0.33, 0.  ])
    """

    _capabilities: ClassVar[Capabilities] = Capabilities(
        memberships=True, cannot_link=True, in_memory="", finds_n_clusters=True, predict=True, add_partitions=True
    )
    _parameter_constraints: ClassVar[Constraints] = {
        "n_init": [Whole(1, MOST_TASKS)],
        "linkage": [Words(LINKAGES)],
        "include_singletons": [Flag()],
        "random_state": [Seed()],
    }
    _of_columns: ClassVar[tuple[str, ...]] = ("_cluster_of", "clusters_of_reference_")

    n_clusters: int | None = None
    _: KW_ONLY
    n_init: int = 10
    linkage: str = "average"
    include_singletons: bool = False
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    order_: NDArray[np.intp] = field(init=False)
    objective_: float = field(init=False)
    linkage_matrix_: NDArray[np.float64] = field(init=False)
    clusters_of_reference_: NDArray[np.int32] = field(init=False)
    lifetimes_: dict[int, float] = field(init=False)
    losses_: VotingLosses = field(init=False)
    entropy_: float = field(init=False)
    mutual_information_: float = field(init=False)

    add_partitions = _incremental.add_partitions

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k = number_wanted(self, rows, "voting only merges them", least_partitions=2)
        order = order_by_entropy(rows, self.n_jobs)
        check_cells(int(rows.offsets[-1]) ** 2 // 2)
        tables = any_tables(rows.codes, rows.counts, rows.n_clusters, self.n_jobs)
        products = shared_masses(rows.codes, rows.counts, self.n_jobs)
        self.objective_ = np.inf
        for seed in task_seeds(self.random_state, self.n_init):
            found = bvote(rows, order, tables, np.random.RandomState(seed).permutation(order.partitions))
            sums = sum_labels(rows, found, self.n_jobs)
            losses = relabelling_losses(sums, order, rows.offsets, matching_losses, products)
            # Eq. 6, summed in an order by content: passes that tie tie whatever the names and places.
            objective = float(np.average(losses.mse[order.partitions], weights=rows.weights[order.partitions]))
            if objective < self.objective_:
                best, self.objective_, best_losses, masses = found, objective, losses, sums.masses
        # Columns by decreasing mass, without the empty ones: dummy clusters that nothing was matched to.
        columns = np.argsort(-masses, kind="stable")
        aggregate = replace(best, W=np.ascontiguousarray(best.W[:, columns[masses[columns] > 0]]))
        masses = sum_labels(rows, aggregate, self.n_jobs).masses
        self._aggregate, self.order_ = aggregate, self._voting[aggregate.order]
        self.losses_ = VotingLosses(*(self._values_of_partitions(values, np.nan) for values in best_losses))
        extraction = extract_clusters(rows, aggregate, masses, self.linkage, self.include_singletons, k, self.n_jobs)
        self.entropy_, self.mutual_information_, self.linkage_matrix_, self.lifetimes_, groups = extraction
        merged = aggregate.merge(groups)
        clusters = self._place(rows, merged, merged)
        self.clusters_of_reference_ = self._cluster_of[groups]
        return clusters

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        return (*diagnostics_of_merges(self), *super()._diagnostics(ensemble, objects))

    @property
    def aggregate_(self) -> NDArray[np.float64]:
        """The aggregated partition Ū, (n_objects, k0): computed at every access."""
        return self._of_objects(self._aggregate)
