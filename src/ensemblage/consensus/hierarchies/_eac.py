"""Evidence accumulation: a hierarchy of the objects by how often the partitions join them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from ensemblage.base.memory import MAX_BYTES, OVERHEAD, Need
from ensemblage.base.validation import Bytes, Constraints, Flag, Seed, Words, format_value
from ensemblage.consensus._capabilities import COMPARES_ROWS, Capabilities
from ensemblage.consensus._local_weights import LocallyWeighted
from ensemblage.consensus._precomputed import ThresholdedConsensus
from ensemblage.consensus.evidence import Evidence, PairCounts
from ensemblage.consensus.hierarchies._content_order import ContentOrder
from ensemblage.consensus.hierarchies._ecpcs import ecpcs_hc
from ensemblage.consensus.hierarchies._hierarchy import HierarchicalConsensus, Hierarchy, hierarchy_of
from ensemblage.consensus.hierarchies._label_similarity import MATRICES, cts, no_similarity
from ensemblage.consensus.hierarchies._linkage import PairMatrices, bytes_with_pairs, merges_of_matrix
from ensemblage.consensus.hierarchies._linkages import LINKAGES, Linkage
from ensemblage.consensus.hierarchies._lwea import lwea
from ensemblage.consensus.hierarchies._row_similarity import RowSimilarity
from ensemblage.consensus.hierarchies._unit_linkage import need_of_units
from ensemblage.kernels._linkage import Condensed
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.links import ImpossiblePairs, Units, objects_text
from ensemblage.labels.rows import Rows, object_rows
from ensemblage.metrics._coassociation import association_counts
from ensemblage.metrics._wat import SPLITS, histogram_of

NO_WARD = (
    "which takes co-associations for Euclidean distances. Use KMeansConsensus for least squares on the binary matrix."
)


def eac(coassociation: RowSimilarity, linkage: Linkage, max_bytes: int | str) -> Hierarchy:
    """Fred & Jain 2005: two objects are as similar as the share of the partitions that join them says."""
    return hierarchy_of(coassociation, linkage, max_bytes)


def eac_by_triples(coassociation: RowSimilarity, linkage: Linkage, max_bytes: int | str) -> Hierarchy:
    """Iam-On et al. 2011, CTS: in a partition that parts them, two objects are as similar as their clusters are."""
    return hierarchy_of(replace(coassociation, labels=cts(coassociation.rows)), linkage, max_bytes)


Algorithm = Callable[[RowSimilarity, Linkage, int | str], Hierarchy]
SIMILARITIES: dict[str, Algorithm] = {"coassociation": eac, "ecpcs": ecpcs_hc, "cts": eac_by_triples}


@dataclass(eq=False, repr=False)
class EvidenceAccumulation(HierarchicalConsensus, ThresholdedConsensus, LocallyWeighted):
    """Use it for a dendrogram or with k unknown, up to 20,000 objects: linkage of the co-association (EAC).

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most the number of distinct label rows. None: the number with the
        longest lifetime, the widest range of heights at which the hierarchy has that many clusters (the larger
        number on ties). One cluster is never found that way. Objects that are all different are at most n - 1
        clusters, so three of them are two; with fewer than three distinct label rows there is nothing to compare and
        each of them is a cluster.
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
        of another one but not of both; see `metrics.certainty`. 1: no partition supports another cluster. ½: two
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
    For m distinct label rows of p labels, d labels in all: single linkage is a minimum spanning tree by Prim's
    algorithm, O(m² p) time and O(m p) memory; where no label is missing and the weights are equal, on bitmaps of
    m d / 8 bytes, up to 256 MB and a quarter of ``max_bytes`` (m = 100,000, p = 20: 1.5 s; beyond, and otherwise,
    four times as long). Average linkage compares label counts of clusters (Candel Eqs. 4, 5, 14) in rounds that merge
    all reciprocal nearest neighbours, O(m² p) time as a rule and O(m p + d) memory; along a chain of nearest
    neighbours, several times slower, where labels are missing or similar or weights differ. Complete linkage takes
    O(m² p) time. Where there are at most 254 different similarities and ``max_bytes`` holds m² bytes, it keeps rows of
    m bytes for the clusters it is at work on, at most m rows (m = 20,000: 37 MB); otherwise a condensed matrix of
    m (m - 1) / 2 pairs, 1 to 4 bytes per pair; average linkage with a threshold 4 to 8, twice as many where labels are
    missing. Each distinct row takes p codes and 160 bytes besides, and each object
    80 bytes. ECPCS adds O(d³) time and eight (d, d) matrices of 8 bytes, CTS O(d² max k) and four.

    Ties are the rule, for similarities are multiples of 1/p. Distinct label rows are numbered by their content: in each
    partition the larger label comes first, and of equally large ones what other labels their objects have decides. A
    cluster has the number of its first row. Of equally similar pairs the one with the smallest two numbers is merged
    first (with single linkage: the numbers of the most similar two rows). Average linkage may begin with another of
    them where no partition labels both of two objects. So neither the order of the objects nor the names of the labels
    matter, but of what a symmetry of the ensemble exchanges: there names decide between equally good clusters. Copies
    of partitions or of all objects change nothing. ``n_clusters`` cuts by the order of the merges, so exactly that many
    clusters come out.

    Missing labels: two objects are compared by the partitions that label both, and are not similar if there is none.
    The mean similarity of two clusters is a ratio of sums, (partitions that join a pair) / (that label both), over all
    pairs and partitions. That of a union lies between those of its parts, so heights are monotone. With a threshold a
    pair up to it adds nothing to the first sum. With equal weights both sums are counts: equally similar is exact. Sums
    of other weights are added in the order of the partitions and of the merges, so that their ties may be rounded away.

    Ward's linkage is not offered: it would take co-associations for Euclidean distances, which they are not. What it
    would minimise, the squared distance of the rows of the binary matrix to the centres of their clusters, is the loss
    of `KMeansConsensus`.

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
    >>> from ensemblage import EvidenceAccumulation
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> eac = EvidenceAccumulation().fit(labels)
    >>> eac.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> eac.linkage_matrix_[:, 2].round(2)
    array([0.  , 0.  , 0.33, 0.33, 0.89])
    """

    _parameter_constraints: ClassVar[Constraints] = {
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

    linkage_matrix_: NDArray[np.float64] = field(init=False)
    lifetimes_: dict[int, float] = field(init=False)

    _capabilities: ClassVar[Capabilities] = Capabilities(
        in_memory=COMPARES_ROWS, compares_pairs=True, cannot_link=True, finds_n_clusters=True, similarities=True
    )

    def _restrict(self, able: Capabilities) -> Capabilities:
        able = replace(super()._restrict(able), sample_weight=self.distinct)
        # Asked before the parameters are checked, too: an array has no truth value.
        is_plain = str(self.similarity) == "coassociation"
        by_counts = is_plain and self.cluster_weights is None
        return able if by_counts else able.without_similarities

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

    def _hierarchy(self, rows: Rows, content: ContentOrder, k: int | None) -> Hierarchy:
        # 0 takes nothing away: where similarities are equal, the pair that is joined first is that of no threshold.
        threshold = self._threshold(rows) or None
        if isinstance(self.association_threshold, str):
            self._check_bytes(rows, k or 0, more=self._matrices(rows, threshold).n_bytes(len(rows)))
        coassociation = RowSimilarity(content.rows, no_similarity(content.rows), threshold, self.n_jobs)
        local = self._local_weights(rows)
        if local is not None:
            found = lwea(coassociation, local[content.labels], LINKAGES[self.linkage], self.max_bytes)
        else:
            found = SIMILARITIES[self.similarity](coassociation, LINKAGES[self.linkage], self.max_bytes)
        if rows.units is not None and k is not None:
            _check_reached(k, found.n_least, rows.units)
        return found

    def _bytes(self, rows: Rows, k: int, n_entries: int | None = None, more: int = 0) -> Need | None:
        """Of the similarities of clusters, and then of those of rows, with links or as the linkage keeps them.

        ``more`` are those of rows where the threshold had to be found first.
        """
        needs = [self._need_of_clusters(int(rows.n_clusters.sum()))]
        needs.append(self._need_of_pairs(rows, more) if rows.units is None else need_of_units(rows.units))
        return max((need for need in needs if need is not None), key=lambda need: need.n_bytes, default=None)

    def _need_of_clusters(self, d: int) -> Need | None:
        n_matrices = MATRICES[self.similarity] if self.cluster_weights is None else 0
        if not n_matrices:
            return None
        advice = "Use similarity='coassociation', which needs no such matrix, or raise max_bytes."
        return Need(OVERHEAD + n_matrices * 8 * d * d, f"the similarities of {d:,} clusters", advice)

    def _need_of_pairs(self, rows: Rows, more: int) -> Need | None:
        given = self.association_threshold
        matrices = self._matrices(rows, None if isinstance(given, str) else given or None)
        if not matrices.number and not more:
            return None
        advice = (
            "Use linkage='single', or 'average' without a threshold: they compare no pairs in memory. Or raise "
            "max_bytes."
        )
        n_bytes = bytes_with_pairs(rows, more or matrices.n_bytes(len(rows)), self.n_jobs)
        return Need(n_bytes, f"the similarities of {len(rows):,} distinct label rows", advice)

    def _matrices(self, rows: Rows, threshold: float | None) -> PairMatrices:
        """What the linkage keeps of all pairs of rows."""
        by_counts = self.similarity == "coassociation" and self.cluster_weights is None
        return LINKAGES[self.linkage].matrices(rows, by_counts and rows.equally_weighted, threshold)

    def _fit_similarity(self, S: Any, rows: Rows) -> NDArray[Any]:
        pairs = squareform(S, checks=False)
        if (threshold := self._given_threshold()) is not None:
            pairs[pairs <= threshold] = 0
        condensed = Condensed(pairs, np.empty(0), np.ones(len(S)))
        found = Hierarchy.of(merges_of_matrix(condensed, LINKAGES[self.linkage].kernel), rows)
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

    def _evidence(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Evidence, ...]:
        found = [*super()._evidence(ensemble, objects)]
        threshold = None if self.association_threshold is None else self.association_threshold_
        plain = self.similarity == "coassociation" and self.cluster_weights is None and np.ptp(self._weights) == 0
        if plain and len(self.labels_) > 1:
            found.append(pair_counts(ensemble, threshold))
        elif threshold is not None:
            found.append(PairCounts(np.empty(0, dtype=np.int64), {}, threshold, 0))
        return tuple(found)


def _check_reached(k: int, n_least: int, units: Units) -> None:
    """Raise unless merges that cannot-link allows lead to k clusters."""
    if k < n_least:
        apart = np.unique(units.objects[units.apart])
        raise ImpossiblePairs(
            lambda name: (
                f"n_clusters of EvidenceAccumulation must be ≥ the {n_least} clusters after which cannot_link forbids "
                f"every merge, of the objects {objects_text(apart, name)}. Got {k}. Ask for more clusters or leave "
                "pairs out."
            )
        )


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
