"""What every generator shares: recipes in, a label matrix out, and a way to label new rows."""

from __future__ import annotations

import logging
import numbers
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter, validate_data

from ensemblage.base.features import features_checked
from ensemblage.base.sklearn import BaseEstimator, TransformerMixin
from ensemblage.base.validation import Constraints, Function, Jobs, Seed, Words, check_fitted, check_parameters
from ensemblage.generation._clusterers import (
    Labels,
    check_labels,
    class_name,
    error_text,
    failures_text,
    fewer_clusters_text,
    fold_warnings,
    k_parameter,
    nearest_rows,
    prepare_clusterer,
    run_all,
)
from ensemblage.labels.coding import MISSING, check_sample_weight
from ensemblage.labels.ensemble import Ensemble

logger = logging.getLogger(__name__)


class Sample(NamedTuple):
    """The part of the data that one partition is made from; rows may repeat."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]

    def features(self, X: Any) -> Any:
        return X if len(self.columns) == X.shape[1] else X[:, self.columns]

    def take(self, X: Any) -> Any:
        return self.features(X[self.rows])


class Recipe(NamedTuple):
    """All that makes one partition: what is random in it is drawn already."""

    name: str
    estimator: Any
    n_clusters: int | None
    seed: int


class Partition(NamedTuple):
    """A partition that was made; its recipe's estimator is fitted now."""

    recipe: Recipe
    labels: Labels


class Failure(NamedTuple):
    """A partition that could not be made."""

    recipe: Recipe
    error: Exception


def make_recipe(index: int, estimator: Any, n_clusters: int | None, seed: int) -> Recipe:
    """The recipe of partition ``index``: a clone of ``estimator`` with its k and seeds set, and a name that says so."""
    estimator = prepare_clusterer(estimator, n_clusters, seed)
    parameter = k_parameter(estimator)
    k = estimator.get_params()[parameter] if parameter else None
    if not isinstance(k, numbers.Integral):
        return Recipe(f"{class_name(estimator)}_{index}", estimator, None, seed)
    return Recipe(f"{class_name(estimator)}_k{k}_{index}", estimator, int(k), seed)


