"""GKCC (Li & Liu 2018): greedy partitions, and k-means based consensus that starts from the best of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from inspect import signature
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from ensemblage.base.features import features_checked
from ensemblage.base.sklearn import BaseEstimator, ClusterMixin
from ensemblage.base.validation import Constraints, check_fitted
from ensemblage.consensus._model import Model, score_of
from ensemblage.consensus.kmeans._kcc import SMOOTHING, UTILITY_CONSTRAINTS, KMeansConsensus
from ensemblage.generation import GreedyPartitions
from ensemblage.generation._base import ensemble_of
from ensemblage.generation._greedy import GreedyParameters, check_greedy
from ensemblage.labels.ensemble import Ensemble


def gkcc(X: ArrayLike, generator: GreedyPartitions, consensus: KMeansConsensus) -> Ensemble:
    """GKCC (Alg. 1): the partitions Π of the features X, (n, m); both estimators are fitted.

    The generator's loop is `greedy_partitions`, of Steps 1 to 3. The consensus starts from its best partition of the
    last stage. Printed, the last k-means runs on X; the text (Secs. 3.1 and 4) runs it on the binary matrix of Π, as
    here: for the category utility that is `KMeansConsensus`.
    """
    Pi = ensemble_of(generator, X)  # generate basic partitions
    consensus.set_params(init=generator.labels_, random_state=None).fit(Pi)  # obtain consensus clustering
    return Pi


@dataclass(eq=False, repr=False)
class GreedyKMeansConsensus(Model, GreedyParameters, ClusterMixin, BaseEstimator):
    """Use it on features, if k-means should learn from coarser partitions: greedy k-means consensus (GKCC).

    `GreedyPartitions` makes 59 (n_clusters − 1) partitions of the features; `KMeansConsensus` combines them, starting
    from the best of the last 59. There is no other start, so nothing is left to chance but the objects that were tried.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, ≥ 2 and at most the number of distinct rows of X.
    n_candidates : int or "all", default 59
        As in `GreedyPartitions`, and so the next three.
    augment : {"all", "last"} or None, default "all"
        The partitions that a stage sees beside the features.
    partition_weight : float, default 1
        Weight of a partition in squared distances.
    standardize : bool, default False
        Whether features are brought to mean 0 and variance 1 first.
    utility : {"category", "entropy", "cosine", "lp"}, default "category"
        As in `KMeansConsensus`, and so the next four.
    normalize : bool, default False
        Whether each partition's utility is divided by its value for the partition itself.
    exponent : float, default 5
        The p of the p-norm.
    smoothing : float, default 2.2e-16
        Added to the proportions for "entropy".
    refine : {None, "density"}, default None
        Whether single label rows are moved afterwards.
    max_iter : int, default 300
        Most iterations per start, of each k-means.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the candidates.
    progress : callable, optional
        Called as ``progress(done, total)`` after every k-means of the generator, by the thread that called ``fit``.
        An error that it raises ends the work. No result depends on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        Clusters numbered by decreasing size.
    confidence_, runner_up_, cohesion_ : ndarray of shape (n_samples,)
        Confidence of each object, its next best cluster and the mean co-association with its own cluster:
        see `metrics.confidence`.
    n_clusters_ : int
    objective_ : float
        Loss of the consensus on the binary matrix of the partitions.
    ensemble_ : Ensemble
        The partitions.
    generator_, consensus_
        The fitted `GreedyPartitions` and `KMeansConsensus`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Raises
    ------
    ValueError
        If X has fewer distinct rows than clusters, or a parameter is out of its range.

    Notes
    -----
    Time and memory are those of the generator; the consensus is O(n p k) per iteration with p partitions.

    Printed, the last k-means of Algorithm 1 runs on the features; the text (Secs. 3.1 and 4) runs it on the binary
    matrix of the partitions, as here.

    References
    ----------
    X. Li and H. Liu, "Greedy optimization for k-means-based consensus clustering", Tsinghua Science and Technology
    23(2), 2018, Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage.consensus import GreedyKMeansConsensus
    >>> gkcc = GreedyKMeansConsensus(3, random_state=0).fit(load_iris().data)
    >>> gkcc.ensemble_
    Ensemble(150 objects, 118 partitions of 2 to 3 clusters)
    >>> gkcc.predict([[5.1, 3.5, 1.4, 0.2]]).shape
    (1,)
    """

    _parameter_constraints: ClassVar[Constraints] = UTILITY_CONSTRAINTS

    n_clusters: int | None = None
    _: KW_ONLY
    n_candidates: int | Literal["all"] = 59
    augment: Literal["all", "last"] | None = "all"
    partition_weight: float = 1.0
    standardize: bool = False
    utility: str = "category"
    normalize: bool = False
    exponent: float = 5.0
    smoothing: float = SMOOTHING
    refine: str | None = None
    max_iter: int = 300
    n_jobs: int | None = None
    random_state: Any = None
    progress: Any = None

    objective_: float = field(init=False)
    n_iter_: int = field(init=False)
    ensemble_: Ensemble = field(init=False)
    generator_: GreedyPartitions = field(init=False)
    consensus_: KMeansConsensus = field(init=False)

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Make greedy partitions of features and find their consensus.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        with features_checked("X of GreedyKMeansConsensus", X):
            checked = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        check_greedy(self, checked, "GreedyKMeansConsensus")
        self.generator_ = self._with_own_parameters(GreedyPartitions)
        self.consensus_ = self._with_own_parameters(KMeansConsensus)
        self.ensemble_ = gkcc(X, self.generator_, self.consensus_)
        self._take(self.consensus_)
        self.objective_, self.n_iter_ = self.consensus_.objective_, self.consensus_.n_iter_
        return self

    def _renumber(self, places: NDArray[np.int64]) -> None:
        self.consensus_._renumber(places)
        self._take(self.consensus_)

    def _with_own_parameters(self, estimator: Callable[..., Any]) -> Any:
        names = self.get_params().keys() & signature(estimator).parameters
        return estimator(**{name: getattr(self, name) for name in names})

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """Cluster of new objects: the generator labels them, the consensus predicts.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Their features.

        Returns
        -------
        ndarray of shape (n_new,), int32
            Cluster of each row; -1 where nothing is labelled.
        """
        check_fitted(self)
        with features_checked("X of GreedyKMeansConsensus", X):
            validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.consensus_.predict(self.generator_.transform(X)))

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """How well the clusters of new objects agree with classes, or with the partitions: the higher, the better.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Their features.
        y : array-like of shape (n_new,), optional
            Known classes.

        Returns
        -------
        float
            The adjusted Rand index of ``predict(X)`` and y; without y its mean over the partitions,
            `metrics.ensemble_ari`. At most 1, about 0 by chance, with any number of clusters.
        """
        clusters = self.predict(X)
        return score_of(clusters, y, self.generator_.transform(X) if y is None else None, None)
