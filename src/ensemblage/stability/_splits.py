"""Which splits between clusters are supported: tests down the tree of their centres, in halves of the objects."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from ensemblage.base.random import task_seeds
from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.text import backend_of
from ensemblage.base.validation import check_choice, check_fitted, check_number
from ensemblage.generation._kmeans import member_sums
from ensemblage.kernels._points import best_of_starts
from ensemblage.stability._clusters import Reference, check_reference
from ensemblage.stability._dip import drawn_from_cells, unimodality_p_value
from ensemblage.stability._gap import MAX_ITER
from ensemblage.stability._records import MergedClusters, SplitRow, SplitSupport
from ensemblage.stability._resamples import check_data

LEAST_OBJECTS = 8
"""A side of a split with fewer is not tested: p = 1."""
MOST_CLUSTERS = 2_000
"""The tree of their centres takes O(k³) time and O(k²) memory: a second and 32 MB."""
LARGE = 1e100
"""Features beyond it are divided by the largest, so that no product of two overflows."""
N_REFERENCES, MOST_DRAWN, N_STARTS = 99, 2_000, 4
"""Gaussian samples that a split is compared with, the most objects in each, and starts of 2-means on it."""

Objects = NDArray[np.intp]
Test = Callable[[Objects, Objects, int], float]
"""p-value of a split, from the objects on either side and a seed."""


class Node(NamedTuple):
    """A cluster, or a split in the tree of the clusters."""

    clusters: list[int]
    """Places of the clusters below."""
    left: Node | None
    right: Node | None


class Split(NamedTuple):
    """What the test said of a split."""

    left: list[int]
    """Places of the clusters on this side ..."""
    right: list[int]
    n: int
    """Objects on both sides."""
    p: float
    """NaN where it was not tested."""
    level: float


@renamed_parameters(clustering="partition")
def split_support(
    partition: ArrayLike | Any,
    X: ArrayLike | Any,
    *,
    alpha: float = 0.05,
    null: Literal["unimodal", "gaussian"] = "unimodal",
    random_state: Any = None,
) -> SplitSupport:
    """Use it to test each split between clusters by a linear test, from the coarsest to the finest.

    The clusters are joined to a tree by Ward's rule on their means. Each split of the tree is tested along the line
    between the means of its two sides: are the objects unimodal along it? Where one cloud was cut, they are.

    Parameters
    ----------
    partition : array-like of shape (n_objects,) or fitted clusterer
        The clusters, numbers or text; -1 and NaN are in none and take no part. Or a model with ``labels_``.
    X : array-like, sparse matrix or data frame of shape (n_objects, n_features)
        The features, scaled as they were for the clustering; or an embedding, as ``adata.obsm["X_pca"]``.
    alpha : float, default 0.05
        Error of the first kind for all splits together, in (0, 1): of a single cloud, any split is supported with at
        most this probability. A split of n_j of the n objects has the level α (n_j − 1) / (n − 1).
    null : {"unimodal", "gaussian"}, default "unimodal"
        What a single cloud is: unimodal along any line, tested by the dip; or a Gaussian with the covariance of the
        objects, tested by the sum of squares that 2-means leaves (SHC). "gaussian" finds more where clusters are 3
        standard deviations apart, and supports false splits of whatever is flatter than a Gaussian, as a uniform cloud.
    random_state : int, RandomState, Generator or None, default=None
        Deals each cluster out into two halves and draws values that many share; for "gaussian", draws the samples.

    Returns
    -------
    SplitSupport
        ``table`` with a row per split (clusters on either side, objects, p-value, level, verdict, sentence);
        ``to_frame()``.

    Raises
    ------
    ValueError
        If a parameter is out of its range, X is no matrix of finite numbers, the labels are not one for each of its
        rows, or there are more than 2,000 clusters.

    See Also
    --------
    merge_unsupported : The clusters that are left.
    cluster_stability : Whether each cluster is reproduced.
    ensemblage.choose_k : Whether there is any structure, and how many clusters.

    Notes
    -----
    Of a split into A and B, the smaller, a random half of the objects gives the direction w = mean of B − mean of A,
    and the other half the values x · w, whose dip is compared with that of uniform samples; then the other way round.
    p is twice the smaller of both p-values. Where B is less than half of A, the values of A that are farthest from B
    are left out, so that 2 |B| are left: a few objects would drown in the rest, and what is unimodal stays so if it is
    cut to an interval. A split is tested if all above it are supported (Kimes et al. 2017).

    What it cannot do. Clusters that no straight line separates, as a ring around another, are not supported: give an
    embedding in which they are apart, as a spectral one. Two equal Gaussians are unimodal up to a distance of 2
    standard deviations. "gaussian" cannot tell k equally distant groups from one Gaussian with their covariance below a
    distance of 1.87 √k standard deviations, whatever their size: 2.6 of two, 3.7 of four. The halves are drawn, so that
    p depends on the seed. A side of fewer than 8 objects is never
    supported; nor is a split whose level is below 2 · 10⁻⁵, the least p-value of the table.

    Where more than √n / 2 objects share a value of a feature, as whole numbers and answers on a scale, each is drawn
    from its cell, half way to the next values, so that a grid is no mode. Such a value at an end of the range, if more
    objects have it than the next one, is a limit of what was measured. Its cell begins at the next value, with the
    density of as many others, and thins out beyond the limit. So a cluster of objects that all lie at a limit is not
    supported by this feature alone: they may be the others' tail. Three or more values inside the range that lie on a
    grid, each with more than three times the objects of the values beside it, are round numbers: their cells reach
    half a step of the grid. ``note`` of the record says in how many features that was done. What stays a mode is one
    frequent value inside the range, as one that stands for missing values, where clusters lie along this feature
    alone. Sparse features are taken as they are: reduce counts first.

    O(n d log n) time, O(n d) per level of the tree and O(k³) for the tree, k clusters; 10⁵ objects in a second or two.
    "gaussian": 99 times 2-means of up to 2,000 objects for each split. Memory: two copies of X.

    References
    ----------
    Hartigan, J. A. & Hartigan, P. M. (1985). The dip test of unimodality. Ann. Statist. 13(1).
    Kimes, P. K., Liu, Y., Hayes, D. N. & Marron, J. S. (2017). Statistical significance for hierarchical clustering.
    Biometrics 73(3).

    Examples
    --------
    >>> from ensemblage.stability import split_support
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> split_support(KMeans(3, n_init=10, random_state=0).fit(X), X, random_state=0)
    SplitSupport: 1 of 2 splits is supported by a linear test.
    left  right    n       p   level        verdict
    0, 2      1  150  <.0001    0.05      supported
       0      2  100       1  0.0332  not supported
    """
    return _support_of(partition, X, alpha, null, random_state, "split_support")[0]


@renamed_parameters(clustering="partition")
def merge_unsupported(
    partition: ArrayLike | Any,
    X: ArrayLike | Any,
    *,
    alpha: float = 0.05,
    null: Literal["unimodal", "gaussian"] = "unimodal",
    random_state: Any = None,
) -> MergedClusters:
    """Use it to avoid false splits: merges clusters between which a linear test supports no split.

    `split_support` says what is tested and what that cannot do: clusters of any shape that no straight line separates
    are merged, too. Look at both, the clusters before and after.

    Parameters
    ----------
    partition : array-like of shape (n_objects,) or fitted clusterer
        The clusters, numbers or text; -1 and NaN are in none and stay so. Or a model with ``labels_``.
    X : array-like, sparse matrix or data frame of shape (n_objects, n_features)
        The features, scaled as they were for the clustering; or an embedding, as ``adata.obsm["X_pca"]``.
    alpha : float, default 0.05
        Error of the first kind for all splits together, as of `split_support`.
    null : {"unimodal", "gaussian"}, default "unimodal"
        What a single cloud is, as of `split_support`.
    random_state : int, RandomState, Generator or None, default=None
        Deals each cluster out into two halves and draws values that many share; for "gaussian", draws the samples.

    Returns
    -------
    MergedClusters
        ``labels``, the clusters that are left, numbered by their first objects, -1 in none; ``groups``, which clusters
        each is made of; ``support``, the record of `split_support`; ``to_frame()``.

    Raises
    ------
    ValueError
        As of `split_support`.

    See Also
    --------
    split_support : The tests alone.

    Notes
    -----
    Cost as of `split_support`.

    Examples
    --------
    >>> from ensemblage.stability import merge_unsupported
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> merged = merge_unsupported(KMeans(3, n_init=10, random_state=0).fit(X), X, random_state=0)
    >>> merged
    MergedClusters: 3 clusters became 2; splits that a linear test does not support were merged.
    cluster  size  made of
          0    50        1
          1   100     0, 2
    """
    support, reference, groups = _support_of(partition, X, alpha, null, random_state, "merge_unsupported")
    k = len(reference.names)
    firsts = np.unique(reference.clusters, return_index=True)[1]
    groups = sorted((sorted(group) for group in groups), key=lambda group: min(firsts[group]))
    group_of = np.full(k + 1, -1, dtype=np.int32)  # the last one is of objects in no cluster
    for g, group in enumerate(groups):
        group_of[group] = g
    merged = group_of[reference.clusters]
    sizes = np.bincount(merged[merged >= 0], minlength=len(groups)).tolist()
    return MergedClusters(merged, [[reference.names[c] for c in group] for group in groups], sizes, support)


def _support_of(
    partition: Any, X: Any, alpha: float, null: str, random_state: Any, name: str
) -> tuple[SplitSupport, Reference, list[list[int]]]:
    """The tests of all splits; the clusters; and the groups of their places that are left."""
    check_number(alpha, f"alpha of {name}", above=0, below=1)
    check_choice(null, f"null of {name}", ("unimodal", "gaussian"))
    data = check_data(X, None, name)
    reference = check_reference(_labels_of(partition), len(data), f"partition of {name}")
    k = len(reference.names)
    if k > MOST_CLUSTERS:
        raise ValueError(
            f"partition of {name} must have at most {MOST_CLUSTERS:,} clusters. Got {k:,}. Give a coarser partition."
        )
    features, largest = data.numbers, float(abs(data.numbers).max())
    if largest > LARGE:
        features = features / largest
    sizes = np.bincount(reference.clusters, minlength=k + 1)
    members = np.split(np.argsort(reference.clusters, kind="stable"), np.cumsum(sizes)[:-1])[:k]
    tree = tree_of(features, reference, sizes[:k])
    *seeds, seed_of_cells = task_seeds(random_state, k + 1).tolist()
    n_limited = 0
    if null == "unimodal":
        values = features
        if not issparse(features):
            values, n_limited = drawn_from_cells(features, np.concatenate(members), seed_of_cells)
        test: Test = partial(dip_test, values, random_halves(members, len(data), seeds[0]))
    else:
        test = partial(gaussian_test, features)
    rows, groups = splits_from_root(tree, members, test, alpha, seeds[1:])
    names = reference.names
    table = [
        SplitRow.of([names[c] for c in row.left], [names[c] for c in row.right], row.n, row.p, row.level)
        for row in rows
    ]
    n_noise = int(sizes[k])
    support = SplitSupport(table, alpha, null, k, len(data) - n_noise, n_noise, n_limited, backend_of(X))
    return support, reference, groups


def _labels_of(partition: Any) -> Any:
    """The labels of a fitted model, with the shown numbers of its clusters, or the given labels."""
    if not hasattr(partition, "fit"):
        return partition
    check_fitted(partition, "labels_")
    numbers = getattr(partition, "cluster_numbers_", None)
    return partition.labels_ if numbers is None else np.append(numbers, -1)[partition.labels_]


# -- the tree ----------------------------------------------------------------------------------------------------------


def tree_of(X: Any, reference: Reference, sizes: NDArray[np.int64]) -> Node:
    """The clusters joined by Ward's rule on their means: the pair of least n_a n_b / (n_a + n_b) |m_a − m_b|² first.

    O(k³) time, O(k²) memory; of equal pairs, the first.
    """
    k = len(sizes)
    sums, _ = member_sums(X, reference.clusters, k + 1)
    means, n = sums[:k] / sizes[:, None], sizes.astype(np.float64)
    nodes = [Node([c], None, None) for c in range(k)]
    costs = np.full((k, k), np.inf)  # of a < b

    def costs_of(a: int) -> NDArray[np.float64]:
        found: NDArray[np.float64] = n * n[a] / (n + n[a]) * ((means - means[a]) ** 2).sum(axis=1)
        return found

    for a in range(k):
        costs[a, a + 1 :] = costs_of(a)[a + 1 :]
    left = np.full(k, True)
    for _ in range(k - 1):
        a, b = divmod(int(costs.argmin()), k)
        nodes[a] = Node(sorted(nodes[a].clusters + nodes[b].clusters), nodes[a], nodes[b])
        means[a] = (n[a] * means[a] + n[b] * means[b]) / (n[a] + n[b])
        n[a] += n[b]
        left[b] = False
        costs[b, :] = costs[:, b] = np.inf
        others = np.flatnonzero(left & (np.arange(k) != a))
        costs[np.minimum(others, a), np.maximum(others, a)] = costs_of(a)[others]
    return nodes[0]


def splits_from_root(
    root: Node, members: list[Objects], test: Test, alpha: float, seeds: list[int]
) -> tuple[list[Split], list[list[int]]]:
    """All splits, the coarsest first, and the groups of clusters between which none is supported.

    A split is tested at the level α (n_j − 1) / (n − 1) if all above it are supported.
    """
    n = sum(map(len, members))
    splits: list[Split] = []
    groups: list[list[int]] = []
    waiting = [(root, True)]
    while waiting:
        node, is_reached = waiting.pop(0)
        if node.left is None or node.right is None:
            if is_reached:
                groups.append(node.clusters)
            continue
        left, right = (np.concatenate([members[c] for c in side.clusters]) for side in (node.left, node.right))
        n_j = len(left) + len(right)
        level = alpha * (n_j - 1) / (n - 1)
        p = test(left, right, seeds[len(splits)]) if is_reached else np.nan
        splits.append(Split(node.left.clusters, node.right.clusters, n_j, p, level))
        if is_reached and p > level:
            groups.append(node.clusters)
        waiting += [(side, p <= level) for side in (node.left, node.right)]
    return splits, groups


# -- the tests ---------------------------------------------------------------------------------------------------------


def random_halves(members: list[Objects], n: int, seed: int) -> NDArray[np.bool_]:
    """(n,) which half each object is in: of every cluster one half at random, the odd object in either."""
    random, halves = np.random.RandomState(seed), np.zeros(n, dtype=bool)
    for rows in members:
        halves[random.permutation(rows)[: (len(rows) + random.randint(2)) // 2]] = True
    return halves


def dip_test(X: Any, halves: NDArray[np.bool_], left: Objects, right: Objects, seed: int) -> float:
    """Twice the smaller p-value of both halves: is one unimodal along the line of the means of the other?"""
    if min(len(left), len(right)) < LEAST_OBJECTS:
        return 1.0
    a, b = (left, right) if len(left) >= len(right) else (right, left)
    values = [windowed_values(X, a, b, halves == half) for half in (True, False)]
    return min(1.0, 2 * min(map(unimodality_p_value, values)))


def windowed_values(X: Any, a: Objects, b: Objects, is_half: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Values of the other half along mean of b − mean of a in this one, without those below the 2 |b| largest of a."""
    towards = _mean(X[b[is_half[b]]]) - _mean(X[a[is_half[a]]])
    of_a, of_b = (X[rows[~is_half[rows]]] @ towards for rows in (a, b))
    kept = 2 * len(of_b) / max(len(of_a), 1)
    if kept < 1:
        least = np.quantile(of_a, 1 - kept)
        of_a, of_b = (values[values >= least] for values in (of_a, of_b))
    values: NDArray[np.float64] = np.concatenate([of_a, of_b])
    return values