class LabelTransformer(TransformerMixin, BaseEstimator):
    """A transformer from features to a label matrix.

    A subclass gives ``_generate``, which makes partitions, ``_matrix``, their labels, ``_transform``, the labels of
    other rows, and ``_names``.
    """

    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Make the partitions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features; sparse where the base clusterer takes it.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._generate(X)
        return self

    def fit_transform(self, X: ArrayLike, y: None = None) -> Labels:
        """Make the partitions and return their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features; sparse where the base clusterer takes it.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_partitions), int32
            One column per partition, −1 where a partition gives an object no label.

        Raises
        ------
        ValueError
            If every base partition fails, or any of them with ``on_error="raise"``.
        """
        return self._matrix(self._generate(X))

    def transform(self, X: ArrayLike) -> Labels:
        """Label rows by every partition: what its clusterer predicts, else the label of its nearest training row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, new or not.

        Returns
        -------
        ndarray of shape (n_samples, n_partitions), int32
            One column per partition, −1 where a partition gives an object no label.
        """
        check_fitted(self, "n_clusters_")
        return self._transform(self._validate(X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the partitions: the clusterer, its number of clusters, an index, as in ``kmeans_k7_0``.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_partitions,), object
            The names, in the order of the columns.
        """
        check_fitted(self, "n_clusters_")
        return np.array(self._names(), dtype=object)

    def _validate(self, X: Any, reset: bool, **options: Any) -> Any:
        with features_checked(f"X of {type(self).__name__}", X):
            return validate_data(self, X, reset=reset, ensure_min_samples=2 if reset else 1, **options)

    def _generate(self, X: Any) -> Any:
        raise NotImplementedError

    def _matrix(self, made: Any) -> Labels:
        raise NotImplementedError

    def _transform(self, X: Any) -> Labels:
        raise NotImplementedError

    def _names(self) -> list[str]:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


class BasePartitions(LabelTransformer):
    """Base of the generators whose partitions are each made by a clusterer.

    A subclass stores its parameters and gives ``_clusterers``, the base clusterers it was given, and ``_recipes``, one
    per partition. It may give ``_prepare``, what is done to X first, and ``_sample``, the part of X that a partition is
    made from. One whose partitions depend on each other overrides ``_partitions``.
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "on_error": [Words(["warn", "raise"])],
        "n_jobs": [Jobs()],
        "random_state": [Seed()],
        "progress": [Function(), None],
    }

    n_jobs: int | None
    on_error: str
    progress: Callable[[int, int], None] | None
    estimators_: list[Any]
    n_clusters_: NDArray[np.int64]

    def _clusterers(self) -> list[Any]:
        raise NotImplementedError

    def fit_transform_counted(self, X: Any, sample_weight: Any) -> Labels:
        """Make the partitions of rows that stand for several objects each, and return their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        sample_weight : array-like of int, shape (n_samples,)
            How many objects each row stands for, ≥ 0. Base clusterers whose ``fit`` takes sample_weight count them, as
            that of k-means does; a k-means then takes all rows, whatever ``sample_size`` says. The others cluster each
            row once, with one warning that names them.

        Returns
        -------
        ndarray of shape (n_samples, n_partitions), int32
            As of `fit_transform`.

        Raises
        ------
        ValueError
            If the weights are no such numbers, or no base clusterer takes them.
        """
        return self._matrix(self._generate(X, sample_weight))

    def _recipes(self, n_rows: int, n_features: int) -> list[Recipe]:
        raise NotImplementedError

    @property
    def _draws_rows(self) -> bool:
        """Whether a partition is made from some of the rows, so that −1 may mean that a row was not drawn."""
        return False

    def _prepare(self, X: Any) -> Any:
        return X

    def _sample(self, seed: int, n_rows: int, n_features: int) -> Sample | None:
        return None

    def _samples(self) -> list[Sample]:
        """The sample of each partition, drawn again from its seed."""
        check_fitted(self, "n_clusters_")
        drawn = (self._sample(recipe.seed, self._n_rows, self.n_features_in_) for recipe in self._made)
        return [sample for sample in drawn if sample is not None]

    def _transform(self, X: Any) -> Labels:
        X = self._prepare(X)
        # Where the partitions saw all rows, the nearest row is the same for each.
        shares_rows = self._nearest_labels and self._fit_sample(next(iter(self._nearest_labels))) is None
        nearest = nearest_rows(self._fit_X, X) if shares_rows else None
        of = partial(self._labels_of, X, nearest)
        return label_matrix(run_all(of, range(len(self.estimators_)), self.n_jobs))

    def _names(self) -> list[str]:
        return [recipe.name for recipe in self._made]

    def _matrix(self, made: Sequence[Partition]) -> Labels:
        return label_matrix([partition.labels for partition in made])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = all(get_tags(c).input_tags.sparse for c in self._clusterers())
        return tags

    def _generate(self, X: Any, sample_weight: Any = None) -> list[Partition]:
        check_parameters(self)
        X = self._prepare(self._validate(X, reset=True))
        if sample_weight is not None:
            sample_weight = check_sample_weight(sample_weight, X.shape[0])
            self._check_counts_weights()
        with fold_warnings():
            partitions = self._drop_failures(self._partitions(X, sample_weight))
        self._keep(X, partitions)
        return partitions

    def _validate(self, X: Any, reset: bool, **options: Any) -> Any:
        return super()._validate(X, reset, accept_sparse="csr", dtype=[np.float64, np.float32], **options)

    def _check_counts_weights(self) -> None:
        """Raise if no base clusterer takes sample_weight; warn of those that do not."""
        name, clusterers = type(self).__name__, self._clusterers()
        others = [clusterer for clusterer in clusterers if not has_fit_parameter(clusterer, "sample_weight")]
        names = ", ".join(dict.fromkeys(class_name(clusterer) for clusterer in others))
        if len(others) == len(clusterers):
            raise ValueError(
                f"sample_weight of {name} must be None: none of its base clusterers takes weights ({names}). Got some. "
                "Leave it out, or use RandomKPartitions."
            )
        if others:
            warnings.warn(
                f"sample_weight counts in those base clusterers of {name} that take it. These cluster every row "
                f"once: {names}.",
                UserWarning,
                stacklevel=4,
            )

    def _partitions(self, X: Any, sample_weight: NDArray[np.int64] | None) -> list[Partition | Failure]:
        recipes = self._recipes(*X.shape)
        work = partial(self._partition, X, sample_weight)
        return run_all(work, recipes, self.n_jobs, self._is_fatal, self.progress)

    def _is_fatal(self, outcome: Partition | Failure) -> bool:
        return self.on_error == "raise" and isinstance(outcome, Failure)

    def _partition(self, X: Any, sample_weight: NDArray[np.int64] | None, recipe: Recipe) -> Partition | Failure:
        try:
            return Partition(recipe, self._fit_labels(X, sample_weight, recipe))
        except Exception as error:
            return Failure(recipe, error)

    def _fit_labels(self, X: Any, sample_weight: NDArray[np.int64] | None, recipe: Recipe) -> Labels:
        sample = self._sample(recipe.seed, *X.shape)
        if sample is None:
            return check_labels(_fit_predict(recipe.estimator, X, sample_weight), X.shape[0])
        weights = None if sample_weight is None else sample_weight[sample.rows]
        labels = np.full(X.shape[0], -1, dtype=np.int32)
        labels[sample.rows] = check_labels(_fit_predict(recipe.estimator, sample.take(X), weights), len(sample.rows))
        return labels

    def _drop_failures(self, outcomes: Sequence[Partition | Failure], depth: int = 4) -> list[Partition]:
        """Those that were made; the caller that a warning of the others points at is ``depth`` frames above."""
        made = [outcome for outcome in outcomes if isinstance(outcome, Partition)]
        failed = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
        failures_said = failures_text((failure.recipe.name, failure.error) for failure in failed)
        if failed and self.on_error == "raise":
            (first, *_) = failed
            text = f"The base partition {first.recipe.name} failed with {error_text(first.error)}"
            raise ValueError(text) from first.error
        if failed and not made:
            raise ValueError(f"At least one base partition must succeed. All {len(failed)} failed: {failures_said}")
        if failed:
            text = f"{len(failed)} of {len(outcomes)} base partitions failed and are left out: {failures_said}"
            warnings.warn(text, FitFailedWarning, stacklevel=depth)
        return made

    def _keep(self, X: Any, partitions: Sequence[Partition]) -> None:
        self._made = [partition.recipe for partition in partitions]
        self.estimators_ = [recipe.estimator for recipe in self._made]
        found = [len(np.unique(labels[labels >= 0])) for _, labels in partitions]
        chosen = [recipe.n_clusters for recipe in self._made]
        asked = [n if k is None else k for k, n in zip(chosen, found, strict=True)]
        self.n_clusters_ = np.array(asked)
        if fewer := fewer_clusters_text(self._names(), asked, found):
            logger.info("%s", fewer)
        # Only clusterers without predict need the training rows and their labels.
        without_predict = [i for i, estimator in enumerate(self.estimators_) if not hasattr(estimator, "predict")]
        self._nearest_labels = {i: partitions[i].labels for i in without_predict}
        self._fit_X = X if without_predict else None
        self._n_rows = X.shape[0]

    def _fit_sample(self, index: int) -> Sample | None:
        return self._sample(self._made[index].seed, self._n_rows, self.n_features_in_)

    def _labels_of(self, X: Any, nearest: NDArray[np.intp] | None, index: int) -> Labels:
        estimator, sample = self.estimators_[index], self._fit_sample(index)
        features = X if sample is None else sample.features(X)
        if hasattr(estimator, "predict"):
            return check_labels(estimator.predict(features), X.shape[0])
        labels = self._nearest_labels[index]
        if sample is None:
            return labels[nearest]
        return labels[sample.rows][nearest_rows(sample.take(self._fit_X), features)]


