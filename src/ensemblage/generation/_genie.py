"""Clusters from spanning trees: Genie (Gagolewski, Bartoszuk & Cena 2016), Lumbermark (Gagolewski 2026).

Genie is single linkage that keeps the sizes of the clusters alike. Lumbermark cuts the long edges of a spanning tree
that leave no small part.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import validate_data

from ensemblage.base.features import features_checked
from ensemblage.base.sklearn import BaseEstimator, ClusterMixin
from ensemblage.base.threads import run_interruptibly
from ensemblage.base.validation import (
    MOST_TASKS,
    Constraints,
    Function,
    Number,
    Several,
    Whole,
    Words,
    check_parameters,
)
from ensemblage.generation._base import LabelTransformer, label_matrix
from ensemblage.generation._clusterers import Labels, nearest_rows
from ensemblage.generation._random_k import k_range
from ensemblage.kernels._boruvka import POINTS_OF_LEAF, join_components, sort_into_tree
from ensemblage.kernels._dendrogram import cut_merges, genie_merges, number_merges
from ensemblage.kernels._spanning_trees import (
    POINTS_OF_BLOCK,
    cut_long_edges,
    mutual_reachability_tree,
    spanning_tree_of_points,
    state_of_tree,
)

logger = logging.getLogger(__name__)

THRESHOLD = Number(least=0, most=1)
MANY, FEW, GROWTH = 10_000, 4, 1.6
"""Borůvka's algorithm is faster than Prim's from so many points on, up to so many features. Each feature more
multiplies the number of points by the last number (measured on Gaussian points)."""


class Tree(NamedTuple):
    """A minimum spanning tree of n points, the lightest edge first."""

    pairs: NDArray[np.int64]
    """(n - 1, 2) points of each edge, the smaller first."""
    lengths: NDArray[np.float64]
    """(n - 1,) Euclidean."""

    @classmethod
    def of(cls, X: NDArray[np.float64]) -> Tree:
        """Edges are ordered by length, then by their points: Borůvka or Prim, whichever is faster, give the same tree.

        O(n² m) time with many features, O(n log n) with few; O(n m) memory.
        """
        exponent = int(np.frexp(np.abs(X).max())[1])
        X = np.ldexp(X, -exponent)  # squares neither overflow nor vanish, and no bit changes
        n, m = X.shape
        pairs, squares = (by_boruvka if n >= MANY * GROWTH ** max(m - FEW, 0) else by_prim)(X)
        order = np.lexsort((pairs[:, 1], pairs[:, 0], squares))
        return cls(pairs[order], np.ldexp(np.sqrt(squares[order]), exponent))

    def merges(self, gini_threshold: float) -> Merges:
        """Genie's, down to one cluster."""
        n = len(self.pairs) + 1
        order, gini, ones = np.empty(n - 1, dtype=np.int64), np.empty(n - 1), np.ones(n, dtype=np.int64)
        distinct, number = ones.copy(), np.full(n, n)
        edges = np.zeros(n - 1, dtype=np.bool_), np.arange(n - 1)
        genie_merges(self.pairs, gini_threshold, np.arange(n), ones, distinct, number, *edges, order, gini)
        return Merges(self.pairs[order], self.lengths[order], gini)


