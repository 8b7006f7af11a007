"""Bisecting k-means on the binary matrix: Candel's H-KM."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from math import isqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ensemblage.base.random import task_seeds
from ensemblage.base.threads import parallel_map, thread_count
from ensemblage.base.validation import Constraints, Whole, Words, check_fitted, check_whole, weight_unit
from ensemblage.consensus._base import InductiveConsensus
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.diagnostics import Diagnostics, Splits
from ensemblage.consensus.kmeans._km import CategoryUtility, cluster_densities
from ensemblage.consensus.kmeans._label_kmeans import (
    KMEANS_CONSTRAINTS,
    STARTS,
    Centroids,
    kmeans,
    nearest_centroids,
)
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.disk import check_state
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows

STATE = 60
"""Bytes per object that the tree takes, the rows of the part that is split among them (measured: docs/SCALE.md)."""


class Split(NamedTuple):
    """One split of a `BisectingKMeansConsensus`; its place in ``splits_`` is its order."""

    parent: int
    """The part that was split. Part 0 is everything; the split with index t makes the parts 2 t + 1 and 2 t + 2."""
    size: int
    """Objects in it."""
    loss: float
    """Its k-means loss."""
    loss_after: float
    """The k-means loss of its two halves."""
    gain: float
    """How much the density S of the partition rose (Candel Eq. 23); below 0 if it fell."""


class Part(NamedTuple):
    """A node of the tree."""

    rows: NDArray[np.intp]
    """Its distinct rows, in order."""
    profile: NDArray[np.int64]
    """(d,) its objects with each label."""
    size: int
    density: float
    loss: float
    seed: int


class Bisection(NamedTuple):
    """What splitting a part gives."""

    halves: tuple[Part, Part]
    centroids: Centroids
    """They tell the halves apart."""
    n_iter: int


class Tree(NamedTuple):
    """The splits in their order, and what is left."""

    leaves: dict[int, Part]
    """The parts that were not split, by number."""
    splits: list[Split]
    centroids: list[Centroids]
    """Of the two halves of each split."""
    n_iter: int


def h_km(
    codes: LabelRows,
    counts: NDArray[np.int64],
    utility: CategoryUtility,
    k: int,
    rule: str,
    init: str,
    n_init: int,
    max_iter: int,
    tol: float,
    seed: int,
    n_jobs: int | None = None,
) -> Tree:
    """Bisecting k-means on H (Candel, Secs. 4.2-4.4; Steinbach et al. 2000), until there are k parts.

    The parts are independent after a split (Sec. 4.3): each has a seed of its own, so that the tree does not depend on
    the order in which they are split, and what will most likely be split next is split ahead, one part per thread.
    """
    split = partial(bisect, codes, counts, utility, init, n_init, max_iter, tol, n_jobs)
    parts = {0: part_of(np.arange(len(codes)), utility.counts, utility, seed)}
    bisections: dict[int, Bisection] = {}
    splits, centroids, n_iter, n_objects = list[Split](), list[Centroids](), 0, parts[0].size
    # The part with the least is split next; of equal ones the one that was made first.
    rank = {"size": lambda i: -parts[i].size, "density": lambda i: parts[i].density}
    while len(parts) < k:
        splittable = [i for i in parts if parts[i].loss > 0]
        if not splittable:
            break
        splittable.sort(key=rank.get(rule, lambda i: -parts[i].loss))
        n_ahead = len(splittable) if rule == "gain" else min(thread_count(n_jobs), k - len(parts))
        todo = [i for i in splittable[:n_ahead] if i not in bisections]
        if rule == "gain" or splittable[0] in todo:
            found = parallel_map(split, [parts[i] for i in todo], n_jobs)
            bisections.update(zip(todo, found, strict=True))
        if rule == "gain":
            splittable.sort(key=lambda i: -gain_of(parts[i], bisections[i], n_objects))
        best, t = splittable[0], len(splits)
        part, bisection = parts.pop(best), bisections.pop(best)
        parts[2 * t + 1], parts[2 * t + 2] = bisection.halves
        loss_after = sum(half.loss for half in bisection.halves)
        splits.append(Split(best, part.size, part.loss, loss_after, gain_of(part, bisection, n_objects)))
        centroids.append(bisection.centroids)
        n_iter += bisection.n_iter
    return Tree(parts, splits, centroids, n_iter)


def bisect(
    codes: LabelRows,
    counts: NDArray[np.int64],
    utility: CategoryUtility,
    init: str,
    n_init: int,
    max_iter: int,
    tol: float,
    n_jobs: int | None,
    part: Part,
) -> Bisection:
    """Split one part by k-means with k = 2 (Candel, Sec. 4.4); depends on nothing but the part."""
    inside, own = part.rows, replace(utility, counts=part.profile)
    if len(inside) < len(codes):
        codes, counts = codes.take(inside), counts[inside]
    *seeds, left, right = task_seeds(part.seed, n_init + 2).tolist()
    starts = (kmeans(codes, counts, own, 2, init, max_iter, tol, n_jobs, seed) for seed in seeds)
    best = min(starts, key=lambda start: start.loss)
    first, second = (
        part_of(inside[best.clusters == c], best.profile[c], utility, seed) for c, seed in enumerate((left, right))
    )
    return Bisection((first, second), Centroids.of(best, codes), best.n_iter)


def part_of(inside: NDArray[np.intp], profile: NDArray[np.int64], utility: CategoryUtility, seed: int) -> Part:
    """A node of these rows, whose labels have so many objects."""
    sizes, densities = cluster_densities(profile[None], utility.offsets, utility.weights)
    return Part(inside, profile, int(sizes[0]), float(densities[0]), utility.loss(profile[None]), seed)


def gain_of(part: Part, bisection: Bisection, n_objects: int) -> float:
    """By how much a split raises the density S (Candel Eq. 23)."""
    after = sum(half.size * half.density for half in bisection.halves)
    return (after - part.size * part.density) / n_objects


@dataclass(eq=False, repr=False)
class BisectingKMeansConsensus(InductiveConsensus):
    """Use it for many clusters or a tree of splits, in linear time: bisecting k-means on H (H-KM).

    From one cluster of everything on, one cluster at a time is split in two by k-means, until there are as many as
    asked for. Cheaper than k-means where clusters are many, and every smaller number of clusters comes with it.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most the number of distinct label rows. None is ⌊√n⌋ of the labelled
        objects, or the number of distinct label rows if that is less.
    split_rule : {"loss", "size", "density", "gain"}, default "loss"
        Which cluster to split next: the one with the largest k-means loss, the largest one, the one with the lowest
        density, or the one whose split raises the density S most (Candel Eq. 23; every cluster is split to find out).
        A cluster without loss is never split.
    init : {"k-means++", "random"}, default "k-means++"
        How the k-means of a split starts.
    n_init : int, default 3
        Number of starts, the one with the least loss wins. Of each split.
    max_iter : int, default 100
        Most iterations per start.
    tol : float, default 0
        A start ends when no row moves, or when the loss falls by no more than ``tol`` times itself.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out, 2 is the partition twice. Default: one each. "agreement":
        `metrics.agreement_weights`.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the splits.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters numbered by decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Confidence: for / (for + against), over the partitions that join the object with members of its own cluster or
        of another one but not of both; see `metrics.confidence`. 1: no partition supports another cluster. ½: two
        clusters have equal support. 1 for all objects if there is one cluster. Not a probability of being correct.
    runner_up_ : ndarray of shape (n_objects,), int32
        The other cluster with the most support; -1 if there is none.
    cohesion_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1: small if the
        partitions are fine, even if they agree.
    n_clusters_ : int
        Fewer than asked for, with a warning, where no cluster has any loss left.
    splits_ : list of Split
        In the order in which they were made: the part that was split, its size and loss, the loss of its halves, and
        the gain in density.
    objective_ : float
        Weighted k-means loss on H (Candel Eq. 16).
    n_iter_ : int
        Iterations of all splits, of the best start of each.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` exceeds the number of distinct label rows, or a parameter is out of its range.

    Notes
    -----
    O(m p) time per iteration of a split of m distinct rows, so O(m p log k) per iteration for a balanced tree, against
    O(m p k) of k-means. Memory beyond the ensemble: its distinct rows twice.

    ``predict`` goes down the tree, to the nearer of the two centroids at each split; of the rows of ``fit`` it gives
    ``labels_``. Labels depend on the ratios of the weights alone; one below
    2⁻⁶⁴ of the largest counts as that much. Losses are proportional to the weights (infinite beyond the largest float).

    The parts are independent after a split (Candel 4.3): each has a seed of its own, so that the tree does not depend
    on the order in which they are split. Starts are drawn of the rows in the order of their labels: other names of
    these are as another seed.

    References
    ----------
    G. Candel, "Linear time evidence accumulation clustering with k-means", Secs. 4.2 to 4.4, Eqs. 21-23.
    M. Steinbach, G. Karypis, V. Kumar, "A comparison of document clustering techniques", KDD workshop on text mining,
    2000.

    Examples
    --------
    >>> from ensemblage.consensus import BisectingKMeansConsensus
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> tree = BisectingKMeansConsensus(n_clusters=3, random_state=0).fit(labels)
    >>> tree.labels_
    array([1, 1, 2, 0, 0, 0], dtype=int32)
    >>> tree.labels_at(2)
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> [(split.parent, split.size, round(split.gain, 2)) for split in tree.splits_]
    [(0, 6, 0.4), (1, 3, -0.06)]
    """

    _capabilities: ClassVar[Capabilities] = Capabilities(in_memory="", finds_n_clusters=True, predict=True)
    _parameter_constraints: ClassVar[Constraints] = {
        **KMEANS_CONSTRAINTS,
        "n_clusters": [Whole(1), None],
        "split_rule": [Words(["loss", "size", "density", "gain"])],
        "init": [STARTS],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    split_rule: str = "loss"
    init: str = "k-means++"
    n_init: int = 3
    max_iter: int = 100
    tol: float = 0.0
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    objective_: float = field(init=False)
    n_iter_: int = field(init=False)
    splits_: list[Split] = field(init=False)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        check_state(rows.codes, len(rows.inverse), STATE)
        most = min(isqrt(int(rows.counts.sum())), len(rows))
        k = most if self.n_clusters is None else self._check_n_clusters(rows)
        self._utility = CategoryUtility(rows.offsets, rows.weights, rows.label_sizes(self.n_jobs))
        steps = self.init, self.n_init, self.max_iter, self.tol
        (seed,) = task_seeds(self.random_state, 1).tolist()
        tree = h_km(rows.codes, rows.counts, self._utility, k, self.split_rule, *steps, seed, self.n_jobs)
        leaves, unit = tree.leaves, weight_unit(self.weights)
        if len(leaves) < k:
            text = f"Only {len(leaves)} of {k} clusters were made: the members of each have the same labels."
            warnings.warn(text, ConvergenceWarning, stacklevel=3)
        clusters = np.empty(len(rows), dtype=np.int32)
        for c, part in enumerate(leaves.values()):
            clusters[part.rows] = c
        self._leaves = np.array(list(leaves))
        self._leaf_sizes = np.array([part.size for part in leaves.values()])
        self._first_rows = np.array([part.rows[0] for part in leaves.values()])
        self._split_centroids, self.n_iter_ = tree.centroids, tree.n_iter
        self.splits_ = [
            split._replace(loss=split.loss * unit, loss_after=split.loss_after * unit) for split in tree.splits
        ]
        self.objective_ = float(sum(part.loss for part in leaves.values())) * unit
        return clusters

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        if not self.splits_:
            return ()
        _, size, loss, loss_after, gain = np.array(self.splits_, dtype=np.float64).T
        return (Splits(size.astype(np.int64), loss, loss_after, gain),)

    def labels_at(self, n_clusters: int) -> NDArray[np.int32]:
        """The partition that the tree had with fewer clusters.

        Parameters
        ----------
        n_clusters : int
            From 1 to ``n_clusters_``.

        Returns
        -------
        ndarray of shape (n_objects,), int32
            Clusters numbered by decreasing size; -1 for an object that no partition labels.

        Raises
        ------
        ValueError
            If the tree never had that many.

        Notes
        -----
        O(n + k) time and memory.
        """
        check_fitted(self)
        k = check_whole(n_clusters, "n_clusters of labels_at", 1, self.n_clusters_)
        ancestors = self._leaves.copy()
        for t in range(len(self.splits_) - 1, k - 2, -1):  # undo the last splits
            ancestors[np.isin(ancestors, (2 * t + 1, 2 * t + 2))] = self.splits_[t].parent
        clusters = np.unique(ancestors, return_inverse=True)[1]
        # By decreasing size, ties by the first label row.
        sizes = np.bincount(clusters, weights=self._leaf_sizes)
        first = np.full(len(sizes), np.iinfo(np.int64).max)
        np.minimum.at(first, clusters, self._first_rows)
        public = np.empty(len(sizes), dtype=np.int32)
        public[np.lexsort((first, -sizes))] = np.arange(len(sizes), dtype=np.int32)
        of_label = np.full(len(clusters) + 1, -1, dtype=np.int32)
        of_label[self._number] = public[clusters]
        return of_label[self.labels_]

    def _predict_codes(self, codes: LabelRows) -> NDArray[np.int32]:
        missing = np.diff(self._utility.offsets) - 1
        nothing = np.concatenate(codes.map(lambda codes: (codes == missing).all(axis=1), n_jobs=self.n_jobs))
        node = np.where(nothing, np.int64(-1), 0)
        for t, (split, centroids) in enumerate(zip(self.splits_, self._split_centroids, strict=True)):
            here = np.flatnonzero(node == split.parent)
            node[here] = 2 * t + 1 + nearest_centroids(codes.take(here), self._utility, centroids, self.n_jobs)
        number = np.full(2 * len(self.splits_) + 2, -1, dtype=np.int32)
        number[self._leaves] = self._number
        return number[node]