def _fit_predict(estimator: Any, X: Any, sample_weight: NDArray[np.int64] | None) -> Any:
    if sample_weight is None or not has_fit_parameter(estimator, "sample_weight"):
        return estimator.fit_predict(X)
    return estimator.fit_predict(X, sample_weight=sample_weight)


def label_matrix(columns: Sequence[Labels]) -> Labels:
    """(n, p) the columns side by side, in Fortran order."""
    labels = np.empty((len(columns[0]), len(columns)), dtype=np.int32, order="F")
    for i, column in enumerate(columns):
        labels[:, i] = column
    return labels


def ensemble_of(
    generator: Any, X: Any, sample_weight: NDArray[np.int64] | None = None, noise: Literal["missing", "vote"] = MISSING
) -> Ensemble:
    """The partitions that a generator makes, by its names for them; row i stands for sample_weight[i] objects.

    noise : what −1 says of an object, as in `Ensemble`
    """
    if sample_weight is None:
        labels = np.asarray(generator.fit_transform(X))
    elif isinstance(generator, BasePartitions):
        labels = generator.fit_transform_counted(X, sample_weight)
    else:
        raise ValueError(
            f"sample_weight must be None with {type(generator).__name__}, which clusters every row once. Got some. "
            "Leave it out, or use RandomKPartitions."
        )
    return Ensemble._made(labels, names=[str(name) for name in generator.get_feature_names_out()], noise=noise)
