"""WAT (Sinorina et al. 2022, Algorithm 2): weak-association thresholds from the histogram of the associations."""

from __future__ import annotations

from threading import Lock
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.random import random_source
from ensemblage.base.validation import Constraint, Number, Words, check_choice, check_flag, check_weights, check_whole
from ensemblage.kernels._pairs import add_weighted_pairs
from ensemblage.labels.blocks import LabelRows, in_memory
from ensemblage.labels.ensemble import as_ensemble
from ensemblage.labels.rows import Distinct, Rows
from ensemblage.labels.threads import parallel_map, row_blocks, rows_per_call
from ensemblage.metrics._coassociation import pairs_by_association

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
    >>> from ensemblage.metrics import weak_association_threshold
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
