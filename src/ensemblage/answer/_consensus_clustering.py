"""Consensus clustering of features: generate an ensemble, then combine it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ensemblage.answer._choose_k import choose_k
from ensemblage.answer._k_choice import KChoice
from ensemblage.base.options import Message, Option
from ensemblage.base.parameters import Constraints, Estimator, Flag, Function, Jobs, Seed, Whole, Words
from ensemblage.base.random import seed_of, task_seeds
from ensemblage.base.sklearn import BaseEstimator, ClusterMixin
from ensemblage.base.validation import check_parameters, format_value, n_distinct_rows
from ensemblage.consensus._assignment import BY_RULE, Assignment
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._method import METHODS, check_finds_k
from ensemblage.consensus._model import Model
from ensemblage.consensus._registry import make_consensus
from ensemblage.ensemble._coding import Coding
from ensemblage.ensemble._ensemble import Ensemble
from ensemblage.ensemble._matrices import code_labels
from ensemblage.generation import DiversePartitions, RandomKPartitions
from ensemblage.generation._base import ensemble_of
from ensemblage.generation._diverse import can_be_diverse
from ensemblage.io import Preprocessor
from ensemblage.io._anndata_features import as_table
from ensemblage.io._encoding import IMPUTE
from ensemblage.io._scaling import AUTO, scaling_of

LEAST_OBJECTS, LEAST_DISTINCT = 20, 4
"""For `choose_k` to be asked."""
Method = TypeVar("Method", bound=Callable[..., Any])
OWN = ("n_clusters", "n_jobs", "random_state", "max_bytes")
"""Parameters of a consensus that make no other method of it."""
QUALITIES = ("fast", "default", "best")


def _can_predict(self: ConsensusClustering) -> bool:
    return not takes_distances(self.generator)


def _can_predict_proba(self: ConsensusClustering) -> bool:
    return _can_predict(self) and hasattr(getattr(self, "consensus_", None), "predict_proba")


def available_where(can: Callable[[ConsensusClustering], bool]) -> Callable[[Method], Method]:
    """`available_if`, with the types of what it decorates."""
    return cast(Callable[[Method], Method], available_if(can))


@dataclass(eq=False, repr=False)
class ConsensusClustering(Model, ClusterMixin, BaseEstimator):
    """Cluster features by the consensus of many clusterings.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus. None: that of ``consensus``, if it has one; else `choose_k` finds it, on
        the features of 20 objects or more; for another ``consensus`` than the default, its own rule, and one without a
        rule is refused.
    generator : transformer, optional
        Makes the ensemble: features to labels, as ``RandomKPartitions``. Default: by ``quality``.
        ``DiversePartitions()`` gets the number of clusters where there is one.
    consensus : str or clusterer, optional
        Combines it: a name of ``METHODS`` or an estimator. Default: "eac-average" of ``DiversePartitions``, "km" of
        another generator; "acv", which finds the number of clusters, where `choose_k` cannot (distances, categories
        alone, fewer than 20 objects). The default by its name is the default.
    quality : {"fast", "default", "best"}, default "default"
        What is clustered where ``generator`` is not given, and so how it is combined. "default":
        ``DiversePartitions(n_clusters)`` and "eac-average". "best": twice the partitions, features as they are scaled
        and each with deviation 1. "fast", and always of more than 20,000 objects, of sparse features
        and where more than half of the objects are copies of others: ``RandomKPartitions(50)`` and "km", in time linear
        in the objects.
    standardize : bool or "auto", default "auto"
        Bring the features to mean 0 and standard deviation 1; "auto": unless all standard deviations are within a
        factor of 20, as `Preprocessor` says, and as the shell does.
    impute : {"median", "mean", "most-frequent", "knn"}, optional
        What a missing number becomes, as `Preprocessor` says. Without it, missing numbers are refused.
    preprocessor : transformer, optional
        Makes of X what is clustered. Default: ``Preprocessor(standardize=standardize, impute=impute)``, which takes
        tables and data frames with categories too.
    allow_one : bool, default False
        Whether one cluster is the answer where `choose_k` finds no structure; else it is the number that most criteria
        name.
    n_jobs : int, optional
        Threads of the generator and the consensus, where their own parameter is None. -1: every core that this process
        may use; None: what a ``joblib.parallel_config`` says; without one every core, or 1 inside a parallel loop of
        joblib or scikit-learn. The result does not depend on it.
    random_state : int, RandomState, Generator or None
        Seed of the generator and of the consensus, the same for both, and of every estimator inside them (the steps of
        a pipeline, the ``estimator`` of a generator), where they have none of their own.
    progress : callable, optional
        Called as ``progress(done, total)`` after every base clustering, by the thread that called ``fit``.
        An error that it raises ends the work. No result depends on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters numbered by decreasing size.
    confidence_, runner_up_, cohesion_ : ndarray of shape (n_samples,)
        How sure the place of each object is, the next best cluster and the mean co-association with its own cluster:
        see `metrics.certainty`.
    n_clusters_ : int
    choice_ : KChoice or None
        How the number of clusters was found, and how clear it is; None if it was given or the consensus found it.
    ensemble_ : Ensemble
    preprocessor_, generator_, consensus_
        The fitted estimators; ``preprocessor_.columns_`` says what was done with each column. There is no generator
        where all that is clustered are categories that are members.

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
    ((150,), (150, 12))
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_clusters": [Whole(1), None],
        "generator": [
            Estimator("a transformer of features to labels", "fit_transform", "Give RandomKPartitions(50), say."),
            None,
        ],
        "consensus": [
            Estimator("a consensus estimator", "fit", "Give KMeansConsensus(3), say."),
            Words(METHODS, called="a name in ensemblage.METHODS"),
            None,
        ],
        "quality": [Words(QUALITIES)],
        "standardize": [Flag(), Words(["auto"])],
        "impute": [IMPUTE, None],
        "preprocessor": [
            Estimator("a transformer of tables to features", "fit_transform", "Give Preprocessor(), say."),
            None,
        ],
        "allow_one": [Flag()],
        "n_jobs": [Jobs()],
        "random_state": [Seed()],
        "progress": [Function(), None],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    generator: Any = None
    consensus: Any = None
    quality: Literal["fast", "default", "best"] = "default"
    standardize: bool | Literal["auto"] = "auto"
    impute: str | None = None
    preprocessor: Any = None
    allow_one: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    progress: Any = None

    choice_: KChoice | None = field(init=False)
    ensemble_: Ensemble = field(init=False)
    preprocessor_: Any = field(init=False)
    generator_: Any = field(init=False)
    consensus_: Any = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: NDArray[Any] = field(init=False)

    def fit(
        self, X: Any, y: Any = None, *, must_link: ArrayLike | None = None, cannot_link: ArrayLike | None = None
    ) -> Self:
        """Generate an ensemble from features and find its consensus.

        Parameters
        ----------
        X : array-like, data frame, Table or AnnData of shape (n_samples, n_features)
            The features. Of AnnData those of ``.obsm["X_pca"]`` if there is one, else of ``.X``, as they are scaled
            unless ``standardize`` is True.
        y : None
            Ignored.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), optional
            Pairs of objects, by row number, that get the same cluster, or different ones: see the notes.

        {self}

        Notes
        -----
        Pairs are given to the consensus, see its ``fit``; the base clusterings do not know them.
        """
        check_parameters(self)
        self._check_preparation()
        table = as_table(X)
        own = Preprocessor(standardize=scaling_of(table is not X, self.standardize), impute=self.impute)
        self.preprocessor_ = own if self.preprocessor is None else clone(self.preprocessor)
        X = table
        by_distance = takes_distances(self.generator)
        if by_distance and self.preprocessor_.get_params().get("impute", "") is None:
            self.preprocessor_.set_params(impute="median")  # of what is not clustered: distances do without
        features = self.preprocessor_.fit_transform(X)
        self.n_features_in_ = self.preprocessor_.n_features_in_
        if hasattr(self.preprocessor_, "feature_names_in_"):
            self.feature_names_in_ = self.preprocessor_.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        seed = seed_of(self.random_state)
        k = getattr(self.consensus, "n_clusters", None) if self.n_clusters is None else self.n_clusters
        generator = default_generator(self.quality, features) if self.generator is None else clone(self.generator)
        self.choice_ = None
        is_default = is_method(self.consensus, default_method(generator))
        if k is None and is_default and not by_distance and can_choose_k(features):
            self.choice_ = choose_k(features, standardize=False, n_jobs=self.n_jobs, random_state=seed)
            k = self.choice_.n_clusters(self.allow_one)
        consensus = self._consensus(generator, seed, k)
        if k is None and isinstance(consensus, BaseConsensus):
            check_finds_k(consensus)
        near: dict[str, Any] = {"n_clusters": k} if isinstance(generator, DiversePartitions) else {}
        self.generator_ = self._fill_defaults(generator, seed, progress=self.progress, **near)
        if by_distance:
            features = self.preprocessor_.distances(X)
        made = ensemble_of(self.generator_, features) if features.shape[1] else None
        if members := self._members(X):
            ensemble, of = append_members(made, members), self.preprocessor_
            if made is not None:
                weights = member_weights(made.shape[1], len(members), of.n_columns_, of.member_weight)
                consensus = set_weights(consensus, weights)
        elif made is None:
            raise ValueError("The features must have a column at least. They have none. Give others.")
        else:
            ensemble = made
        pairs = {"must_link": must_link, "cannot_link": cannot_link}
        self._take_consensus(
            ensemble, consensus.fit(ensemble, **{name: p for name, p in pairs.items() if p is not None})
        )
        return self

    def _check_preparation(self) -> None:
        """What is prepared by a preprocessor of one's own is its affair."""
        given = {"standardize": self.standardize != AUTO, "impute": self.impute is not None}
        if self.preprocessor is not None and (asked := [name for name, is_given in given.items() if is_given]):
            raise ValueError(
                f"{asked[0]} of ConsensusClustering must not be given beside a preprocessor. Got "
                f"{format_value(getattr(self, asked[0]))}. Give it to the preprocessor, or leave one out."
            )

    def _take_consensus(self, ensemble: Ensemble, consensus: Any) -> None:
        """Take what a fitted consensus has found."""
        self.ensemble_, self.consensus_ = ensemble, consensus
        self._take(consensus)

    @classmethod
    def _from_generator(cls, preprocessor: Preprocessor, generator: Any, seed: int) -> Self:
        """What was made of features before they were combined."""
        unfitted = None if generator is None else clone(generator)
        made = cls(generator=unfitted, preprocessor=clone(preprocessor), random_state=seed)
        made.preprocessor_, made.generator_ = preprocessor, generator
        made.n_features_in_, made.feature_names_in_ = preprocessor.n_features_in_, preprocessor.feature_names_in_
        return made

    def _set_consensus(self, ensemble: Ensemble, consensus: Any, choice: KChoice | None) -> Self:
        """The fitted model of what was generated and a fitted consensus of it."""
        self.choice_ = choice
        self._take_consensus(ensemble, consensus)
        self.set_params(n_clusters=None if choice else consensus.n_clusters, consensus=clone(consensus))
        return self

    def _consensus(self, generator: Any, seed: int, k: int | None) -> Any:
        if self.consensus is None or isinstance(self.consensus, str):
            consensus = make_consensus(self.consensus or ("acv" if k is None else default_method(generator)), k)
        else:
            consensus = clone(self.consensus)
            if k is not None:
                consensus.set_params(n_clusters=k)
        return self._fill_defaults(consensus, seed)

    def _renumber(self, places: NDArray[np.int64]) -> None:
        self.consensus_._renumber(places)
        self._take(self.consensus_)

    def _fill_defaults(self, estimator: Any, seed: int, **more: Any) -> Any:
        """The estimator with threads and every seed of its own and of its parts set that it was not given."""
        missing = sorted(name for name, value in estimator.get_params().items() if value is None)
        nested = [name for name in missing if name.endswith("__random_state")]
        values = dict(zip(nested, task_seeds(seed, len(nested)).tolist(), strict=True))
        values |= {"n_jobs": self.n_jobs, "random_state": seed} | more
        return estimator.set_params(**{name: value for name, value in values.items() if name in missing})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(RandomKPartitions() if self.generator is None else self.generator).input_tags
        fills = self.impute is not None
        tags.input_tags.allow_nan = get_tags(self.preprocessor).input_tags.allow_nan if self.preprocessor else fills
        return tags

    @available_where(_can_predict)
    def predict(self, X: Any) -> NDArray[np.int32]:
        """Cluster of new objects: the generator labels them, the consensus predicts.

        A consensus without ``predict`` gives the cluster that the partitions join them with most often.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Their features.

        Returns
        -------
        ndarray of shape (n_new,), int32
            Cluster of each row; -1 where nothing is labelled.
        """
        found: Assignment = self.assign(X)
        return found.labels

    @available_where(_can_predict_proba)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Memberships of new objects in the clusters, of a consensus that has them: see its ``predict_proba``.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_new, n_features)
            As it was fitted.

        Returns
        -------
        ndarray of shape (n_new, n_clusters)
            Rows sum to 1.
        """
        found: NDArray[np.float64] = self.consensus_.predict_proba(self._labels_of(X))
        return found

    def _labels_of(self, X: Any) -> NDArray[np.int32]:
        """(n_new, p) labels of new objects in the partitions."""
        check_is_fitted(self)
        X = as_table(X)
        features = self.preprocessor_.transform(X)
        made = [np.asarray(self.generator_.transform(features))] if features.shape[1] else []
        return np.column_stack([*made, *self._members(X).values()])

    @available_where(_can_predict)
    def assign(self, X: Any) -> Assignment:
        """Put new objects into the clusters that were found, and tell how sure that is.

        Each base clusterer labels them: as it predicts or, where it cannot (spectral clustering, Genie), as the nearest
        of the objects that were fitted. From these labels the consensus tells the cluster: by ``predict``, or without
        one the cluster of the objects that have the same labels, else the one with whose objects the partitions join it
        most often; `Assignment.by` says which.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_new, n_features)
            As it was fitted.

        Returns
        -------
        Assignment
            Its ``labels``, ``confidence``, ``runner_up`` and ``verdict``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from ensemblage import ConsensusClustering
        >>> X = load_iris().data
        >>> model = ConsensusClustering(3, random_state=0).fit(X[::2])
        >>> model.assign(X[1::2]).verdict[:3].tolist()
        ['core', 'core', 'core']
        """
        labels = self._labels_of(X)
        found: Assignment = self.consensus_.assign(labels)
        return found if found.by == BY_RULE else self._keep_known_rows(labels, found)

    def _keep_known_rows(self, labels: NDArray[np.int32], found: Assignment) -> Assignment:
        """The same, with the clusters of fitted objects for new ones that have their labels."""
        ensemble = self.ensemble_
        new = Coding(ensemble.categories, ensemble.missing).encode(code_labels(labels, ensemble.missing), warn=False)
        codes, _, inverse = ensemble.distinct
        clusters = np.full(len(codes), -1, dtype=np.int32)
        clusters[inverse[::-1]] = self.labels_[::-1]  # that of the first object
        cluster_of = dict(zip(map(bytes, codes[:]), clusters.tolist(), strict=True))
        known = [cluster_of.get(bytes(row), cluster) for row, cluster in zip(new[:], found.labels, strict=True)]
        again: Assignment = self.consensus_._make_assignment(labels, np.array(known, dtype=np.int32))
        return again

    def _members(self, X: Any) -> Mapping[str, NDArray[np.int32]]:
        """The categories of X that are members of the ensemble."""
        return self.preprocessor_.members(X) if getattr(self.preprocessor_, "members_", []) else {}


def default_generator(quality: str, features: Any, k: int | None = None) -> Any:
    """What makes the ensemble of features where nothing else is asked for."""
    if quality == "fast" or not can_be_diverse(features):
        return RandomKPartitions()
    return DiversePartitions(k, standardized_too=quality == "best")


def default_method(generator: Any) -> str:
    """What combines the partitions of a generator where nothing else is asked for: see docs/DEFAULT.md."""
    return "eac-average" if isinstance(generator, DiversePartitions) else "km"


def is_method(consensus: Any, name: str) -> bool:
    """Whether a consensus that was asked for (None: any) is what a method is by its name, seed and threads apart."""
    if consensus is None or isinstance(consensus, str):
        return consensus in (None, name)
    usual = make_consensus(name)
    values = {key: value for key, value in consensus.get_params(deep=False).items() if key not in OWN}
    return type(consensus) is type(usual) and repr(type(usual)(**values)) == repr(usual)


def can_choose_k(features: Any) -> bool:
    """Whether `choose_k` can say something of features: an array of enough objects, some of them different."""
    is_array = isinstance(features, np.ndarray) and features.shape[1] > 0 and len(features) >= LEAST_OBJECTS
    return is_array and n_distinct_rows(features, LEAST_DISTINCT) >= LEAST_DISTINCT


def takes_distances(generator: Any) -> bool:
    """Whether base clusterers of a generator want distances of all pairs instead of features."""
    values = () if generator is None else generator.get_params().items()
    return any(name.rpartition("__")[2] in ("metric", "affinity") and value == "precomputed" for name, value in values)


def append_members(ensemble: Ensemble | None, members: Mapping[str, NDArray[np.int32]]) -> Ensemble:
    """The ensemble with categories as further partitions."""
    columns = [*([] if ensemble is None else [np.asarray(ensemble)]), *members.values()]
    return Ensemble(np.column_stack(columns), names=[*([] if ensemble is None else ensemble.names), *members])


def member_weights(n_made: int, n_members: int, n_columns: int, weight: float) -> list[float]:
    """1 for each of p partitions made from ``n_columns`` columns; ``weight`` · p / n_columns for each category."""
    return [1.0] * n_made + [weight * n_made / n_columns] * n_members


def set_weights(consensus: Any, weights: list[float]) -> Any:
    """The consensus with these weights of the partitions; unequal ones need a method that has them."""
    if min(weights) == max(weights):
        return consensus
    known = consensus.get_params()
    if "weights" not in known or known["weights"] is not None:
        why = "has no weights" if "weights" not in known else "has weights of its own"
        rule = "Categories that are members need weights of the partitions."
        encode = Option("categories", "encode")
        raise ValueError(Message(f"{rule} {type(consensus).__name__} {why}. Use ", encode, " instead."))
    return consensus.set_params(weights=weights)
