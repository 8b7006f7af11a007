"""k-modes (Huang 1998) as a consensus (Luo, Kong & Li 2006): k-means with modes, on the labels themselves."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import Constraints, weight_unit
from ensemblage.consensus._base import InductiveConsensus
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.kmeans._label_kmeans import (
    KMEANS_CONSTRAINTS,
    N_INIT,
    Centroids,
    best_start,
    predicted_clusters,
    single_precision,
)
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.rows import Rows
from ensemblage.metrics._density import labelled_members


def modes(profile: NDArray[np.int64], counts: NDArray[np.int64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """(k, d) the modes of k clusters (Huang 1998, Theorem 1): one 1 in each partition, at its commonest label.

    It is the commonest among the labelled members of the cluster, the first one on ties; where a partition labels none
    of them, its commonest label of all stands in.

    profile : (k, d) objects of each cluster with each label
    counts : (d,) objects with each label
    offsets : (p + 1,) first label of each partition, of which the last one is the missing entry
    """
    starts, sizes = offsets[:-1], np.diff(offsets)
    known = np.where(labelled_members(profile, offsets).repeat(sizes, axis=1) > 0, profile, counts)
    known[:, offsets[1:] - 1] = -1
    commonest = known == np.maximum.reduceat(known, starts, axis=1).repeat(sizes, axis=1)
    places = np.where(commonest, np.arange(len(counts)), len(counts))
    found = np.zeros(profile.shape)
    np.put_along_axis(found, np.minimum.reduceat(places, starts, axis=1), 1, axis=1)
    return found


@dataclass(frozen=True)
class ModeUtility:
    """Weighted number of the partitions whose label is not the cluster's mode; a missing label costs nothing.

    Each partition is compared with itself alone. Centroids are `modes`.
    """

    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    counts: NDArray[np.int64]
    """(d,) objects with each label."""

    bounded: ClassVar[bool] = False

    def centroids(self, profile: NDArray[np.int64]) -> NDArray[np.float64]:
        return modes(profile, self.counts, self.offsets)

    def distances(self, centroids: NDArray[np.float64]) -> NDArray[np.float32]:
        """(d, k) weight of the partition where the label is not the mode."""
        table = (1 - centroids) * np.repeat(self.weights, np.diff(self.offsets))
        table[:, self.offsets[1:] - 1] = 0
        return single_precision(table.T)

    def base(self, codes: NDArray[Any]) -> NDArray[np.float32]:
        return np.zeros(len(codes), dtype=np.float32)

    def loss(self, profile: NDArray[np.int64]) -> float:
        """Weighted number of the labels that are not their cluster's mode."""
        known = profile.copy()
        known[:, self.offsets[1:] - 1] = 0
        most = np.maximum.reduceat(known, self.offsets[:-1], axis=1)
        return float(((labelled_members(profile, self.offsets) - most).sum(axis=0) * self.weights).sum())

    def shifts(self, before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError

    def rounding(self) -> float:
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class KModesConsensus(InductiveConsensus):
    """Use it with k given, for centres that are label rows, in linear time: k-modes on the labels.

    The cost of an object is the number of the partitions that give it another label than the mode of its cluster. Each
    partition is compared with itself alone, so that none needs to be relabelled.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows.
    init : {"k-means++", "random"} or array-like of shape (n_objects,), default "k-means++"
        Greedy k-means++ by the numbers of labels that differ, distinct random objects, or a partition to start from
        (-1: object without a cluster).
    n_init : int or "auto", default "auto"
        Number of starts, the one with the least loss wins. "auto": 1.5·10⁶ / (m p k) for m distinct rows of p
        labels, but at least 10 and at most 300. A given ``init`` makes one start.
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
        Cost: the weighted number of labels that are not their cluster's mode. Least is best.
    n_iter_ : int
        Iterations of the best start.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` is missing or exceeds the number of distinct label rows, or a parameter is out of its range.

    See Also
    --------
    KMeansConsensus : The same with proportions of the labels instead of modes; it tells near labels from far ones.

    Notes
    -----
    O(m p k) time per iteration for m distinct rows of p labels. Memory beyond the ensemble: its distinct rows and
    about 20 bytes for each.

    Equally common labels: the first one is the mode; equally near modes: the first cluster. Costs are whole numbers
    where weights are equal, so ties are frequent. A missing label costs nothing, and a mode is that of the labelled
    members. An empty cluster takes the row that is worst served.

    ``predict`` of the rows of ``fit`` gives ``labels_``.

    References
    ----------
    Z. Huang, "Extensions to the k-means algorithm for clustering large data sets with categorical values", Data Mining
    and Knowledge Discovery 2, 1998.
    H. Luo, F. Kong, Y. Li, "Combining multiple clusterings via k-modes algorithm", ADMA 2006.

    Examples
    --------
    >>> from ensemblage.consensus import KModesConsensus
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> model = KModesConsensus(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> model.objective_  # object 2 in the last partition, object 5 in the second
    2.0
    """

    _capabilities: ClassVar[Capabilities] = Capabilities(cannot_link=True, in_memory="", predict=True)
    _parameter_constraints: ClassVar[Constraints] = {**KMEANS_CONSTRAINTS, "n_init": N_INIT}

    n_clusters: int | None = None
    _: KW_ONLY
    init: Any = "k-means++"
    n_init: int | str = "auto"
    max_iter: int = 100
    tol: float = 0.0
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    objective_: float = field(init=False)
    n_iter_: int = field(init=False)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        self._utility = ModeUtility(rows.offsets, rows.weights, rows.label_sizes(self.n_jobs))
        best = best_start(self, rows, self._utility, self._check_n_clusters(rows))
        self._centroids = Centroids.of(best, rows.codes, rows.units)
        self.objective_, self.n_iter_ = best.loss * weight_unit(self.weights), best.n_iter
        return best.clusters

    def _predict_codes(self, codes: LabelRows) -> NDArray[np.int32]:
        return predicted_clusters(self, codes)
