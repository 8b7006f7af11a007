"""Partitions of random parts of the data: of the objects, of the features, of random projections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.random_projection import GaussianRandomProjection
from sklearn.utils import check_random_state

from ensemblage.base.indexing import is_integer
from ensemblage.base.random import task_seeds
from ensemblage.base.renamed import renamed_fields
from ensemblage.base.validation import FRACTION, MOST_TASKS, Constraints, Flag, Whole
from ensemblage.generation._base import BasePartitions, Recipe, Sample, make_recipe
from ensemblage.generation._clusterers import CLUSTERER, k_parameter
from ensemblage.generation._random_k import RandomKPartitions


@dataclass(eq=False, repr=False)
class ResampledPartitions(BasePartitions):
    """Use it for stability: partitions of random subsamples or bootstraps; objects left out have no label (−1).

    The generator of Monti's consensus clustering [1]_: how often two objects fall together *when both are drawn*
    says how stable their cluster is.

    Parameters
    ----------
    n_partitions : int, default=50
        Number of partitions.
    n_clusters : int or None, default=None
        Number of clusters of each partition. None leaves the estimator's own.
    fraction : float, default=0.8
        Part of the rows that is drawn, in (0, 1].
    bootstrap : bool, default=False
        Whether rows are drawn with replacement. The classical bootstrap is ``bootstrap=True, fraction=1.0``.
    feature_fraction : float, default=1.0
        Part of the features that is drawn for each partition, without replacement, in (0, 1].
    estimator : clusterer or None, default=None
        A scikit-learn clusterer or mixture, or a pipeline that ends in one. Each of its ``random_state`` is set in a
        clone. None is ``KMeans(n_init=1)``, which has 8 clusters unless ``n_clusters`` is given.
    on_error : {"warn", "raise"}, default="warn"
        What a base partition that fails does: it is left out with one warning that names it, or it is raised. An
        ensemble is made to be redundant, so one failure does not cost the others by default. All failing raises.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of every base partition. The same seed draws the same rows for any ``n_clusters``.
    progress : callable or None, default=None
        Called as ``progress(done, total)`` after every base partition, by the thread that called ``fit``. An error
        that it raises ends the work. No result depends on it.

    Attributes
    ----------
    estimators_ : list of clusterers
        The fitted base clusterers, one per column.
    estimators_samples_ : list of ndarray
        The rows each was fitted on, sorted; with ``bootstrap`` they may repeat.
    estimators_features_ : list of ndarray
        The features each was fitted on, sorted.
    n_clusters_ : ndarray of shape (n_partitions,)
        Number of clusters each was asked for; what it found, if it takes no such number.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    Notes
    -----
    ``transform`` labels every row by every partition, also rows that ``fit_transform`` left out.

    Time: that of the base partitions over ``n_jobs`` threads. Memory: the (n, p) labels of 4 bytes, a copy of the
    drawn part of X per thread, and what the clusterers themselves keep.

    References
    ----------
    .. [1] S. Monti, P. Tamayo, J. Mesirov and T. Golub, "Consensus clustering: a resampling-based method for class
       discovery and visualization of gene expression microarray data", Machine Learning 52, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage.generation import ResampledPartitions
    >>> generator = ResampledPartitions(20, n_clusters=3, random_state=0)
    >>> labels = generator.fit_transform(load_iris().data)
    >>> labels.shape, int((labels[:, 0] == -1).sum())
    ((150, 20), 30)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_partitions": [Whole(1, MOST_TASKS)],
        "n_clusters": [Whole(1), None],
        "fraction": [FRACTION],
        "bootstrap": [Flag()],
        "feature_fraction": [FRACTION],
        "estimator": [CLUSTERER, None],
    }

    n_partitions: int = 50
    _: KW_ONLY
    n_clusters: int | None = None
    fraction: float = 0.8
    bootstrap: bool = False
    feature_fraction: float = 1.0
    estimator: Any = None
    on_error: Literal["warn", "raise"] = "warn"
    n_jobs: int | None = None
    random_state: Any = None
    progress: Callable[[int, int], None] | None = None

    @property
    def estimators_samples_(self) -> list[NDArray[np.intp]]:
        """Rows of each partition, drawn again from its seed."""
        return [sample.rows for sample in self._samples()]

    @property
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """Features of each partition, drawn again from its seed."""
        return [sample.columns for sample in self._samples()]

    @property
    def _draws_rows(self) -> bool:
        return self.fraction < 1 or self.bootstrap

    def _clusterers(self) -> list[Any]:
        return [KMeans(n_init=1) if self.estimator is None else self.estimator]

    def _recipes(self, n_rows: int, n_features: int) -> list[Recipe]:
        (clusterer,) = self._clusterers()
        self._check_n_clusters(clusterer, n_rows)
        seeds = task_seeds(self.random_state, self.n_partitions).tolist()
        return [make_recipe(i, clusterer, self.n_clusters, seed) for i, seed in enumerate(seeds)]

    def _check_n_clusters(self, clusterer: Any, n_rows: int) -> None:
        if self.n_clusters is None:
            return
        name, n_clusters, n_drawn = type(self).__name__, self.n_clusters, _part(self.fraction, n_rows)
        if n_clusters > n_drawn:
            raise ValueError(
                f"n_clusters of {name} must be ≤ the {n_drawn} rows it draws. Got {n_clusters} for "
                f"n_samples={n_rows} and fraction={self.fraction}. Ask for fewer clusters or a larger fraction."
            )
        if k_parameter(clusterer) is None:
            raise ValueError(
                f"n_clusters of {name} must be None for an estimator without a parameter n_clusters or n_components. "
                f"Got {n_clusters} and {clusterer!r}. Leave n_clusters out."
            )

    def _sample(self, seed: int, n_rows: int, n_features: int) -> Sample:
        draw = check_random_state(seed).choice
        rows = draw(n_rows, _part(self.fraction, n_rows), replace=self.bootstrap)
        columns = draw(n_features, _part(self.feature_fraction, n_features), replace=False)
        return Sample(np.sort(rows), np.sort(columns))


