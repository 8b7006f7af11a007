"""Consensus by voting (Ayad & Kamel 2010): relabel the partitions to one of them, average, merge what belongs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage._random import task_seeds
from ensemblage._validation import MOST_TASKS, check_choice, check_whole
from ensemblage.consensus._base import Rows
from ensemblage.consensus._vote_order import Ballot
from ensemblage.consensus._votes import (
    LabelSums,
    Votes,
    all_tables,
    bipartite_losses,
    bipartite_votes,
    by_mass,
    cumulative_losses,
    cumulative_votes,
    sum_labels,
)
from ensemblage.consensus._voting_base import VotingConsensus


class CumulativeVoting(VotingConsensus):
    """Consensus by cumulative voting (ACV): finds the number of clusters, and may start from many more than that.

    Ada-cVote (Ayad & Kamel, Alg. 2): the partition with the largest entropy is the reference; one after the other,
    the others are relabelled to it by least squares (each cluster is shared out among the reference's clusters as its
    objects are) and averaged. JS-ALink then merges the reference clusters whose objects are the same.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most that of the largest partition. None: the number with the longest
        lifetime in the hierarchy of the reference's clusters, at least 2 and less than all of them; all of them where
        they are 1 or 2, for nothing is in between.
    order : {"entropy", "divergence", "given"}, default "entropy"
        Which partition votes next: the one with the largest entropy, the one whose votes have the least
        Kullback-Leibler divergence from the aggregate so far (Sec. 3.1), or as in the label matrix. The reference is
        the first of them, by entropy or as given, that has at least ``n_clusters`` clusters.
        Partitions of equal entropy (as those with clusters of equal sizes: the paper leaves their order open) go by
        decreasing agreement, the weighted mean of their adjusted Rand indices with all partitions.
    voting : {"adaptive", "fixed"}, default "adaptive"
        Relabel to the aggregate so far, or to the reference alone.
    linkage : {"average", "aib"}, default "average"
        JS-ALink: average linkage of the divergences between the columns of ``aggregate_``. Or the agglomerative
        information bottleneck, which merges what costs the least I(C; X) and then computes the divergences anew: k0
        times the work.
    include_singletons : bool, default False
        Without ``n_clusters``: whether all clusters of the reference are a candidate too.
    weights : array-like of shape (n_partitions,), optional
        Weight of each partition's votes; 0 leaves it out, 2 is the partition twice. Default: one each.
    n_jobs : int, optional
        Threads. Default: every core. The result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Cluster of largest membership (on ties the one with the largest cluster of ``aggregate_``), numbered by
        decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1.
    membership_ : ndarray of shape (n_objects, k)
        Probability of each cluster; rows sum to 1, NaN where no partition votes. Computed at every access.
    aggregate_ : ndarray of shape (n_objects, k0)
        The same before the merges, for the k0 clusters of the reference by decreasing size (Ū). Computed at every
        access.
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
    rows: O(d k0) with d = Σk_i, per thread; no array of objects by reference clusters unless it is asked for.

    A fitted estimator keeps the distinct label rows, for ``aggregate_`` and ``membership_``.

    Missing labels: a partition that does not label an object does not vote for it; the object's row of Ū is the mean
    of the votes it has. Relabelling takes the mean over earlier votes, each of which counts once.

    With order "entropy" or "divergence", neither the order of the partitions nor the names of the labels matter. Nor
    does the order of the objects, unless the ensemble is symmetric: ties are broken by what labels and partitions join
    (colour refinement of the graph of objects, labels and partitions), and by the places of the first objects only
    among labels or partitions that this cannot tell apart.

    References
    ----------
    H. G. Ayad, M. S. Kamel, "On voting-based consensus of cluster ensembles", Pattern Recognition 43, 2010, Alg. 2,
    Eqs. 3-9.
    H. G. Ayad, M. S. Kamel, "Cumulative voting consensus method for partitions with a variable number of clusters",
    TPAMI 30(1), 2008 (JS-ALink).
    N. Slonim, N. Tishby, "Agglomerative information bottleneck", NIPS 1999.

    Examples
    --------
    >>> from ensemblage import CumulativeVoting
    >>> labels = [[0, 0], [0, 0], [1, 0], [1, 0], [2, 1], [3, 1], [4, 1], [2, 1], [3, 1], [4, 1]]
    >>> acv = CumulativeVoting().fit(labels)
    >>> acv.n_clusters_, acv.labels_
    (2, array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0], dtype=int32))
    >>> {k: round(life, 3) for k, life in acv.lifetimes_.items()}
    {4: 0.03, 3: 0.0, 2: 0.533}
    >>> acv.predict_membership([[0, None], [0, 1]]).round(2)
    array([[0. , 1. ],
           [0.5, 0.5]])
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        order: str = "entropy",
        voting: str = "adaptive",
        linkage: str = "average",
        include_singletons: bool = False,
        weights: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.order = order
        self.voting = voting
        self.linkage = linkage
        self.include_singletons = include_singletons
        self.weights = weights
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_choice(self.order, "order of CumulativeVoting", ["entropy", "divergence", "given"])
        check_choice(self.voting, "voting of CumulativeVoting", ["adaptive", "fixed"])

    def _led_by_reference(self, order: Ballot, k: int | None) -> Ballot:
        partitions = np.sort(order.partitions) if self.order == "given" else order.partitions
        large = [j for j in partitions if len(order.labels[j]) >= (k or 1)]
        led = [large[0], *(j for j in partitions if j != large[0])]
        return Ballot(np.array(led), order.labels, order.sizes)

    def _vote(self, rows: Rows, order: Ballot) -> tuple[Votes, LabelSums]:
        adaptive, by_divergence = self.voting == "adaptive", self.order == "divergence"
        votes = cumulative_votes(rows, order, adaptive, by_divergence, self.n_jobs)
        sums = sum_labels(rows, votes, self.n_jobs)
        self._keep_order(votes, cumulative_losses(sums, order, rows.offsets))
        return votes, sums


