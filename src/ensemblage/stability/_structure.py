"""Is there any structure: do k-means or dense components find more in the data than in a single cloud like them?

k-means starts many times. Components of any shape are judged by how long they live apart before they merge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import random_source, task_seeds
from ensemblage.base.sklearn import BaseEstimator, ClusterMixin
from ensemblage.base.threads import one_native_thread
from ensemblage.generation._kmeans import member_sums
from ensemblage.kernels._dendrogram import component_deaths
from ensemblage.kernels._points import best_of_starts
from ensemblage.kernels._spanning_trees import (
    mutual_reachability_tree,
    mutual_reachability_tree_of_squares,
    state_of_tree,
)
from ensemblage.kernels._squares import (
    best_of_starts_by_squares,
    cores_by_squares,
    cores_of_points,
    squares_of_products,
)
from ensemblage.stability._gap import MAX_ITER, log_within_by_k
from ensemblage.stability._reference import UnimodalComponents

N_STARTS = 4
"""Starts of k-means per number of clusters, on the data and on each reference."""
ALPHA = 0.05
"""Error of the first kind of the test."""
LEAST = -30.0
"""ln W_k / W_1 where W_k is smaller or 0."""
FIRST_LOOK, STEP = 19, 5
"""References after which the test is looked at before all are drawn, and how many more until the next look."""


@dataclass(frozen=True)
class Structure:
    """Whether the data have clusters at all."""

    p_value: float
    """(1 + references that show at least as much) / (references + 1): the largest standardised statistic."""
    n_references: int
    """Single clouds that the data were compared with."""
    n_left_out: int = 0
    """More that were not drawn, since so many had shown as much that no structure could be found."""

    @property
    def found(self) -> bool:
        """Whether a single cloud would show as much in 5 % of cases at most."""
        return self.p_value <= ALPHA

    @property
    def sentence(self) -> str:
        """The same for people."""
        least = 1 / (self.n_references + 1)
        p = f"p ≤ {least:.2g}" if self.p_value <= least else f"p = {self.p_value:.2g}"
        if self.found:
            return f"There is structure: a single cloud of this shape hardly ever shows as much ({p})."
        after = f", decided after {self.n_references} clouds" if self.n_left_out else ""
        return (
            f"No clear structure was found: a single cloud of this shape shows as much by chance ({p}{after}). "
            "Clusters of it cut a continuum; classes that overlap cannot be excluded."
        )


class ClusterStatistics(NamedTuple):
    """What a data set shows of clusters."""

    log_within: NDArray[np.float64]
    """(K,) ln W_k / W_1 for k from 1."""
    persistences: NDArray[np.float64]
    """(P,) largest first."""

    @property
    def row(self) -> NDArray[np.float64]:
        """What is compared, large where there are clusters: -ln W_k / W_1, the largest persistence, the sum of all.

        Further persistences are mostly 0 in single clouds, so that one which is not would count as ∞.
        """
        return np.concatenate([-self.log_within[1:], [self.persistences[0], self.persistences.sum()]])


def cluster_statistics(X: NDArray[np.float64], most: int, seed: int) -> ClusterStatistics:
    """ln W_k / W_1 for k from 1 to ``most``, -30 at least, and as many persistences less one; X : (n, d)."""
    squares = squares_of_pairs(X)
    if squares is None and X.shape[1] > len(X):
        # n points have the same distances in n coordinates.
        X = np.ascontiguousarray(np.asarray(np.linalg.qr(X.T, mode="r")).T)
    log_w = log_within_by_k(X, range(1, most + 1), N_STARTS, int(task_seeds(seed, 1)[0]), squares)
    lives = pad_persistences(persistences(X, squares), most - 1)
    return ClusterStatistics(np.maximum(log_w - log_w[0], LEAST), lives)


class Comparison(NamedTuple):
    """The test, and what the data and the first references show."""

    structure: Structure
    data: ClusterStatistics
    references: list[ClusterStatistics]


Stops = Callable[[ClusterStatistics], bool]
"""Whether a reference, in the order of the seeds, is the last that is needed."""


def compare_with_cloud(
    X: NDArray[np.float64],
    cloud: UnimodalComponents,
    most: int,
    seeds: Sequence[int],
    run: Callable[[Callable[[int], ClusterStatistics], Sequence[int], Stops], list[ClusterStatistics]],
) -> Comparison:
    """Test the data, (n, d), on the principal axes of their single cloud, against a draw of it per seed but the first.

    Where that finds structure, clouds whose features are made unimodal instead of the components must agree, and the
    larger p-value counts: the components of a cube, say, are rounder than the cube. ``run`` maps a function over seeds,
    in their order, to the first result that is the last one needed.
    """
    first, *others = seeds

    def against(cloud: UnimodalComponents) -> tuple[Structure, ClusterStatistics, list[ClusterStatistics]]:
        data = cluster_statistics(np.ascontiguousarray(cloud.of_data), most, first)
        test = SequentialTest(data.row, len(others))
        references = run(lambda seed: cluster_statistics(cloud.scores(seed), most, seed), others, test.stops)
        return test.result(), data, references

    structure, data, references = against(cloud)
    if structure.found:
        by_features, *_ = against(UnimodalComponents(X, rotated=False))
        structure = max(structure, by_features, key=lambda test: test.p_value)
    return Comparison(structure, data, references)


class SequentialTest:
    """The test of the data against references that come one by one, and end where no structure can be found (Besag &
    Clifford, Biometrika 78, 1991).

    With N references structure is found if fewer than h = ⌊.05 (N + 1)⌋ show as much as the data. So it is not where h
    of the first l do; p is h / l then, l the number of the h-th. Standardised are the l + 1 data sets that are there.
    That can only turn "found" into "not found": the error of the first kind is that of N references at most.
    """

    def __init__(self, statistics: NDArray[np.float64], n_references: int) -> None:
        """statistics : (K,) of the data, large is structure."""
        self.rows, self.n_references = [statistics], n_references
        self.enough = int(ALPHA * (n_references + 1) + 1e-9)

    def stops(self, reference: ClusterStatistics) -> bool:
        """Whether the references so far suffice to report no structure."""
        self.rows.append(reference.row)
        drawn = len(self.rows) - 1
        is_look = drawn >= FIRST_LOOK and (drawn - FIRST_LOOK) % STEP == 0
        return self.enough > 0 and is_look and drawn < self.n_references and len(self._as_large()) >= self.enough

    def result(self) -> Structure:
        """The p-value of the references that were drawn."""
        drawn = len(self.rows) - 1
        if drawn == self.n_references:
            return Structure(structure_p_value(self.rows[0], np.array(self.rows[1:])), drawn)
        place = int(self._as_large()[self.enough - 1]) + 1
        p_value = max(self.enough / place, (self.enough + 1) / (self.n_references + 1))
        return Structure(p_value, drawn, self.n_references - drawn)

    def _as_large(self) -> NDArray[np.intp]:
        """Places of the references that show as much as the data."""
        largest = largest_deviations(np.array(self.rows))
        return np.flatnonzero(largest[1:] >= largest[0])


def p_value_of(value: float, references: NDArray[np.float64]) -> float:
    """(1 + #{references ≥ value}) / (R + 1)."""
    return float((1 + np.count_nonzero(references >= value)) / (len(references) + 1))


def structure_p_value(statistics: NDArray[np.float64], references: NDArray[np.float64]) -> float:
    """(1 + #{T_ref ≥ T_data}) / (R + 1), T the largest standardised statistic of a data set.

    Data and references are exchangeable if there is no structure: each of the R + 1 sets is standardised by mean and
    standard deviation of all others, so that the p-value is valid for the largest of the columns without correction.

    statistics : (K,) of the data, large is structure
    references : (R, K), R ≥ 2
    """
    largest = largest_deviations(np.vstack([statistics, references]))
    return p_value_of(largest[0], largest[1:])


def largest_deviations(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """(R + 1,) T of each row: the largest entry in standard deviations of its column, both without that row.

    Where all other entries of a column are equal, a larger one is ∞ above them.
    """
    found = np.empty(len(statistics))
    for i, row in enumerate(statistics):
        others = np.delete(statistics, i, axis=0)
        above = row - others.mean(axis=0)
        alike = (others == others[0]).all(axis=0)
        above[alike] = row[alike] - others[0, alike]
        spread = np.where(alike, 1.0, others.std(axis=0, ddof=1))
        found[i] = np.where(alike & (above != 0), np.copysign(np.inf, above), above / spread).max()
    return found


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


LEAST_NEIGHBOURS = 4
LEAST_MEMBERS = 5
SHARE_OF_MEMBERS = 0.04
"""Objects with which a component is born, as a share of all."""


def persistences(X: NDArray[np.float64], squares: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """ln(death / birth) of every component but the one that is left, largest first; as many as there are.

    The core distance of an object is that to its max(4, round(log2 n))-th neighbour, the distance of two objects the
    largest of theirs and of both core distances (mutual reachability). In single linkage a component is born at the
    height at which it has max(5, .04 n) objects; where two that were born merge, the later-born dies. A birth at height
    0, of equal objects, counts as at the least height above 0.

    X : (n, d) finite, n ≥ 2. O(n² d) time, O(n d) memory; O(n²) time where the squared distances of all pairs,
    ``squares``, (n, n), are given.
    """
    n = len(X)
    least = np.empty(1 + min(n - 1, max(LEAST_NEIGHBOURS, round(np.log2(n)))))
    core, pairs, edges = np.empty(n), np.empty((n - 1, 2), dtype=np.int64), np.empty((2, n - 1))
    if squares is None:
        points = np.ascontiguousarray(X)
        cores_of_points(points, least, core)
        columns = np.ascontiguousarray(points.T)
        mutual_reachability_tree(columns, core, np.empty(n), *state_of_tree(n), pairs, *edges)
    else:
        cores_by_squares(squares, least, core)
        mutual_reachability_tree_of_squares(squares, core, *state_of_tree(n), pairs, *edges)
    heights = np.sqrt(edges[0])
    order = np.argsort(heights, kind="stable")
    lives = np.empty((n - 1, 2))
    state = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
    least_members = max(LEAST_MEMBERS, int(np.ceil(SHARE_OF_MEMBERS * n)))
    n_deaths = component_deaths(pairs[order], heights[order], least_members, *state, lives)
    births, deaths = lives[:n_deaths].T
    above = heights[heights > 0]
    if not len(above):
        return np.zeros(n_deaths)
    floor = above.min()
    return np.sort(np.log(np.maximum(deaths, floor) / np.maximum(births, floor)))[::-1]


def pad_persistences(found: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """The largest persistences P_1, P_2, … of descending ones; 0 where there are fewer."""
    return np.pad(found[:length], (0, max(0, length - len(found))))


def count_components(found: NDArray[np.float64], reference_largest: NDArray[np.float64]) -> int:
    """1 + the persistences above mean + 2 standard deviations of the largest ones of the references."""
    bound = reference_largest.mean() + 2 * reference_largest.std(ddof=1)
    return 1 + int((found > bound).sum())
