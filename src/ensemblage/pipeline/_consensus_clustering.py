"""Consensus clustering of features: generate an ensemble, then combine it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from ensemblage.base.options import DEFAULT_SELECTION, LEARNED
from ensemblage.base.random import seed_of
from ensemblage.base.sklearn import BaseEstimator, ClusterMixin
from ensemblage.base.validation import (
    Constraints,
    Function,
    Jobs,
    Seed,
    Words,
    check_fitted,
    check_parameters,
    format_value,
)
from ensemblage.choices._choice_records import KChoice
from ensemblage.choices._chooser import LearnedSelection
from ensemblage.choices._plan import Plan
from ensemblage.consensus._model import BY_RULE, Assignment, Model, score_of
from ensemblage.generation import RandomKPartitions
from ensemblage.generation._dense_rows import MOST_WHOLE
from ensemblage.io._anndata import as_table
from ensemblage.io._feature_blocks import FeatureBlocks
from ensemblage.io._preprocessor import Preprocessor
from ensemblage.labels.coding import (
    MISSING,
    NOISE_RULES,
    VOTE,
    Coding,
    check_sample_weight,
    code_labels,
    most_call_noise,
)
from ensemblage.labels.ensemble import Ensemble
from ensemblage.pipeline._blocks import OfAll, StoredData, check_learned
from ensemblage.pipeline._decisions import PlanRequest, largest_asked, plan_of, takes_distances
from ensemblage.pipeline._default_plan import (
    PARAMETERS,
    Prepared,
    check_n_clusters,
    check_plan,
    check_preparation,
    check_votes,
    prepare,
)
from ensemblage.pipeline._run import Data, RunResult, SecondSample, Settings, Watch, run

Method = TypeVar("Method", bound=Callable[..., Any])


def _can_predict(self: ConsensusClustering) -> bool:
    return not takes_distances(self.generator)


def _can_predict_proba(self: ConsensusClustering) -> bool:
    return _can_predict(self) and hasattr(getattr(self, "consensus_", None), "predict_proba")


def available_where(can: Callable[[ConsensusClustering], bool]) -> Callable[[Method], Method]:
    """`available_if`, with the types of what it decorates."""
    return cast(Callable[[Method], Method], available_if(can))


@dataclass(eq=False, repr=False)
class ConsensusClustering(Model, ClusterMixin, BaseEstimator):
    """Use it to cluster a table without choosing an algorithm: one consensus of many partitions, with confidence.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus. None: that of ``consensus``, if it has one; else it is found as
        ``selection`` says, of fewer than 20 objects by `choose_k`, and refused where that is not clear; for another
        ``consensus`` than the default, its own rule, and one without a rule is refused.
    generator : transformer, optional
        Makes the ensemble: features to labels, as ``RandomKPartitions``. Default: by ``selection`` and ``quality``.
        ``DiversePartitions()`` gets the number of clusters, one less and one more where there is a number.
    consensus : str or clusterer, optional
        Combines it: a name of ``METHODS``, a consensus of the library, or any estimator of labels with ``fit(labels)``
        and ``labels_`` (see the notes). Default: "eac-average" of ``ScaledPartitions`` and ``DiversePartitions``, "km"
        of another generator, and where no features can tell the number of clusters (distances, categories alone): it
        finds that which agrees most. The default by its name is the default.
    quality : {"fast", "default", "best"}, default "default"
        What is clustered where ``generator`` is not given, and so how it is combined. "default": ``ScaledPartitions``
        or, without learned weights, ``DiversePartitions``, and "eac-average". "best": without learned weights twice the
        partitions, features as they are scaled and each with deviation 1; with them the same as "default". Of more than
        10,000 objects 5,000 are drawn and clustered: see the notes. "fast", and always of sparse features, where more
        than half of the objects are copies of others, of more than 20,000 objects without learned weights, and of more
        than 10,000 with more than 200 clusters: ``RandomKPartitions(50)`` and "km", in time linear in the objects.
    selection : {"learned", "consensus"}, default "learned"
        "learned": where neither ``generator`` nor another ``consensus`` than the default is given, ``ScaledPartitions``
        makes the partitions, and regression trees that were trained on synthetic sets alone give them weights and find
        the number of clusters. "consensus": every partition has the same weight, and `choose_k` finds the number.
        "learned" is the same as "consensus" with quality "fast", with weights of rows, with categories as members, and
        where several algorithms cannot cluster the data.
    standardize : bool or "auto", default "auto"
        Bring the features to mean 0 and standard deviation 1; "auto": unless all standard deviations are within a
        factor of 20, as `Preprocessor` says, and as the shell does.
    impute : {"median", "mean", "most-frequent", "knn"}, optional
        What a missing number becomes, as `Preprocessor` says. Without it, the few of a table (at most 5 % of each
        column) become medians; more, and those of an array, are refused.
    preprocessor : transformer, optional
        Makes of X what is clustered. Default: ``Preprocessor(standardize=standardize, impute=impute)``, which takes
        tables and data frames with categories too.
    allow_one : bool, default False
        Whether one cluster is the answer where no candidate partition is rated above what single clouds reach or,
        without learned weights, `choose_k` finds no structure; else it is the number that is rated highest, or that
        most criteria name.
    noise : {"missing", "vote"}, default "missing"
        What -1 of the partitions of ``generator`` says of an object: nothing, or, as of DBSCAN and HDBSCAN, that it is
        in no cluster. "vote": an object, fitted or new, that more than half of them call noise gets the cluster -1, as
        in `Ensemble`. The partitions of the default leave no object out.
    n_jobs : int, optional
        Threads of the generator and the consensus, where their own parameter is None. -1: every core that this process
        may use; None: what a ``joblib.parallel_config`` says; without one every core, or 1 inside a parallel loop of
        joblib or scikit-learn. The result does not depend on it.
    random_state : int, RandomState, Generator or None
        Seed of the generator and of the consensus, the same for both, and of every estimator inside them (the steps of
        a pipeline, the ``estimator`` of a generator), where they have none of their own.
    progress : callable, optional
        Called as ``progress(done, total)`` after every base partition, by the thread that called ``fit``.
        An error that it raises ends the work. No result depends on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters numbered by decreasing size.
    confidence_, runner_up_, cohesion_ : ndarray of shape (n_samples,)
        Confidence of each object, the next best cluster and the mean co-association with its own cluster: see
        `metrics.confidence`.
    n_clusters_ : int
    choice_ : KChoice or None
        What `choose_k` found, and how clear it is; None if it was not asked.
    chosen_ : LearnedSelection or None
        Which candidate partition is rated highest, the runner-up, the rating of each number of clusters and the weight
        of each partition; None without learned weights.
    plan_ : Plan
        All that was decided before the work began, each decision with its reason; `plan` makes it of the same X.
    ensemble_ : Ensemble
    preprocessor_, generator_, consensus_
        The fitted estimators; ``preprocessor_.columns_`` says what was done with each column. ``generator_`` is None
        if every column is a categorical member.

    Notes
    -----
    Time and memory are those of the generator and of the consensus.

    An estimator of your own as ``consensus`` has scikit-learn's ``get_params``, ``fit(labels)`` and then ``labels_``,
    or ``fit_predict(labels)``, as a pipeline has. ``labels`` has a row for each object, in their order, and a column of
    whole numbers from 0 for each partition, -1 for none. The estimator is cloned. ``n_clusters``, if given, becomes its
    ``n_clusters`` or ``n_components``, or that of its only step with ``n_clusters``. Its clusters are numbered by size;
    -1 is no cluster. The confidence is that of `metrics.confidence`. New objects get the cluster with
    which the partitions join them most often. ``consensus_.estimator_`` is the fitted clone. Weights and pairs of
    objects are refused. `save` keeps estimators of scikit-learn, and refuses others by name.

    Candidate partitions are compared on at most 1,500 objects, which are the same for each seed and each order of the
    rows. On these the partitions of all objects are rated, too, and get their weights.

    Of more than 10,000 objects 5,000 are drawn by the seed, and the fifth of them in places that are sparse beside
    those of their neighbours is left out. The others are clustered, as all are of fewer objects. Every object, fitted
    or new, gets the labels that the nearest of these has in each partition: its row of ``ensemble_``, and with it its
    cluster. ``confidence_``, ``runner_up_`` and ``cohesion_`` count the same partitions of another 5,000, too: so they
    tell how much another draw would change. docs/SCALE.md has what is found by the number of objects. Of a cluster of
    less than a hundredth of the objects too few may be drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage import ConsensusClustering
    >>> X = load_iris().data
    >>> model = ConsensusClustering(n_clusters=3, random_state=0).fit(X)
    >>> model.labels_.shape, model.confidence_.shape, model.plan_.combiner.value
    ((150,), (150,), 'eac-average')
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **PARAMETERS,
        "noise": [Words(NOISE_RULES)],
        "n_jobs": [Jobs()],
        "random_state": [Seed()],
        "progress": [Function(), None],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    generator: Any = None
    consensus: Any = None
    quality: Literal["fast", "default", "best"] = "default"
    selection: Literal["learned", "consensus"] = DEFAULT_SELECTION
    standardize: bool | Literal["auto"] = "auto"
    impute: str | None = None
    preprocessor: Any = None
    allow_one: bool = False
    noise: Literal["missing", "vote"] = MISSING
    n_jobs: int | None = None
    random_state: Any = None
    progress: Any = None

    choice_: KChoice | None = field(init=False)
    chosen_: LearnedSelection | None = field(init=False)
    plan_: Plan = field(init=False)
    ensemble_: Ensemble = field(init=False)
    preprocessor_: Any = field(init=False)
    generator_: Any = field(init=False)
    consensus_: Any = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: NDArray[Any] = field(init=False)
    _second = cast("SecondSample | None", None)  # files of earlier versions have none

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> Self:
        """Generate an ensemble from features and find its consensus.

        Parameters
        ----------
        X : array-like, data frame, Table, AnnData or FeatureBlocks of shape (n_samples, n_features)
            The features. Of AnnData those of ``.obsm["X_pca"]`` if there is one, else of ``.X``, as they are scaled
            unless ``standardize`` is True. Of `FeatureBlocks` of more than 10,000 objects, which are not in memory,
            the drawn objects alone have an entry in ``labels_`` and the like: `FeatureBlocks.clusters` has all.
        y : None
            Ignored.
        sample_weight : array-like of int, shape (n_samples,), optional
            How many objects each row stands for, such as the counts of the codes of a self-organising map: see the
            notes. Default: one each.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), optional
            Pairs of objects, by row number, that get the same cluster, or different ones: see the notes.

        Returns
        -------
        self
            The fitted estimator.

        Notes
        -----
        With ``sample_weight`` the default generator is that of ``quality="fast"``: k-means counts objects, and the
        consensus does. Mixtures, spectral clustering, Genie and hierarchies cannot: a generator of such algorithms
        alone is refused, and of those that stand beside k-means a warning names each. No weights are learned then.
        Scales and `choose_k` count every row once. A row of weight 0 is clustered like a new object.

        Pairs are given to the consensus, see its ``fit``; the base partitions do not know them.
        """
        check_parameters(self)
        check_preparation(type(self).__name__, self.standardize, self.impute, self.preprocessor)
        if isinstance(X, FeatureBlocks):
            return self._fit_blocks(X, sample_weight=sample_weight, must_link=must_link, cannot_link=cannot_link)
        prepared, sample_weight, plan = self._planned(X, sample_weight)
        preprocessor = prepared.preprocessor
        self._take_preprocessor(preprocessor)
        members = getattr(preprocessor, "partitions_", [])
        links = {"must_link": must_link, "cannot_link": cannot_link}
        data = Data(
            prepared.features,
            self._members(prepared.table),
            preprocessor.n_columns_ if members else 0,
            preprocessor.category_weight if members else 1.0,
            distances=partial(preprocessor.distances, prepared.table) if takes_distances(self.generator) else None,
            sample_weight=sample_weight,
            links={name: pairs for name, pairs in links.items() if pairs is not None},
        )
        settings = Settings(seed_of(self.random_state), self.n_jobs, self.noise)
        self._take_found(run(plan, data, settings, Watch(self.progress)))
        return self

    def plan(self, X: Any, *, sample_weight: ArrayLike | None = None) -> Plan:
        """Report what `fit` would do with the features, and why, before anything is clustered.

        Parameters
        ----------
        X : array-like, data frame, Table, AnnData or FeatureBlocks of shape (n_samples, n_features)
            The features.
        sample_weight : array-like of int, shape (n_samples,), optional
            How many objects each row stands for, as `fit` takes it.

        Returns
        -------
        Plan
            ``roles``, ``scales``, ``n_clusters``, ``partitions``, ``combiner``, ``samples``, ``votes``,
            ``stability``: each with its ``value`` and its ``reason``. It prints itself. `fit` has it as ``plan_``.

        Raises
        ------
        TypeError, ValueError
            As `fit` does before it clusters: a parameter is out of its range, X cannot be clustered, or the consensus
            needs a number of clusters and none was given.

        Notes
        -----
        The plan depends on X and the parameters alone, and not on a seed or on threads. docs/DEFAULT.md says how the
        defaults were found. Time: that of the preprocessor, and one pass over the rows.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from ensemblage import ConsensusClustering
        >>> plan = ConsensusClustering(3).plan(load_iris().data)
        >>> plan.combiner.value, plan.scales.value
        ('eac-average', 'kept')
        >>> ConsensusClustering(3, selection="consensus").plan(load_iris().data).partitions.reason
        'Mixtures, spectral clustering and Genie, each with 2, 3 and 4 clusters: 150 objects are at most 20,000.'
        """
        check_parameters(self)
        check_preparation(type(self).__name__, self.standardize, self.impute, self.preprocessor)
        if not isinstance(X, FeatureBlocks):
            return self._planned(X, sample_weight)[2]
        self._check_blocks(X, sample_weight=sample_weight)
        return self.plan(X[np.arange(len(X))]) if len(X) <= MOST_WHOLE else self._planned_blocks(X)[2]

    def _planned(self, X: Any, sample_weight: ArrayLike | None) -> tuple[Prepared, NDArray[np.int64] | None, Plan]:
        """The features of X, the checked weights of its rows, and what is decided of them before work begins."""
        prepared = prepare(X, self.generator, self.standardize, self.impute, self.preprocessor)
        preprocessor, features = prepared.preprocessor, prepared.features
        members = getattr(preprocessor, "partitions_", [])
        if self.generator is None and not members and isinstance(features, np.ndarray):
            check_n_clusters(self.n_clusters, features, f"n_clusters of {type(self).__name__}", "X")
        if self.noise == VOTE:
            check_votes(self.generator, members)
        weights = None if sample_weight is None else check_sample_weight(sample_weight, features.shape[0])
        plan = plan_of(features, preprocessor, self._request(prepared.is_anndata, weights is not None))
        check_plan(plan)
        return prepared, weights, plan

    def _fit_blocks(self, X: FeatureBlocks, **others: Any) -> Self:
        """Fit to features that are not in memory."""
        self._check_blocks(X, **others)
        if len(X) <= MOST_WHOLE:
            return self.fit(X[np.arange(len(X))])
        preprocessor, features, plan = self._planned_blocks(X)
        self._take_preprocessor(preprocessor)
        data = StoredData(features)
        self._take_found(run(plan, data, Settings(seed_of(self.random_state), self.n_jobs), Watch(self.progress)))
        X._nearest = data.kept, data.nearest
        return self

    def _check_blocks(self, X: FeatureBlocks, **others: Any) -> None:
        """Refuse what needs all features in memory."""
        others |= {"impute": self.impute, "preprocessor": self.preprocessor} if X._table is None else {}
        for name, value in others.items():
            if value is not None:
                raise ValueError(
                    f"{name} of {type(self).__name__} must be None for features that are not in memory. Got "
                    f"{format_value(value)}. Leave it out, or fit an array."
                )

    def _planned_blocks(self, X: FeatureBlocks) -> tuple[Preprocessor, Any, Plan]:
        """The fitted preprocessor, the features that it makes of X, and what is decided of them."""
        preprocessor = self._own_preprocessor()
        features, request = preprocessor._fit_blocks(X), self._request(False, False)
        plan = plan_of(features, preprocessor, request)
        check_learned(plan, largest_asked(request))
        return preprocessor, features, plan

    def _clustering_of(self, features: FeatureBlocks) -> OfAll:
        """What every object of the features gets; `FeatureBlocks` asks for it."""
        return OfAll.of(features, self)

    def _own_preprocessor(self) -> Preprocessor:
        """The one that was given, unfitted, or one with the parameters."""
        if self.preprocessor is None:
            return Preprocessor(standardize=self.standardize, impute=self.impute)
        if isinstance(self.preprocessor, Preprocessor):
            return cast(Preprocessor, clone(self.preprocessor))
        raise TypeError(
            f"preprocessor of {type(self).__name__} must be a Preprocessor for Parquet parts that are not in memory. "
            f"Got {format_value(self.preprocessor)}. Give one, or fit an array."
        )

    def _take_preprocessor(self, preprocessor: Any) -> None:
        """Take a fitted preprocessor, and what it knows of the columns."""
        self.preprocessor_ = preprocessor
        self.n_features_in_ = preprocessor.n_features_in_
        if hasattr(preprocessor, "feature_names_in_"):
            self.feature_names_in_ = preprocessor.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _request(self, is_anndata: bool, is_weighted: bool) -> PlanRequest:
        """What the parameters ask for."""
        return PlanRequest(
            n_clusters=self.n_clusters,
            generator=self.generator,
            consensus=self.consensus,
            quality=self.quality,
            allow_one=self.allow_one,
            is_anndata=is_anndata,
            is_weighted=is_weighted,
            selection=self.selection,
        )

    def _take_found(self, found: RunResult) -> None:
        """Take what a run has found."""
        if found.plan is not None:
            self.plan_ = found.plan
        self.choice_, self.chosen_ = found.number.choice, found.number.chosen
        self.ensemble_, self.generator_, self.consensus_ = found.ensemble, found.generator, found.consensus
        self._second = found.second
        self._take(found.consensus)

    def _renumber(self, places: NDArray[np.int64]) -> None:
        self.consensus_._renumber(places)
        self._take(self.consensus_)
        self._second = None if self._second is None else self._second.reorder(places)

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
        check_fitted(self)
        X = as_table(X)
        features = self.preprocessor_.transform(X)
        made = [np.asarray(self.generator_.transform(features))] if features.shape[1] else []
        if self.noise == VOTE:
            labels = made[0].copy()
            labels[most_call_noise(labels < 0, labels.shape[1])] = -1
            return labels
        return np.column_stack([*made, *self._members(X).values()])

    @available_where(_can_predict)
    def assign(self, X: Any) -> Assignment:
        """Assign new objects to the clusters, with the confidence of each assignment.

        Each base clusterer labels them by its ``predict``. One without ``predict`` (spectral clustering, Genie) gives
        the label of the nearest fitted object. The consensus takes the cluster from these labels: by its own
        ``predict``; else the cluster of the objects with the same labels; else the cluster with the largest mean
        co-association. `Assignment.by` says which.

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
        found = self._assign_labels(labels)
        if self._second is None:
            return found
        return self._second.assign(found, self.consensus_._encode(labels), self.preprocessor_.transform(as_table(X)))

    @available_where(_can_predict)
    def score(self, X: Any, y: Any = None) -> float:
        """How well the clusters of new objects agree with classes, or with the partitions: the higher, the better.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_new, n_features)
            As it was fitted.
        y : array-like of shape (n_new,), optional
            Known classes.

        Returns
        -------
        float
            The adjusted Rand index of ``predict(X)`` and y; without y its mean over the partitions by their weights,
            `metrics.ensemble_ari`. At most 1, about 0 by chance, with any number of clusters.
        """
        labels = self._labels_of(X)
        return score_of(self._assign_labels(labels).labels, y, labels, getattr(self.consensus_, "_weights", None))

    def _assign_labels(self, labels: NDArray[np.int32]) -> Assignment:
        """`assign`, of labels of new objects in the partitions."""
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
        return self.preprocessor_.partitions(X) if getattr(self.preprocessor_, "partitions_", []) else {}


def model_of(
    preprocessor: Preprocessor, generator: Any, seed: int, found: RunResult | None = None
) -> ConsensusClustering:
    """The model that a run leaves, which makes the same when it is fitted again; before its clusters are found, too.

    Where the weights of the partitions are learned, it learns them again. The generator loses its ``progress``.
    """
    unfitted = None if generator is None else clone(generator.set_params(progress=None))
    model = ConsensusClustering(generator=unfitted, preprocessor=clone(preprocessor), random_state=seed)
    model.preprocessor_, model.generator_ = preprocessor, generator
    model._take_preprocessor(preprocessor)
    if found is None:
        return model
    model._take_found(found)
    if found.number.chosen is not None and found.plan is not None:
        learned: dict[str, Any] = {"generator": None, "selection": LEARNED, "allow_one": found.plan.allow_one}
        return model.set_params(**learned, n_clusters=found.plan.k)
    k = None if found.number.choice else found.consensus.n_clusters
    return model.set_params(n_clusters=k, consensus=clone(found.consensus))
