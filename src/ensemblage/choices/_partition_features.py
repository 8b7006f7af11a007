"""What is measured of partitions without known classes: sizes, silhouettes, neighbours, spanning tree, spreads.

It is NumPy and SciPy on many partitions at once: compiled loops would be twice as fast on the few objects that are
looked at, and would take five seconds to compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from ensemblage.choices._candidate_features import Geometry

Matrix = NDArray[np.float64]

OF_SIZES = ("least size", "largest size", "entropy", "tiny clusters")
OF_SILHOUETTES = ("silhouette", "least silhouette", "negative silhouettes")
OF_SPREAD = ("explained", "log variance ratio", "log Davies-Bouldin")
OF_NEIGHBOURS = (
    "nearest alike",
    "5 nearest alike",
    "15 nearest alike",
    "10 nearest alike above chance",
    "least cluster of 10 nearest",
    "conductance",
    "largest conductance",
    "modularity",
)
OF_TREE = (
    "pieces of the tree",
    "main pieces",
    "log ratio of cut edges",
    "density validity",
    "least density validity",
    "log least separation",
)
OF_GAUSSIANS = (
    "gain of full covariances",
    "BIC of full covariances",
    "BIC of diagonal covariances",
    "two parts",
    "largest two parts",
    "least distance",
    "mean distance",
    "near clusters",
    "valley",
    "least valley",
)
OF_COLUMNS = ("best column", "mean column", "best column to mean", "number of columns")
NAMES = (
    *OF_SIZES,
    *OF_SILHOUETTES,
    "path silhouette",
    "least path silhouette",
    "negative path silhouettes",
    *OF_SPREAD,
    *OF_NEIGHBOURS,
    *OF_TREE,
    *OF_GAUSSIANS,
    *OF_COLUMNS,
)
TINY = 3
NEAREST = 10
"""Neighbours that conductance counts."""
MOST_LABELS = 2**15
"""Of the partitions that are measured at once."""
LEAST_CUT = 8
"""Objects of a cluster that is cut into two parts."""
CUT_OF_NORMAL = 0.64
"""About what a cut explains of the variance of a normal distribution: of smaller clusters."""
FAR, HIGH, NEAR = 5.0, 3.0, 1.2
"""The largest distance and rise of sparsity between two clusters, and the distance up to which they are near."""


def measure_partitions(labels: NDArray[np.int32], geometry: Geometry) -> Matrix:
    """(p, len(NAMES)) of partitions, (p, n), with at least two clusters from 0, none empty. O(p n (d + r)) time."""
    p, n = labels.shape
    step = partitions_at_once(n)
    blocks = [_measure(Clusters.of(labels[i : i + step]), geometry) for i in range(0, p, step)]
    return np.vstack([np.empty((0, len(NAMES))), *blocks])


def partitions_at_once(n: int) -> int:
    """How many partitions of n objects are measured at once."""
    return max(1, MOST_LABELS // n)


class Clusters(NamedTuple):
    """K clusters of p partitions of n objects, those of a partition one after another."""

    numbers: NDArray[np.int64]
    """(p,) of clusters."""
    first: NDArray[np.int64]
    """(p,) first cluster of each partition."""
    partition: NDArray[np.int64]
    """(K,)"""
    ids: NDArray[np.int64]
    """(p, n) the cluster, 0 to K - 1, of each object."""
    sizes: Matrix
    """(K,)"""
    order: NDArray[np.int64]
    """(p, n) the objects cluster by cluster."""
    start: NDArray[np.int64]
    """(K,) place in the flattened ``order`` where each cluster begins."""
    members: csr_array
    """(K, n) 1 where the object is in the cluster."""

    @classmethod
    def of(cls, labels: NDArray[np.int32]) -> Clusters:
        p, n = labels.shape
        numbers = labels.max(axis=1).astype(np.int64) + 1
        first = np.cumsum(numbers) - numbers
        ids = labels + first[:, None]
        sizes = np.bincount(ids.ravel(), minlength=int(numbers.sum()))
        order = np.argsort(labels.astype(np.int16), axis=1, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        members = csr_array((np.ones(p * n), order.ravel(), bounds), shape=(len(sizes), n))
        partition = np.repeat(np.arange(p), numbers)
        return cls(numbers, first, partition, ids, sizes.astype(np.float64), order, bounds[:-1], members)

    @property
    def n(self) -> int:
        return int(self.ids.shape[1])

    @property
    def shares(self) -> Matrix:
        """(K,) of the objects."""
        return self.sizes / self.n

    def total(self, values: Matrix) -> Matrix:
        """(p,) sums of values, (K,), over the clusters of each partition, one after another."""
        return np.asarray(np.bincount(self.partition, values, len(self.numbers)), dtype=np.float64)

    def least(self, values: Matrix) -> Matrix:
        """(p,) the least of each partition's clusters."""
        return np.minimum.reduceat(values, self.first, axis=0)

    def largest(self, values: Matrix) -> Matrix:
        """(p,) the largest of each partition's clusters."""
        return np.maximum.reduceat(values, self.first, axis=0)

    def sums(self, values: Matrix) -> Matrix:
        """(K,) sums of values, (p, n), over the objects of each cluster."""
        return np.asarray(np.bincount(self.ids.ravel(), values.ravel(), len(self.sizes)), dtype=np.float64)

    def means(self, X: Matrix) -> Matrix:
        """(K, d) means of the rows of X, (n, d)."""
        return np.asarray(self.members @ X) / self.sizes[:, None]

    def padded(self, values: Matrix, fill: float) -> Matrix:
        """(p, k, ...) values of clusters, (K, ...), by partition, k the most clusters of one."""
        out = np.full((len(self.numbers), int(self.numbers.max()), *values.shape[1:]), fill)
        out[self.partition, self.place] = values
        return out

    @property
    def place(self) -> NDArray[np.int64]:
        """(K,) number of each cluster within its partition."""
        return np.arange(len(self.sizes)) - self.first[self.partition]


