"""Candidate partitions of features: families of algorithms, each in a view of them, for many numbers of clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage

from ensemblage.base.random import settled_rows
from ensemblage.base.threads import locked_property
from ensemblage.generation._clusterers import fold_warnings, run_all
from ensemblage.generation._diverse import GINI_THRESHOLD, MOST_FULL, RIDGE, Embedding, Objects
from ensemblage.generation._genie import N_NEIGHBOURS, Merges, lumbermark
from ensemblage.generation._kmeans import member_sums
from ensemblage.generation._mixture import FULL, LATENT, fit_mixture
from ensemblage.generation._views import MOST_COMPONENTS, Matrix, Scales, n_signals, principal_components
from ensemblage.kernels._dendrogram import cut_merges
from ensemblage.kernels._jit import is_small_work
from ensemblage.kernels._points import BLOCK, iterate

Labels = NDArray[np.int32]
OPERATIONS = 128
"""Of NumPy for a feature of an object and a centre, in all steps of k-means."""
STEPS, TOLERANCE = 60, 1e-3
"""Of a mixture."""
MOST_MERGED = 2_500
"""Objects that Ward's method merges; of more, so many are drawn, the same with each seed."""
NARROW = (
    ("own", "kmeans"),
    ("own", "full"),
    ("own", "latent"),
    ("own", "spectral10"),
    ("own", "spectral5"),
    ("own", "genie3"),
    ("own", "lumbermark"),
    ("deviation", "spectral10"),
    ("robust", "kmeans"),
    ("robust", "prior"),
    ("given", "kmeans"),
    ("given", "spectral10"),
)
WIDE = (
    ("own", "latent"),
    ("own", "factor"),
    ("own", "spectral10"),
    ("own", "spectral5"),
    ("own", "genie3"),
    ("rows", "kmeans"),
    ("rows", "spectral10"),
    ("logarithm", "kmeans"),
    ("logarithm", "factor"),
    ("logarithm", "spectral10"),
    ("given", "spectral10"),
)
"""Pairs of a view and a family, for at most 50 features and for more ..."""
WIDE_AND_LONG = (*WIDE, ("deviation", "spectral10"))
"""... and for more than 50 features of more than 500 objects."""
MOST_FEW = 500
FAMILIES = ("kmeans", "ward", "full", "prior", "latent", "factor", "spectral10", "spectral5", "genie3", "lumbermark")
"""All that `Space` makes."""
NUMBERS = (*range(2, 11), 12, 14, 17, 20, 24, 28, 33, 39, 47, 56)
"""Numbers of clusters that are looked at first, as far as √n."""
LARGE_NUMBERS = (*NUMBERS[10:], 67, 80, 95, 113, 135, 160, 190)
"""Those that are looked at where the best of the first is at least half of √n, as far as n / 10."""
BY_NEIGHBOURS = ("spectral10", "spectral5", "lumbermark", "genie3")
"""Families that need the nearest neighbours or a tree of them, the one that takes longest first; the others need Ward's
hierarchy."""
BY_VECTORS = ("spectral10", "spectral5")
"""Families whose last bits depend on how many eigenvectors are computed."""


def centres_of(X: Matrix, labels: Labels) -> Matrix:
    """(k, m) means of the clusters of labels from 0, none of them empty."""
    sums, sizes = member_sums(X, labels, int(labels.max()) + 1)
    return np.asarray(sums / sizes[:, None])