def _part(fraction: float, n: int) -> int:
    return max(1, round(fraction * n))


@renamed_fields(fit_on="sample_size")
@dataclass(eq=False, repr=False)
class SubspacePartitions(RandomKPartitions):
    """Use it for many features, some of them noise: k-means, or any clusterer, each on random features.

    The random feature selection of KCC [1]_ (its K_i is fixed: ``k_min=k, k_max=k``). Partitions differ because they
    see different features; features that say nothing are left out of some of them.

    Parameters
    ----------
    n_partitions : int, default=50
        Number of partitions.
    k_min, k_max : int or "sqrt", default=2 and "sqrt"
        The number of clusters of each partition is uniform in [k_min, k_max]. "sqrt" is min(⌊√n_samples⌋, k_cap).
    k_cap : int, default=100
        Largest value of "sqrt".
    estimator : clusterer or None, default=None
        A scikit-learn clusterer or mixture, or a pipeline that ends in one. Its ``n_clusters`` (of a mixture,
        ``n_components``) and each of its ``random_state`` are set in a clone. None is ``KMeans(n_init=1)``.
    on_error : {"warn", "raise"}, default="warn"
        What a base partition that fails does: it is left out with one warning that names it, or it is raised. An
        ensemble is made to be redundant, so one failure does not cost the others by default. All failing raises.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of every base partition.
    progress : callable or None, default=None
        Called as ``progress(done, total)`` after every base partition, by the thread that called ``fit``. An error
        that it raises ends the work. No result depends on it.
    sample_size : int, "auto" or None, default="auto"
        Rows that each k-means is fitted on, a sample of its own; from its centres, 3 steps on all rows follow. Only for
        scikit-learn's ``KMeans``. None is all rows, scikit-learn's k-means and nothing else. "auto" is 20,000 rows, or
        200 for each cluster of ``k_max`` if that is more, where X has five times as many or more and ``estimator`` is
        None; else all rows.
    feature_fraction : float, default=0.5
        Part of the features that is drawn for each partition, without replacement, in (0, 1]; at least one feature.

    Attributes
    ----------
    estimators_ : list of clusterers
        The fitted base clusterers, one per column.
    estimators_features_ : list of ndarray
        The features each was fitted on, sorted.
    sample_size_ : int or None
        Rows that each k-means was fitted on before the steps on all rows; None: all rows, from the start.
    n_clusters_ : ndarray of shape (n_partitions,)
        Number of clusters each was asked for.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    Notes
    -----
    Time: that of the base partitions over ``n_jobs`` threads. Memory: the (n, p) labels of 4 bytes, a copy of the
    drawn part of X per thread, and what the clusterers themselves keep.

    With ``sample_size``, a k-means of 10⁶ rows takes a tenth of the time or less, and its inertia was .02 % below to
    .7 % above that of a fit on all rows (Gaussian mixtures and noise in 20 dimensions, k from 20 to 100). A cluster of
    few rows that lies far from all others may be missed by the sample.

    References
    ----------
    .. [1] J. Wu, H. Liu, H. Xiong, J. Cao and J. Chen, "K-means-based consensus clustering: a unified view", TKDE
       27(1), 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ensemblage.generation import SubspacePartitions
    >>> generator = SubspacePartitions(20, k_min=3, k_max=3, random_state=0)
    >>> generator.fit_transform(load_wine().data).shape
    (178, 20)
    >>> [len(columns) for columns in generator.estimators_features_[:3]]
    [6, 6, 6]
    """

    _parameter_constraints: ClassVar[Constraints] = {"feature_fraction": [FRACTION]}

    _: KW_ONLY
    feature_fraction: float = 0.5
    metric: Literal["euclidean", "cosine"] = field(default="euclidean", init=False)

    @property
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """Features of each partition, drawn again from its seed."""
        return [sample.columns for sample in self._samples()]

    def _sample(self, seed: int, n_rows: int, n_features: int) -> Sample:
        n_drawn = max(1, round(self.feature_fraction * n_features))
        columns = check_random_state(seed).choice(n_features, n_drawn, replace=False)
        return Sample(np.arange(n_rows), np.sort(columns))