def _measure(of: Clusters, at: Geometry) -> Matrix:
    cut, valley, by_neighbours = _neighbours(of, at.nearest, at.sparsity)
    parts = (
        _sizes(of),
        _silhouettes(of, at.distances, at.rows),
        _silhouettes(of, at.paths, at.rows),
        _spread(of, at.Z),
        by_neighbours,
        _tree(of, at.pairs, at.lengths),
        _gaussians(of, at.G, at.sparsity, cut, valley),
        _columns(of, at.X),
    )
    return np.column_stack([column for part in parts for column in part])


def _sizes(of: Clusters) -> tuple[Matrix, ...]:
    """`OF_SIZES`."""
    k, n, p = of.numbers, of.n, of.shares
    tiny = of.total((of.sizes <= TINY).astype(np.float64))
    return of.least(of.sizes) * k / n, of.largest(of.sizes) * k / n, -of.total(p * np.log(p)) / np.log(k), tiny / k


def _silhouettes(of: Clusters, distances: NDArray[np.float32], rows: NDArray[np.int64]) -> tuple[Matrix, ...]:
    """`OF_SILHOUETTES` of some rows, (r,), by their distances to all objects, (r, n)."""
    sums = np.asarray(of.members @ np.ascontiguousarray(distances.T, dtype=np.float64))  # (K, r)
    own, columns = of.ids[:, rows], np.arange(len(rows))
    others = of.sizes[own] - 1
    inside = sums[own, columns] / np.maximum(others, 1)
    means = sums / of.sizes[:, None]
    means[own, columns] = np.inf
    outside = of.least(means)
    larger = np.maximum(inside, outside)
    value = np.where((others > 0) & (larger > 0), (outside - inside) / np.where(larger > 0, larger, 1.0), 0.0)
    seen = np.bincount(own.ravel(), minlength=len(of.sizes))
    of_clusters = np.bincount(own.ravel(), value.ravel(), len(of.sizes)) / np.maximum(seen, 1)
    least = of.least(np.where(seen > 0, of_clusters, 1.0))
    return value.mean(axis=1), least, (value < 0).mean(axis=1)


