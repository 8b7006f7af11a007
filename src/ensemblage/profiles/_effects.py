"""How each variable differs between a cluster and the rest, how much it separates the clusters, and in which words.

The numbers come from one sort per variable for all clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.text import listing, one_line
from ensemblage.base.threads import parallel_map, thread_count
from ensemblage.profiles._variables import NUMBERS, Variable

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
    m, n = ordered.shape
    places = (np.clip(place_of(np.maximum(r, 0)), 0, n - 1) for r in (low, high))
    below, above = (np.take_along_axis(ordered, at.reshape(m, -1), axis=1).reshape(at.shape) for at in places)
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.where((below == above) | (fraction == 0), below, below + (above - below) * fraction)
    return np.where(counts[..., None] > 0, found, np.nan)


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


# -- clusters against the rest -----------------------------------------------------------------------------------------


_NAMED = 40
"""Characters of a name in a sentence."""


class ClusterComparison:
    """m variables in k clusters against the rest, those with an order first.

    Parameters
    ----------
    variables : of n objects
    clusters : (n,) the cluster of each object, k for none: it is left out
    k : number of clusters
    """

    def __init__(self, variables: list[Variable], clusters: NDArray[np.intp], k: int) -> None:
        ordered = [v for v in variables if v.kind in NUMBERS]
        categories = [v for v in variables if v.kind not in NUMBERS]
        is_inside = clusters < k
        # All are no copy.
        inside: slice | NDArray[np.intp] = slice(None) if is_inside.all() else np.flatnonzero(is_inside)
        self.variables = [*ordered, *categories]
        self.n_clusters, self.n_numbers, self.clusters = k, len(ordered), clusters
        self.numbers: Numbers = compare_numbers([v.values[inside] for v in ordered], clusters[inside], k)
        self.categories: list[Categories] = [
            compare_categories(v.values[inside], len(v.levels), clusters[inside], k) for v in categories
        ]

    def category(self, j: int) -> Categories | None:
        """What was found of variable j, if it is a category."""
        return None if j < self.n_numbers else self.categories[j - self.n_numbers]

    @cached_property
    def strengths(self) -> NDArray[np.float64]:
        """(m, k) effects on one scale: from 0 on they describe a cluster, 1 is the largest; −1 of single objects."""
        of_numbers = (np.abs(self.numbers.delta) - LEAST_DELTA) / (1 - LEAST_DELTA)
        of_categories = [(of.cramers_v - LEAST_V) / (1 - LEAST_V) for of in self.categories]
        found = np.vstack([of_numbers, *of_categories])
        found[:, self.is_single] = -1.0
        return np.where(np.isnan(found), -1.0, found)

    @cached_property
    def is_single(self) -> NDArray[np.bool_]:
        """(k,) which clusters have one object; every variable separates it, so that none describes it."""
        return np.asarray(np.bincount(self.clusters, minlength=self.n_clusters + 1)[: self.n_clusters] == 1)

    def order(self) -> list[int]:
        """The variables by decreasing strength in the cluster that each describes best."""
        order: list[int] = np.argsort(-self.strengths.max(axis=1, initial=-1.0), kind="stable").tolist()
        return order

    def drivers(self, c: int, most: int) -> str:
        """What describes cluster c: the strongest effects in words; nothing if none is large enough."""
        order = np.argsort(-self.strengths[:, c], kind="stable")
        found = [j for j in order.tolist() if self.strengths[j, c] >= 0]
        return phrase([self._driver(j, c) for j in found[:most]], max(0, len(found) - most))

    def _driver(self, j: int, c: int) -> tuple[str, str]:
        """A word, and what is so."""
        v, of = self.variables[j], self.category(j)
        name = one_line(v.name, _NAMED)
        if of is None:
            return direction(float(self.numbers.delta[j, c]), v.kind), name
        level = top_level(v, of, c)
        word = frequency(float(of.shares[c, level]), float(of.rest[c, level]))
        return word, name if v.is_yes_no else f"{name} {one_line(v.levels[level], _NAMED)}"


def repeats_clusters(values: NDArray[np.float64], members: Sequence[NDArray[np.intp]]) -> bool:
    """Whether clusters and the values of a variable are the same partition of the objects that have a value."""
    found = []
    for rows in members:
        known = values[rows][~np.isnan(values[rows])]
        if len(known) == 0 or known.min() < known.max():
            return False
        found.append(known[0])
    return 1 < len(members) < sum(map(len, members)) and len(set(found)) == len(members)


def top_level(v: Variable, of: Categories, c: int) -> int:
    """The category that the cluster has most of compared with the rest; of yes and no always yes."""
    if v.is_yes_no:
        return len(v.levels) - 1
    return int(np.argmax(np.nan_to_num(of.shares[c] - of.rest[c], nan=-np.inf)))


def label_of(cluster: Any) -> Any:
    """The label of a cluster as JSON can hold it."""
    return cluster if isinstance(cluster, int | str) else str(cluster)


def json_number(value: Any) -> Any:
    """What JSON can hold: None for a number that is none."""
    return (float(f"{value:.6g}") if np.isfinite(value) else None) if isinstance(value, float) else value


# -- how much a variable separates all clusters ------------------------------------------------------------------------


MOST_COLUMNS = 20
"""Variables of the table."""
ALONE, BESIDE = 0.7, 0.3
"""A variable decides alone if it separates at least so much, and each other one at most so much. The rule was written
before any table was tried."""
NEARLY = 0.9
"""Least adjusted Rand index of clusters and the values of a variable that they nearly repeat."""


def separations(compared: ClusterComparison) -> NDArray[np.float64]:
    """(m,) from 0 to 1, NaN where there is nothing to compare: η² of an order, Cramér's V² of categories."""
    found = compared.numbers
    with np.errstate(divide="ignore", invalid="ignore"):
        # A mean of squared standardised means, by the objects that have a value: the variance between the clusters.
        between = np.where(found.counts > 0, found.counts * found.standardised**2, 0).sum(axis=1)
        of_numbers = between / found.counts.sum(axis=1)
    return np.array([*of_numbers, *(_squared_v(of.table) for of in compared.categories)])


