"""Evidence accumulation: a hierarchy of the objects by how often the partitions join them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from ensemblage.base.memory import MAX_BYTES, OVERHEAD, Need
from ensemblage.base.threads import thread_count
from ensemblage.base.validation import Bytes, Constraints, Flag, Seed, Words, check_bytes, format_value
from ensemblage.consensus._capabilities import COMPARES_ROWS, Capabilities
from ensemblage.consensus._lifetime import (
    PER_OBJECT,
    PER_ROW,
    Hierarchy,
    duplicate_heights,
    hierarchy_of_rows,
    linkage_matrix,
)
from ensemblage.consensus._precomputed import THRESHOLD_CONSTRAINTS, SimilarityConsensus, threshold_of
from ensemblage.consensus.diagnostics import Diagnostics, PairCounts
from ensemblage.consensus.hierarchies._label_similarity import MATRICES, LabelSimilarity, cts, ecpcs
from ensemblage.consensus.hierarchies._linkage import (
    LINKAGES,
    PairMatrices,
    by_content,
    hierarchy_diagnostics,
    merges_of_matrix,
    pair_matrices,
    row_similarity,
)
from ensemblage.consensus.hierarchies._unit_linkage import check_reached, hierarchy_of_units, need_of_units
from ensemblage.kernels._linkage import Condensed
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows, object_rows
from ensemblage.metrics._cluster_weights import CLUSTER_WEIGHTS, local_weights
from ensemblage.metrics._coassociation import association_counts
from ensemblage.metrics._wat import SPLITS, histogram_of

NO_WARD = (
    "which takes co-associations for Euclidean distances. Use KMeansConsensus for least squares on the binary matrix."
)


def eac(
    codes: NDArray[Any],
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    linkage: str = "average",
    threshold: float | None = None,
    eci: NDArray[np.float64] | None = None,
    labels: LabelSimilarity | None = None,
    n_jobs: int | None = None,
    room: int = MAX_BYTES,
) -> Hierarchy:
    """Evidence accumulation of m label rows by N partitions (Fred & Jain 2005).

    1. A partition that joins two objects is a vote for them: the co-association is C(i, j) = n_ij / N, of n_ij votes.
    2. The linkage of C, single or average in the paper, is a hierarchy of the objects.
    3. The consensus is its cut into the number of clusters with the longest lifetime (`Hierarchy.cut`).

    Other methods count votes in another way and take average linkage:

    - LWEA (Huang, Wang & Lai 2018): the vote of a cluster is worth its ECI, and C is LWCA. ``eci`` is the weight of
      each label, (offsets[N],), 0 for missing: Eqs. 5 to 8 are `metrics.cluster_weights`.
    - ECPCS-HC (Huang et al. 2021, Eqs. 12 to 15) and CTS (Iam-On et al. 2011): a partition that separates two objects
      votes for them as much as their clusters are similar. ``labels`` are these similarities.

    Similarities up to ``threshold`` count as 0. ``room`` are the bytes that a faster way may take.

    codes : (m, N)
    counts : (m,) objects of each row
    offsets : (N + 1,) first label of each partition, with one for missing
    weights : (N,)
    """
    C = row_similarity(codes, counts, offsets, weights, threshold, eci, labels, n_jobs)  # 1
    merges = LINKAGES[linkage].merges(C, room)  # 2
    duplicates = (
        None if eci is None else duplicate_heights(codes, offsets, C.compared.weights, C.compared.joins, merges)
    )
    return hierarchy_of_rows(merges, counts, duplicates)  # 3


SIMILARITIES: dict[str, Callable[..., LabelSimilarity] | None] = {"coassociation": None, "ecpcs": ecpcs, "cts": cts}


@dataclass(eq=False, repr=False)
class EvidenceAccumulation(SimilarityConsensus):
    """Use it for a dendrogram or with k unknown, up to 20,000 objects: linkage of the co-association (EAC).

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most the number of distinct label rows. None: the number with the
        longest lifetime, the widest range of heights at which the hierarchy has that many clusters (the larger
        number on ties). One cluster is never found that way. Fewer than three distinct label rows are a cluster each.
    linkage : {"single", "average", "complete"}, default "average"
        Clusters are as similar as their most similar pair, all their pairs on average, or their least similar pair.
    similarity : {"coassociation", "ecpcs", "cts"}, default "coassociation"
        How similar two objects are in a partition that separates them: 0, or as similar as their clusters are, by
        random walks over the clusters of all partitions (ECPCS) or by the neighbours that the clusters share (CTS).
    association_threshold : {"kmeans", "gmm"} or float, optional
        Co-associations up to it count as 0: the weighted ones, of the partitions that label both objects. A number is
        at least 0 and below 1. A word: the number that `weak_association_threshold` finds by that method. With another
        ``similarity`` or with ``cluster_weights`` it is on that, and a number.
    cluster_weights : {"eci"}, float or list of array-like, optional
        Weight of each cluster: "eci" or a number θ > 0 is that of `metrics.cluster_weights`, with θ = .4 or that
        number; a list has for each partition the numbers, from 0 to 1, of its clusters in the order of their labels.
        Default: 1.
        Two objects in one cluster are then as similar as its weight says; "eci" with average linkage is LWEA. Only with
        "coassociation".
    distinct : bool, default True
        Whether objects with equal labels stay together, also where ``cluster_weights`` make them less than fully
        similar. False is the published LWEA: a cut into many clusters may part them, and it takes as long as if all
        labels were distinct.
    max_bytes : int or str, default 2 GiB
        Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
        would take more is refused.
        Only what grows with the pairs of rows or of clusters is looked at: complete linkage, average linkage with a
        threshold, ECPCS and CTS.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out, 2 is the partition twice. Default: one each. "agreement":
        `metrics.agreement_weights`.
        With another ``similarity`` than "coassociation" only where objects are compared: how similar clusters are
        counts each partition once.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the pairs that `weak_association_threshold` draws where there are too many.

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
    cluster_weights_ : list of ndarray of shape (n_clusters_of_partition,)
        The weights of each partition's clusters, none for a partition of weight 0. Only with ``cluster_weights``.
    linkage_matrix_ : ndarray of shape (n_objects - 1, 4)
        The hierarchy in SciPy's format, heights 1 - similarity. Objects with equal labels merge first, at height 0;
        with ``cluster_weights`` before any of them merges with another, at 1 - the mean weight of their clusters.
        Objects that no partition labels merge last, at height 1.
    lifetimes_ : dict of int to float
        Lifetime of each number of clusters that has one above 0, by decreasing number.
    association_threshold_ : float
        Similarities up to it count as 0. Only with ``association_threshold``.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` exceeds the number of distinct label rows, a parameter is out of its range, or the fit would
        take more than ``max_bytes``.

    Notes
    -----
    O(m² p) time for m distinct label rows of p labels, O(d³) more for ECPCS, O(d² max k) for CTS of d labels. Single
    and average linkage take O(m p + d) memory, and single linkage up to 256 MB for bitmaps. Complete linkage keeps m²
    bytes if there are at most 254 different similarities and room for them, else 1 to 4 bytes per pair of rows; average
    linkage with a threshold 4 to 8, twice as many where labels are missing.

    Ties are the rule, for similarities are multiples of 1/p. What the labels hold decides between equally similar
    pairs, neither the order of the objects nor the names of the labels. ``n_clusters`` cuts by the order of the merges,
    so exactly that many clusters come out. With missing labels two objects are compared by the partitions that label
    both. Rules and costs: :doc:`Evidence accumulation </theory/evidence>`.

    References
    ----------
    A. Fred, A. K. Jain, "Combining multiple clusterings using evidence accumulation", TPAMI 27(6), 2005.
    G. Candel, "Linear time evidence accumulation clustering with k-means", Secs. 3.4 and 5.1.5.
    D. Huang et al., "Enhanced ensemble clustering via fast propagation of cluster-wise similarities", IEEE TSMC-S,
    2018, Eqs. 12-15.
    D. Huang, C.-D. Wang, J.-H. Lai, "Locally weighted ensemble clustering", IEEE Transactions on Cybernetics 48(5),
    2018: LWEA.
    N. Iam-On, T. Boongoen, S. Garrett, C. Price, "A link-based approach to the cluster ensemble problem", TPAMI 33,
    2011.

    Examples
    --------
    >>> from ensemblage.consensus import EvidenceAccumulation
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> eac = EvidenceAccumulation().fit(labels)
    >>> eac.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> eac.linkage_matrix_[:, 2].round(2)
    array([0.  , 0.  , 0.33, 0.33, 0.89])
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **THRESHOLD_CONSTRAINTS,
        "cluster_weights": CLUSTER_WEIGHTS,
        "linkage": [Words(LINKAGES, {"ward": NO_WARD})],
        "similarity": [Words(SIMILARITIES)],
        "distinct": [Flag()],
        "max_bytes": [Bytes()],
        "random_state": [Seed()],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    linkage: str = "average"
    similarity: str = "coassociation"
    association_threshold: str | float | None = None
    cluster_weights: Any = None
    distinct: bool = True
    max_bytes: int | str = MAX_BYTES
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    cluster_weights_: list[NDArray[np.float64]] = field(init=False)
    linkage_matrix_: NDArray[np.float64] = field(init=False)
    lifetimes_: dict[int, float] = field(init=False)
    association_threshold_: float = field(init=False)

    _capabilities: ClassVar[Capabilities] = Capabilities(
        in_memory=COMPARES_ROWS, compares_pairs=True, cannot_link=True, finds_n_clusters=True, similarities=True
    )

    def _restrict(self, able: Capabilities) -> Capabilities:
        able = replace(able, sample_weight=self.distinct)
        # Asked before the parameters are checked, too: an array has no truth value.
        is_plain = str(self.similarity) == "coassociation"
        by_counts = is_plain and self.cluster_weights is None and not isinstance(self.association_threshold, str)
        return able if by_counts else replace(able, similarities=False)

    def _make_rows(self, rows: Rows) -> Rows:
        if self.distinct:
            return rows
        if rows.sample_weight is not None:
            raise ValueError(
                "EvidenceAccumulation must have distinct=True with sample_weight. Got distinct=False, in which "
                "every object is a row. Set distinct=True, or repeat the rows of X: "
                "np.repeat(X, sample_weight, axis=0)."
            )
        return object_rows(rows)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        """By rows and labels in the order of their content: ties are the rule, and no name of a label decides them."""
        k = None if self.n_clusters is None else self._check_n_clusters(rows)
        # 0 takes nothing away: where similarities are equal, the pair that is joined first is that of no threshold.
        threshold = threshold_of(self, rows) or None
        if isinstance(self.association_threshold, str):
            self._check_bytes(rows, k or 0, more=self._matrices(rows, threshold is not None).n_bytes(len(rows)))
        self.__dict__.pop("cluster_weights_", None)  # of an earlier fit
        eci = None if self.cluster_weights is None else local_weights(self, rows)
        ordered, order, place = by_content(rows)
        of_labels = SIMILARITIES[self.similarity]
        H = None if of_labels is None else ordered.binary_matrix()
        labels = None if of_labels is None else of_labels(H, ordered.counts, ordered.n_clusters)
        eci = None if eci is None else eci[place]
        given = ordered.codes[:], ordered.counts, ordered.offsets, ordered.weights
        options = threshold, eci, labels, self.n_jobs
        if ordered.units is None:
            room = check_bytes(self.max_bytes, "max_bytes of EvidenceAccumulation") - self._bytes_of_rows(rows)
            found = eac(*given, self.linkage, *options, room)
        else:
            found = hierarchy_of_units(row_similarity(*given, *options), ordered.units, LINKAGES[self.linkage])
            check_reached(k, found.n_least, ordered.units)
        clusters = np.empty(len(rows), dtype=np.int64)
        clusters[order] = self._cut(found, ordered, k)
        return clusters

    def _cut(self, found: Hierarchy, rows: Rows, k: int | None) -> NDArray[np.int64]:
        """(m,) cluster of each row; keeps the hierarchy of the objects and the lifetimes."""
        self.linkage_matrix_ = linkage_matrix(found.merges, rows.inverse, found.of_duplicates)
        self.lifetimes_ = {number: life for number, life in found.lives.items() if life > 0}
        return found.cut(k)

    def _bytes(self, rows: Rows, k: int, n_entries: int | None = None, more: int = 0) -> Need | None:
        """Of the similarities of clusters, and then of those of rows, with links or as the linkage keeps them.

        ``more`` are those of rows where the threshold had to be found first.
        """
        d, needs = int(rows.n_clusters.sum()), list[Need]()
        if self.cluster_weights is None and (n_matrices := MATRICES[self.similarity]):
            advice = "Use similarity='coassociation', which needs no such matrix, or raise max_bytes."
            needs.append(Need(OVERHEAD + n_matrices * 8 * d * d, f"the similarities of {d:,} clusters", advice))
        given = self.association_threshold
        matrices = self._matrices(rows, bool(given) and not isinstance(given, str))
        if rows.units is not None:
            needs.append(need_of_units(rows.units))
        elif matrices.number or more:
            advice = (
                "Use linkage='single', or 'average' without a threshold: they compare no pairs in memory. Or raise "
                "max_bytes."
            )
            of_pairs = (more or matrices.n_bytes(len(rows))) + self._bytes_of_rows(rows)
            n_bytes = max(of_pairs, OVERHEAD + PER_OBJECT * len(rows.inverse))
            needs.append(Need(n_bytes, f"the similarities of {len(rows):,} distinct label rows", advice))
        return max(needs, key=lambda need: need.n_bytes, default=None)

    def _bytes_of_rows(self, rows: Rows) -> int:
        """What a fit takes besides the similarities of pairs, before the hierarchy of the objects."""
        m, p = rows.codes.shape
        of_labels = 16 * int(rows.offsets[-1]) * min(thread_count(self.n_jobs), m)
        return OVERHEAD + m * (p * int(rows.codes.dtype.itemsize) + PER_ROW) + of_labels

    def _matrices(self, rows: Rows, thresholded: bool) -> PairMatrices:
        """What the linkage keeps of all pairs of rows."""
        by_counts = self.similarity == "coassociation" and self.cluster_weights is None and np.ptp(rows.weights) == 0
        p, counts = rows.codes.shape[1], rows.counts
        return pair_matrices(self.linkage, p, counts, rows.complete, by_counts, thresholded)

    def _fit_similarity(self, S: Any, rows: Rows) -> NDArray[Any]:
        pairs = squareform(S, checks=False)
        if (threshold := threshold_of(self)) is not None:
            pairs[pairs <= threshold] = 0
        condensed = Condensed(pairs, np.empty(0), np.ones(len(S)))
        found = hierarchy_of_rows(merges_of_matrix(condensed, LINKAGES[self.linkage].kernel), rows.counts)
        return self._cut(found, rows, None if self.n_clusters is None else int(self.n_clusters))

    def _check_no_labels(self) -> None:
        super()._check_no_labels()
        for name, plain in (("similarity", "coassociation"), ("cluster_weights", None)):
            if (given := getattr(self, name)) is not plain and given != plain:
                raise ValueError(
                    f"{name} of EvidenceAccumulation must be {plain!r} if similarities are given. Got "
                    f"{format_value(given)}. Leave it out."
                )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        plain = self.similarity == "coassociation"
        if self.cluster_weights is not None and not plain:
            raise ValueError(
                "cluster_weights of EvidenceAccumulation must be None unless similarity is 'coassociation'. Got "
                f"similarity={self.similarity!r}. Leave one of them out."
            )
        if isinstance(self.association_threshold, str) and not (plain and self.cluster_weights is None):
            where = "there are cluster_weights" if plain else f"similarity is {self.similarity!r}"
            raise ValueError(
                f"association_threshold of EvidenceAccumulation must be a number where {where}, which is not the "
                f"co-association. Got {self.association_threshold!r}. Give a number."
            )

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        found = hierarchy_diagnostics(self)
        threshold = None if self.association_threshold is None else self.association_threshold_
        plain = self.similarity == "coassociation" and self.cluster_weights is None and np.ptp(self._weights) == 0
        if plain and len(self.labels_) > 1:
            found.append(pair_counts(ensemble, threshold))
        elif threshold is not None:
            found.append(PairCounts(np.empty(0, dtype=np.int64), {}, threshold, 0))
        return tuple(found)


MOST_COUNTED = 4_096
"""Objects whose pairs are counted for `PairCounts`: a random sample of more."""


def pair_counts(ensemble: Ensemble, threshold: float | None) -> PairCounts:
    """Pairs of objects by the nearest multiple of 1 / p, and where they fall into two groups."""
    n = len(ensemble)
    if n > MOST_COUNTED:
        ensemble = ensemble[np.sort(np.random.RandomState(0).choice(n, MOST_COUNTED, replace=False))]
    table = association_counts(ensemble)
    p, counts = len(table) - 1, table
    if table.ndim == 2:
        joined = np.arange(p + 1)
        places = np.rint(p * joined[:, None] / np.maximum(joined, 1)).astype(np.int64)
        counts = np.zeros(p + 1, dtype=np.int64)
        np.add.at(counts, np.minimum(places, p), table)
    parted_at = {name: float(split(histogram_of(table))) for name, split in SPLITS.items()}
    return PairCounts(counts, parted_at, threshold, len(ensemble))
