"""What a hierarchy says: the number of clusters with the longest lifetime, a cut into that many, SciPy's matrix.

Lifetimes: Fred & Jain 2005; Ayad & Kamel 2010, Sec. 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.threads import run_interruptibly
from ensemblage.kernels._dendrogram import cut_merges, number_merges

PER_ROW = 160
"""Bytes that a hierarchy takes per distinct row besides the similarities and a copy of the codes."""
PER_OBJECT = 80
"""Bytes per object for the hierarchy of the objects and the results; the similarities are gone by then."""


class Merges(NamedTuple):
    """A hierarchy over m rows, from the first merge to the last."""

    pairs: NDArray[np.int64]
    """(m - 1, 2) a row of either cluster."""
    heights: NDArray[np.float64]
    """(m - 1,) 1 - similarity, none below the one before."""


class Hierarchy(NamedTuple):
    """A hierarchy of m rows, some of which may have merged before it begins."""

    merges: Merges
    lives: dict[int, float]
    """Lifetime of each number of clusters that has one."""
    n_initial: int
    """Clusters with which it begins."""
    n_least: int = 1
    """Clusters that are left where every further merge is forbidden."""
    of_duplicates: NDArray[np.float64] | None = None
    """(m,) height at which the objects of each row merge; None: 0."""

    def cut(self, k: int | None) -> NDArray[np.int64]:
        """(m,) cluster of each row, k of them or as many as live longest."""
        return cut(self.merges, k or longest_lifetime(self.lives, self.n_initial))


def hierarchy_of_rows(
    merges: Merges, counts: NDArray[Any], of_duplicates: NDArray[np.float64] | None = None
) -> Hierarchy:
    """The hierarchy that begins with every row by itself; ``counts``, (m,), are the objects of each row."""
    if of_duplicates is None:
        # Where rows have several objects, k = number of rows is no partition into singletons.
        lives = lifetimes(merges.heights, include_singletons=bool((counts > 1).any()))
    else:
        lives = lifetimes_with_duplicates(merges.heights, of_duplicates, counts)
    return Hierarchy(merges, lives, len(counts), of_duplicates=of_duplicates)


def lifetimes(heights: ArrayLike, *, include_singletons: bool = False) -> dict[int, float]:
    """Lifetime of every number of clusters: the range of thresholds at which a hierarchy has that many.

    Parameters
    ----------
    heights : array-like of shape (m - 1,)
        Merge heights of a hierarchy over m initial clusters, none below the one before.
    include_singletons : bool, default False
        Whether k = m, which lives from 0 to the first merge, counts too. A caller that merges the distinct rows of
        more objects wants it: its m initial clusters are no singletons.

    Returns
    -------
    dict of int to float
        ``{k: h_{m-k+1} - h_{m-k}}`` by decreasing k, from m - 1 (m) down to 2; k = 1 lives for ever and is left out.
        Empty if there is no such k.

    Notes
    -----
    O(m) time and memory.

    Examples
    --------
    >>> lifetimes([1.0, 1.25, 4.0])
    {3: 0.25, 2: 2.75}
    """
    lives = np.diff(np.concatenate([[0.0] if include_singletons else [], np.asarray(heights, dtype=np.float64)]))
    return dict(zip(range(len(lives) + 1, 1, -1), lives.tolist(), strict=True))


def lifetimes_with_duplicates(
    heights: NDArray[Any], of_duplicates: NDArray[Any], counts: NDArray[Any]
) -> dict[int, float]:
    """`lifetimes` of the hierarchy of the objects, of the numbers that part none of equal rows.

    ``heights`` are those of the merges of m distinct rows, ``of_duplicates`` those at which the ``counts`` objects of
    each row merge.
    """
    duplicates = counts > 1
    merged = np.concatenate([heights, of_duplicates[duplicates]])
    n_merges = np.concatenate([np.ones(len(heights), dtype=np.int64), counts[duplicates] - 1])
    order = np.argsort(merged, kind="stable")
    # How many clusters are left after each merge; all merges of one row are made at once.
    left = int(counts.sum()) - np.cumsum(n_merges[order])
    lives = np.diff(merged[order])
    return {int(k): float(life) for k, life in zip(left[:-1], lives, strict=True) if k <= len(counts)}


def longest_lifetime(lives: Mapping[int, float], n_initial: int = 1) -> int:
    """Number of clusters with the longest of these lifetimes; the larger one on ties, all ``n_initial`` where none has
    one.

    >>> longest_lifetime({3: 0.25, 2: 2.75})
    2
    """
    return max(lives, key=lambda k: (lives[k], k), default=n_initial)


def duplicate_heights(
    codes: NDArray[Any],
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    joins: NDArray[np.float64],
    merges: Merges,
) -> NDArray[np.float64]:
    """(m,) height at which the objects of a row of (m, p) codes merge: 1 - the mean weight of their labels.

    ``joins``, (offsets[p],), is what a label adds: its weight times that of its partition. With all labels no other row
    is as similar to a row as its objects are to each other. Where labels are missing one may be: then they merge when
    the row does.
    """
    joined, labelled = np.zeros((2, len(codes)))
    for t, (column, weight) in enumerate(zip(codes.T, weights, strict=True)):
        joined += joins[offsets[t] + column]
        labelled += np.where(column < offsets[t + 1] - offsets[t] - 1, weight, 0.0)
    heights = 1 - np.minimum(joined / labelled, 1)
    first = np.ones(len(codes))
    np.minimum.at(first, merges.pairs.ravel(), np.repeat(merges.heights, 2))
    return np.asarray(np.minimum(heights, first))


def cut(merges: Merges, n_clusters: int) -> NDArray[np.int64]:
    """(m,) cluster of each row after the first merges: ``n_clusters`` of them, also where heights are tied."""
    clusters = np.empty(len(merges.pairs) + 1, dtype=np.int64)
    cut_merges(merges.pairs[: len(clusters) - n_clusters], clusters)
    return clusters


def merges_of_scipy(matrix: NDArray[np.float64]) -> Merges:
    """The merges of a linkage matrix in SciPy's format, (m - 1, 4)."""
    row = [*range(len(matrix) + 1)]
    pairs = []
    for first, second in matrix[:, :2].astype(np.int64):
        pairs.append((row[first], row[second]))
        row.append(row[first])
    return Merges(np.array(pairs, dtype=np.int64).reshape(-1, 2), matrix[:, 2])