def _squared_v(table: NDArray[np.int64]) -> float:
    """χ² / (n (q − 1)) of a contingency table, q the smaller number of rows or columns that hold something."""
    kept = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0].astype(np.float64)
    if min(kept.shape) < 2:
        return float("nan")
    expected = np.outer(kept.sum(axis=1), kept.sum(axis=0)) / kept.sum()
    return float(((kept - expected) ** 2 / expected).sum() / (kept.sum() * (min(kept.shape) - 1)))


def separation_summary(compared: ClusterComparison) -> dict[str, Any]:
    """The variables that separate the clusters most, and the one among those clustered that decides alone."""
    shares = separations(compared)
    order = [j for j in np.argsort(-np.nan_to_num(shares, nan=-1), kind="stable").tolist() if not np.isnan(shares[j])]
    variables = compared.variables
    clustered = [j for j in order if variables[j].clustered]
    is_alone = len(clustered) > 1 and shares[clustered[0]] >= ALONE and shares[clustered[1]] <= BESIDE
    return {
        "columns": [
            {
                "variable": variables[j].name,
                "kind": variables[j].kind,
                "clustered": variables[j].clustered,
                "share": json_number(float(shares[j])),
            }
            for j in order[:MOST_COLUMNS]
        ],
        "n_columns": len(order),
        "alone": variables[clustered[0]].name if is_alone else None,
    }


def nearly_repeated(
    variables: Sequence[Variable], clusters: NDArray[np.intp], k: int, same: Sequence[str]
) -> dict[str, float]:
    """By name the adjusted Rand index of clusters and categories that they nearly repeat; not those in ``same``."""
    found = {}
    for v in variables:
        if not v.levels or v.name in same:
            continue
        known = (clusters < k) & ~np.isnan(v.values)
        cells = clusters[known] * len(v.levels) + v.values[known].astype(np.intp)
        index = _adjusted_rand(np.bincount(cells, minlength=k * len(v.levels)).reshape(k, -1))
        if index >= NEARLY:
            found[v.name] = index
    return found