def small_lloyd(columns: Matrix, centres: Matrix, max_iter: int) -> Labels:
    """(n,) labels of k-means from some centres, (k, m), of the columns of features, (m, n): `iterate` in NumPy."""
    k, labels = len(centres), np.full(columns.shape[1], -1, dtype=np.int32)
    for _ in range(max_iter):
        squares = np.zeros((k, len(labels)))
        for column, of_centres in zip(columns, centres.T, strict=True):
            squares += np.square(column - of_centres[:, None])
        nearest, least = squares.argmin(axis=0).astype(np.int32), squares.min(axis=0)
        if (nearest == labels).all():
            break
        labels, sizes = nearest, np.bincount(nearest, minlength=k)
        for c in np.flatnonzero(sizes == 0):
            farthest = least.argmax()
            if least[farthest] > 0:
                sizes[labels[farthest]] -= 1
                labels[farthest], least[farthest], sizes[c] = c, 0.0, 1
        sums = np.column_stack([np.bincount(labels, column, k) for column in columns])
        centres = sums / np.maximum(sizes, 1)[:, None]
    return labels


def nearest_centres(X: Matrix, centres: Matrix) -> Labels:
    """(n,) the nearest centre, the first on ties."""
    squares = (centres**2).sum(axis=1) - 2 * X @ centres.T
    return np.asarray(squares.argmin(axis=1), dtype=np.int32)


class Origin(NamedTuple):
    """Where a partition comes from."""

    view: str
    family: str
    n_clusters: int
    """That was asked for."""


def numbers_of_clusters(n: int) -> list[int]:
    """Those of `NUMBERS` up to √n, at least up to 5."""
    return [k for k in NUMBERS if k * k <= max(n, 25) and k < n]


def larger_numbers(n: int) -> list[int]:
    """Those of `LARGE_NUMBERS` from √n to n / 10."""
    return [k for k in LARGE_NUMBERS if k * k > n and 10 * k <= n]


def pairs_of(n: int, m: int) -> tuple[tuple[str, str], ...]:
    """The view and family of the candidates of n objects with m features."""
    return NARROW if m <= MOST_FULL else WIDE if n <= MOST_FEW else WIDE_AND_LONG