class BipartiteVoting(VotingConsensus):
    """Consensus by bipartite matching (BV): each cluster votes for one cluster of the aggregate.

    bVote (Ayad & Kamel, Alg. 1), several passes in random order, the one with the least mean squared error (Eq. 6);
    then JS-ALink as in `CumulativeVoting`. Meant for partitions with the number of clusters that is wanted; where they
    have more, `CumulativeVoting` is far better (Ayad & Kamel, Sec. 4.5).

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most that of the largest partition. None: the number with the longest
        lifetime in the hierarchy of the aggregate's clusters, at least 2 and less than all of them; all of them where
        they are 1 or 2, for nothing is in between.
    n_passes : int, default 10
        Random orders of the partitions to try.
    linkage : {"average", "aib"}, default "average"
        JS-ALink: average linkage of the divergences between the columns of ``aggregate_``. Or the agglomerative
        information bottleneck, which merges what costs the least I(C; X) and then computes the divergences anew: k0
        times the work.
    include_singletons : bool, default False
        Without ``n_clusters``: whether all clusters of the aggregate are a candidate too.
    weights : array-like of shape (n_partitions,), optional
        Weight of each partition's votes; 0 leaves it out. Default: one each.
    n_jobs : int, optional
        Threads. Default: every core. The result does not depend on it.
    random_state : int, RandomState or None
        Seed of the orders.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Cluster of largest membership (on ties the one with the largest cluster of ``aggregate_``), numbered by
        decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1.
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

    With the same seed, neither the order of the partitions nor the names of the labels matter, nor, unless the ensemble
    is symmetric, that of the objects: ties are broken as in `CumulativeVoting`.

    References
    ----------
    H. G. Ayad, M. S. Kamel, "On voting-based consensus of cluster ensembles", Pattern Recognition 43, 2010, Alg. 1,
    Eqs. 2 and 6. E. Dimitriadou, A. Weingessel, K. Hornik, "A combination scheme for fuzzy clustering", IJPRAI 16(7),
    2002.

    Examples
    --------
    >>> from ensemblage import BipartiteVoting
    >>> labels = [[0, 1, 2], [0, 1, 2], [0, 1, 0], [1, 2, 0], [1, 2, 0], [2, 0, 1], [2, 0, 1]]
    >>> bv = BipartiteVoting(n_clusters=3, random_state=0).fit(labels)
    >>> bv.labels_
    array([0, 0, 0, 1, 1, 2, 2], dtype=int32)
    >>> bv.membership_[2].round(2)
    array([0.67, 0.33, 0.  ])
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_passes: int = 10,
        linkage: str = "average",
        include_singletons: bool = False,
        weights: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_passes = n_passes
        self.linkage = linkage
        self.include_singletons = include_singletons
        self.weights = weights
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_whole(self.n_passes, "n_passes of BipartiteVoting", 1, MOST_TASKS)

    def _vote(self, rows: Rows, order: Ballot) -> tuple[Votes, LabelSums]:
        ballots = all_tables(rows, order, self.n_jobs)
        self.objective_ = np.inf
        for seed in task_seeds(self.random_state, self.n_passes):
            shuffled = np.random.RandomState(seed).permutation(order.partitions)
            votes = bipartite_votes(ballots, shuffled, rows.offsets)
            sums = sum_labels(rows, votes, self.n_jobs)
            losses = bipartite_losses(sums, order, rows.offsets)
            # Summed in an order by content, so that passes that tie tie whatever the names and places.
            objective = float(np.average(losses.mse[order.partitions], weights=rows.weights[order.partitions]))
            if objective < self.objective_:
                best, self.objective_, best_losses, masses = votes, objective, losses, sums.masses
        self._keep_order(best, best_losses)
        best = by_mass(best, masses)
        return best, sum_labels(rows, best, self.n_jobs)