def _adjusted_rand(table: NDArray[np.int64]) -> float:
    """Of two partitions by their contingency table; 0 where one of them is trivial."""

    def pairs(counts: NDArray[np.int64]) -> float:
        return float((counts * (counts - 1.0)).sum())

    total = pairs(table.sum(keepdims=True))
    rows, columns = pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    if not 0 < rows < total or not 0 < columns < total:
        return 0.0
    expected = rows * columns / total
    return (pairs(table) - expected) / ((rows + columns) / 2 - expected)


# -- effects as people say them ----------------------------------------------------------------------------------------


LEAST_DELTA, LEAST_V = 0.33, 0.2
"""An effect of this size describes a cluster: a Cliff's delta that is at least medium (.33, Romano et al. 2006), a
Cramér's V of at least .2."""
NOTHING = "No single variable describes this cluster."
_SMALL = 1e-6
"""Numbers nearer to 0 are written with an exponent."""
SINGLE = "a single object, which is not described"


def number_text(value: float) -> str:
    """Four digits, or all before the point; no exponent where it can be helped."""
    if np.isnan(value):
        return "–"
    if value == 0 or not np.isfinite(value) or not _SMALL <= abs(value) < 1e15:
        return f"{value:.3g}".replace("-", "−", 1) if value < 0 else f"{value:.3g}"
    digits = max(0, 3 - int(np.floor(np.log10(abs(value)))))
    text = f"{value:,.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−")


def exact_text(value: float) -> str:
    """All digits of a number, as few as tell it from its neighbours; whole numbers without a point."""
    if value == np.floor(value) and abs(value) < 1e15:
        text = f"{value:,.0f}"
    elif _SMALL <= abs(value) < 1:
        text = np.format_float_positional(value, trim="-")
    else:
        text = repr(float(value))
    return text.replace("-", "−", 1) if value < 0 else text


def date_text(days: float, *, with_time: bool = False) -> str:
    """The day, as in 2024-12-31."""
    if np.isnan(days):
        return "–"
    try:
        moment = datetime(1970, 1, 1) + timedelta(days=days)
    except OverflowError:
        return number_text(days)
    return moment.strftime("%Y-%m-%d %H:%M") if with_time else moment.strftime("%Y-%m-%d")


def percent_text(share: float) -> str:
    """A share; 0% and 100% only where it is exact."""
    if np.isnan(share):
        return "–"
    return "<1%" if 0 < share < 0.01 else ">99%" if 0.99 < share < 1 else f"{100 * share:.0f}%"


def value_text(value: float, kind: str, levels: Sequence[str] = ()) -> str:
    """A value of a variable of this kind."""
    if np.isnan(value):
        return "–"
    if kind == "ordered":
        return levels[int(value)]
    return date_text(value) if kind == "date" else number_text(value)


def direction(delta: float, kind: str) -> str:
    """The word for values above or below those of the rest."""
    words = {"date": ("later", "earlier")}.get(kind, ("higher", "lower"))
    return words[delta < 0]


def frequency(share: float, rest: float) -> str:
    """The word for how often a category occurs in a cluster, against the rest."""
    if share > rest:
        return (
            "always" if share == 1 else "nearly always" if share >= 0.95 else "mostly" if share >= 0.5 else "more often"
        )
    return "never" if share == 0 else "seldom" if share <= 0.2 else "less often"


def phrase(drivers: Sequence[tuple[str, str]], n_more: int = 0) -> str:
    """Pairs of a word and what it says, those of one word together: higher a and b; mostly c."""
    by_word: dict[str, list[str]] = {}
    for word, what in drivers:
        by_word.setdefault(word, []).append(what)
    parts = [f"{word} {listing(names)}" for word, names in by_word.items()]
    more = f" (and {n_more:,} more)" if n_more else ""
    return ("; " if any(len(names) > 2 for names in by_word.values()) else ", ").join(parts) + more
