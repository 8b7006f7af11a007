"""U-SPEC: spectral clustering by way of a few representatives (Huang et al. 2020)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from ensemblage.base.features import features_checked
from ensemblage.base.random import random_source
from ensemblage.base.sklearn import BaseEstimator, ClusterMixin
from ensemblage.base.threads import SUM_ROWS, check_stopped, one_native_thread, parallel_map, row_blocks
from ensemblage.base.validation import MOST_TASKS, Constraints, Jobs, Seed, Whole, check_fitted, check_parameters
from ensemblage.counting._points import lloyd
from ensemblage.generation._random_k import RandomKPartitions
from ensemblage.kernels._points import add_walk, embed_by_neighbours, nearest_representatives

CANDIDATES = 10
"""Rows drawn for each representative; and, for each neighbour that is kept, representatives that are looked at."""
STEPS_TO_REPRESENTATIVES, STEPS_TO_GROUPS = 10, 20
"""Of k-means."""
LEAST_AFFINITY = np.finfo(np.float64).eps
"""Instead of 0, where the distance is so many sigma."""
ROWS_OF_STARTS = 2**13
"""Rows that the starts of the last k-means run on; the best of them goes on with all."""
DISTANCES = 2**22
"""Between representatives, that are in memory at once."""


class Representatives(NamedTuple):
    """A few points that stand for all rows, and what finds the nearest of them."""

    points: NDArray[Any]
    """(P, q)"""
    group_centres: NDArray[Any]
    """(q, g)"""
    members: NDArray[Any]
    """(q, P) the points, group by group"""
    ends: NDArray[np.int64]
    """(g + 1,) where the members of each group begin, and P"""
    order: NDArray[np.int64]
    """(P,) numbers of the members"""
    around: NDArray[np.int32]
    """(P, c) the nearest points of each point, itself included"""

    @classmethod
    def of(cls, points: NDArray[Any], n_neighbors: int, random: np.random.RandomState) -> Representatives:
        groups = k_means(points, math.isqrt(len(points)), STEPS_TO_GROUPS, random)
        used, group = np.unique(groups.labels_, return_inverse=True)
        order = np.argsort(group, kind="stable")
        centres, members = (np.ascontiguousarray(a.T) for a in (groups.cluster_centers_[used], points[order]))
        ends = np.searchsorted(group[order], np.arange(len(used) + 1))
        n_around = min(CANDIDATES * n_neighbors + 1, len(points))
        around = np.empty((len(points), n_around), dtype=np.int32)
        for block in row_blocks(len(points), max(1, DISTANCES // len(points))):
            around[block] = np.argsort(cdist(points[block], points), axis=1, kind="stable")[:, :n_around]
        return cls(points, centres, members, ends, order, around)

    def nearest(
        self, X: NDArray[Any], n_neighbors: int, n_jobs: int | None
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Numbers and distances, (n, K), of the approximate K nearest representatives of each row."""
        shape = (len(X), min(n_neighbors, len(self.points)))
        neighbours, distances = np.empty(shape, dtype=np.int32), np.empty(shape)

        def find(block: slice) -> None:
            nearest_representatives(X[block], *self, neighbours[block], distances[block])

        parallel_map(find, row_blocks(len(X)), n_jobs)
        return neighbours, distances


def hybrid_selection(X: NDArray[Any], n_representatives: int, random: np.random.RandomState) -> NDArray[Any]:
    """(P, q) centres of k-means on random rows, ten times as many; all rows if they are no more than P."""
    n = len(X)
    if n <= n_representatives:
        return np.array(X)
    drawn = X[np.sort(random.choice(n, min(CANDIDATES * n_representatives, n), replace=False))]
    centres: NDArray[Any] = k_means(drawn, n_representatives, STEPS_TO_REPRESENTATIVES, random).cluster_centers_
    return centres


