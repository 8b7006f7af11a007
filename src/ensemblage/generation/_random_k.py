"""Partitions by one clusterer with a random number of clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.cluster import KMeans

from ensemblage.base.random import random_source, task_seeds
from ensemblage.base.renamed import renamed_fields
from ensemblage.base.validation import MOST_TASKS, Constraints, Whole, Words
from ensemblage.generation._base import BasePartitions, Partition, Recipe, make_recipe
from ensemblage.generation._clusterers import CLUSTERER, k_parameter
from ensemblage.generation._kmeans import SampledKMeans, SphericalKMeans, auto_sample, unit_rows


@renamed_fields(fit_on="sample_size")
@dataclass(eq=False, repr=False)
class RandomKPartitions(BasePartitions):
    """Use it for many cheap members: k-means, or any clusterer, each with a random number of clusters.

    The generator of Candel (Sec. 5.3), of Ayad & Kamel [1]_ (Sec. 4.3) and of Sinorina [2]_ (setups 1 to 3): the
    number of clusters of each partition is uniform in [k_min, k_max]. ``k_min == k_max`` fixes it.

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
    metric : {"euclidean", "cosine"}, default="euclidean"
        Of the default clusterer. "cosine" is spherical k-means [3]_: rows and centres have length one and an object
        goes to the centre with the largest dot product.
    sample_size : int, "auto" or None, default="auto"
        Rows that each k-means is fitted on, a sample of its own; from its centres, 3 steps on all rows follow. Only for
        scikit-learn's ``KMeans``. None is all rows, scikit-learn's k-means and nothing else. "auto" is 20,000 rows, or
        200 for each cluster of ``k_max`` if that is more, where X has five times as many or more and ``estimator`` is
        None; else all rows.

    Attributes
    ----------
    estimators_ : list of clusterers
        The fitted base clusterers, one per column.
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
    Time: that of the base partitions over ``n_jobs`` threads, for k-means O(n m Σ k_i) per iteration. Memory: 4 n p
    bytes of labels, what the clusterers themselves keep, and, where they have no ``predict``, a reference to X.

    Each base partition is made in one thread, BLAS and OpenMP included: scikit-learn's k-means gives other bits for
    other numbers of threads.

    With ``sample_size``, a k-means of 10⁶ rows takes a tenth of the time or less, and its inertia was .02 % below to
    .7 % above that of a fit on all rows (Gaussian mixtures and noise in 20 dimensions, k from 20 to 100). A cluster of
    few rows that lies far from all others may be missed by the sample.

    Sinorina's k-means stops early: ``estimator=KMeans(n_init=1, max_iter=4)``, with ``k_min="sqrt"`` in setup 1.

    References
    ----------
    .. [1] H. G. Ayad and M. S. Kamel, "On voting-based consensus of cluster ensembles", Pattern Recognition 43, 2010.
    .. [2] N. Sinorina et al., "Selecting weak associations in consensus clustering", 2022.
    .. [3] I. S. Dhillon and D. S. Modha, "Concept decompositions for large sparse text data using clustering", Machine
       Learning 42, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage.generation import RandomKPartitions
    >>> generator = RandomKPartitions(5, random_state=0)
    >>> labels = generator.fit_transform(load_iris().data)
    >>> labels.shape
    (150, 5)
    >>> list(generator.get_feature_names_out())
    ['kmeans_k7_0', 'kmeans_k2_1', 'kmeans_k5_2', 'kmeans_k5_3', 'kmeans_k9_4']
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_partitions": [Whole(1, MOST_TASKS)],
        "k_min": [Whole(1), Words(["sqrt"])],
        "k_max": [Whole(1), Words(["sqrt"])],
        "k_cap": [Whole(1)],
        "estimator": [CLUSTERER, None],
        "metric": [Words(["euclidean", "cosine"])],
        "sample_size": [Whole(1), Words(["auto"]), None],
    }

    n_partitions: int = 50
    _: KW_ONLY
    k_min: int | Literal["sqrt"] = 2
    k_max: int | Literal["sqrt"] = "sqrt"
    k_cap: int = 100
    estimator: Any = None
    on_error: Literal["warn", "raise"] = "warn"
    n_jobs: int | None = None
    random_state: Any = None
    progress: Callable[[int, int], None] | None = None
    metric: Literal["euclidean", "cosine"] = "euclidean"
    sample_size: int | Literal["auto"] | None = "auto"

    sample_size_: int | None = field(init=False)

    def _clusterers(self) -> list[Any]:
        if self.estimator is not None:
            return [self.estimator]
        return [SphericalKMeans() if self.metric == "cosine" else KMeans(n_init=1)]

    def _prepare(self, X: Any) -> Any:
        return unit_rows(X, type(self).__name__) if self.metric == "cosine" else X

    def _k_range(self, n_rows: int) -> tuple[int, int]:
        return k_range(self, n_rows)

    def _recipes(self, n_rows: int, n_features: int) -> list[Recipe]:
        (clusterer,) = self._clusterers()
        self._check_clusterer(clusterer)
        k_min, k_max = self._k_range(n_rows)
        source = random_source(self.random_state)
        ks = source.randint(k_min, k_max + 1, size=self.n_partitions, dtype=np.int64).tolist()
        seeds = task_seeds(source, self.n_partitions).tolist()
        recipes = [make_recipe(i, clusterer, k, seed) for i, (k, seed) in enumerate(zip(ks, seeds, strict=True))]
        size = self._sample_size_of(n_rows)
        if size is None:
            return recipes
        sampled = [SampledKMeans(**recipe.estimator.get_params(), sample_size=size) for recipe in recipes]
        return [recipe._replace(estimator=estimator) for recipe, estimator in zip(recipes, sampled, strict=True)]

    def _keep(self, X: Any, partitions: Sequence[Partition]) -> None:
        super()._keep(X, partitions)
        self.sample_size_ = self._sample_size_of(X.shape[0])

    def _sample_size_of(self, n_samples: int) -> int | None:
        """Number of the rows that each k-means of so many is fitted on, as ``sample_size`` says; None: all."""
        (clusterer,) = self._clusterers()
        if self.sample_size == "auto":
            is_default = self.estimator is None and type(clusterer) is KMeans
            return auto_sample(n_samples, self._k_range(n_samples)[1]) if is_default else None
        if self.sample_size is None:
            return None
        name, most = type(self).__name__, self._k_range(n_samples)[1]
        if type(clusterer) is not KMeans:
            raise ValueError(
                f"sample_size of {name} must be 'auto' or None for a clusterer that is not scikit-learn's KMeans. "
                f"Got {self.sample_size} and {clusterer!r}. Leave it out."
            )
        if self.sample_size < most:
            raise ValueError(
                f"sample_size of {name} must be ≥ the number of clusters, which is up to {most}. Got "
                f"{self.sample_size}. Give more rows, or a lower k_max."
            )
        return int(self.sample_size) if self.sample_size < n_samples else None

    def _check_clusterer(self, clusterer: Any) -> None:
        name = type(self).__name__
        if self.metric == "cosine" and self.estimator is not None:
            raise ValueError(
                f"metric of {name} is that of its default clusterer. Got {self.metric!r} and {clusterer!r}. "
                "Leave one of them out."
            )
        if k_parameter(clusterer) is None:
            raise ValueError(
                f"estimator of {name} must have a parameter n_clusters or n_components. Got {clusterer!r}. "
                "Use ResampledPartitions for clusterers that find the number themselves."
            )


def k_range(generator: Any, n_rows: int) -> tuple[int, int]:
    """The least and the largest number of clusters of a generator with ``k_min``, ``k_max`` and ``k_cap``."""
    root = min(math.isqrt(n_rows), int(generator.k_cap))
    k_min, k_max = (root if k == "sqrt" else int(k) for k in (generator.k_min, generator.k_max))
    name = type(generator).__name__
    if k_max > n_rows:
        raise ValueError(
            f"k_max of {name} must be ≤ the {n_rows} rows of X (n_samples={n_rows}). Got {k_max}. "
            "Lower it or leave it at 'sqrt'."
        )
    if k_max < k_min:
        given = f"k_max='sqrt', which is {k_max} for {n_rows} rows" if generator.k_max == "sqrt" else f"k_max={k_max}"
        raise ValueError(
            f"k_max of {name} must be ≥ its k_min. Got k_min={k_min} and {given}. Lower k_min or give a larger k_max."
        )
    return k_min, k_max