def _mean(X: Any) -> NDArray[np.float64]:
    """(d,) of the rows; zeros of none."""
    if not X.shape[0]:
        return np.zeros(X.shape[1])
    return np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()


def gaussian_test(X: Any, left: Objects, right: Objects, seed: int) -> float:
    """SHC: do 2-means of Gaussians with the covariance of the objects leave as small a part of the sum of squares?

    That of the objects begins with the split: 2-means of a sample leaves the least there is, and the split itself may
    leave more. The statistic of 99 samples is taken to be normal.
    """
    from scipy.stats import norm

    if min(len(left), len(right)) < LEAST_OBJECTS:
        return 1.0
    parts = [X[rows].toarray() if issparse(X) else X[rows] for rows in (left, right)]
    both = np.concatenate(parts).astype(np.float64)
    both -= both.mean(axis=0)
    total, n = (both**2).sum(), len(both)
    if total == 0:
        return 1.0
    index = _left_by_two_means(both, np.arange(n) >= len(left)) / total
    scales = np.linalg.svd(both, compute_uv=False) / np.sqrt(n - 1)
    random = np.random.RandomState(seed)
    references = []
    for _ in range(N_REFERENCES):
        drawn = random.standard_normal((min(n, MOST_DRAWN), len(scales))) * scales
        drawn -= drawn.mean(axis=0)
        found = np.empty(len(drawn), dtype=np.int32)
        least = best_of_starts(drawn, random.random_sample((N_STARTS, 2)), MAX_ITER, found)
        references.append(least / (drawn**2).sum())
    return float(norm.cdf(index, np.mean(references), np.std(references, ddof=1)))


def _left_by_two_means(X: NDArray[np.float64], is_right: NDArray[np.bool_]) -> float:
    """The sum of squares within both sides after Lloyd's iterations from a split."""
    least = np.inf
    for _ in range(MAX_ITER):
        means = [X[side].mean(axis=0) for side in (~is_right, is_right)]
        left = float(
            sum(((X[side] - mean) ** 2).sum() for side, mean in zip((~is_right, is_right), means, strict=True))
        )
        if left >= least:
            break
        least = left
        is_right = X @ (means[1] - means[0]) > (means[1] @ means[1] - means[0] @ means[0]) / 2
        if is_right.all() or not is_right.any():
            break
    return least
