"""Partitions of random subsets of the features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ensemblage.base.parameters import FRACTION, Constraints
from ensemblage.generation._base import Sample
from ensemblage.generation._random_k import RandomKPartitions


@dataclass(eq=False, repr=False)
class SubspacePartitions(RandomKPartitions):
    """Partitions by k-means, or any clusterer, each of a random subset of the features.

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
    {on_error}
    {n_jobs}
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of every base clustering.
    {progress}
    fit_on : int, "auto" or None, default="auto"
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
    fit_on_ : int or None
        Rows that each k-means was fitted on before the steps on all rows; None: all rows, from the start.
    {asked_clusters}

    Notes
    -----
    Time: that of the base clusterings over ``n_jobs`` threads. Memory: the (n, p) labels of 4 bytes, a copy of the
    drawn part of X per thread, and what the clusterers themselves keep.

    With ``fit_on``, a k-means of 10⁶ rows takes a tenth of the time or less, and its inertia was .02 % below to .7 %
    above that of a fit on all rows (Gaussian mixtures and noise in 20 dimensions, k from 20 to 100). A cluster of few
    rows that lies far from all others may be missed by the sample.

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