def by_prim(X: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(n - 1, 2) points and (n - 1,) squared lengths of the edges of the tree of (n, m) points, O(n² m) time."""
    n = len(X)
    columns, keys = np.ascontiguousarray(X[1:].T), np.full(n - 1, np.inf)
    pairs, squares = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    state = np.arange(1, n), keys, keys.view(np.int64), np.zeros(n - 1, dtype=np.int64), X[0].copy()
    run_interruptibly(
        spanning_tree_of_points, columns, *state, np.empty(POINTS_OF_BLOCK), pairs, squares, operations=n * X.size
    )
    return pairs, squares


def by_boruvka(X: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The same; O(n log n) time with few features."""
    n, m = X.shape
    n_leaves = 1 << int(np.ceil(np.log2(max(n / POINTS_OF_LEAF, 1))))
    n_nodes = 2 * n_leaves - 1
    order, least_name = np.arange(n), np.empty(n_nodes, dtype=np.int64)
    starts, lower, upper = np.empty((n_nodes, 2), dtype=np.int64), np.empty((n_nodes, m)), np.empty((n_nodes, m))
    sort_into_tree(X, order, starts, lower, upper, least_name)
    tree = np.ascontiguousarray(X[order]), order, starts, lower, upper, least_name
    components = np.arange(n), np.empty(n_nodes, dtype=np.int64)
    edges = np.full(n, -1), np.zeros(n), np.empty(n), np.empty((n, 2), dtype=np.int64)
    pairs, squares = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    run_interruptibly(join_components, *tree, *components, *edges, pairs, squares, operations=n * n)
    return pairs, squares


class Merges(NamedTuple):
    """The merges of n points, each by an edge of their spanning tree."""

    pairs: NDArray[np.int64]
    """(n - 1, 2) a point of either cluster."""
    lengths: NDArray[np.float64]
    """(n - 1,) of the edges; a later one may be shorter."""
    gini: NDArray[np.float64]
    """(n - 1,) Gini index of the sizes before each."""

    def cut(self, n_clusters: int) -> Labels:
        """Clusters numbered by their first point."""
        clusters = np.empty(len(self.pairs) + 1, dtype=np.int64)
        cut_merges(self.pairs[: len(clusters) - n_clusters], clusters)
        return clusters.astype(np.int32)

    def children(self) -> NDArray[np.int64]:
        """(n - 1, 2) the two clusters of each merge, in SciPy's numbers."""
        n = len(self.pairs) + 1
        numbered = np.empty((n - 1, 4))
        state = np.arange(n), np.arange(n), np.ones(n, dtype=np.int64)
        run_interruptibly(number_merges, self.pairs, *state, numbered, operations=64 * n)
        return numbered[:, :2].astype(np.int64)


@dataclass(eq=False, repr=False)
class Genie(ClusterMixin, BaseEstimator):
    """Use it for long or bent clusters: single linkage that keeps the sizes of the clusters similar.

    The edges of the Euclidean minimum spanning tree join clusters, the lightest edge first [1]_. Where the Gini index
    of the cluster sizes exceeds a threshold, the lightest edge of a cluster of the smallest size is next instead. So
    clusters may have any shape, as with single linkage, and outliers do not end as clusters of their own.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters, at most that of the objects.
    gini_threshold : float, default=0.3
        Gini index of the sizes, from 0 to 1, up to which the lightest edge is next. 1 is single linkage; the lower, the
        more alike the sizes are.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        Clusters numbered by their first object.
    children_ : ndarray of shape (n_samples - 1, 2)
        The two clusters of each merge in SciPy's numbers, down to one cluster: any other number of clusters is a cut.
    distances_ : ndarray of shape (n_samples - 1,)
        Length of the edge of each merge; not ascending where the sizes ruled.
    gini_ : ndarray of shape (n_samples - 1,)
        Gini index of the sizes before each merge.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    See Also
    --------
    GeniePartitions : Partitions for several thresholds and numbers of clusters from one tree.

    Notes
    -----
    O(n log n) time for the tree with up to about 8 features (Borůvka with a k-d tree [2]_), O(n² n_features) with more
    (Prim); O(n √n) for the merges; O(n n_features) memory: no matrix. 1,000,000 points in the plane take 8 s of one
    core and 480 MB. Edges of the same length go by the numbers of their objects: with ties the order of the objects
    matters.

    References
    ----------
    .. [1] M. Gagolewski, M. Bartoszuk and A. Cena, "Genie: a new, fast, and outlier-resistant hierarchical clustering
       algorithm", Information Sciences 363, 2016.
    .. [2] W. B. March, P. Ram and A. G. Gray, "Fast Euclidean minimum spanning tree: algorithm, analysis, and
       applications", KDD 2010 (its sequence of rounds; here each point is looked up by itself).

    Examples
    --------
    >>> from ensemblage.generation import Genie
    >>> X = [[0, 0], [1, 0], [0, 1], [1, 1], [5, 5], [6, 5], [5, 7], [30, 30]]
    >>> Genie(2).fit_predict(X)
    array([0, 0, 0, 0, 1, 1, 1, 1], dtype=int32)
    >>> Genie(2, gini_threshold=1).fit_predict(X)
    array([0, 0, 0, 0, 0, 0, 0, 1], dtype=int32)
    """

    _parameter_constraints: ClassVar[Constraints] = {"n_clusters": [Whole(1)], "gini_threshold": [THRESHOLD]}

    n_clusters: int = 2
    _: KW_ONLY
    gini_threshold: float = 0.3

    labels_: NDArray[np.int32] = field(init=False)
    children_: NDArray[np.int64] = field(init=False)
    distances_: NDArray[np.float64] = field(init=False)
    gini_: NDArray[np.float64] = field(init=False)

    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        with features_checked("X of Genie", X):
            checked = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if self.n_clusters > len(checked):
            raise ValueError(
                f"n_clusters of Genie must be ≤ the {len(checked)} rows of X (n_samples={len(checked)}). "
                f"Got {self.n_clusters}. Ask for fewer clusters."
            )
        merges = Tree.of(checked).merges(float(self.gini_threshold))
        self.labels_ = merges.cut(int(self.n_clusters))
        self.children_, self.distances_, self.gini_ = merges.children(), merges.lengths, merges.gini
        return self


@dataclass(eq=False, repr=False)
class GeniePartitions(LabelTransformer):
    """Use it for many partitions with long or bent clusters: Genie by several thresholds and numbers of clusters.

    They follow clusters of any shape, and differ in how far outliers may stand alone [1]_. Nothing is random.

    Parameters
    ----------
    n_partitions : int, default=50
        Number of partitions, fewer where the thresholds and numbers of clusters do not give so many.
    k_min, k_max : int or "sqrt", default=2 and "sqrt"
        The numbers of clusters of each threshold lie in [k_min, k_max] at equal distances. "sqrt" is
        min(⌊√n_samples⌋, k_cap).
    k_cap : int, default=100
        Largest value of "sqrt".
    gini_thresholds : sequence of float, default=(0.1, 0.3, 0.5, 0.7)
        As of `Genie`; each gets the same number of partitions, the first ones one more where they do not divide them.
    progress : callable or None, default=None
        Called as ``progress(done, total)`` after every base partition, by the thread that called ``fit``. An error
        that it raises ends the work. No result depends on it.

    Attributes
    ----------
    n_clusters_ : ndarray of shape (n_partitions,)
        Number of clusters of each partition.
    gini_thresholds_ : ndarray of shape (n_partitions,)
        Threshold of each partition.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    See Also
    --------
    Genie : One of the partitions, with its hierarchy.

    Notes
    -----
    Time for the tree, once, as of `Genie`, O(n √n) for each threshold, O(n) for each partition; O(n n_features)
    memory beside the labels, and X for ``transform``, which gives a row the labels of its nearest training row.

    References
    ----------
    .. [1] M. Gagolewski, M. Bartoszuk and A. Cena, "Genie: a new, fast, and outlier-resistant hierarchical clustering
       algorithm", Information Sciences 363, 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage.generation import GeniePartitions
    >>> generator = GeniePartitions(6, k_max=4, gini_thresholds=(0.3, 0.7))
    >>> generator.fit_transform(load_iris().data).shape
    (150, 6)
    >>> list(generator.get_feature_names_out())
    ['genie_k2_g0.3', 'genie_k3_g0.3', 'genie_k4_g0.3', 'genie_k2_g0.7', 'genie_k3_g0.7', 'genie_k4_g0.7']
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_partitions": [Whole(1, MOST_TASKS)],
        "k_min": [Whole(1), Words(["sqrt"])],
        "k_max": [Whole(1), Words(["sqrt"])],
        "k_cap": [Whole(1)],
        "gini_thresholds": [Several(THRESHOLD)],
        "progress": [Function(), None],
    }

    n_partitions: int = 50
    _: KW_ONLY
    k_min: int | Literal["sqrt"] = 2
    k_max: int | Literal["sqrt"] = "sqrt"
    k_cap: int = 100
    gini_thresholds: Sequence[float] = (0.1, 0.3, 0.5, 0.7)
    progress: Callable[[int, int], None] | None = None

    n_clusters_: NDArray[np.int64] = field(init=False)
    gini_thresholds_: NDArray[np.float64] = field(init=False)

    def _validate(self, X: Any, reset: bool, **options: Any) -> Any:
        return super()._validate(X, reset, dtype=np.float64, **options)

    def _generate(self, X: Any) -> Labels:
        check_parameters(self)
        X = self._validate(X, reset=True)
        chosen = list(self._thresholds_and_ks(len(X)))
        self.gini_thresholds_ = np.array([threshold for threshold, _ in chosen])
        self.n_clusters_ = np.array([k for _, k in chosen])
        self._fit_X, self._labels = X, label_matrix(list(self._partitions(X)))
        return self._labels

    def _thresholds_and_ks(self, n_rows: int) -> Iterator[tuple[float, int]]:
        k_min, k_max = k_range(self, n_rows)
        thresholds = list(dict.fromkeys(float(threshold) for threshold in self.gini_thresholds))
        for i, threshold in enumerate(thresholds):
            n_ks = min((self.n_partitions + len(thresholds) - 1 - i) // len(thresholds), k_max - k_min + 1)
            for j in range(n_ks):
                yield threshold, k_min + (2 * j + 1) * (k_max - k_min + 1) // (2 * n_ks)

    def _partitions(self, X: NDArray[np.float64]) -> Iterator[Labels]:
        """One after the other, as ``progress`` follows them; those of a threshold come together."""
        logger.info("spanning tree of %d points", len(X))
        tree, before, total = Tree.of(X), None, len(self.n_clusters_)
        for i, (threshold, k) in enumerate(zip(self.gini_thresholds_.tolist(), self.n_clusters_.tolist(), strict=True)):
            if threshold != before:
                merges, before = tree.merges(threshold), threshold
            yield merges.cut(k)
            logger.info("base partition %d of %d", i + 1, total)
            if self.progress is not None:
                self.progress(i + 1, total)

    def _matrix(self, made: Labels) -> Labels:
        return made.copy(order="F")

    def _transform(self, X: Any) -> Labels:
        return self._labels[nearest_rows(self._fit_X, X)]

    def _names(self) -> list[str]:
        chosen = zip(self.gini_thresholds_.tolist(), self.n_clusters_.tolist(), strict=True)
        return [f"genie_k{k}_g{threshold}" for threshold, k in chosen]


N_NEIGHBOURS = 5
"""The core distance of an object is that to this one of its nearest others."""
SHARE, LEAST = 0.25, 10
"""Of the objects that are no leaves of the tree, a part has at least this share, divided by the number of clusters, and
at least so many."""


def lumbermark(
    X: NDArray[np.float64], most_clusters: int, known_nearest: NDArray[np.intp] | None = None
) -> NDArray[np.int32]:
    """(K, n) partitions of objects, (n, m), with 2, 3, ... up to ``most_clusters`` clusters, numbered from 0.

    ``known_nearest``, (n, 5), are the nearest other objects of each, looked for here if they are not given. Fewer
    partitions where no edge is left to cut. Edges of the same mutual reachability go by their plain length. O(n² m)
    time, O(n (m + K)) memory.
    """
    n = len(X)
    if known_nearest is None:
        nearest = NearestNeighbors(n_neighbors=min(N_NEIGHBOURS + 1, n)).fit(X).kneighbors(X, return_distance=False)
    else:
        nearest = np.column_stack([np.arange(n), known_nearest])
    columns, core = np.ascontiguousarray(X.T), _core_squares(X, nearest)
    pairs, reach, plain = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1), np.empty(n - 1)
    mutual_reachability_tree(columns, core, np.empty(n), *state_of_tree(n), pairs, reach, plain)
    pairs = pairs[np.lexsort((plain, reach))]
    clusters = np.empty((max(most_clusters - 1, 0), n), dtype=np.int32)
    (degree, sizes, top), is_top = np.zeros((3, n), dtype=np.int64), np.zeros(n, dtype=np.bool_)
    made = cut_long_edges(pairs, *_rooted(pairs), SHARE, LEAST, degree, sizes, top, is_top, clusters)
    renumbered = [np.unique(labels, return_inverse=True)[1] for labels in clusters[:made]]
    return np.array(renumbered, dtype=np.int32).reshape(made, n)


def _core_squares(X: NDArray[np.float64], nearest: NDArray[np.intp]) -> NDArray[np.float64]:
    """(n,) squared distances to the farthest of the nearest other objects, summed in the order of the features.

    ``nearest`` are (n, q + 1), an object mostly among its own: else the farthest is left out.
    """
    squares = np.zeros(nearest.shape)
    for column in X.T:
        squares += (column[:, None] - column[nearest]) ** 2
    squares.sort(axis=1)
    is_there = (nearest == np.arange(len(X))[:, None]).any(axis=1)
    return np.where(is_there, squares[:, -1], squares[:, max(nearest.shape[1] - 2, 0)])


def _rooted(pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The objects of a tree with parents first, (n,), the parent of each, and the object below each edge, (n - 1,)."""
    n = len(pairs) + 1
    graph = csr_array((np.ones(n - 1), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    order, parent = breadth_first_order(graph, 0, directed=False)
    first_is_below = parent[pairs[:, 0]] == pairs[:, 1]
    return order.astype(np.int64), parent.astype(np.int64), np.where(first_is_below, pairs[:, 0], pairs[:, 1])