def _spread(of: Clusters, Z: Matrix) -> tuple[Matrix, ...]:
    """`OF_SPREAD` of scores Z, (n, d)."""
    centres = of.means(Z)
    difference = Z - centres[of.ids]
    squares = np.einsum("pnd,pnd->pn", difference, difference)
    within, total = squares.sum(axis=1), ((Z - Z.mean(axis=0)) ** 2).sum()
    radius = of.padded(of.sums(np.sqrt(squares)) / of.sizes, -np.inf)
    placed = of.padded(centres, 0.0)
    between = np.zeros((*radius.shape, radius.shape[1]))
    for f in range(Z.shape[1]):
        between += (placed[:, :, None, f] - placed[:, None, :, f]) ** 2
    ratio = (radius[:, :, None] + radius[:, None]) / np.maximum(np.sqrt(between), 1e-9)
    ratio[:, np.arange(ratio.shape[1]), np.arange(ratio.shape[1])] = 0.0
    worst = of.total(ratio.max(axis=2)[of.partition, of.place]) / of.numbers
    explained = np.maximum((total - within) / (of.numbers - 1), 1e-9)
    left = np.maximum(within / np.maximum(of.n - of.numbers, 1), 1e-9)
    return 1 - within / max(total, 1e-12), np.log(explained / left), np.log(1e-3 + worst)


def _neighbours(
    of: Clusters, nearest: NDArray[np.int64], sparsity: Matrix
) -> tuple[Matrix, Matrix, tuple[Matrix, ...]]:
    """Pairs of neighbours in different clusters, (K, k), the sparsity of both objects of these pairs, `OF_NEIGHBOURS`.

    nearest, (n, r), has the neighbours of each object, the nearest first; sparsity, (n,), the log distance of a near
    one. The second of two clusters is numbered within its partition.
    """
    (n, most), K, width = nearest.shape, len(of.sizes), int(of.numbers.max())
    ten = min(NEAREST, most)
    same = of.ids[:, nearest] == of.ids[:, :, None]  # (p, n, r)
    alike = same.sum(axis=(1, 2))
    own = of.sums(same[:, :, :ten].sum(axis=2))
    which, i, r = np.nonzero(~same[:, :, :ten])
    j = nearest[i, r]
    one, other, both = of.ids[which, i], of.ids[which, j], sparsity[i] + sparsity[j]
    places = np.concatenate([one * width + of.place[other], other * width + of.place[one]])
    cut = np.bincount(places, minlength=K * width).reshape(K, width).astype(np.float64)
    valley = np.bincount(places, np.concatenate([both, both]), K * width).reshape(K, width).astype(np.float64)
    chance = of.total(of.shares**2)
    share_of_ten = of.total(own) / (n * ten)
    total, outside = 2.0 * n * ten, cut.sum(axis=1)
    volume = 2 * own + outside
    conductance = outside / np.maximum(np.minimum(volume, total - volume), 1.0)
    return (
        cut,
        valley,
        (
            same[:, :, 0].mean(axis=1),
            same[:, :, :5].mean(axis=(1, 2)),
            alike / (n * most),
            (share_of_ten - chance) / (1 - chance + 1e-9),
            np.minimum(of.least(own / (of.sizes * ten)), 1.0),
            of.total(conductance * of.sizes / n),
            of.largest(conductance),
            of.total(2 * own / total - (volume / total) ** 2),
        ),
    )


