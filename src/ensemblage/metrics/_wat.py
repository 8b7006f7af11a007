"""Weak-association thresholds (Sinorina et al. 2022, Algorithm 2), and the minimax similarity index (Sec. 3).

WAT reads the histogram of the associations. The index is of Zhong et al. (2019).
"""

from __future__ import annotations

from math import fsum
from threading import Lock
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.memory import MAX_BYTES, check_fits
from ensemblage.base.random import random_source
from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.threads import parallel_map, row_blocks, rows_per_call, run_interruptibly, thread_count
from ensemblage.base.validation import Constraint, Number, Words, check_choice, check_flag, check_weights, check_whole
from ensemblage.kernels._graphs import point_weights, strongest_bridges, weakest_link
from ensemblage.kernels._pairs import add_weighted_pairs
from ensemblage.labels.blocks import LabelRows, in_memory
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.labels.rows import Distinct, Rows
from ensemblage.metrics._clustering import code_clustering
from ensemblage.metrics._coassociation import (
    Associations,
    association_bytes,
    bytes_per_pair,
    compact_associations,
    pairs_by_association,
)

_N_DRAWN = 1_000_000
_N_BOOTSTRAPS = 200
MOST_PAIRS = 2 * 10**10
"""Of which every one is counted."""

TOLERANCE, MAX_ITER, REGULARIZATION = 1e-3, 100, 1e-6
"""When EM stops, and what it adds to a variance: the defaults of scikit-learn's GaussianMixture."""


class Histogram(NamedTuple):
    """Values and how often each occurs."""

    values: NDArray[np.float64]
    """Ascending, positive."""
    counts: NDArray[np.int64]


class Mixture(NamedTuple):
    """Two Gaussians in one dimension, each array of shape (2,)."""

    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    variances: NDArray[np.float64]


class _Options(TypedDict, total=False):
    weights: ArrayLike | None
    include_diagonal: bool
    max_pairs: int
    random_state: Any
    n_jobs: int | None


@overload
def weak_association_threshold(
    labels: ArrayLike | Any,
    strategy: str = "kmeans",
    *,
    return_error: Literal[False] = False,
    **options: Unpack[_Options],
) -> float: ...


@overload
def weak_association_threshold(
    labels: ArrayLike | Any, strategy: str = "kmeans", *, return_error: Literal[True], **options: Unpack[_Options]
) -> tuple[float, float]: ...


