"""How much each variable separates the clusters, and whether one of them is the clusters, nearly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.profiles._comparison import ClusterComparison, json_number
from ensemblage.profiles._variables import Variable

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
