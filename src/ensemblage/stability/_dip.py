"""The dip test of unimodality (Hartigan & Hartigan 1985), and the cells in which values that many objects share lie.

The test is exact for ties; its p-values come from a table of uniform samples. Values that many objects share stand for
cells, so that no grid, limit or round number is a mode.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._dip import dip_of_steps

LEAST_VALUES = 8
"""Fewer values are not tested: p = 1."""
RESOLUTION = 1e-9
"""Values nearer to each other than this part of their range are one value: a grid is one after rounding errors, too."""


class NullQuantiles(NamedTuple):
    """Quantiles of √n dip of n uniform values, for some n."""

    sizes: NDArray[np.float64]
    """(s,) ascending numbers of values, the last one ∞."""
    p_values: NDArray[np.float64]
    """(q,) descending from 1: the share of samples with as large a dip."""
    quantiles: NDArray[np.float64]
    """(s, q)"""


def dip(values: NDArray[np.float64]) -> float:
    """The dip of n ≥ 1 finite values: the least largest distance of their distribution function from a unimodal one.

    O(n log n) time, O(n) memory.
    """
    distinct, counts = np.unique(values, return_counts=True)
    upto = np.cumsum(counts).astype(np.float64)
    hulls = np.empty((2, len(distinct)), dtype=np.int64)
    return float(dip_of_steps(distinct, upto - counts + 1, upto, *hulls)) / (2 * len(values))


def dip_p_value(dip: float, n: int) -> float:
    """The share of samples of n uniform values whose dip is as large, by the table.

    The uniform distribution has the largest dips of all unimodal ones, so that p is valid for each of them. Between the
    sizes of the table √n dip is interpolated in 1/√n, and p in its logarithm. The least p of the table, 10⁻⁵, stands
    for all below.
    """
    table = null_quantiles()
    at = 1 / np.sqrt(n)
    places = 1 / np.sqrt(table.sizes)
    quantiles = [np.interp(at, places[::-1], column[::-1]) for column in table.quantiles.T]
    return float(np.exp(np.interp(np.sqrt(n) * dip, quantiles, np.log(table.p_values))))


def unimodality_p_value(values: NDArray[np.float64]) -> float:
    """p-value of unimodality of n finite values, whose grid, if they have one, is no mode; 1 for fewer than 8."""
    if len(values) < LEAST_VALUES:
        return 1.0
    return dip_p_value(dip(spread_ties(values)), len(values))


def spread_ties(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) ascending values, equal ones spread evenly over the width of a step of their grid.

    Each point of a grid would be a mode. As steps of a histogram, unimodal shares are a unimodal density. The step is
    the least gap between values: that of a grid, and next to nothing for values that lie on none.
    """
    ordered = np.sort(values)
    width = ordered[-1] - ordered[0]
    is_new = np.diff(ordered, prepend=-np.inf) > RESOLUTION * width
    if is_new.all() or width == 0:
        return ordered
    starts = np.flatnonzero(is_new)
    counts = np.diff(starts, append=len(ordered))
    distinct = ordered[starts]
    rank = np.arange(len(ordered)) - np.repeat(starts, counts)
    share = (rank + 0.5) / np.repeat(counts, counts) - 0.5
    spread: NDArray[np.float64] = np.repeat(distinct, counts) + share * np.diff(distinct).min()
    return spread


