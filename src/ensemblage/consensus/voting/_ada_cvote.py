"""Ada-cVote (Ayad & Kamel 2010, Algorithm 2): cumulative voting, and the estimator with JS-ALink after it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import Constraints, Flag, Words
from ensemblage.consensus import _incremental
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.diagnostics import Diagnostics
from ensemblage.consensus.voting._aggregation import (
    AggregatedPartition,
    PartitionOrder,
    SoftConsensus,
    VotingLosses,
    check_cells,
    contingency_with,
    entropy,
    number_wanted,
    order_by_entropy,
    relabelling_losses,
    sum_labels,
)
from ensemblage.consensus.voting._js_alink import LINKAGES, diagnostics_of_merges, extract_clusters
from ensemblage.kernels._votes import add_votes
from ensemblage.labels.counts import shared_masses
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows


def ada_cvote(
    rows: Rows,
    order: PartitionOrder,
    adaptive: bool,
    by_divergence: bool,
    n_jobs: int | None = None,
    known: AggregatedPartition | None = None,
) -> AggregatedPartition:
    """Ada-cVote (Alg. 2) on contingency tables, N^ij = U^iᵀ U^j, instead of the n x k matrices U, V and U⁰.

    The reference U⁰ of step i is the mean of V^1, ..., V^(i-1), and V^j = U^j W^j. So Eq. 5 is

        W^i = (U^iᵀ U^i)⁻¹ U^iᵀ U⁰ = diag(1 / n^i) Σ_{j < i} N^ij W^j / (i - 1)

    with the sizes n^i of the clusters of partition i. Σ_{j < i} N^ij 1 is n^i (i - 1) where no label is missing;
    otherwise, or with weights, it is what there is to divide by. A cluster of objects that no earlier partition labels
    gets the sizes of the reference's clusters. Not ``adaptive``, U⁰ stays U^1. ``by_divergence`` chooses the next
    partition at every step, instead of by ``order``. ``known`` is what was found for the first partitions of ``order``,
    which do not depend on those after them.
    """
    check_cells(int(rows.offsets[-1] * (rows.n_clusters.max() + 1)))
    first, *left = order.partitions.tolist()
    clusters = rows.offsets[first] + order.labels[first]
    W = np.zeros((rows.offsets[-1], len(clusters)))  # those of all partitions, one below the other
    NW, N1 = np.zeros_like(W), np.zeros(len(W))  # Σ_j N^ij W^j and Σ_j N^ij 1, for all partitions i that are left
    W[clusters] = np.eye(len(clusters))  # 2: U⁰ = U^1
    prior = order.sizes[clusters] / order.sizes[clusters].sum()
    done = [first]

    def add_votes_of(j: int) -> None:
        if adaptive or j == first:  # 6: U⁰ = (i - 1) / i U⁰ + V^i / i
            N = contingency_with(rows, j, np.array(left), n_jobs)
            add_votes(N, order.labels[j], W[rows.of_partition(j)], float(rows.weights[j]), NW, N1)

    if known is not None:
        done, left = known.order.tolist(), left[len(known.order) - 1 :]
        W[: len(known.W)] = known.W
        for j in done[:-1]:
            add_votes_of(j)
    while left:  # 3: for i = 2 to b
        add_votes_of(done[-1])
        i = left.pop(_least_divergent(left, order, rows, NW, N1) if by_divergence else 0)
        of_i = rows.of_partition(i)
        n = N1[of_i, None]
        W[of_i] = np.where(n > 0, NW[of_i] / np.where(n > 0, n, 1), prior)  # 4: Eq. 5
        done.append(i)
    W *= np.repeat(rows.weights, np.diff(rows.offsets))[:, None]
    return AggregatedPartition(W, np.array(done), rows.weights, rows.offsets)


def _least_divergent(
    left: list[int], order: PartitionOrder, rows: Rows, NW: NDArray[np.float64], N1: NDArray[np.float64]
) -> int:
    """Place of the partition whose V has the least Kullback-Leibler divergence from U⁰ (Sec. 3.1).

    D(U⁰ ‖ V) is H(C | labels) less H(C | X), which is the same for all of them.
    """
    conditional = []
    for i in left:
        labels = rows.offsets[i] + order.labels[i]
        parts = [n * entropy(row) for n, row in zip(N1[labels], NW[labels], strict=True) if n > 0]
        conditional.append(sum(parts) / max(float(N1[labels].sum()), 1e-300))
    return int(np.argmin(conditional))


def least_squares_losses(
    sums: NDArray[np.float64], squares: NDArray[np.float64], own: NDArray[np.float64] | None = None
) -> tuple[float, float]:
    """Squared error (Eq. 3) and error rate, times n, of V = U W with the W of Eq. 5: the mean of Ū over each label.

    ``own`` is UᵀU of a soft U: then |Ū - V|² is |Ū|² - 2 ⟨UᵀŪ, W⟩ + ⟨UᵀU W, W⟩.
    """
    sizes = sums.sum(axis=1)
    if own is not None:
        W = sums / np.where(sizes > 0, sizes, 1)[:, None]
        error = squares.sum() - 2 * (sums * W).sum() + (own @ W * W).sum()
        return error, sizes.sum() - sums.max(axis=1).sum()
    explained = np.square(sums).sum(axis=1) / np.where(sizes > 0, sizes, 1)
    return squares.sum() - explained.sum(), sizes.sum() - sums.max(axis=1).sum()


@dataclass(eq=False, repr=False)
class CumulativeVoting(SoftConsensus):
    """Use it with k unknown, for members with more clusters than the consensus: cumulative voting (ACV).

    Ada-cVote (Ayad & Kamel, Alg. 2): the partition with the largest entropy is the reference; one after the other,
    the others are relabelled to it by least squares (each cluster is shared out among the reference's clusters as its
    objects are) and averaged. JS-ALink then merges the reference clusters whose objects are the same.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most that of the largest partition. None: the number with the longest
        lifetime in the hierarchy of the columns of ``aggregate_``, at least 2 and less than all of them; all of them
        where they are 1 or 2, for nothing is in between.
    order : {"entropy", "divergence", "given"}, default "entropy"
        Which partition votes next: the one with the largest entropy, the one whose votes have the least
        Kullback-Leibler divergence from the aggregate so far (Sec. 3.1), or as in the label matrix. The reference is
        the first of them, by entropy or as given, that has at least ``n_clusters`` clusters.
        Equal entropies go by decreasing agreement: the weighted mean adjusted Rand index with all partitions.
    voting : {"adaptive", "fixed"}, default "adaptive"
        Relabel to the aggregate so far, or to the reference alone.
    linkage : {"average", "aib"}, default "average"
        JS-ALink: average linkage of the divergences between the columns of ``aggregate_``. Or the agglomerative
        information bottleneck, which merges what costs the least I(C; X) and then computes the divergences anew: k0
        times the work.
    include_singletons : bool, default False
        Without ``n_clusters``: whether all clusters of the reference are a candidate too.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out. Default: one each. It is that of its votes: 2 is the partition twice.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

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
        Probability of each cluster; rows sum to 1, NaN where no partition votes. Computed at every access.
    aggregate_ : ndarray of shape (n_objects, k0)
        The same of the k0 clusters of the reference, by decreasing size (Ū). Computed at every access.
    n_clusters_ : int
        Clusters that have objects: now and then fewer than k, when a cluster is no object's most likely one.
    order_ : ndarray of int
        Partitions in the order in which they voted; the first is the reference.
    linkage_matrix_ : ndarray of shape (k0 - 1, 4)
        SciPy's format, over the columns of ``aggregate_``; heights are Jensen-Shannon divergences in nats (times the
        clusters' share of the objects with "aib").
    clusters_of_reference_ : ndarray of shape (k0,)
        Cluster to which each column of ``aggregate_`` went.
    lifetimes_ : dict of int to float
        How long each number of clusters lives in that hierarchy; the longest is the number that None takes. Empty where
        no number is a candidate.
    losses_ : VotingLosses
        ``mse`` (Eq. 3) and ``error_rate`` of each partition, relabelled to ``aggregate_``, each (n_partitions,); NaN
        for a partition of weight 0.
    entropy_, mutual_information_ : float
        H(C) of the reference's clusters, and I(C; X) between them and the objects in ``aggregate_`` (Eq. 7), in nats:
        what of the reference's information the votes agree on.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` exceeds the clusters of every partition, if fewer than 2 partitions vote, or if a parameter is
        out of its range.

    Notes
    -----
    O(n p² + n p k0 + n k0²) time for n distinct label rows: linear in n. Memory beyond the ensemble and its distinct
    rows: O(d k0) with d = Σk_i, per thread. A fitted estimator keeps the distinct label rows.

    Missing labels: a partition that does not label an object does not vote for it; the object's row of Ū is the mean
    of the votes it has. Relabelling takes the mean over earlier votes, each of which counts once.

    With order "entropy" or "divergence", neither the order of the partitions nor the names of the labels matter, nor,
    unless the ensemble is symmetric, that of the objects. How ties are broken: docs/site/theory/voting.md.

    References
    ----------
    H. G. Ayad, M. S. Kamel, "On voting-based consensus of cluster ensembles", Pattern Recognition 43, 2010, Alg. 2,
    Eqs. 3-9.
    H. G. Ayad, M. S. Kamel, "Cumulative voting consensus method for partitions with a variable number of clusters",
    TPAMI 30(1), 2008 (JS-ALink).
    N. Slonim, N. Tishby, "Agglomerative information bottleneck", NIPS 1999.

    Examples
    --------
    >>> from ensemblage.consensus import CumulativeVoting
    >>> labels = [[0, 0], [0, 0], [1, 0], [1, 0], [2, 1], [3, 1], [4, 1], [2, 1], [3, 1], [4, 1]]
    >>> acv = CumulativeVoting().fit(labels)
    >>> acv.n_clusters_, acv.labels_
    (2, array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0], dtype=int32))
    >>> {k: round(life, 3) for k, life in acv.lifetimes_.items()}
    {4: 0.03, 3: 0.0, 2: 0.533}
    >>> acv.predict_proba([[0, None], [0, 1]]).round(2)
    array([[0. , 1. ],
           [0.5, 0.5]])
    """

    _capabilities: ClassVar[Capabilities] = Capabilities(
        memberships=True, cannot_link=True, in_memory="", finds_n_clusters=True, predict=True, add_partitions=True
    )
    _parameter_constraints: ClassVar[Constraints] = {
        "order": [Words(["entropy", "divergence", "given"])],
        "voting": [Words(["adaptive", "fixed"])],
        "linkage": [Words(LINKAGES)],
        "include_singletons": [Flag()],
    }
    _of_columns: ClassVar[tuple[str, ...]] = ("_cluster_of", "clusters_of_reference_")

    n_clusters: int | None = None
    _: KW_ONLY
    order: str = "entropy"
    voting: str = "adaptive"
    linkage: str = "average"
    include_singletons: bool = False
    weights: Any = None
    n_jobs: int | None = None

    order_: NDArray[np.intp] = field(init=False)
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
        # 1: by decreasing entropy; the reference is the first that has enough clusters.
        partitions = np.sort(order.partitions) if self.order == "given" else order.partitions
        reference = next(i for i in partitions if len(order.labels[i]) >= (k or 1))
        led = order._replace(partitions=np.array([reference, *partitions[partitions != reference]]))
        more = getattr(self, "_continued", False) and self.order != "divergence"  # by add_partitions
        known = self._earlier_aggregate(led, rows) if more else None
        self._label_orders = led.labels
        aggregate = ada_cvote(rows, led, self.voting == "adaptive", self.order == "divergence", self.n_jobs, known)
        sums = sum_labels(rows, aggregate, self.n_jobs)
        products = shared_masses(rows.codes, rows.counts, self.n_jobs)
        losses = relabelling_losses(sums, order, rows.offsets, least_squares_losses, products)
        self._aggregate, self.order_ = aggregate, self._voting[aggregate.order]
        self.losses_ = VotingLosses(*(self._values_of_partitions(values, np.nan) for values in losses))
        found = extract_clusters(rows, aggregate, sums.masses, self.linkage, self.include_singletons, k, self.n_jobs)
        self.entropy_, self.mutual_information_, self.linkage_matrix_, self.lifetimes_, groups = found
        merged = aggregate.merge(groups)
        clusters = self._place(rows, merged, merged)
        self.clusters_of_reference_ = self._cluster_of[groups]
        return clusters

    def _earlier_aggregate(self, order: PartitionOrder, rows: Rows) -> AggregatedPartition | None:
        """The result of an earlier ``add_partitions`` for the first partitions, if a new fit would repeat it."""
        earlier, p = self._aggregate, len(self._label_orders)
        same_order = np.array_equal(order.partitions[:p], earlier.order)
        same_rows = np.array_equal(rows.offsets[: p + 1], earlier.offsets) and (rows.weights == 1).all()
        same_labels = all(map(np.array_equal, order.labels, self._label_orders))
        return earlier if same_order and same_rows and same_labels and (earlier.weights == 1).all() else None

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        return (*diagnostics_of_merges(self), *super()._diagnostics(ensemble, objects))

    @property
    def aggregate_(self) -> NDArray[np.float64]:
        """The aggregated partition Ū, (n_objects, k0): computed at every access."""
        return self._of_objects(self._aggregate)
