"""Partitions by algorithms that fail on different data: what `selection="consensus"` combines (docs/DEFAULT.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import groupby
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, svd
from scipy.sparse import csr_array, dia_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from ensemblage.base.random import eigsh_start, sample_rows, task_seeds
from ensemblage.base.threads import locked_property
from ensemblage.base.validation import Constraints, Flag, Several, Whole, Words, n_distinct_rows
from ensemblage.generation._base import BasePartitions, Failure, Partition, Recipe, make_recipe
from ensemblage.generation._clusterers import Labels, run_all
from ensemblage.generation._genie import Genie, Merges, Tree
from ensemblage.generation._nearest import are_for_cells, nearest_by_cells, slack_of_products
from ensemblage.io._feature_sources import FeatureSource

FAMILIES = ("mixture", "spectral", "genie")
NEIGHBOURS = (10, 5)
GINI_THRESHOLD = 0.3
MOST_FULL = 50
"""Features up to which a mixture has full covariances."""
RIDGE = 1e-4
"""Added to the variances of a mixture, in mean variances of the features."""
GRID = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20)
"""Numbers of clusters, up to √n, where none is asked for."""
MOST_NEIGHBOURS = 9
"""Other objects that are looked for at once: those of the larger of `NEIGHBOURS`."""
MOST_SEARCHED_BY_TREE = 15
"""Features up to which scikit-learn searches by a tree."""
MOST_DENSE = 200
"""Objects up to which the eigenvectors are those of a dense matrix."""
MOST_DIVERSE = 20_000
"""Objects up to which different algorithms cluster them; k-means alone does more."""


def numbers_near(k: int | None) -> list[int] | None:
    """The numbers of clusters of the members where k is looked for: one less, as many and one more, from 2 on."""
    return None if k is None else sorted({max(near, 2) for near in (k - 1, k, k + 1)})


def numbers_asked(n_clusters: int | Sequence[int] | None, n_rows: int, usual: Sequence[int]) -> list[int]:
    """The numbers of clusters that a parameter means, each from 2 to the rows; None means the usual ones."""
    wanted = usual if n_clusters is None else np.atleast_1d(n_clusters)
    return sorted({min(max(int(k), 2), n_rows) for k in wanted})


def can_be_diverse(features: Any) -> bool:
    """Whether several algorithms can cluster features: an array, not too long, in which neighbours mean something."""
    return features.shape[0] <= MOST_DIVERSE and have_neighbours(features)


def have_neighbours(features: Any) -> bool:
    """Whether features are an array in which neighbours mean something: at most half of the objects are copies.

    Of more than 20,000 objects so many are looked at.
    """
    if not isinstance(features, np.ndarray | FeatureSource) or features.shape[1] == 0:
        return False
    some = features[sample_rows(len(features), MOST_DIVERSE, seed=0)]
    half = -(-len(some) // 2)
    return n_distinct_rows(some, half) >= half


class Objects:
    """The objects as they are clustered; what several algorithms need of them is made once.

    If they are of a sample, the kernel that finds neighbours by cells was needed to draw them.
    """

    def __init__(self, X: NDArray[np.float64], is_of_sample: bool = False) -> None:
        self.X, self.is_of_sample = X, is_of_sample

    @locked_property
    def tree(self) -> Tree:
        """The minimum spanning tree."""
        return Tree.of(self.X)

    def known_nearest(self, k: int) -> NDArray[np.intp] | None:
        """(n, k) the k nearest other objects of each, nearest first, of a search that is made once for several k.

        None where a search for k might find or order them otherwise: where some are as far away, where products of
        matrices are what searches, and of few objects.
        """
        n, m = self.X.shape
        if n <= 4 * MOST_NEIGHBOURS or k > MOST_NEIGHBOURS or (m > MOST_SEARCHED_BY_TREE and not self._has_cells):
            return None
        distances, rows = self._nearest
        squares = np.square(distances[:, : k + 1])
        slack = slack_of_products(self.X, squares[:, -1])[:, None] if m > MOST_SEARCHED_BY_TREE else 0.0
        return rows[:, :k] if (np.diff(squares, axis=1, prepend=0.0) > slack).all() else None

    @property
    def _has_cells(self) -> bool:
        by_kernel = self.is_of_sample and self.X.shape[1] <= MOST_SEARCHED_BY_TREE
        return by_kernel or are_for_cells(self.X, self.X)

    @locked_property
    def _nearest(self) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """(n, q + 1) distances and numbers of the nearest objects of each; q is the largest number of neighbours."""
        if self._has_cells:
            squares, rows = nearest_by_cells(self.X, self.X, MOST_NEIGHBOURS + 2)
            return np.sqrt(squares[:, 1:]), rows[:, 1:]  # where others are at the same place, their distance is 0
        distances, rows = NearestNeighbors(n_neighbors=MOST_NEIGHBOURS + 1).fit(self.X).kneighbors()
        return distances, rows

    @locked_property
    def ridge(self) -> float:
        """What a mixture adds to its variances: other units change no cluster."""
        variance = float(self.X.var(axis=0).mean())
        return RIDGE * variance if variance > 0 else RIDGE  # of objects that are all the same any will do


def connected_neighbours(objects: Objects, n_neighbors: int) -> csr_array:
    """(n, n) symmetric adjacency of the nearest neighbours, an object itself one of them.

    Its parts are joined by the edges of the minimum spanning tree between them: else as many eigenvalues are 1,
    and any of their vectors would be as good.
    """
    n, k = len(objects.X), min(n_neighbors, len(objects.X)) - 1
    nearest = objects.known_nearest(k)
    if nearest is None:
        directed = csr_array(kneighbors_graph(objects.X, k))
    else:
        directed = csr_array((np.ones(n * k), nearest.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    joined = csr_array(directed + directed.T) / 2
    n_parts, part = connected_components(joined, directed=False)
    if n_parts > 1:
        i, j = objects.tree.pairs.T
        between = part[i] != part[j]
        bridges = csr_array((np.ones(between.sum()), (i[between], j[between])), shape=joined.shape)
        joined = csr_array(joined + bridges + bridges.T)
    return joined


class Embedding(NamedTuple):
    """The leading eigenvectors of the normalised adjacency of the nearest neighbours."""

    vectors: NDArray[np.float64]
    """(n, k) the first first."""

    @classmethod
    def of(cls, n_neighbors: int, n_vectors: int, objects: Objects) -> Embedding:
        """O(n² m) time for the neighbours at worst, O(n n_neighbors n_vectors) for each step of Lanczos."""
        n, joined = len(objects.X), connected_neighbours(objects, n_neighbors)
        roots = dia_array((1 / np.sqrt(joined.sum(axis=1))[None], [0]), shape=(n, n))
        adjacency = csr_array(roots @ joined @ roots)
        if n <= MOST_DENSE or 4 * n_vectors >= n:
            return cls(np.linalg.eigh(adjacency.toarray())[1][:, ::-1][:, :n_vectors])
        # A start that is no eigenvector, and the same for every seed; a wide basis tells eigenvalues near 1 apart.
        start, width = 1 + np.arange(n) / n, min(n - 1, max(4 * n_vectors, 40))
        options = {"ncv": width, "tol": 1e-8, "maxiter": 5_000, **eigsh_start(start)}
        values, vectors = eigsh(adjacency, n_vectors, which="LA", **options)
        return cls(vectors[:, np.argsort(-values, kind="stable")])

    def cut(self, n_clusters: int) -> Labels:
        """Clusters by pivoted QR of the first n_clusters vectors (Damle, Minden & Ying 2019)."""
        vectors = self.vectors[:, :n_clusters]
        _, _, pivots = qr(vectors.T, pivoting=True)
        left, _, right = svd(vectors[pivots[:n_clusters]].T)
        labels: Labels = np.abs(vectors @ (left @ right.conj())).argmax(axis=1).astype(np.int32)
        return labels


@dataclass(eq=False, repr=False)
class DiversePartitions(BasePartitions):
    """Use it for a few good members with different errors: Gaussian mixtures, spectral clustering and Genie.

    The three fail on different data: mixtures on clusters that are no ellipses, the cuts of a graph of neighbours on
    clusters of unequal density, Genie on clusters that touch. Where two of them agree, they are mostly right.

    Parameters
    ----------
    n_clusters : int or sequence of int, optional
        Number of clusters of each partition, or several: each algorithm is run with each; 1 counts as 2. None: 2 to 10,
        12, 14, 17 and 20, up to √n_samples. `ConsensusClustering` gives its own number, one less and one more.
    families : sequence of {"mixture", "spectral", "genie"}, default=("mixture", "spectral", "genie")
        Who clusters. "mixture": full covariances, diagonal ones for more than 50 features; 1e-4 of the mean variance
        of the features is added to the variances. "spectral": normalised cuts of the graph of the 10 nearest
        neighbours, and of the 5 nearest, its parts joined by the minimum spanning tree. "genie": see `Genie`, with
        threshold .3.
    standardized_too : bool, default=False
        Cluster a second time, with every feature brought to deviation 1: twice the partitions.
    on_error : {"warn", "raise"}, default="warn"
        What a base partition that fails does: it is left out with one warning that names it, or it is raised. An
        ensemble is made to be redundant, so one failure does not cost the others by default. All failing raises.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the mixtures; nothing else is random.
    progress : callable or None, default=None
        Called as ``progress(done, total)`` after every base partition, by the thread that called ``fit``. An error
        that it raises ends the work. No result depends on it.

    Attributes
    ----------
    estimators_ : list of clusterers
        Who made each partition; only mixtures are fitted, the others' partitions are cuts of one structure.
    n_clusters_ : ndarray of shape (n_partitions,)
        Number of clusters of each partition.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    See Also
    --------
    RandomKPartitions : By k-means alone, for any number of objects.

    Notes
    -----
    O(n² m) time for n objects of m features, and O(n k m²) for each step of a mixture; O(n k) memory for k clusters.
    One tree and one embedding serve all numbers of clusters. 10,000 × 20 take some seconds. ``transform`` gives a row
    what a mixture predicts, else the label of its nearest training row. docs/DEFAULT.md tells how these three were
    found.

    References
    ----------
    .. [1] A. Damle, V. Minden, L. Ying, "Simple, direct and efficient multi-way spectral clustering", Information and
       Inference 8(1), 2019.
    .. [2] M. Gagolewski, M. Bartoszuk and A. Cena, "Genie: a new, fast, and outlier-resistant hierarchical clustering
       algorithm", Information Sciences 363, 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage.generation import DiversePartitions
    >>> generator = DiversePartitions([2, 3, 4], random_state=0)
    >>> generator.fit_transform(load_iris().data).shape
    (150, 12)
    >>> list(generator.get_feature_names_out()[::3])
    ['gaussianmixture_k2_0', 'spectralclustering_k2_3', 'spectralclustering_k2_6', 'genie_k2_9']
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_clusters": [Whole(1), Several(Whole(2)), None],
        "families": [Several(Words(FAMILIES))],
        "standardized_too": [Flag()],
    }

    n_clusters: int | Sequence[int] | None = None
    _: KW_ONLY
    families: Sequence[str] = FAMILIES
    standardized_too: bool = False
    on_error: Literal["warn", "raise"] = "warn"
    n_jobs: int | None = None
    random_state: Any = None
    progress: Callable[[int, int], None] | None = None

    def _clusterers(self) -> list[Any]:
        """One per algorithm, in the order of the partitions."""
        spectral = [SpectralClustering(affinity="nearest_neighbors", n_neighbors=size) for size in NEIGHBOURS]
        by_name = {
            "mixture": [GaussianMixture()],
            "spectral": spectral,
            "genie": [Genie(gini_threshold=GINI_THRESHOLD)],
        }
        # Before the check of the parameters, for scikit-learn's tags, a family may be any word.
        as_given = [clusterer for name in dict.fromkeys(self.families) for clusterer in by_name.get(name, [])]
        scaled = [make_pipeline(StandardScaler(), clone(clusterer)) for clusterer in as_given]
        return as_given + scaled * self.standardized_too

    def _recipes(self, n_rows: int, n_features: int) -> list[Recipe]:
        chosen = [(clusterer, k) for clusterer in self._clusterers() for k in self._ks(n_rows)]
        seeds = task_seeds(self.random_state, len(chosen)).tolist()
        recipes = [make_recipe(i, *of, seed) for i, (of, seed) in enumerate(zip(chosen, seeds, strict=True))]
        for recipe in recipes:
            if n_features > MOST_FULL and isinstance(mixture := _last_step(recipe.estimator), GaussianMixture):
                mixture.set_params(covariance_type="diag")
        return recipes

    def _ks(self, n_rows: int) -> list[int]:
        """Numbers of clusters, from 2 to the objects."""
        return numbers_asked(self.n_clusters, n_rows, [k for k in GRID if k * k <= max(n_rows, 4)])

    def _partitions(self, X: Any, sample_weight: NDArray[np.int64] | None) -> list[Partition | Failure]:
        """Mixtures one by one; trees and embeddings once, then cut at every number of clusters."""
        tasks, most = self._tasks(*X.shape), max(self._ks(len(X)))
        as_given = Objects(np.asarray(X, dtype=np.float64))
        scaled = Objects(StandardScaler().fit_transform(as_given.X)) if self.standardized_too else as_given
        work = partial(self._run_task, as_given, scaled, most)
        outcomes = run_all(work, tasks, self.n_jobs, self._any_fatal, self.progress)
        return [outcome for of_task in outcomes for outcome in of_task]

    def _tasks(self, n_rows: int, n_features: int) -> list[list[Recipe]]:
        """What is made at once: a mixture, or all that are cut from one structure."""
        groups = groupby(self._recipes(n_rows, n_features), key=_structure_of)
        return [list(same) for _, same in groups]

    def _any_fatal(self, outcomes: Sequence[Partition | Failure]) -> bool:
        return any(self._is_fatal(outcome) for outcome in outcomes)

    def _run_task(
        self, as_given: Objects, scaled: Objects, most: int, recipes: list[Recipe]
    ) -> list[Partition | Failure]:
        """The partitions of a mixture, or all that are cut from one structure."""
        first, *_ = recipes
        clusterer = _last_step(first.estimator)
        objects = as_given if clusterer is first.estimator else scaled
        if isinstance(clusterer, GaussianMixture):
            clusterer.set_params(reg_covar=objects.ridge)
            return [self._partition(as_given.X, None, first)]
        try:
            structure: Embedding | Merges = (
                Embedding.of(clusterer.n_neighbors, most, objects)
                if isinstance(clusterer, SpectralClustering)
                else objects.tree.merges(clusterer.gini_threshold)
            )
            return [Partition(recipe, structure.cut(int(recipe.n_clusters or 0))) for recipe in recipes]
        except Exception as error:
            return [Failure(recipe, error) for recipe in recipes]


def _last_step(estimator: Any) -> Any:
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def _structure_of(recipe: Recipe) -> tuple[Any, ...]:
    """What the partition of a recipe is cut from; a mixture is its own."""
    clusterer = _last_step(recipe.estimator)
    own = recipe.name if isinstance(clusterer, GaussianMixture) else getattr(clusterer, "n_neighbors", 0)
    return isinstance(recipe.estimator, Pipeline), type(clusterer), own
