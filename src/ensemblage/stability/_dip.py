"""The dip test of unimodality (Hartigan & Hartigan 1985), exact for ties; p-values from a table of uniform samples."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

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