class Space:
    """The objects in one view, and what several families need of it, made once."""

    def __init__(
        self,
        name: str,
        features: Matrix,
        most_clusters: int,
        units: Matrix | None = None,
        is_of_sample: bool = False,
    ) -> None:
        self.scales, self.most_clusters = Scales.fit(name, features, units), most_clusters
        self.features = self.scales.transform(features)
        n, m = self.features.shape
        # More columns than this are replaced by scores with about the same distances.
        most = 4 * MOST_COMPONENTS
        self.X = self.features if m <= MOST_FULL else principal_components(self.features, min(n - 1, m, most))[0]
        self.objects = Objects(self.X, is_of_sample)

    def with_most(self, most_clusters: int) -> Space:
        """The same objects for at most so many clusters, with what was made of them and does not depend on that."""
        other = copy(self)
        if most_clusters != self.most_clusters:
            other.most_clusters = most_clusters
            for name in ("embedding10", "embedding5", "lumber"):
                vars(other).pop(name, None)
        return other

    @locked_property
    def rows(self) -> NDArray[np.intp]:
        """The objects that Ward's method merges: all, or 2,500 that are drawn."""
        return settled_rows(self.X, MOST_MERGED)

    @locked_property
    def hierarchy(self) -> NDArray[np.int64]:
        """(r - 1, 2) one of ``rows`` in either cluster that Ward's method merges, in the order of the merges."""
        r = len(self.rows)
        first, merges = np.arange(2 * r - 1), linkage(self.X[self.rows], "ward")[:, :2].astype(np.int64)
        for i, child in enumerate(merges[:, 0].tolist()):
            first[r + i] = first[child]
        return np.asarray(first[merges])

    def ward(self, k: int) -> Labels:
        """The cut of the hierarchy; objects that were not drawn join the cluster with the nearest centre."""
        clusters = np.empty(len(self.rows), dtype=np.int64)
        cut_merges(self.hierarchy[: len(clusters) - k], clusters)
        if len(clusters) == len(self.X):
            return clusters.astype(np.int32)
        labels = nearest_centres(self.X, centres_of(self.X[self.rows], clusters.astype(np.int32)))
        labels[self.rows] = clusters
        return labels

    def kmeans(self, k: int) -> Labels:
        n, labels = len(self.X), self.ward(k)
        columns, centres = np.ascontiguousarray(self.X.T), centres_of(self.X, labels)
        if is_small_work(OPERATIONS * k * self.X.size):
            return small_lloyd(columns, centres, STEPS)
        work = np.empty(n), np.empty(k, dtype=np.int64), np.empty(k * BLOCK), np.empty(BLOCK, dtype=np.int32)
        iterate(self.X, columns, centres, labels, *work, STEPS)
        return labels

    @locked_property
    def factors(self) -> Matrix:
        """(n, r) scores on the components above noise, 2 to 8 of them."""
        n, m = self.features.shape
        scores, values = principal_components(self.features, 8)
        r = int(np.clip(n_signals(values, n, m), 2, max(2, min(8, n // 12))))
        return np.ascontiguousarray(scores[:, :r])

    def mixture(self, X: Matrix, shape: int, scale: float, degrees: float, k: int) -> Labels:
        labels, is_binary = self.ward(k), self.scales.is_binary
        fit_mixture(X, is_binary, shape, scale, degrees, STEPS, TOLERANCE, labels, k)
        return labels

    def full(self, k: int) -> Labels:
        return self.mixture(self.X, FULL, RIDGE * len(self.X) / k, 0.0, k)

    def prior(self, k: int) -> Labels:
        m = self.X.shape[1]
        return self.mixture(self.X, FULL, k ** (-2 / m), m + 2.0, k)

    @locked_property
    def with_zeros_and_ones(self) -> Matrix:
        """(n, m) the features, 0 and 1 in the columns of two values."""
        X = self.features
        return np.where(self.scales.is_binary, (X.min(axis=0) < X).astype(np.float64), X)

    def latent(self, k: int) -> Labels:
        return self.mixture(self.with_zeros_and_ones, LATENT, 0.1, 3.0, k)

    def factor(self, k: int) -> Labels:
        r = self.factors.shape[1]
        return self.mixture(self.factors, FULL, k ** (-2 / r), r + 2.0, k)

    @locked_property
    def embedding10(self) -> Embedding:
        return Embedding.of(10, min(self.most_clusters, len(self.X)), self.objects)

    @locked_property
    def embedding5(self) -> Embedding:
        return Embedding.of(5, min(self.most_clusters, len(self.X)), self.objects)

    def spectral10(self, k: int) -> Labels:
        return self.embedding10.cut(k)

    def spectral5(self, k: int) -> Labels:
        return self.embedding5.cut(k)

    @locked_property
    def merges(self) -> Merges:
        return self.objects.tree.merges(GINI_THRESHOLD)

    def genie3(self, k: int) -> Labels:
        return self.merges.cut(k)

    @locked_property
    def lumber(self) -> Labels:
        """(K, n) partitions with 2, 3, ... clusters."""
        known = self.objects.known_nearest(N_NEIGHBOURS)
        return lumbermark(self.X, min(self.most_clusters, len(self.X)), known)

    def lumbermark(self, k: int) -> Labels:
        if k - 2 >= len(self.lumber):
            raise ValueError(f"No edge of the tree can be cut for {k} clusters.")
        return np.asarray(self.lumber[k - 2])


class Pool(NamedTuple):
    """Candidate partitions of n objects."""

    labels: Labels
    """(p, n) clusters from 0."""
    candidates: list[Origin]
    """(p,)"""
    spaces: dict[str, Space]
    """By the view's name."""

    def known(self, most_clusters: int) -> dict[Origin, Labels]:
        """The partitions that stay the same for at most this number of clusters."""
        most = {space.most_clusters for space in self.spaces.values()}
        made = dict(zip(self.candidates, self.labels, strict=True))
        return {c: labels for c, labels in made.items() if most == {most_clusters} or c.family not in BY_VECTORS}


@dataclass
class PoolCache:
    """What choosing a candidate leaves to the generator that follows; no fitted estimator keeps it."""

    rows: NDArray[np.intp] | None = None
    """(m,) the objects that are clustered, if they were drawn."""
    pool: Pool | None = None
    """Of all objects that are clustered, if it was made of all."""
    compared: NDArray[np.intp] | None = None
    """(r,) those of the objects that are clustered whose candidates were rated, if not all were ..."""
    rated: Any = None
    """... and their candidates with their ratings."""


def candidate_pool(
    features: Matrix,
    ks: Sequence[int],
    pairs: Sequence[tuple[str, str]] | None = None,
    n_jobs: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
    units: Matrix | None = None,
    made: Pool | None = None,
    is_of_sample: bool = False,
) -> Pool:
    """The partitions of features, (n, m), by every pair with every number of clusters.

    ``units``, (m,), is what each column was divided by, for the view "given". What is the same in a pool that was
    ``made`` of the same features and units, for all views of these pairs, is taken from there. ``is_of_sample``
    says that the features were drawn of many, by kernels that find neighbours here, too; it changes no partition.

    A view that is another one again is left out, and so is a partition that could not be made or has one cluster.
    Nothing is random.
    """
    features = np.asarray(features, dtype=np.float64)
    pairs = pairs_of(*features.shape) if pairs is None else pairs
    views = list(dict.fromkeys(view for view, _ in pairs))
    if made is None:
        known, spaces = dict[Origin, Labels](), _spaces(views, features, max(ks), units, is_of_sample)
    else:
        known = made.known(max(ks))
        spaces = {name: made.spaces[name].with_most(max(ks)) for name in views if name in made.spaces}
    tasks = [(view, family) for view, family in pairs if view in spaces]
    ordered = _order_of_threads(tasks)
    with fold_warnings():
        of_tasks = run_all(partial(_partitions, spaces, known, ks), ordered, n_jobs, progress=progress)
    found = dict(zip(ordered, of_tasks, strict=True))
    partitions = [(Origin(*task, k), labels) for task in tasks for k, labels in found[task]]
    labels = np.array([labels for _, labels in partitions], dtype=np.int32).reshape(len(partitions), len(features))
    return Pool(labels, [candidate for candidate, _ in partitions], spaces)


def _order_of_threads(tasks: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Views and families as threads begin with them: the longest first, but first one of all that need the same.

    Two that need the same structure of a view would wait for each other.
    """
    rank = {family: i for i, family in enumerate(BY_NEIGHBOURS)}
    longest_first = sorted(tasks, key=lambda task: rank.get(task[1], len(rank)))
    makes: dict[tuple[str, bool], tuple[str, str]] = {}
    for view, family in longest_first:
        makes.setdefault((view, family in BY_NEIGHBOURS), (view, family))
    return [*makes.values(), *(task for task in longest_first if task not in makes.values())]


def _spaces(
    views: Sequence[str],
    features: Matrix,
    most_clusters: int,
    units: Matrix | None,
    is_of_sample: bool,
) -> dict[str, Space]:
    """The views by name, without duplicates."""
    spaces: dict[str, Space] = {}
    for name in views:
        space = Space(name, features, most_clusters, units, is_of_sample)
        if not any(np.allclose(space.features, other.features, atol=1e-9) for other in spaces.values()):
            spaces[name] = space
    return spaces


def _partitions(
    spaces: dict[str, Space], known: dict[Origin, Labels], ks: Sequence[int], pair: tuple[str, str]
) -> list[tuple[int, Labels]]:
    """Of one family in one view, with the number of clusters that was asked for; ``known`` ones are not made again."""
    view, family = pair
    found = []
    for k in ks:
        if (labels := known.get(Origin(view, family, k))) is not None:
            found.append((k, labels))
            continue
        try:
            labels = getattr(spaces[view], family)(k)
        except (ArithmeticError, np.linalg.LinAlgError, ValueError):
            continue
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
        if labels.max() > 0:
            found.append((k, labels))
    return found