@cache
def null_quantiles() -> NullQuantiles:
    """The table of lab/scripts/make_dip_table.py, and the limit for many values: its last sizes, on a line in 1/√n."""
    with files("ensemblage.stability").joinpath("dip_quantiles.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    sizes, quantiles = (part.squeeze() for part in np.split(np.array(rows, dtype=np.float64), [1], axis=1))
    near, far = (1 / np.sqrt(sizes[i]) for i in (-3, -1))  # the last but one is too near to the last to draw a line
    limit = quantiles[-1] + (quantiles[-1] - quantiles[-3]) * far / (near - far)
    p_values = np.array(header[1:], dtype=np.float64)
    return NullQuantiles(np.append(sizes, np.inf), p_values, np.vstack([quantiles, np.maximum.accumulate(limit)]))


MOST_BESIDE = 3
"""A value inside the range with more than so many times the objects of either value beside it is a pile."""
LEAST_ROUND, OFF_GRID = 3, 1e-3
"""Piles that may be round numbers; a value is on a grid if it is at most this part of a step beside."""

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


class ValueCells(NamedTuple):
    """What distinct values stand for."""

    lower: Numbers
    """(m,) where the cell of each begins ..."""
    upper: Numbers
    """... and ends."""
    at_floor: bool
    """Whether the density of the first cell falls evenly to 0 at its beginning ..."""
    at_ceiling: bool
    """... and that of the last one at its end; that of others is flat."""

    def at(self, place: NDArray[np.intp], share: Numbers) -> Numbers:
        """(n,) values in the cells of these distinct values, such that this share of the cell lies below."""
        inside = np.array(share)
        if self.at_floor:
            inside = np.where(place == 0, np.sqrt(inside), inside)
        if self.at_ceiling:
            inside = np.where(place == len(self.lower) - 1, 1 - np.sqrt(1 - inside), inside)
        found: Numbers = self.lower[place] + inside * (self.upper - self.lower)[place]
        return found


def are_frequent(counts: Counts) -> NDArray[np.bool_]:
    """Which of all values are those of so many objects that they may be a mode: of more than √n / 2.

    Up to so many equal values raise the dip by .25 / √n at most, half of what is significant.
    """
    return np.asarray(counts > np.sqrt(counts.sum()) / 2)


class Shared(NamedTuple):
    """Which values may stand for others, of m ≥ 2 ascending ones."""

    at_floor: bool
    """Whether the first value is a limit of what was measured ..."""
    at_ceiling: bool
    """... and the last one."""
    piles: NDArray[np.intp]
    """Places of values inside the range that are a mode by themselves."""
    step: float
    """Of the grid of round numbers that these are; 0 if they are on none."""

    @property
    def stands_for_others(self) -> bool:
        """Whether there are limits or round numbers."""
        return self.at_floor or self.at_ceiling or self.step > 0


def shared_values(distinct: Numbers, counts: Counts) -> Shared:
    """Limits: frequent values at an end of the range, and more so than the value beside. Piles inside the range.

    Two values have no second mode, whatever their shares.
    """
    if len(counts) < 3:
        return Shared(False, False, np.empty(0, dtype=np.intp), 0.0)
    is_frequent = are_frequent(counts)
    beside = np.maximum(counts[:-2], counts[2:])
    piles = 1 + np.flatnonzero(is_frequent[1:-1] & (counts[1:-1] > MOST_BESIDE * beside))
    floor, ceiling = is_frequent[0] and counts[0] > counts[1], is_frequent[-1] and counts[-1] > counts[-2]
    return Shared(bool(floor), bool(ceiling), piles, step_of(distinct[piles]))


def step_of(values: Numbers) -> float:
    """The least distance of ascending values whose other distances are whole multiples of it; 0 of few or others."""
    if len(values) < LEAST_ROUND:
        return 0.0
    steps = np.diff(values)
    of_least = steps / steps.min()
    return float(steps.min()) if np.abs(of_least - np.round(of_least)).max() <= OFF_GRID else 0.0


def cells_of(distinct: Numbers, counts: Counts, shared: Shared) -> ValueCells:
    """The cells of m ≥ 2 ascending values, half way to the next ones, and wider ones of limits and round numbers.

    Objects at a limit lie there or beyond, and what was written for them may be any value beyond it, such as its half.
    So their cell begins where that of the next value ends, and reaches beyond the limit twice as far as equally many
    other values reach on this side, or all of them: it begins with their density. The cell of a round number reaches
    half a step of them to either side.
    """
    between = (distinct[:-1] + distinct[1:]) / 2
    lower = np.append(2 * distinct[0] - between[0], between)
    upper = np.append(between, 2 * distinct[-1] - between[-1])
    if shared.at_floor:
        lower[0] = distinct[0] - 2 * reach_of_limit(distinct, counts)
        upper[0] = lower[1] = max(between[0], 2 * distinct[1] - upper[1])
    if shared.at_ceiling:
        upper[-1] = distinct[-1] + 2 * reach_of_limit(-distinct[::-1], counts[::-1])
        lower[-1] = upper[-2] = min(between[-1], 2 * distinct[-2] - lower[-2])
    if shared.step:
        piles = shared.piles
        lower[piles], upper[piles] = distinct[piles] - shared.step / 2, distinct[piles] + shared.step / 2
    return ValueCells(lower, upper, shared.at_floor, shared.at_ceiling)


def reach_of_limit(distinct: Numbers, counts: Counts) -> float:
    """How far from the first value as many others lie as it has objects, or all others."""
    upto = np.cumsum(counts)
    farthest = np.searchsorted(upto, min(2 * upto[0], upto[-1]))
    return float(distinct[farthest] - distinct[0])


def drawn_from_cells(X: NDArray[Any], rows: NDArray[np.intp], seed: int) -> tuple[NDArray[Any], int]:
    """(n, d) the features; where many of the ``rows`` share a value, each is drawn from its cell. X itself if none do.

    And the number of features with limits or round numbers. On a line a grid has a mode at each of its points, and a
    sum of grids is no grid; drawn from their cells, the values of one cloud have one mode (docs/SPLITS.md).
    O(n d log n) time, a copy of X.
    """
    random, drawn, n_limited = np.random.RandomState(seed), X, 0
    for j in range(X.shape[1]):
        distinct, place, counts = np.unique(X[rows, j], return_inverse=True, return_counts=True)
        if len(distinct) < 2 or not are_frequent(counts).any():
            continue
        if drawn is X:
            drawn = X.astype(np.float64)
        distinct = distinct.astype(np.float64)
        shared = shared_values(distinct, counts)
        drawn[rows, j] = cells_of(distinct, counts, shared).at(place, random.random_sample(len(rows)))
        n_limited += shared.stands_for_others
    return drawn, n_limited


def has_limits(values: Numbers) -> bool:
    """Whether (n,) values have limits or round numbers, which stand for other values."""
    distinct, counts = np.unique(values, return_counts=True)
    return shared_values(distinct, counts).stands_for_others


def spread_over_cells(values: Numbers) -> Numbers:
    """(n,) ascending within each cell: the objects of each of several values, evenly over its cell."""
    distinct, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    place = np.sort(place)
    rank = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    cells = cells_of(distinct, counts, shared_values(distinct, counts))
    return cells.at(place, (rank + 0.5) / np.repeat(counts, counts))


def limits_sentence(n: int, name: str) -> str:
    """What a record says of n variables with limits or round numbers, by the name of one; "" of none."""
    if n == 0:
        return ""
    if n == 1:
        subject = f"1 {name} has a value that many objects share, such as a limit of what was measured"
        return f"{subject}. In the tests it stands for a range of values."
    subject = f"{n:,} {name}s have values that many objects share, such as limits of what was measured"
    return f"{subject}. In the tests they stand for ranges of values."
