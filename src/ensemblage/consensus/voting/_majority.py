"""Majority voting after relabelling (BagClust1 of Dudoit & Fridlyand 2003): the plain baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ensemblage.consensus._base import BaseConsensus, renumber_parts
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.voting._aggregation import (
    agreements,
    assign_units,
    contingency_with,
    order_by_entropy,
)
from ensemblage.kernels._contingency import tally_clusters
from ensemblage.labels.counts import LabelVotes, count_votes, most_voted
from ensemblage.labels.rows import Rows


def match_to_reference(
    N: NDArray[Any], labels: Sequence[NDArray[np.intp]], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The relabelling of BagClust1: (offsets[p],) the cluster of the reference that each label means, -1 for none.

    ``N`` is (offsets[p], k) objects that each label shares with the k clusters of the reference. The clusters of a
    partition are permuted so that they agree with the reference on the most objects; those left over mean the one that
    they overlap most. ``labels[b]`` are the codes of partition b in the order in which ties go.
    """
    meant = np.full(len(N), -1)
    for b, of_b in enumerate(labels):
        table = N[offsets[b] + of_b]
        means = np.where(table.max(axis=1) > 0, np.argmax(table, axis=1), -1)
        own, matched = linear_sum_assignment(table, maximize=True)
        used = table[own, matched] > 0
        means[own[used]] = matched[used]
        meant[offsets[b] + of_b] = means
    return meant


@dataclass(eq=False, repr=False)
class MajorityVoting(BaseConsensus):
    """Use it for resamples of one algorithm: clusters are matched to a reference, and the majority decides.

    A baseline: `BipartiteVoting` and `CumulativeVoting` relabel to what the partitions have in common instead.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most the number of clusters of some partition. A cluster may win no
        object, so there may be fewer. None: as many as the reference has.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out. Default: one each. It is that of its votes, and counts in the choice
        of the reference: 2 is the partition twice, but for ties that have to be broken without meaning.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

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
    reference_ : int
        The partition that lends its labels: a column of the matrix that was given.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` exceeds the number of distinct label rows or the clusters of every partition.

    Notes
    -----
    The reference is the medoid of the partitions with at least ``n_clusters`` clusters: the one with the largest
    weighted mean adjusted Rand index with all partitions, each taken over the objects that both label; on ties the one
    with the largest entropy. Its ``n_clusters`` largest clusters count. Each other partition's clusters are matched to
    them one to one with the largest overlap (Hungarian method); those left over vote for the one that they overlap
    most, or not at all. Votes that tie go to the larger cluster of the reference, as do objects without any vote.

    Neither the order of the partitions nor the names of the labels matter, nor, unless the ensemble is symmetric, the
    order of the objects: other ties are broken as in `CumulativeVoting`.

    O(p² m + p k³) time and O(m p) memory for m distinct label rows, on which it is exact. Labels on disk or on a
    cluster are passed over once for the indices of as many pairs of partitions as have 4 million cells.

    References
    ----------
    S. Dudoit, J. Fridlyand, "Bagging to improve the accuracy of a clustering procedure", Bioinformatics 19(9), 2003
    (BagClust1).

    Examples
    --------
    >>> from ensemblage.consensus import MajorityVoting
    >>> labels = [[0, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0, 1], [1, 2, 1]]
    >>> MajorityVoting(n_clusters=2).fit(labels).labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    n_clusters: int | None = None
    _: KW_ONLY
    weights: Any = None
    n_jobs: int | None = None

    reference_: int = field(init=False)

    _capabilities: ClassVar[Capabilities] = Capabilities(
        memberships=True, cannot_link=True, in_memory="", finds_n_clusters=True
    )

    def _fit(self, rows: Rows) -> NDArray[Any]:
        least = 1 if self.n_clusters is None else self._check_n_clusters(rows)
        most = int(rows.n_clusters.max())
        if least > most:
            raise ValueError(
                f"n_clusters of MajorityVoting must be ≤ the {most} clusters of the partition with the most. Got "
                f"{least}. Ask for fewer clusters, or use a method that splits clusters, as KMeansConsensus."
            )
        order = order_by_entropy(rows, self.n_jobs)
        enough = order.partitions[rows.n_clusters[order.partitions] >= least]
        reference = int(enough[np.argmax(agreements(rows, self.n_jobs)[enough])])
        self.reference_ = int(self._voting[reference])
        k = int(rows.n_clusters[reference]) if self.n_clusters is None else least
        everyone = np.arange(len(rows.n_clusters))
        N = contingency_with(rows, reference, everyone, self.n_jobs)[:, order.labels[reference][:k]]
        meant = match_to_reference(N, order.labels, rows.offsets)
        labels = LabelVotes(meant, rows.weights, rows.offsets, order.partitions, k)
        clusters = most_voted(rows.codes, labels, self.n_jobs)
        if rows.units is not None:
            assign_units(rows, rows.units, clusters, lambda bound: count_votes(bound, labels), type(self).__name__)
        return renumber_parts(clusters)

    def _numbers(self, rows: Rows, clusters: NDArray[Any]) -> NDArray[np.int64]:
        sizes = np.zeros(int(clusters.max()) + 1, dtype=np.int64)
        tally_clusters(clusters, rows.counts, sizes, np.zeros_like(sizes))
        return np.argsort(np.argsort(-sizes, kind="stable"))  # ties by the clusters of the reference