def linkage_matrix(
    merges: Merges, inverse: NDArray[Any], of_duplicates: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The hierarchy over n objects in SciPy's format, (n - 1, 4); ``inverse``, (n,), is the row of each object.

    Objects with equal rows merge first, at height 0 or that of their row, ``of_duplicates``, which is no more than the
    heights of the merges with that row; those that have none of the m rows, m or more, last, at height 1.
    """
    n, m = len(inverse), len(merges.pairs) + 1
    # An object of either cluster: duplicates, then rows, then objects that have none of these.
    objects = np.argsort(inverse, kind="stable")
    row = inverse[objects]
    duplicates = np.flatnonzero((row[1:] == row[:-1]) & (row[1:] < m))
    n_duplicates = len(duplicates)
    of_rows = slice(n_duplicates, n_duplicates + m - 1)
    pairs = np.empty((n - 1, 2), dtype=np.int64)
    pairs[:n_duplicates, 0], pairs[:n_duplicates, 1] = objects[duplicates], objects[duplicates + 1]
    pairs[of_rows] = objects[np.searchsorted(row, np.arange(m))][merges.pairs]
    pairs[of_rows.stop :, 0], pairs[of_rows.stop :, 1] = objects[0], objects[row >= m]
    heights = np.ones(n - 1)
    heights[:n_duplicates] = 0 if of_duplicates is None else of_duplicates[row[duplicates]]
    heights[of_rows] = merges.heights
    del objects, row, duplicates  # an entry per object each: the peak is below
    if of_duplicates is not None:
        order = np.argsort(heights, kind="stable")
        pairs, heights = pairs[order], heights[order]
    matrix = np.empty((n - 1, 4))
    matrix[:, 2] = heights
    del heights
    state = (np.arange(n), np.arange(n), np.ones(n, dtype=np.int64))
    run_interruptibly(number_merges, pairs, *state, matrix, operations=64 * n)
    return matrix
