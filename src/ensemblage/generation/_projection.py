"""Partitions of random projections of the features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from sklearn.pipeline import make_pipeline
from sklearn.random_projection import GaussianRandomProjection

from ensemblage._validation import check_fraction, check_whole
from ensemblage.generation._base import Recipe
from ensemblage.generation._random_k import RandomKPartitions


class ProjectionPartitions(RandomKPartitions):
    """Partitions by k-means, or any clusterer, each of a random projection of the features.

    The features are multiplied by a matrix of Gaussian random numbers, another one for each partition [1]_. One
    dimension makes the weak partitions of Topchy et al. [2]_.

    Parameters
    ----------
    n_partitions : int, default=50
        Number of partitions.
    n_components : int or float, default=0.5
        Dimensions of each projection: a number, at most that of the features, or a part of it in (0, 1].
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
        Seed of the projections and of every base clustering.
    progress : callable, optional
        Called as ``progress(done, total)`` after every base clustering, by the thread that called ``fit``.
        An error that it raises ends the work. No result depends on it.

    Attributes
    ----------
    estimators_ : list of pipelines
        A `GaussianRandomProjection` and the fitted base clusterer, one per column.
    n_clusters_ : ndarray of shape (n_partitions,)
        Number of clusters each was asked for.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    Notes
    -----
    Time: O(n m n_components) per partition, and that of the base clusterings over ``n_jobs`` threads. Memory: the
    (n, p) labels of 4 bytes, a projection of X per thread, and what the clusterers themselves keep.

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

    metric = "euclidean"

    def __init__(
        self,
        n_partitions: int = 50,
        *,
        n_components: int | float = 0.5,
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
        self.n_components = n_components
        self.k_min = k_min
        self.k_max = k_max
        self.k_cap = k_cap
        self.estimator = estimator
        self.on_error = on_error
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def _recipes(self, n_rows: int, n_features: int) -> list[Recipe]:
        n_components = self._n_dimensions(n_features)
        return [_projected(recipe, n_components) for recipe in super()._recipes(n_rows, n_features)]

    def _n_dimensions(self, n_features: int) -> int:
        if isinstance(self.n_components, float):
            check_fraction(self.n_components, f"n_components of {type(self).__name__}")
            return max(1, round(self.n_components * n_features))
        n_components = check_whole(self.n_components, f"n_components of {type(self).__name__}", 1)
        if n_components > n_features:
            raise ValueError(
                f"n_components of ProjectionPartitions must be ≤ the {n_features} features of X. Got {n_components}. "
                "Ask for fewer, or for a part of them, as 0.5."
            )
        return n_components


def _projected(recipe: Recipe, n_components: int) -> Recipe:
    projection = GaussianRandomProjection(n_components, random_state=recipe.seed)
    return recipe._replace(estimator=make_pipeline(projection, recipe.estimator))
