"""Partitions of random subsets of the features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ensemblage._validation import check_fraction
from ensemblage.generation._base import Recipe, Sample
from ensemblage.generation._random_k import RandomKPartitions


class SubspacePartitions(RandomKPartitions):
    """Partitions by k-means, or any clusterer, each of a random subset of the features.

    The random feature selection of KCC [1]_ (its K_i is fixed: ``k_min=k, k_max=k``). Partitions differ because they
    see different features; features that say nothing are left out of some of them.

    Parameters
    ----------
    n_partitions : int, default=50
        Number of partitions.
    feature_fraction : float, default=0.5
        Part of the features that is drawn for each partition, without replacement, in (0, 1]; at least one feature.
    k_min, k_max : int or "sqrt", default=2 and "sqrt"
        The number of clusters of each partition is uniform in [k_min, k_max]. "sqrt" is min(⌊√n_samples⌋, k_cap).
    k_cap : int, default=100
        Largest value of "sqrt".
    estimator : clusterer or None, default=None
        A scikit-learn clusterer or mixture, or a pipeline that ends in one. Its ``n_clusters`` (of a mixture,
        ``n_components``) and each of its ``random_state`` are set in a clone. None is ``KMeans(n_init=1)``.
    on_error : {"warn", "raise"}, default="warn"
        What a base clustering that fails does: it is left out with one warning that names it, or it is raised.
    n_jobs : int or None, default=None
        Threads, as in scikit-learn: None is 1 unless a ``joblib.parallel_config`` with a backend says otherwise, −1 is
        all cores. It changes the time and nothing else.
    random_state : int, RandomState or None, default=None
        Seed of the draws and of every base clustering.
    progress : callable, optional
        Called as ``progress(done, total)`` after every base clustering, by the thread that called ``fit``.
        An error that it raises ends the work. No result depends on it.

    Attributes
    ----------
    estimators_ : list of clusterers
        The fitted base clusterers, one per column.
    estimators_features_ : list of ndarray
        The features each was fitted on, sorted.
    n_clusters_ : ndarray of shape (n_partitions,)
        Number of clusters each was asked for.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    Notes
    -----
    Time: that of the base clusterings over ``n_jobs`` threads. Memory: the (n, p) labels of 4 bytes, a copy of the
    drawn part of X per thread, and what the clusterers themselves keep.

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

    metric = "euclidean"

    def __init__(
        self,
        n_partitions: int = 50,
        *,
        feature_fraction: float = 0.5,
        k_min: int | Literal["sqrt"] = 2,
        k_max: int | Literal["sqrt"] = "sqrt",
        k_cap: int = 100,
        estimator: Any = None,
        on_error: Literal["warn", "raise"] = "warn",
        n_jobs: int | None = None,
        random_state: Any = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.n_partitions = n_partitions
        self.feature_fraction = feature_fraction
        self.k_min = k_min
        self.k_max = k_max
        self.k_cap = k_cap
        self.estimator = estimator
        self.on_error = on_error
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    @property
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """Features of each partition, drawn again from its seed."""
        check_is_fitted(self, "estimators_")
        return [self._sample(recipe.seed, self._n_rows, self.n_features_in_).columns for recipe in self._made]

    def _recipes(self, n_rows: int, n_features: int) -> list[Recipe]:
        check_fraction(self.feature_fraction, f"feature_fraction of {type(self).__name__}")
        return super()._recipes(n_rows, n_features)

    def _sample(self, seed: int, n_rows: int, n_features: int) -> Sample:
        n_drawn = max(1, round(self.feature_fraction * n_features))
        columns = check_random_state(seed).choice(n_features, n_drawn, replace=False)
        return Sample(np.arange(n_rows), np.sort(columns))
