"""Spectral ensemble clustering (Liu et al. 2015): normalised cuts of the co-association matrix by weighted k-means."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.threads import SUM_ROWS
from ensemblage.base.validation import Constraints
from ensemblage.consensus._base import InductiveConsensus
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.diagnostics import Cut, Diagnostics
from ensemblage.consensus.kmeans._label_kmeans import (
    KMEANS_CONSTRAINTS,
    Centroids,
    best_start,
    predicted_clusters,
    single_precision,
)
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows


@dataclass(frozen=True)
class AssociationUtility:
    """Weighted k-means on h_i / w_i with weights w_i, where w_i = h_i · Σ h is the association of i with all objects.

    w_i is the sum of the sizes of the clusters that i is in. So w_i times the squared distance of h_i / w_i to a
    centroid m, |h_i|² / w_i − 2 h_i · m + w_i |m|², adds up over the labels of i, but for its first term: the same
    tables and kernels as in every other k-means on labels, and no weight per row.
    """

    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    """(d,) weight of each label's partition, 0 for missing."""
    sizes: NDArray[np.int64]
    """(d,) objects with each label."""
    spread: float
    """Σ |h_i|² / w_i over the objects."""

    bounded: ClassVar[bool] = False

    @classmethod
    def of(cls, rows: Rows, n_jobs: int | None = None) -> AssociationUtility:
        sizes = rows.label_sizes(n_jobs)
        weights = np.repeat(rows.weights, np.diff(rows.offsets))
        weights[rows.offsets[1:] - 1] = 0
        first_terms = cls(rows.offsets, weights, sizes, 0.0).first_terms

        def spread_of(codes: Any, counts: Any) -> float:
            return float((first_terms(codes) * counts).sum())

        spread = sum(rows.codes.map(spread_of, reads=[rows.counts], n_jobs=n_jobs, size=SUM_ROWS))
        return cls(rows.offsets, weights, sizes, spread)

    def first_terms(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """|h_i|² / w_i of each row of codes; 0 where only partitions of weight 0 label it."""
        squares, association = np.zeros(len(codes)), np.zeros(len(codes))
        for j, offset in enumerate(self.offsets[:-1]):
            label = offset + codes[:, j]
            squares += self.weights[label]
            association += self.weights[label] * self.sizes[label]
        return np.divide(squares, association, out=squares, where=association > 0)

    def centroids(self, profile: NDArray[np.int64]) -> NDArray[np.float64]:
        """(k, d) Σ h / Σ w of clusters with that profile."""
        centroids: NDArray[np.float64] = profile / self._associations(profile)[:, None]
        centroids[:, self.offsets[1:] - 1] = 0
        return centroids

    def distances(self, centroids: NDArray[np.float64]) -> NDArray[np.float32]:
        """(d, k) table whose rows add up to w times a row's squared distance to every centroid, but for `base`."""
        lengths = (np.square(centroids) * self.weights).sum(axis=1)
        table = self.weights[:, None] * (self.sizes[:, None] * lengths - 2 * centroids.T)
        return single_precision(table)

    def base(self, codes: NDArray[Any]) -> NDArray[np.float32]:
        return self.first_terms(codes).astype(np.float32)

    def loss(self, profile: NDArray[np.int64]) -> float:
        """Weighted k-means loss of the clusters with that profile."""
        kept = (np.square(profile.astype(np.float64)) * self.weights).sum(axis=1) / self._associations(profile)
        return max(self.spread - float(kept.sum()), 0.0)

    def shifts(self, before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError

    def rounding(self) -> float:
        raise NotImplementedError

    def _associations(self, profile: NDArray[np.int64]) -> NDArray[np.float64]:
        """(k,) association of each cluster with all objects, Σ w of its members; 1 where it is 0."""
        associations: NDArray[np.float64] = (profile * (self.weights * self.sizes)).sum(axis=1)
        return np.where(associations > 0, associations, 1.0)


@dataclass(eq=False, repr=False)
class SpectralEnsembleClustering(InductiveConsensus):
    """Use it for spectral clustering of the co-association of any number of objects, in linear time (SEC).

    Minimising the loss below is maximising Σ_C assoc(C, C) / assoc(C, all), the normalised association of the graph
    whose edges are co-associations. A weighted k-means does it: object i is the point h_i / w_i with the weight w_i,
    where h_i is its row of the binary matrix H and w_i = h_i · Σ h, the sum of the sizes of the clusters it is in.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows.
    init : {"k-means++", "random"} or array-like of shape (n_objects,), default "k-means++"
        Greedy k-means++ in the weighted distances, distinct random objects, or a partition to start from (-1: object
        without a cluster).
    n_init : int, default 10
        Number of starts, the one with the least loss wins. A given ``init`` makes one start.
    max_iter : int, default 100
        Most iterations per start.
    tol : float, default 0
        A start ends when no row moves, or when the loss falls by no more than ``tol`` times itself.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out, 2 is the partition twice. Default: one each. "agreement":
        `metrics.agreement_weights`.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the starts.

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
    objective_ : float
        Loss of the weighted k-means: Σ w_i |h_i / w_i − m|².
    normalized_association_ : float
        Σ_C assoc(C, C) / assoc(C, all), at most ``n_clusters``; objects with themselves included. It and
        ``objective_`` add up to Σ p / w_i for every partition.
    n_iter_ : int
        Iterations of the best start.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` is missing or exceeds the number of distinct label rows, or a parameter is out of its range.

    Notes
    -----
    O(m p k) time per iteration for m distinct rows of p labels. Memory beyond the ensemble: its distinct rows and
    about 20 bytes for each.

    A missing label adds nothing to the co-association. ``predict`` of the rows of ``fit`` gives ``labels_``. Only the
    ratios of the weights matter; one below 2⁻⁶⁴ of the largest counts as that much. Copies of all objects change no
    loss, but may lead to other starts.

    References
    ----------
    H. Liu, T. Liu, J. Wu, D. Tao, Y. Fu, "Spectral ensemble clustering", KDD 2015.
    G. Candel, "Linear time evidence accumulation clustering with k-means", Sec. 5.1.3.

    Examples
    --------
    >>> from ensemblage.consensus import SpectralEnsembleClustering
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> sec = SpectralEnsembleClustering(n_clusters=2, random_state=0).fit(labels)
    >>> sec.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> round(sec.normalized_association_, 3)
    1.769
    """

    _capabilities: ClassVar[Capabilities] = Capabilities(in_memory="", predict=True)
    _parameter_constraints: ClassVar[Constraints] = KMEANS_CONSTRAINTS

    n_clusters: int | None = None
    _: KW_ONLY
    init: Any = "k-means++"
    n_init: int = 10
    max_iter: int = 100
    tol: float = 0.0
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    objective_: float = field(init=False)
    n_iter_: int = field(init=False)
    normalized_association_: float = field(init=False)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        self._utility = AssociationUtility.of(rows, self.n_jobs)
        best = best_start(self, rows, self._utility, self._check_n_clusters(rows))
        self._centroids = Centroids.of(best, rows.codes)
        self.objective_, self.n_iter_ = best.loss, best.n_iter
        self.normalized_association_ = self._utility.spread - best.loss
        return best.clusters

    def _predict_codes(self, codes: LabelRows) -> NDArray[np.int32]:
        return predicted_clusters(self, codes)

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        return (Cut("normalized association", float(self.normalized_association_), float(self.n_clusters_)),)