def _tree(of: Clusters, pairs: NDArray[np.int64], lengths: Matrix) -> tuple[Matrix, ...]:
    """`OF_TREE` of the edges of a spanning tree, (n - 1, 2), and their lengths."""
    (p, n), K = of.ids.shape, len(of.sizes)
    one, other = of.ids[:, pairs[:, 0]], of.ids[:, pairs[:, 1]]
    is_inner = one == other  # (p, n - 1)
    logarithms = np.log(lengths + 1e-9)
    n_cut = (~is_inner).sum(axis=1)
    inside = (is_inner * logarithms).sum(axis=1) / np.maximum(n - 1 - n_cut, 1)
    between = (~is_inner * logarithms).sum(axis=1) / np.maximum(n_cut, 1)
    widest, separation = np.zeros(K), np.full(K, np.inf)
    edges = np.broadcast_to(lengths, is_inner.shape)
    np.maximum.at(widest, one[is_inner], edges[is_inner])
    for side in (one, other):
        np.minimum.at(separation, side[~is_inner], edges[~is_inner])
    # Pieces: what is left of the tree in each partition, as one graph of p · n nodes.
    which, edge = np.nonzero(is_inner)
    nodes = which[:, None] * n + pairs[edge]
    graph = csr_array((np.ones(len(nodes), dtype=bool), (nodes[:, 0], nodes[:, 1])), shape=(p * n, p * n))
    n_pieces, piece = connected_components(graph, directed=False)
    cluster, largest = np.empty(n_pieces, dtype=np.int64), np.zeros(K)
    cluster[piece] = of.ids.ravel()
    np.maximum.at(largest, cluster, np.bincount(piece).astype(np.float64))
    validity = (separation - widest) / np.maximum(np.maximum(separation, widest), 1e-12)
    return (
        (of.numbers - 1) / np.maximum(n_cut, 1),
        of.total(largest) / n,
        between - inside,
        of.total(validity * of.sizes / n),
        np.minimum(of.least(validity), 1.0),
        np.log(of.least(separation) + 1e-9) - inside,
    )


def _gaussians(of: Clusters, G: Matrix, sparsity: Matrix, cut: Matrix, valley: Matrix) -> tuple[Matrix, ...]:
    """`OF_GAUSSIANS` of leading scores G, (n, g); ``cut`` and ``valley`` are of `_neighbours`.

    Gain of the log likelihood by full covariances, the same less BIC's price, and of diagonal ones; share explained by
    two parts of a cluster, mean and largest; distance to the cluster with most neighbours in deviations, least and
    mean, and the share of objects where it is small; how much sparser the border is, mean and least.
    """
    (n, g), p = G.shape, of.shares
    means, density = of.means(G), of.means(sparsity[:, None])[:, 0]
    centred = G - G.mean(axis=0)
    total = centred.T @ centred / n
    ridge = 1e-3 * np.trace(total) / g
    scatter = _scatter(of, G, means)
    pooled = np.add.reduceat(scatter, of.first) / n
    S = (scatter + (g + 1) * pooled[of.partition]) / (of.sizes + g + 1)[:, None, None] + ridge * np.eye(g)
    total += ridge * np.eye(g)
    full = of.total(p * (np.log(p) - 0.5 * _log_determinant(S))) + 0.5 * _log_determinant(total)
    diagonal = of.total(p * (np.log(p) - 0.5 * _log_diagonal(S))) + 0.5 * _log_diagonal(total)
    price = 0.5 * np.log(n) / n * (of.numbers - 1)
    parts = np.where(of.sizes >= LEAST_CUT, _two_parts(of, G, _main_axes(S)), CUT_OF_NORMAL)
    most_parts = of.largest(np.where(of.sizes >= LEAST_CUT, parts, 0.0))
    distance, rise = _borders(of, means, S, density, cut, valley)
    return (
        full,
        full - price * (1 + g + g * (g + 1) / 2),
        diagonal - price * (1 + 2 * g),
        of.total(p * parts),
        most_parts,
        of.least(distance),
        of.total(p * distance),
        of.total(p * (distance < NEAR)),
        of.total(p * rise),
        of.least(rise),
    )


def _scatter(of: Clusters, G: Matrix, means: Matrix) -> Matrix:
    """(K, g, g) sums of the products of deviations from the mean of each cluster."""
    g = G.shape[1]
    deviations = (G - means[of.ids])[np.arange(len(of.ids))[:, None], of.order].reshape(-1, g)
    lower = np.tril_indices(g)
    products = np.add.reduceat(deviations[:, lower[0]] * deviations[:, lower[1]], of.start, axis=0)
    out = np.empty((len(of.sizes), g, g))
    out[:, lower[0], lower[1]] = products
    out[:, lower[1], lower[0]] = products
    return out