@renamed_fields(fit_on="sample_size")
@dataclass(eq=False, repr=False)
class ProjectionPartitions(RandomKPartitions):
    """Use it for many features: k-means, or any clusterer, each on a random projection.

    The features are multiplied by a matrix of Gaussian random numbers, another one for each partition [1]_. One
    dimension makes the weak partitions of Topchy et al. [2]_.

    Parameters
    ----------
    n_partitions : int, default=50
        Number of partitions.
    k_min, k_max : int or "sqrt", default=2 and "sqrt"
        The number of clusters of each partition is uniform in [k_min, k_max]. "sqrt" is min(⌊√n_samples⌋, k_cap).
    k_cap : int, default=100
        Largest value of "sqrt".
    estimator : clusterer or None, default=None
        A scikit-learn clusterer or mixture, or a pipeline that ends in one. Its ``n_clusters`` (of a mixture,
        ``n_components``) and each of its ``random_state`` are set in a clone. None is ``KMeans(n_init=1)``.
    on_error : {"warn", "raise"}, default="warn"
        What a base partition that fails does: it is left out with one warning that names it, or it is raised. An
        ensemble is made to be redundant, so one failure does not cost the others by default. All failing raises.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of every base partition.
    progress : callable or None, default=None
        Called as ``progress(done, total)`` after every base partition, by the thread that called ``fit``. An error
        that it raises ends the work. No result depends on it.
    sample_size : int, "auto" or None, default="auto"
        Rows that each k-means is fitted on, a sample of its own; from its centres, 3 steps on all rows follow. Only for
        scikit-learn's ``KMeans``. None is all rows, scikit-learn's k-means and nothing else. "auto" is 20,000 rows, or
        200 for each cluster of ``k_max`` if that is more, where X has five times as many or more and ``estimator`` is
        None; else all rows.
    n_components : int or float, default=0.5
        Dimensions of each projection: a number, at most that of the features, or a part of it in (0, 1].

    Attributes
    ----------
    estimators_ : list of pipelines
        A `GaussianRandomProjection` and the fitted base clusterer, one per column.
    sample_size_ : int or None
        Rows that each k-means was fitted on before the steps on all rows; None: all rows, from the start.
    n_clusters_ : ndarray of shape (n_partitions,)
        Number of clusters each was asked for.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    Notes
    -----
    Time: O(n m n_components) per partition, and that of the base partitions over ``n_jobs`` threads. Memory: the
    (n, p) labels of 4 bytes, a projection of X per thread, and what the clusterers themselves keep.

    With ``sample_size``, a k-means of 10⁶ rows takes a tenth of the time or less, and its inertia was .02 % below to
    .7 % above that of a fit on all rows (Gaussian mixtures and noise in 20 dimensions, k from 20 to 100). A cluster of
    few rows that lies far from all others may be missed by the sample.

    ``transform`` with a clusterer that cannot predict takes the nearest training row in the features, not in the
    projection.

    References
    ----------
    .. [1] X. Z. Fern and C. E. Brodley, "Random projection for high dimensional data clustering: a cluster ensemble
       approach", ICML 2003.
    .. [2] A. Topchy, A. K. Jain and W. Punch, "Combining multiple weak clusterings", ICDM 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ensemblage.generation import ProjectionPartitions
    >>> generator = ProjectionPartitions(20, n_components=3, random_state=0)
    >>> generator.fit_transform(load_wine().data).shape
    (178, 20)
    """

    _parameter_constraints: ClassVar[Constraints] = {"n_components": [Whole(1), FRACTION]}

    _: KW_ONLY
    n_components: int | float = 0.5
    metric: Literal["euclidean", "cosine"] = field(default="euclidean", init=False)

    def _recipes(self, n_rows: int, n_features: int) -> list[Recipe]:
        n_components = self._n_dimensions(n_features)
        recipes = []
        for recipe in super()._recipes(n_rows, n_features):
            projection = GaussianRandomProjection(n_components, random_state=recipe.seed)
            recipes.append(recipe._replace(estimator=make_pipeline(projection, recipe.estimator)))
        return recipes

    def _n_dimensions(self, n_features: int) -> int:
        if not is_integer(self.n_components):
            return max(1, round(self.n_components * n_features))
        if self.n_components > n_features:
            raise ValueError(
                f"n_components of ProjectionPartitions must be ≤ the {n_features} features of X. "
                f"Got {self.n_components}. Ask for fewer, or for a part of them, as 0.5."
            )
        return int(self.n_components)