def weak_association_threshold(
    labels: ArrayLike | Any,
    strategy: str = "kmeans",
    *,
    weights: ArrayLike | None = None,
    include_diagonal: bool = False,
    max_pairs: int = MOST_PAIRS,
    return_error: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> float | tuple[float, float]:
    """Use it to separate weak associations from strong ones: the largest co-association that counts as weak.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    strategy : {"kmeans", "gmm"}, default "kmeans"
        Two groups of least squares, solved exactly; or a mixture of two Gaussians by EM that starts from them.
    weights : array-like of shape (n_partitions,), optional
        Weights of the partitions, ≥ 0: the co-associations are the weighted ones. Default: equal.
    include_diagonal : bool, default False
        Whether the matrix counts as the paper's Algorithm 2 reads it: both triangles, and each object with itself.
        It moves the threshold up, much if n is small.
    max_pairs : int, default 2·10¹⁰
        With more pairs of objects than that (n = 200,000), a million of them are drawn, or ``max_pairs`` if that is
        less.
    return_error : bool, default False
        Whether to return the standard error too.
    random_state : int, RandomState, Generator or None
        Seed of the pairs that are drawn.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Returns
    -------
    threshold : float
        Associations ≤ threshold are weak, and 0 without them. 0 if fewer than two different positive values exist.
    standard_error : float
        Only with ``return_error``: 0 if all pairs were counted, else by the bootstrap over the pairs drawn.

    Notes
    -----
    "gmm": components are ordered by their means, and the threshold is the largest value between the means, or below
    both, that belongs to the lower one with probability ≥ ½. (With unequal variances the lower component can claim the
    largest values of all, and the paper's rule would then remove everything.) EM stops as scikit-learn's
    ``GaussianMixture`` does by default and gives its result on the values repeated by their counts.

    O(m² p) time for m distinct label rows (see `association_counts`) and O(n) memory; the rest is O(p), O(p²) with
    missing labels. Unequal weights make as many values as there are pairs: those within 2·10⁻⁵ of each other count as
    the largest of them, in 1 MB per thread.

    References
    ----------
    N. C. R. Sinorina, H. J. Hamilton, S. Zilles, "Efficient removal of weak associations in consensus clustering",
    ICAART 2022, Algorithm 2.

    Examples
    --------
    >>> from ensemblage.metrics._wat import weak_association_threshold
    >>> labels = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1], [1, 1, 1, 2], [1, 1, 1, 0]]
    >>> weak_association_threshold(labels)
    0.25
    """
    ensemble = as_ensemble(labels)
    check_choice(strategy, "strategy of weak_association_threshold", ["kmeans", "gmm"])
    check_whole(max_pairs, "max_pairs of weak_association_threshold", 1)
    check_flag(include_diagonal, "include_diagonal of weak_association_threshold")
    check_flag(return_error, "return_error of weak_association_threshold")
    split, w = SPLITS[strategy], check_weights(weights, ensemble.shape[1], "weak_association_threshold")
    n, random = len(ensemble), random_source(random_state)
    found, n_drawn = _associations(ensemble, ensemble.rows, None, w, max_pairs, random, n_jobs)
    if n_drawn is None:
        threshold = split(_add_diagonal(found, n, include_diagonal))
        return (threshold, 0.0) if return_error else threshold
    sample = _Sample(found, n, include_diagonal, n_drawn)
    threshold = split(sample.histogram())
    if not return_error:
        return threshold
    again = [split(sample.resample(random)) for _ in range(_N_BOOTSTRAPS)]
    return threshold, float(np.std(again, ddof=1))


def association_threshold(given: str | float, rows: Rows, random_state: Any, n_jobs: int | None) -> float:
    """A parameter's number, or the threshold on the weighted co-associations that WAT finds by the word given."""
    if not isinstance(given, str):
        return float(given)
    weights, random = check_weights(rows.weights, len(rows.weights), "the partitions"), random_source(random_state)
    found, _ = _associations(rows, rows.objects, rows.sample_weight, weights, MOST_PAIRS, random, n_jobs)
    return SPLITS[given](found)


def _associations(
    labels: Distinct,
    objects: LabelRows,
    sample_weight: NDArray[np.int64] | None,
    weights: NDArray[np.float64],
    max_pairs: int,
    random: np.random.RandomState,
    n_jobs: int | None,
) -> tuple[Histogram, int | None]:
    """Histogram of all co-associations, and None; of more than ``max_pairs`` that of random ones, and their number."""
    n = int(labels.distinct.counts.sum())
    if n * (n - 1) // 2 <= max_pairs:
        in_memory(labels.distinct.codes, "weak_association_threshold", "a max_pairs below the number of pairs")
        return association_histogram(labels, weights, n_jobs), None
    n_drawn = min(_N_DRAWN, max_pairs)
    return _drawn_histogram(objects, labels.n_clusters, sample_weight, weights, n_drawn, random), n_drawn


def association_histogram(
    labels: Distinct, weights: NDArray[np.float64] | None = None, n_jobs: int | None = None
) -> Histogram:
    """Positive co-associations of the pairs i < j, each different value once."""
    if weights is None or (weights == weights[0]).all():
        return histogram_of(pairs_by_association(labels, n_jobs))
    return _weighted_histogram(labels, weights, n_jobs)


N_BINS = 2**16
"""Weighted co-associations that are the same multiple of 1 / N_BINS, rounded, count as the largest of them."""


def _weighted_histogram(labels: Distinct, weights: NDArray[np.float64], n_jobs: int | None) -> Histogram:
    codes, counts, _ = labels.distinct
    codes = codes[:]
    m, p = codes.shape
    columns, absent = np.ascontiguousarray(codes.T), labels.n_clusters.astype(codes.dtype)
    tally, largest, lock = np.zeros(N_BINS + 1, dtype=np.int64), np.zeros(N_BINS + 1), Lock()

    def add(rows: slice) -> None:
        of_rows, largest_of_rows = np.zeros_like(tally), np.zeros_like(largest)
        work = np.empty((2, m))
        add_weighted_pairs(columns, absent, weights, counts, rows.start, rows.stop, work, of_rows, largest_of_rows)
        with lock:
            np.add(tally, of_rows, out=tally)
            np.maximum(largest, largest_of_rows, out=largest)

    parallel_map(add, row_blocks(m, rows_per_call(m * (1 + p), MOST_ROWS_AT_ONCE)), n_jobs)
    labelled = (codes < labels.n_clusters)[:, weights > 0].any(axis=1)
    tally[-1] += int((counts * (counts - 1) // 2)[labelled].sum())
    largest[-1] = max(largest[-1], 1.0) if tally[-1] else 0.0
    seen = tally > 0
    return Histogram(largest[seen], tally[seen])


MOST_ROWS_AT_ONCE = 1_024
"""Rows whose pairs are added to one histogram before it is added to that of all."""


def histogram_of(table: NDArray[np.int64]) -> Histogram:
    """Histogram of joined / labelled from counts by (joined,) or (joined, labelled)."""
    p = len(table) - 1
    joined = np.arange(p + 1)
    values = joined / p if table.ndim == 1 else joined[:, None] / np.maximum(joined, 1)
    chosen = (table > 0) & (values > 0)
    found, index = np.unique(values[chosen], return_inverse=True)
    counts = np.zeros(len(found), dtype=np.int64)
    np.add.at(counts, index, table[chosen])
    return Histogram(found, counts)


def _add_diagonal(histogram: Histogram, n: int, include_diagonal: bool) -> Histogram:
    if not include_diagonal:
        return histogram
    values, index = np.unique(np.append(histogram.values, 1.0), return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, index, np.append(2 * histogram.counts, n))
    return Histogram(values, counts)


class _Sample(NamedTuple):
    """Histogram of pairs drawn at random, zeros left out."""

    drawn: Histogram
    n_objects: int
    include_diagonal: bool
    n_drawn: int

    def histogram(self) -> Histogram:
        """The counts of all pairs, estimated."""
        if not self.include_diagonal:
            return self.drawn
        share = self.n_objects * (self.n_objects - 1) / 2 / self.n_drawn
        counts = np.rint(self.drawn.counts * share).astype(np.int64)
        return _add_diagonal(Histogram(self.drawn.values, counts), self.n_objects, True)

    def resample(self, random: np.random.RandomState) -> Histogram:
        counts = self.drawn.counts
        zeros = self.n_drawn - counts.sum()
        again = random.multinomial(self.n_drawn, np.append(counts, zeros) / self.n_drawn)[:-1]
        seen = again > 0
        return self._replace(drawn=Histogram(self.drawn.values[seen], again[seen].astype(np.int64))).histogram()


def _drawn_histogram(
    rows: LabelRows,
    n_clusters: NDArray[np.int64],
    sample_weight: NDArray[np.int64] | None,
    weights: NDArray[np.float64],
    n_drawn: int,
    random: np.random.RandomState,
) -> Histogram:
    """Associations of random pairs of different objects, each of them as often as it counts."""
    p, ends = len(n_clusters), None if sample_weight is None else np.cumsum(sample_weight)
    n = len(rows) if ends is None else int(ends[-1])
    table, values = np.zeros((p + 1, p + 1), dtype=np.int64), []
    plain = (weights == weights[0]).all()
    for start in range(0, n_drawn, 100_000):
        size = min(100_000, n_drawn - start)
        i = random.randint(n, size=size, dtype=np.int64)
        j = random.randint(n - 1, size=size, dtype=np.int64)
        j += j >= i
        if ends is not None:
            i, j = (np.searchsorted(ends, numbers, side="right") for numbers in (i, j))
        first, second = rows[i], rows[j]
        known = (first < n_clusters) & (second < n_clusters)
        alike = known & (first == second)
        if plain:
            np.add.at(table, (alike.sum(axis=1), known.sum(axis=1)), 1)
        else:
            labelled = (known * weights).sum(axis=1)
            values.append((alike * weights).sum(axis=1) / np.where(labelled > 0, labelled, 1))
    if plain:
        return histogram_of(table)
    found = np.concatenate(values)
    return Histogram(*np.unique(found[found > 0], return_counts=True))


def two_means_split(histogram: Histogram) -> float:
    """Largest value of the lower of two groups of least squares; the lowest such value on ties.

    The groups of least squares of sorted values are contiguous, so one pass over the cuts is exact.
    """
    values, counts = histogram
    if len(values) < 2:
        return 0.0
    sizes, sums = np.cumsum(counts).astype(np.float64), np.cumsum(values * counts)
    between = sums[:-1] ** 2 / sizes[:-1] + (sums[-1] - sums[:-1]) ** 2 / (sizes[-1] - sizes[:-1])
    return float(values[np.argmax(between)])


def mixture_split(histogram: Histogram) -> float:
    """Largest value between the means of two Gaussians (or below both) that rather belongs to the lower one."""
    if len(histogram.values) < 2:
        return 0.0
    mixture = fit_mixture(histogram, start_of_mixture(histogram))
    low = int(np.argmin(mixture.means))
    values = histogram.values
    lower = _log_densities(values, mixture)
    weak = (lower[:, low] >= lower[:, 1 - low]) | (values <= mixture.means[low])
    chosen = values[weak & (values <= mixture.means.max())]
    return float(chosen[-1]) if len(chosen) else 0.0


SPLITS = {"kmeans": two_means_split, "gmm": mixture_split}


def threshold_constraints(*other_words: str) -> list[Constraint | None]:
    """What a threshold on co-associations may be: a word of a method that finds it, or a number."""
    return [Words([*other_words, *SPLITS]), Number(least=0, below=1)]


def start_of_mixture(histogram: Histogram) -> Mixture:
    """The Gaussians of the two groups of `two_means_split`."""
    low = histogram.values <= two_means_split(histogram)
    return _maximize(histogram, np.column_stack([low, ~low]).astype(np.float64))


def fit_mixture(histogram: Histogram, mixture: Mixture) -> Mixture:
    """EM on values with counts, as scikit-learn does it on the values repeated."""
    total, before = histogram.counts.sum(), -np.inf
    for _ in range(MAX_ITER):
        logs = _log_densities(histogram.values, mixture)
        norms = np.logaddexp(logs[:, 0], logs[:, 1])
        mixture = _maximize(histogram, np.exp(logs - norms[:, None]))
        likelihood = float((norms * histogram.counts).sum() / total)
        if abs(likelihood - before) < TOLERANCE:
            break
        before = likelihood
    return mixture


def _maximize(histogram: Histogram, shares: NDArray[np.float64]) -> Mixture:
    members = shares * histogram.counts[:, None]
    # As scikit-learn: no component may be empty.
    sizes = members.sum(axis=0) + 10 * np.finfo(np.float64).eps
    means = (members * histogram.values[:, None]).sum(axis=0) / sizes
    variances = (members * (histogram.values[:, None] - means) ** 2).sum(axis=0) / sizes + REGULARIZATION
    return Mixture(sizes / sizes.sum(), means, variances)


def _log_densities(values: NDArray[np.float64], mixture: Mixture) -> NDArray[np.float64]:
    """(len(values), 2) logarithms of weight times density."""
    squares = (values[:, None] - mixture.means) ** 2 / mixture.variances
    densities: NDArray[np.float64] = np.log(mixture.weights) - (np.log(2 * np.pi * mixture.variances) + squares) / 2
    return densities


@renamed_parameters(clustering="partition")
def mm_index(
    labels: ArrayLike | Any,
    partition: ArrayLike | Any,
    *,
    n_neighbors: int = 3,
    weights: ArrayLike | None = None,
    max_bytes: int | str = MAX_BYTES,
) -> float:
    """Use it to compare cuts of a consensus graph: the MM index, small for dense and distant clusters.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    partition : array-like of shape (n_objects,)
        Cluster of each object. Objects with -1 or NaN are in no cluster and left out.
    n_neighbors : int, default 3
        The l of the paper, which gives no value; 3 is that of the authors' code. An object counts by its l largest
        co-associations: few neighbours, little weight.
    weights : array-like of shape (n_partitions,), optional
        Weights of the partitions, ≥ 0. Default: equal.
    max_bytes : int or str, default 2 GiB
        Most memory to take beyond the labels, in bytes or as "4GB": m² bytes for m distinct label rows, 2 m² with
        missing labels and 8 m² with unequal weights. The default allows 46,000, 32,000 and 16,000 rows.

    Returns
    -------
    float
        ≥ 0, the less the better. Infinite if a cluster has ``n_neighbors`` objects or fewer, or falls apart: some of
        its members are joined by no chain of positive co-associations within it. 0 for a single cluster that does not.

    Raises
    ------
    ValueError
        If the partition has another number of objects or assigns none, it would take more than ``max_bytes``, or the
        weights do not fit.

    Notes
    -----
    The paper cuts each cluster in two by Ncut and takes the least robust similarity across. Robust similarity is an
    ultrametric, so that is the least one in the cluster whatever the cut: the weakest edge of a maximum spanning tree.
    For the same reason the cohesion is the strongest edge that leaves the cluster. No cut, no paths: O(m² (p + k)).

    References
    ----------
    N. C. R. Sinorina, H. J. Hamilton, S. Zilles, "Efficient removal of weak associations in consensus clustering",
    ICAART 2022, Sec. 3, Eqs. 2-6.
    C. Zhong et al., "Ensemble clustering based on evidence extracted from the co-association matrix", Pattern
    Recognition 92, 2019.

    Examples
    --------
    >>> from ensemblage.metrics import mm_index
    >>> labels = [[0, 0, 0, 0]] * 4 + [[0, 0, 0, 1], [1, 1, 1, 1]] + [[1, 1, 1, 1]] * 4
    >>> round(mm_index(labels, [0] * 5 + [1] * 5), 3), mm_index(labels, [0] * 4 + [1] * 6)
    (0.521, 9.5625)
    """
    ensemble = as_ensemble(labels)
    check_whole(n_neighbors, "n_neighbors of mm_index", 1)
    w = check_weights(weights, ensemble.shape[1], "mm_index")
    clusters, _ = code_clustering(partition, len(ensemble))
    codes, clusters, counts = _rows_of_clusters(ensemble, clusters)
    m, p = codes.shape
    per_pair = bytes_per_pair(codes, ensemble.n_clusters, w)
    needed = association_bytes(m, p, codes.dtype.itemsize, per_pair, thread_count(None)) + m * (2 * p + 64)
    check_fits(needed, max_bytes, "mm_index", f"the co-associations of {m:,} label rows", "Raise max_bytes.")
    similarity = compact_associations(codes, ensemble.n_clusters, w)
    return mm_index_of(similarity, counts, clusters, n_neighbors)


def _rows_of_clusters(
    ensemble: Ensemble, clusters: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct pairs of label row and cluster: their codes, clusters and numbers of objects."""
    codes, _, inverse = ensemble.distinct
    placed = np.flatnonzero(clusters >= 0)
    k = int(clusters.max()) + 1
    pairs, counts = np.unique(inverse[placed].astype(np.int64) * k + clusters[placed], return_counts=True)
    return codes[pairs // k], pairs % k, counts


def mm_index_of(
    similarity: Associations,
    counts: NDArray[np.int64],
    clusters: NDArray[Any],
    n_neighbors: int,
    weights: NDArray[np.float64] | None = None,
) -> float:
    """`mm_index` of clusters of m rows; ``clusters`` has -1 for none.

    ``weights`` are those of `weights_of`; None computes them.
    """
    sizes = np.bincount(clusters[clusters >= 0], counts[clusters >= 0])
    if (sizes <= n_neighbors).any():
        return float("inf")
    bridges, stability = np.zeros((2, len(sizes)))
    everywhere = weights_of(similarity, counts, clusters, n_neighbors) if weights is None else weights
    operations = 2 * similarity.matrix.size
    run_interruptibly(strongest_bridges, *similarity, clusters, everywhere, bridges, operations=operations)
    for c in range(len(sizes)):
        stability[c] = _stability(similarity, counts, np.flatnonzero(clusters == c), n_neighbors)
    if stability.min() <= 0:
        return float("inf")
    return fsum(bridges / stability)


def weights_of(
    similarity: Associations, counts: NDArray[np.int64], clusters: NDArray[Any], n_neighbors: int
) -> NDArray[np.float64]:
    """Weight of each row among all rows in a cluster (of any partition that leaves out the same rows)."""
    rows = np.flatnonzero(clusters >= 0)
    weights = np.zeros(len(counts))
    weights[rows] = _weights_within(similarity, counts, rows, n_neighbors)
    return weights


def _weights_within(
    similarity: Associations, counts: NDArray[np.int64], rows: NDArray[np.intp], n_neighbors: int
) -> NDArray[np.float64]:
    """(q,) sum of each row's largest similarities to others of these rows, over the largest such sum."""
    weights = np.empty(len(rows))
    # An object has no more neighbours than there are objects.
    n_neighbors, operations = min(n_neighbors, int(counts.sum())), 8 * len(rows) ** 2
    run_interruptibly(point_weights, *similarity, counts, rows, n_neighbors, weights, operations=operations)
    highest = weights.max()
    return weights / highest if highest > 0 else weights


def _stability(similarity: Associations, counts: NDArray[np.int64], rows: NDArray[np.intp], n_neighbors: int) -> float:
    """Least robust minimax similarity within a cluster: the weakest edge of its maximum spanning tree."""
    weights, q = _weights_within(similarity, counts, rows, n_neighbors), len(rows)
    if q == 1:
        return float(similarity.rows(rows)[0, rows[0]] * weights[0] * weights[0])
    tree = np.full(q, -1.0), np.ones(q, dtype=np.bool_)
    return run_interruptibly(weakest_link, *similarity, rows, weights, *tree, operations=2 * q * q)
