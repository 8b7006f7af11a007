"""Consensus clustering of features: generate an ensemble, then combine it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ensemblage._constraints import Constraints, Estimator, Function, Jobs, Seed, Whole, Words
from ensemblage._ensemble import Ensemble
from ensemblage._random import task_seeds
from ensemblage._validation import check_parameters
from ensemblage.consensus._method import METHODS
from ensemblage.consensus._registry import make_consensus
from ensemblage.generation import RandomKPartitions


def _can_predict(self: ConsensusClustering) -> bool:
    if hasattr(self, "consensus_"):
        return hasattr(self.consensus_, "predict")
    return hasattr(self._consensus(0), "predict")


@dataclass(eq=False, repr=False)
class ConsensusClustering(ClusterMixin, BaseEstimator):
    """Cluster features by the consensus of many clusterings.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus. None leaves it to ``consensus``.
    generator : transformer, optional
        Makes the ensemble: features to labels, as ``RandomKPartitions``. Default: ``RandomKPartitions(50)``.
    consensus : str or clusterer, optional
        Combines it: a name of ``METHODS`` or an estimator. Default: "km"; "acv", which finds the number of clusters, if
        ``n_clusters`` is None.
    n_jobs : int, optional
        Given to generator and consensus if they have such a parameter and it is None.
    random_state : int, RandomState or None
        Seed of the generator and the consensus, and of every estimator inside them (the steps of a pipeline, the
        ``estimator`` of a generator), where they have none of their own.
    progress : callable, optional
        Called as ``progress(done, total)`` after every base clustering, by the thread that called ``fit``.
        An error that it raises ends the work. No result depends on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters numbered by decreasing size.
    confidence_ : ndarray of shape (n_samples,)
        How sure the consensus is of each object, from 0 to 1.
    n_clusters_ : int
    ensemble_ : Ensemble
    generator_, consensus_
        The fitted estimators.

    Notes
    -----
    Time and memory are those of the generator and of the consensus.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage import ConsensusClustering
    >>> X = load_iris().data
    >>> model = ConsensusClustering(n_clusters=3, random_state=0).fit(X)
    >>> model.labels_.shape, model.ensemble_.shape
    ((150,), (150, 50))
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_clusters": [Whole(1), None],
        "generator": [
            Estimator("a transformer of features to labels", "fit_transform", "Give RandomKPartitions(50), say."),
            None,
        ],
        "consensus": [Estimator("a consensus estimator", "fit", "Give KMeansConsensus(3), say."), Words(METHODS), None],
        "n_jobs": [Jobs()],
        "random_state": [Seed()],
        "progress": [Function(), None],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    generator: Any = None
    consensus: Any = None
    n_jobs: int | None = None
    random_state: Any = None
    progress: Any = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Generate an ensemble from features and find its consensus.

        {fit_dense}
        """
        check_parameters(self)
        seeds = [int(seed) for seed in task_seeds(self.random_state, 2)]
        generator = RandomKPartitions() if self.generator is None else clone(self.generator)
        self.generator_ = self._with_defaults(generator, seeds[0], progress=self.progress)
        self.ensemble_ = ensemble_of(self.generator_, X)
        self.n_features_in_ = self.generator_.n_features_in_
        if hasattr(self.generator_, "feature_names_in_"):
            self.feature_names_in_ = self.generator_.feature_names_in_
        self.consensus_ = self._consensus(seeds[1]).fit(self.ensemble_)
        for name in ("labels_", "confidence_", "n_clusters_"):
            setattr(self, name, getattr(self.consensus_, name))
        return self

    def _consensus(self, seed: int) -> Any:
        if self.consensus is None or isinstance(self.consensus, str):
            consensus = make_consensus(self.consensus or ("acv" if self.n_clusters is None else "km"), self.n_clusters)
        else:
            consensus = clone(self.consensus)
            if self.n_clusters is not None:
                consensus.set_params(n_clusters=self.n_clusters)
        return self._with_defaults(consensus, seed)

    def _with_defaults(self, estimator: Any, seed: int, **more: Any) -> Any:
        """The estimator with threads and every seed of its own and of its parts set that it was not given."""
        missing = sorted(name for name, value in estimator.get_params().items() if value is None)
        nested = [name for name in missing if name.endswith("__random_state")]
        values = dict(zip(nested, task_seeds(seed, len(nested)).tolist(), strict=True))
        values |= {"n_jobs": self.n_jobs, "random_state": seed} | more
        return estimator.set_params(**{name: value for name, value in values.items() if name in missing})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        generator = RandomKPartitions() if self.generator is None else self.generator
        tags.input_tags = get_tags(generator).input_tags
        return tags

    @available_if(_can_predict)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[np.int32]:
        """Cluster of new objects: the generator labels them, the consensus predicts.

        {predicted_of_features}
        """
        check_is_fitted(self)
        return np.asarray(self.consensus_.predict(np.asarray(self.generator_.transform(X))))


def ensemble_of(generator: Any, X: Any) -> Ensemble:
    """The partitions that a generator makes, by its names for them."""
    labels = np.asarray(generator.fit_transform(X))
    return Ensemble(labels, names=[str(name) for name in generator.get_feature_names_out()])
