"""How each variable differs between a cluster and the rest: one sort per variable for all clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.labels.threads import parallel_map, thread_count

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_CELLS = 2**19
"""Values that a thread sorts at once, or one variable: some 50 MB with all that is made of them."""
_MOST_THREADS, _MOST_SHARED = 2, 2**20
"""So many threads, for memory; one where a variable has more values."""


class Numbers(NamedTuple):
    """m variables with an order in k clusters; NaN where there is nothing to compare."""

    counts: NDArray[np.int64]
    """(m, k) values that are there."""
    quantiles: NDArray[np.float64]
    """(m, k, 5) of the cluster."""
    rest: NDArray[np.float64]
    """(m, k, 5) of all other clusters together."""
    delta: NDArray[np.float64]
    """(m, k) Cliff's delta: how much more often a value of the cluster is above one of the rest than below."""
    cohens_d: NDArray[np.float64]
    """(m, k) difference of the means in standard deviations inside both."""
    standardised: NDArray[np.float64]
    """(m, k) mean of the cluster minus mean of all, in standard deviations of all."""
    p_values: NDArray[np.float64]
    """(m, k) of the rank-sum test, two-sided, normal with ties and continuity."""


def compare_numbers(rows: Sequence[NDArray[np.float64]], clusters: NDArray[np.intp], k: int) -> Numbers:
    """Every variable, given as (n,) values, in each of k clusters against the rest. O(m n log n) time."""
    n = len(clusters)
    n_threads = min(thread_count(None), _MOST_THREADS) if n <= _MOST_SHARED else 1
    blocks = parallel_map(lambda block: _compare(np.stack(block), clusters, k), _blocks(rows, n), n_threads)
    if not blocks:
        empty = np.empty((0, k))
        of_five = np.empty((0, k, len(QUANTILES)))
        return Numbers(empty.astype(np.int64), of_five, of_five, empty, empty, empty, empty)
    return Numbers(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


def _blocks(rows: Sequence[NDArray[np.float64]], n: int) -> Iterator[Sequence[NDArray[np.float64]]]:
    step = max(1, _CELLS // max(n, 1))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


def _compare(values: NDArray[np.float64], clusters: NDArray[np.intp], k: int) -> Numbers:
    """Of (m, n) values."""
    m = len(values)
    order = np.argsort(values, axis=1)  # of equal values any may come first
    ordered = np.take_along_axis(values, order, axis=1)
    missing = np.isnan(ordered)
    of = np.where(missing, k, clusters[order])
    of = of.astype(np.uint8 if k < 2**8 else np.uint16 if k < 2**16 else np.int64)  # which are sorted by radix
    cells = (of + (k + 1) * np.arange(m, dtype=np.int64)[:, None]).ravel()
    counts = np.bincount(cells, minlength=m * (k + 1)).reshape(m, k + 1)[:, :k]
    total = counts.sum(axis=1, keepdims=True)
    others = total - counts
    ranks, ties = _doubled_ranks(ordered)
    # Twice the ranks are whole numbers: their sums are exact up to 2^53.
    sums = np.bincount(cells, ranks.ravel(), m * (k + 1)).reshape(m, k + 1)[:, :k]
    twice_u = sums - counts * (counts + 1.0)
    pairs = counts * others.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        delta = (twice_u - pairs) / pairs
    places = np.argsort(of, axis=1, kind="stable")
    starts = np.cumsum(counts, axis=1) - counts
    inside = _quantiles(ordered, counts, lambda r: _take_rows(places, starts[..., None] + r))
    rest = _quantiles(ordered, others, lambda r: _place_in_rest(places, starts, counts, r))
    d, standardised = _moments(ordered, missing, cells, counts, others, k)
    return Numbers(counts, inside, rest, delta, d, standardised, _p_values(twice_u / 2, counts, others, total, ties))


def _doubled_ranks(ordered: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(m, n) twice the mean ranks from 1, ties shared; (m,) the sum of t³ − t over the ties of t values."""
    m, n = ordered.shape
    is_new = np.ones((m, n + 1), dtype=bool)
    is_new[:, 1:-1] = ordered[:, 1:] != ordered[:, :-1]
    place = np.arange(n)
    first = np.maximum.accumulate(np.where(is_new[:, :-1], place, 0), axis=1)
    last = np.minimum.accumulate(np.where(is_new[:, 1:], place, n)[:, ::-1], axis=1)[:, ::-1]
    t = (last - first + 1).astype(np.float64)
    ranks: NDArray[np.float64] = (first + last + 2).astype(np.float64)
    return ranks, np.where(np.isnan(ordered), 0.0, t * t - 1).sum(axis=1)


def _take_rows(array: NDArray[np.intp], places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Entries of each row of an (m, n) array at its (m, ...) places."""
    m, n = array.shape
    flat = np.clip(places, 0, n - 1).reshape(m, -1)
    return np.take_along_axis(array, flat, axis=1).reshape(places.shape)


def _place_in_rest(
    places: NDArray[np.intp], starts: NDArray[np.int64], counts: NDArray[np.int64], r: NDArray[np.intp]
) -> NDArray[np.intp]:
    """(m, k, q) where the r-th value that is not in the cluster stands among all.

    Before the j-th value of the cluster, at place p_j, stand p_j − j others: it comes after all j for which these are
    at most r, found by bisection.
    """
    low, high = np.zeros_like(r), np.broadcast_to(counts[..., None], r.shape).copy()
    while (low < high).any():
        middle = (low + high) // 2
        before = _take_rows(places, starts[..., None] + middle) - middle
        is_after = (before <= r) & (low < high)
        low, high = np.where(is_after, middle + 1, low), np.where(is_after | (low >= high), high, middle)
    return r + low


def _quantiles(
    ordered: NDArray[np.float64], counts: NDArray[np.int64], place_of: Callable[[NDArray[np.intp]], NDArray[np.intp]]
) -> NDArray[np.float64]:
    """(m, k, 5) interpolated between neighbours, as NumPy's; NaN of no value."""
    exact = (counts[..., None] - 1) * np.array(QUANTILES)
    low = np.floor(exact + 1e-9).astype(np.intp)
    fraction = np.clip(exact - low, 0, 1)
    high = np.minimum(low + 1, counts[..., None] - 1)
    below, above = (_values(ordered, place_of(np.maximum(r, 0))) for r in (low, high))
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.where((below == above) | (fraction == 0), below, below + (above - below) * fraction)
    return np.where(counts[..., None] > 0, found, np.nan)


def _values(ordered: NDArray[np.float64], places: NDArray[np.intp]) -> NDArray[np.float64]:
    m, n = ordered.shape
    return np.take_along_axis(ordered, np.clip(places, 0, n - 1).reshape(m, -1), axis=1).reshape(places.shape)


def _moments(
    ordered: NDArray[np.float64],
    missing: NDArray[np.bool_],
    cells: NDArray[np.int64],
    counts: NDArray[np.int64],
    others: NDArray[np.int64],
    k: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(m, k) Cohen's d against the rest, and the standardised means of the clusters."""
    m = len(ordered)

    def sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.bincount(cells, values.ravel(), m * (k + 1)).reshape(m, k + 1)
        return np.asarray(found[:, :k], dtype=np.float64)

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        total = counts.sum(axis=1, keepdims=True)
        known = np.where(missing, 0.0, ordered)
        unit = np.abs(known).max(axis=1, keepdims=True, initial=0.0)
        known = known / np.where((unit > 0) & np.isfinite(unit), unit, 1.0)  # whose squares are numbers
        centred = np.where(missing, 0.0, known - sums(known).sum(axis=1, keepdims=True) / total)
        first, second = sums(centred), sums(centred**2)
        first_rest = first.sum(axis=1, keepdims=True) - first
        second_rest = second.sum(axis=1, keepdims=True) - second
        mean, mean_rest = first / counts, first_rest / others
        inside = np.maximum(second - first * mean, 0) + np.maximum(second_rest - first_rest * mean_rest, 0)
        d = (mean - mean_rest) / np.sqrt(inside / (total - 2))
        standardised = mean / np.sqrt(second.sum(axis=1, keepdims=True) / total)
    return d, standardised


def _p_values(
    u: NDArray[np.float64],
    counts: NDArray[np.int64],
    others: NDArray[np.int64],
    total: NDArray[np.int64],
    ties: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(m, k) of the Mann-Whitney statistic of the clusters."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        n = total.astype(np.float64)
        pairs = counts * others.astype(np.float64)
        deviation = np.sqrt(pairs / 12 * (n + 1 - ties[:, None] / (n * (n - 1))))
        away = np.maximum(u, pairs - u) - pairs / 2
        p = np.minimum(2 * ndtr(-(away - 0.5) / deviation), 1.0)
    return np.where(pairs > 0, np.where(deviation > 0, p, 1.0), np.nan)


def benjamini_hochberg(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m, k) p-values adjusted for the m tests of each column; NaN are no tests."""
    adjusted = np.full_like(p, np.nan)
    for j in range(p.shape[1]):
        tested = np.flatnonzero(~np.isnan(p[:, j]))
        order = tested[np.argsort(p[tested, j], kind="stable")]
        ratios = p[order, j] * len(order) / np.arange(1, len(order) + 1)
        adjusted[order, j] = np.minimum(np.minimum.accumulate(ratios[::-1])[::-1], 1.0)
    return adjusted


class Categories(NamedTuple):
    """One variable of q categories in k clusters."""

    table: NDArray[np.int64]
    """(k, q) objects."""
    cramers_v: NDArray[np.float64]
    """(k,) of the cluster against the rest, √(χ² / n), without correction for bias; NaN without a rest."""

    @property
    def shares(self) -> NDArray[np.float64]:
        """(k, q) of the objects of the cluster that have a category."""
        return _shares(self.table)

    @property
    def rest(self) -> NDArray[np.float64]:
        """(k, q) of the objects of all other clusters."""
        return _shares(self.table.sum(axis=0) - self.table)


def _shares(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """The rows of a table, each divided by its sum; NaN of none."""
    with np.errstate(invalid="ignore"):
        shares: NDArray[np.float64] = table / table.sum(axis=1, keepdims=True)
    return shares


def compare_categories(codes: NDArray[np.float64], q: int, clusters: NDArray[np.intp], k: int) -> Categories:
    """(n,) places among q categories, NaN where missing, in each cluster against the rest."""
    known = ~np.isnan(codes)
    cells = clusters[known] * q + codes[known].astype(np.intp)
    table = np.bincount(cells, minlength=k * q).reshape(k, q)
    inside, all_levels = table.sum(axis=1, keepdims=True), table.sum(axis=0)
    n = int(all_levels.sum())
    used = all_levels > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        shares, overall = table / inside, all_levels / n
        # χ² of two rows: the squared deviations of one, over what both expect.
        chi2 = (
            inside * n / (n - inside) * (((shares - overall) ** 2)[:, used] / overall[used]).sum(axis=1, keepdims=True)
        )
        v = np.sqrt(chi2 / n)[:, 0]
    return Categories(table, np.where(np.isfinite(v) & ((all_levels > 0).sum() > 1), v, np.nan))