def k_means(X: NDArray[Any], k: int, n_steps: int, random: np.random.RandomState) -> KMeans:
    """k-means from random rows; an empty cluster gets the row that is farthest from its centre."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal rows are no fault here
        return KMeans(k, init="random", n_init=1, max_iter=n_steps, tol=0, random_state=random).fit(X)


def gaussian_affinities(distances: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """exp(-d² / 2 σ²), never 0, in place of the distances."""
    distances *= distances
    distances /= -2 * sigma**2
    np.exp(distances, out=distances)
    distances[distances == 0] = LEAST_AFFINITY
    return distances


def mean_distance(distances: NDArray[np.float64]) -> float:
    """The mean in fixed blocks; 1 if all are 0."""
    total = math.fsum(float(distances[block].sum()) for block in row_blocks(len(distances), SUM_ROWS))
    return total / distances.size or 1.0


def transfer_cut(
    neighbours: NDArray[np.int32], affinities: NDArray[np.float64], n_representatives: int, n_clusters: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leading eigenvalues (k,) of the walk over the representatives, and the coordinates V (P, k) of these.

    The graph joins each row to its neighbours by their affinity, B; with D_x and D_y the sums of the rows and columns
    of B, the eigenvectors are those of D_y^-1/2 B' D_x^-1 B D_y^-1/2, divided by D_y^1/2 (Li, Wu & Chang 2012). A
    representative that is nobody's neighbour has no coordinates.
    """
    # Not the cut of `consensus`: that stands above this package, draws its start from a seed and counts label rows. The
    # walk of a thousand representatives is solved whole, without a seed, and summed block by block, to be stopped.
    sums, walk = np.zeros(n_representatives), np.zeros((n_representatives, n_representatives))
    for block in row_blocks(len(neighbours)):
        check_stopped()
        add_walk(neighbours[block], affinities[block], sums, walk)
    used = np.flatnonzero(sums)
    scale = 1 / np.sqrt(sums[used])
    normalised = walk[np.ix_(used, used)] * np.outer(scale, scale)
    first = max(0, len(used) - n_clusters)
    values, vectors = eigh((normalised + normalised.T) / 2, subset_by_index=(first, len(used) - 1))
    table = np.zeros((n_representatives, len(values)))
    table[used] = scale[:, None] * vectors[:, ::-1]
    return values[::-1], table


