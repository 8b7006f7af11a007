"""One partition by each of several algorithms (Sinorina et al. 2022, setup 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    Birch,
    KMeans,
    MeanShift,
    MiniBatchKMeans,
    estimate_bandwidth,
)
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array, get_tags

from ensemblage.base.random import task_seeds
from ensemblage.base.validation import FRACTION, Constraints, Several, Whole, Words
from ensemblage.generation._base import BasePartitions, Recipe, make_recipe
from ensemblage.generation._clusterers import CLUSTERER, Labels, k_parameter

N_ALGORITHMS = 10
MOST_SAMPLED = 500
"""Objects from which the radius of mean shift is estimated."""
MOST_CLUSTERS = 100


@dataclass(eq=False, repr=False)
class MixedPartitions(BasePartitions):
    """Use it for members by ten different algorithms, one each: their agreement is no property of one algorithm.

    By default the ten of Sinorina [1]_ (setup 4): k-means, mini-batch k-means, DBSCAN, agglomerative clustering by
    Ward's, complete and average linkage, mean shift, BIRCH, a Gaussian mixture and a Bayesian one.

    Parameters
    ----------
    n_clusters : int, "sqrt" or None, default="sqrt"
        Number of clusters for every algorithm that takes one. "sqrt" is min(⌊√n_samples⌋, 100). None leaves each as it
        is given, which asks for ``estimators``.
    estimators : sequence of clusterers or None, default=None
        Clusterers or mixtures of scikit-learn, or pipelines that end in one; each makes a partition. Every
        ``random_state`` of theirs is set in a clone. None is the ten above.
    min_samples : int, default=5
        Of the default DBSCAN: neighbours, itself among them, that make an object a core of a cluster.
    eps_quantile : float, default=0.9
        The default DBSCAN's radius is this quantile of the objects' distances to their ``min_samples``-th neighbour: so
        many of the objects are cores.
    bandwidth_quantile : float or None, default=None
        The default mean shift's radius is the mean distance of an object to the farthest of this share of the others
        (``sklearn.cluster.estimate_bandwidth``, from 500 objects at most). None is 1 / the number of clusters.
    on_error : {"warn", "raise"}, default="warn"
        What a base partition that fails does: it is left out with one warning that names it, or it is raised. An
        ensemble is made to be redundant, so one failure does not cost the others by default. All failing raises.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of every algorithm.
    progress : callable or None, default=None
        Called as ``progress(done, total)`` after every base partition, by the thread that called ``fit``. An error
        that it raises ends the work. No result depends on it.

    Attributes
    ----------
    estimators_ : list of clusterers
        The fitted algorithms, one per column.
    n_clusters_ : ndarray of shape (n_partitions,)
        Number of clusters each was asked for, or found.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    Notes
    -----
    Sinorina states neither the number of clusters nor the radii; the rules above are ours. Objects that DBSCAN calls
    noise are missing in its partition.

    Time and memory are those of the algorithms: agglomerative clustering takes O(n²) of both, mean shift O(n²) time, so
    give other ``estimators`` above some 20,000 objects. ``transform`` gives what an algorithm predicts, else the label
    of the nearest training row.

    References
    ----------
    .. [1] N. C. R. Sinorina, H. J. Hamilton, S. Zilles, "Efficient removal of weak associations in consensus
       clustering", ICAART 2022, Sec. 5.1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage.generation import MixedPartitions
    >>> generator = MixedPartitions(3, random_state=0)
    >>> generator.fit_transform(load_iris().data).shape
    (150, 10)
    >>> list(generator.get_feature_names_out()[:4])
    ['kmeans_k3_0', 'minibatchkmeans_k3_1', 'dbscan_2', 'agglomerativeclustering_k3_3']
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_clusters": [Whole(1), Words(["sqrt"]), None],
        "estimators": [Several(CLUSTERER), None],
        "min_samples": [Whole(1)],
        "eps_quantile": [FRACTION],
        "bandwidth_quantile": [FRACTION, None],
    }

    n_clusters: int | Literal["sqrt"] | None = "sqrt"
    _: KW_ONLY
    estimators: Sequence[Any] | None = None
    min_samples: int = 5
    eps_quantile: float = 0.9
    bandwidth_quantile: float | None = None
    on_error: Literal["warn", "raise"] = "warn"
    n_jobs: int | None = None
    random_state: Any = None
    progress: Callable[[int, int], None] | None = None

    def _clusterers(self) -> list[Any]:
        if self.estimators is not None:
            return list(self.estimators)
        # Sinorina's algorithms, in her order. The Bayesian mixture rarely converges in its default of 100 iterations.
        linkages = [AgglomerativeClustering(linkage=linkage) for linkage in ("ward", "complete", "average")]
        mixtures = [GaussianMixture(), BayesianGaussianMixture(max_iter=1000)]
        return [KMeans(n_init=1), MiniBatchKMeans(n_init=1), DBSCAN(), *linkages, MeanShift(), Birch(), *mixtures]

    def _validate(self, X: Any, reset: bool, **options: Any) -> Any:
        # Each algorithm that takes no sparse matrix would fail on its own.
        if issparse(X) and not get_tags(self).input_tags.sparse:
            check_array(X)
        return super()._validate(X, reset, **options)

    def _recipes(self, n_rows: int, n_features: int) -> list[Recipe]:
        k = self._k(n_rows)
        clusterers = self._clusterers()
        seeds = task_seeds(self.random_state, len(clusterers)).tolist()
        return [
            make_recipe(i, clusterer, k if k_parameter(clusterer) else None, seed)
            for i, (clusterer, seed) in enumerate(zip(clusterers, seeds, strict=True))
        ]

    def _fit_labels(self, X: Any, sample_weight: NDArray[np.int64] | None, recipe: Recipe) -> Labels:
        is_own = self.estimators is None  # whose radius is found from the data
        if is_own and isinstance(recipe.estimator, DBSCAN):
            # The object itself is its first neighbour.
            distances, _ = NearestNeighbors(n_neighbors=self.min_samples).fit(X).kneighbors(X)
            eps = float(np.quantile(distances[:, -1], self.eps_quantile))
            recipe.estimator.set_params(min_samples=self.min_samples, eps=eps)
        elif is_own and isinstance(recipe.estimator, MeanShift):
            quantile = self.bandwidth_quantile or 1 / (self._k(X.shape[0]) or 1)
            n_samples = min(MOST_SAMPLED, X.shape[0])
            bandwidth = estimate_bandwidth(X, quantile=quantile, n_samples=n_samples, random_state=recipe.seed)
            recipe.estimator.set_params(bandwidth=float(bandwidth))
        return super()._fit_labels(X, sample_weight, recipe)

    def _k(self, n_rows: int) -> int | None:
        if self.n_clusters is None:
            if self.estimators is None:
                raise ValueError(
                    "n_clusters of MixedPartitions must be given for its default algorithms. Got None. "
                    "Give a number or 'sqrt', or estimators with their own."
                )
            return None
        if self.n_clusters == "sqrt":
            return min(math.isqrt(n_rows), MOST_CLUSTERS)
        if self.n_clusters > n_rows:
            raise ValueError(
                f"n_clusters of MixedPartitions must be ≤ the {n_rows} rows of X (n_samples={n_rows}). "
                f"Got {self.n_clusters}. Lower it or leave it at 'sqrt'."
            )
        return int(self.n_clusters)
