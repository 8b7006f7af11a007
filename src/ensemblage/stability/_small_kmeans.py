"""k-means of few objects with many starts, as estimators: of features, and of squared distances of all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import random_source
from ensemblage.base.sklearn import BaseEstimator, ClusterMixin
from ensemblage.generation._sampled_kmeans import member_sums
from ensemblage.kernels._points import best_of_starts
from ensemblage.kernels._squares import best_of_starts_by_squares, squares_of_products
from ensemblage.labels.threads import one_native_thread
from ensemblage.stability._gap import MAX_ITER

WIDE = 40
"""Features from which on k-means is faster by the squared distances of all pairs."""
MOST_OBJECTS = 4_096
"""Whose squared distances of all pairs are kept: 128 MiB."""
ROUNDING = 1e-13
"""Squared distances below so many of both objects' from the mean are 0: of copies they are rounding errors."""


def squares_of_pairs(X: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """(n, n) squared distances where k-means is faster by them; None where there are few features or many objects.

    X : (n, d). O(n² d) time, 8 n² bytes.
    """
    n, d = X.shape
    if d < WIDE or n > MOST_OBJECTS:
        return None
    centred = X - X.mean(axis=0)
    with one_native_thread():
        products = centred @ centred.T
    squares_of_products(products, ROUNDING)
    return np.asarray(products)


class SmallKMeans(ClusterMixin, BaseEstimator):
    """k-means++ with one trial per centre, Lloyd's steps in float64, the best of ``n_init`` starts.

    The same as scikit-learn's but for its greedy trials, without its cost of a millisecond per start. O(n d k) time
    per step, O(n) memory.
    """

    def __init__(self, n_clusters: int = 8, n_init: int = 10, random_state: Any = None) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """X : (n, d) finite float64, n ≥ n_clusters."""
        X = np.ascontiguousarray(X, dtype=np.float64)
        uniforms = random_source(self.random_state).random_sample((self.n_init, self.n_clusters))
        self.labels_ = np.empty(len(X), dtype=np.int32)
        self.inertia_ = float(best_of_starts(X, uniforms, MAX_ITER, self.labels_))
        sums, sizes = member_sums(X, self.labels_, self.n_clusters)
        self.cluster_centers_ = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], np.inf)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The nearest centre of each row, the first of equally near ones."""
        X = np.asarray(X, dtype=np.float64)
        squares = [((X - centre) ** 2).sum(axis=1) for centre in self.cluster_centers_]
        return np.asarray(np.argmin(squares, axis=0), dtype=np.int32)


@dataclass(frozen=True)
class Pairs:
    """Squared distances of all pairs of objects; copies of an estimator share them."""

    squares: NDArray[np.float64]
    """(n, n)"""

    def __deepcopy__(self, memo: Any) -> Self:
        return self


class PairKMeans(ClusterMixin, BaseEstimator):
    """`SmallKMeans` of objects by their squared distances: what it is given are their numbers, (m, 1).

    O(m k) time per step and m for each object that moves; 8 m² bytes.
    """

    def __init__(self, pairs: Pairs, n_clusters: int = 8, n_init: int = 10, random_state: Any = None) -> None:
        self.pairs = pairs
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """X : (m, 1) numbers of different objects, m ≥ n_clusters."""
        self.objects_ = np.asarray(X, dtype=np.intp)[:, 0]
        squares = self.pairs.squares[np.ix_(self.objects_, self.objects_)]
        uniforms = random_source(self.random_state).random_sample((self.n_init, self.n_clusters))
        self.labels_ = np.empty(len(squares), dtype=np.int32)
        self.inertia_ = float(best_of_starts_by_squares(squares, uniforms, MAX_ITER, self.labels_))
        self._spreads = self._mean_squares(self.objects_)[np.arange(len(squares)), self.labels_]
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The cluster with the nearest mean of each object, the first of equally near ones."""
        sizes = np.bincount(self.labels_, minlength=self.n_clusters)
        spreads = np.bincount(self.labels_, self._spreads, self.n_clusters) / np.maximum(2 * sizes, 1)
        squares = self._mean_squares(np.asarray(X, dtype=np.intp)[:, 0]) - spreads
        return np.asarray(np.where(sizes > 0, squares, np.inf).argmin(axis=1), dtype=np.int32)

    def _mean_squares(self, objects: NDArray[np.intp]) -> NDArray[np.float64]:
        """(m, k) mean squared distance of objects to the members of each cluster."""
        members = np.eye(self.n_clusters)[self.labels_]
        sums = self.pairs.squares[np.ix_(objects, self.objects_)] @ members
        return np.asarray(sums / np.maximum(members.sum(axis=0), 1))