@dataclass(eq=False, repr=False)
class USpec(ClusterMixin, BaseEstimator):
    """Use it for non-convex clusters of very many objects: spectral clustering in linear time (U-SPEC).

    Objects are joined to the nearest of a few representatives; the graph of both sides is cut by the eigenvectors of
    the representatives' side alone (transfer cut), and k-means of the embedded objects makes the clusters. It finds
    non-convex clusters. Many of them with random numbers of clusters are `USpecPartitions`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_representatives : int, default=1000
        Points that stand for all objects, P; of fewer objects, each is one.
    n_neighbors : int, default=5
        Representatives, K, that each object is joined to.
    n_init : int, default=3
        Starts of the k-means of the embedded objects, on a sample of them; the best goes on with all.
    max_iter : int, default=100
        Most steps of that k-means.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        Cluster of each object.
    representatives_ : ndarray of shape (n_representatives, n_features)
        The points that stand for all.
    sigma_ : float
        Width of the Gaussian: mean distance of the objects to their neighbours.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Leading eigenvalues of the walk from representatives to objects and back; the first is 1.
    n_iter_ : int
        Steps of the k-means of all embedded objects.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    Raises
    ------
    ValueError
        If ``n_clusters`` exceeds the objects or the representatives.

    Notes
    -----
    Representatives are centres of k-means on ten random rows each (10 steps). An object's K nearest are looked for
    among the 10 K + 1 around the nearest representative of the nearest of √P groups. Its affinity to them is
    exp(-d² / 2 σ²), 0 to all others. As in the authors' code, and not in the text, no eigenvector is divided by the
    root of its eigenvalue. Their k-means begins at random rows; here it begins by k-means++.

    O(n (√P + 10 K) m + n k²) time for m features and O(P³) for the eigenvectors; 12 n K + 16 P² bytes. An object far
    from all representatives counts as much as any other in the cut: scale the features, and look at outliers before.

    References
    ----------
    D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh, "Ultra-scalable spectral clustering and ensemble clustering",
    IEEE TKDE 32(6), 2020, Sec. 3.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from ensemblage.generation import USpec
    >>> X, y = make_moons(2000, noise=0.05, random_state=0)
    >>> labels = USpec(2, n_representatives=200, random_state=0).fit_predict(X)
    >>> round(adjusted_rand_score(y, labels), 2)
    1.0
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_clusters": [Whole(1)],
        "n_representatives": [Whole(1)],
        "n_neighbors": [Whole(1)],
        "n_init": [Whole(1, MOST_TASKS)],
        "max_iter": [Whole(1, MOST_TASKS)],
        "n_jobs": [Jobs()],
        "random_state": [Seed()],
    }

    n_clusters: int = 8
    _: KW_ONLY
    n_representatives: int = 1000
    n_neighbors: int = 5
    n_init: int = 3
    max_iter: int = 100
    n_jobs: int | None = None
    random_state: Any = None

    labels_: NDArray[np.int32] = field(init=False)
    representatives_: NDArray[np.float64] = field(init=False)
    sigma_: float = field(init=False)
    eigenvalues_: NDArray[np.float64] = field(init=False)
    n_iter_: int = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the objects.

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
        check_parameters(self)
        X = self._validate(X, reset=True)
        self._check_n_clusters(len(X))
        random = random_source(self.random_state)
        with one_native_thread():
            self.representatives_ = hybrid_selection(X, self.n_representatives, random)
            self._index = Representatives.of(self.representatives_, self.n_neighbors, random)
            neighbours, distances = self._index.nearest(X, self.n_neighbors, self.n_jobs)
            self.sigma_ = mean_distance(distances)
            affinities = gaussian_affinities(distances, self.sigma_)
            self.eigenvalues_, self._table = transfer_cut(
                neighbours, affinities, len(self.representatives_), self.n_clusters
            )
            self._centres, self.n_iter_ = self._cluster_objects(neighbours, affinities, random)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Cluster of other rows, by their neighbours among the representatives.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, new or not.

        Returns
        -------
        ndarray of shape (n_samples,), int32
            Their clusters; of the rows that were fitted, ``labels_``.
        """
        check_fitted(self)
        X = self._validate(X, reset=False)
        neighbours, distances = self._index.nearest(X, self.n_neighbors, self.n_jobs)
        affinities = gaussian_affinities(distances, self.sigma_)
        labels = np.full(len(X), -1, dtype=np.int32)
        lloyd(self._points(neighbours, affinities), None, labels, self._centres, 0, self.n_jobs)
        return labels

    def _validate(self, X: Any, reset: bool) -> Any:
        with features_checked("X of USpec", X):
            return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], order="C")

    def _check_n_clusters(self, n: int) -> None:
        most, what = min((n, "rows of X (n_samples={})"), (self.n_representatives, "representatives"))
        if self.n_clusters > most:
            raise ValueError(
                f"n_clusters of USpec must be ≤ the {most} {what.format(n)}. Got {self.n_clusters}. "
                "Ask for fewer clusters."
            )

    def _points(
        self, neighbours: NDArray[np.int32], affinities: NDArray[np.float64]
    ) -> Callable[[Any], NDArray[np.float32]]:
        def points_of(rows: Any) -> NDArray[np.float32]:
            some = neighbours[rows]
            points = np.empty((len(some), self._table.shape[1]), dtype=np.float32)
            embed_by_neighbours(some, affinities[rows], self._table, points)
            return points

        return points_of

    def _cluster_objects(
        self, neighbours: NDArray[np.int32], affinities: NDArray[np.float64], random: np.random.RandomState
    ) -> tuple[NDArray[np.float32], int]:
        """Centres, and the steps to them from those of the best start on a sample; writes the labels."""
        n, points_of, least = len(neighbours), self._points(neighbours, affinities), np.inf
        some = np.sort(random.choice(n, ROWS_OF_STARTS, replace=False)) if n > ROWS_OF_STARTS else np.arange(n)
        sample, labels = points_of(some), np.full(len(some), -1, dtype=np.int32)
        for _ in range(self.n_init):
            seeds, _ = kmeans_plusplus(sample, self.n_clusters, random_state=random)
            centres, _ = lloyd(lambda block: sample[block], None, labels, seeds, self.max_iter, 1)
            inertia = float(((sample - centres[labels]) ** 2).sum())
            if inertia < least:
                least, best = inertia, centres
        self.labels_ = np.full(n, -1, dtype=np.int32)
        return lloyd(points_of, None, self.labels_, best, self.max_iter, self.n_jobs)