def _log_determinant(S: Matrix) -> Matrix:
    """log |S| of positive definite matrices (..., g, g)."""
    return np.asarray(np.linalg.slogdet(S)[1])


def _log_diagonal(S: Matrix) -> Matrix:
    """The sum of the logarithms of the diagonals of (..., g, g)."""
    return np.asarray(np.log(np.maximum(np.diagonal(S, axis1=-2, axis2=-1), 1e-12)).sum(axis=-1))


def _main_axes(S: Matrix) -> Matrix:
    """(K, g) leading eigenvectors of (K, g, g), by twelve steps of the power method."""
    axes = np.diagonal(S, axis1=1, axis2=2)
    for _ in range(12):
        axes = (S @ axes[:, :, None])[:, :, 0]
        axes = axes / np.maximum(np.sqrt((axes**2).sum(axis=1)), 1e-12)[:, None]
    return axes


def _two_parts(of: Clusters, G: Matrix, axes: Matrix) -> Matrix:
    """(K,) share of the variance along a cluster's axis that the best cut into two explains; each part ≥ a twelfth."""
    values = np.einsum("ng,png->pn", G, axes[of.ids])
    ascending = np.argsort(values, axis=1)
    labels = np.take_along_axis(of.ids - of.first[:, None], ascending, axis=1).astype(np.int16)
    order = np.take_along_axis(ascending, np.argsort(labels, axis=1, kind="stable"), axis=1)
    values = np.take_along_axis(values, order, axis=1)
    cluster = np.take_along_axis(of.ids, order, axis=1)
    mean = np.add.reduceat(values.ravel(), of.start) / of.sizes
    deviations = values - mean[cluster]
    variance = np.add.reduceat(deviations.ravel() ** 2, of.start)
    before = np.arange(values.size).reshape(values.shape) - of.start[cluster] + 1.0  # objects of the first part
    m = of.sizes[cluster]
    least = np.maximum(2, m // 12)
    explained = np.cumsum(deviations, axis=1) ** 2 * m / np.maximum(before * (m - before), 1.0)
    allowed = np.where((before >= least) & (m - before >= least), explained, 0.0)
    return np.asarray(np.maximum.reduceat(allowed.ravel(), of.start) / np.maximum(variance, 1e-12))


def _borders(
    of: Clusters, means: Matrix, S: Matrix, density: Matrix, cut: Matrix, valley: Matrix
) -> tuple[Matrix, Matrix]:
    """(K,) distance of each cluster to the one with most common neighbours, in deviations, and the rise of sparsity."""
    clusters = np.arange(len(of.sizes))
    beside = cut.argmax(axis=1)
    n_pairs, sparsity = cut[clusters, beside], valley[clusters, beside]
    other = beside + of.first[of.partition]
    axis = means - means[other]
    length = np.maximum(np.sqrt((axis**2).sum(axis=1)), 1e-12)
    axis = axis / length[:, None]
    squares = [np.einsum("cf,cfh,ch->c", axis, S[side], axis) for side in (clusters, other)]
    spread = np.sqrt(np.maximum(squares, 1e-12)).sum(axis=0)
    rise = sparsity / np.maximum(2 * n_pairs, 1) - 0.5 * (density + density[other])
    touches = n_pairs > 0
    return (
        np.where(touches, np.minimum(length / spread, FAR), FAR),
        np.where(touches, np.minimum(rise, HIGH), HIGH),
    )


def _columns(of: Clusters, X: Matrix) -> tuple[Matrix, ...]:
    """`OF_COLUMNS` of X, (n, m), with mean 0 and deviation 1.

    Share of its variance that the clusters explain of the best column, of all on average, their log ratio, and the log
    of the number of columns that make up the explained share.
    """
    explained = np.add.reduceat(np.asarray(of.members @ X) ** 2 / of.sizes[:, None] / of.n, of.first)  # (p, m)
    best, mean = explained.max(axis=1), explained.mean(axis=1)
    q = explained / np.maximum(mean * X.shape[1], 1e-12)[:, None]
    return best, mean, np.log((best + 1e-6) / (mean + 1e-6)), -(q * np.log(q + 1e-12)).sum(axis=1)