@dataclass(eq=False, repr=False)
class USpecPartitions(RandomKPartitions):
    """Use it for many non-convex partitions of very many objects: U-SPEC with random numbers of clusters.

    The base partitions of U-SENC [1]_, for up to millions of objects: every partition draws its own representatives.
    The consensus half is the method ``u-senc``.

    Parameters
    ----------
    n_partitions : int, default=20
        Number of partitions.
    k_min, k_max : int, default=20 and 60
        The number of clusters of each partition is uniform in [k_min, k_max]. A number above half the objects counts as
        half of them.
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
    n_representatives : int, default=1000
        Points that stand for all objects, P; of fewer objects, each is one.
    n_neighbors : int, default=5
        Representatives, K, that each object is joined to.

    Attributes
    ----------
    estimators_ : list of USpec
        The fitted base clusterers, one per column.
    n_clusters_ : ndarray of shape (n_partitions,)
        Number of clusters each was asked for.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    Notes
    -----
    Time and memory: those of `USpec` for each partition, over ``n_jobs`` threads; the fitted clusterers keep
    16 P² bytes and the labels each.

    Each k-means of the embedded objects has one start and 5 steps, as inside U-SENC.

    References
    ----------
    .. [1] D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh, "Ultra-scalable spectral clustering and ensemble
       clustering", IEEE TKDE 32(6), 2020, Sec. 4.1.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from ensemblage.generation import USpecPartitions
    >>> X, _ = make_moons(2000, noise=0.05, random_state=0)
    >>> generator = USpecPartitions(3, n_representatives=200, random_state=0)
    >>> generator.fit_transform(X).shape
    (2000, 3)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "k_min": [Whole(1)],
        "k_max": [Whole(1)],
        "n_representatives": [Whole(1)],
        "n_neighbors": [Whole(1)],
    }

    n_partitions: int = 20
    _: KW_ONLY
    k_min: int | Literal["sqrt"] = 20
    k_max: int | Literal["sqrt"] = 60
    k_cap: int = field(default=100, init=False)
    estimator: Any = field(default=None, init=False)
    n_representatives: int = 1000
    n_neighbors: int = 5
    metric: Literal["euclidean", "cosine"] = field(default="euclidean", init=False)
    sample_size: int | Literal["auto"] | None = field(default=None, init=False)

    def _clusterers(self) -> list[Any]:
        settings = {"n_representatives": self.n_representatives, "n_neighbors": self.n_neighbors}
        return [USpec(**settings, n_init=1, max_iter=5, n_jobs=1)]

    def _k_range(self, n_rows: int) -> tuple[int, int]:
        # The default is for many objects; few of them have a range too.
        k_min, k_max = super()._k_range(max(n_rows, int(self.k_max)))
        half = max(1, n_rows // 2)
        k_min, k_max = min(k_min, half), min(k_max, half)
        if k_max > self.n_representatives:
            raise ValueError(
                f"n_representatives of USpecPartitions must be ≥ the largest number of clusters, which is {k_max} of "
                f"{n_rows} rows. Got {self.n_representatives}. Give more, or a lower k_max."
            )
        return k_min, k_max
