"""Which objects stand for a cluster, and which are least sure of their place in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ensemblage.profiles._variables import Variable

MOST_STEPS = 10**9
"""Of a medoid by all distances; of more, the object nearest to the mean is taken."""
MOST_BORDER = 3
"""Objects of each cluster that are named."""


def coordinates_of(variables: Sequence[Variable], n: int) -> NDArray[np.float64]:
    """(n, d) the variables on one scale: standardised, indicators of categories; what is missing at the mean."""
    columns: list[NDArray[np.float64]] = []
    for v in variables:
        known = ~np.isnan(v.values)
        if v.kind != "category":
            centred = np.where(known & np.isfinite(v.values), v.values, np.nan)
            columns += [_standardise(centred)]
            continue
        for level in range(len(v.levels)):
            share = float((v.values == level).sum() / max(known.sum(), 1))
            weight = np.sqrt(max(share, 1e-12) * max(len(v.levels) - 1, 1))
            columns += [np.where(known, (v.values == level) - share, 0.0) / weight]
    return np.column_stack(columns) if columns else np.zeros((n, 1))


def _standardise(values: NDArray[np.float64]) -> NDArray[np.float64]:
    known = values[~np.isnan(values)]
    unit = np.abs(known).max(initial=0.0) or 1.0  # of which squares are numbers
    known = known / unit
    spread = known.std() if len(known) else 0.0
    scaled = (values / unit - known.mean()) / spread if spread > 0 else np.zeros_like(values)
    return np.where(np.isnan(scaled), 0.0, scaled)


def typical_objects(X: NDArray[np.float64], members: Sequence[NDArray[np.intp]]) -> tuple[list[int], list[bool]]:
    """The object of each cluster with the smallest mean distance to the others, and whether all were compared.

    O(n_c² d) time for a cluster of n_c objects; of more than `MOST_STEPS` the object nearest to the mean, in O(n_c d).
    The first of several.
    """
    from scipy.spatial.distance import cdist

    typical, exact = [], []
    for rows in members:
        part = X[rows]
        by_all = len(rows) ** 2 * X.shape[1] <= MOST_STEPS and len(rows) <= 5_000
        away = cdist(part, part).sum(axis=1) if by_all else ((part - part.mean(axis=0)) ** 2).sum(axis=1)
        # Sums of the same distances in another order differ in the last bits.
        typical.append(int(rows[np.flatnonzero(away <= away.min() * (1 + 1e-12))[0]]))
        exact.append(by_all)
    return typical, exact


def least_sure(
    confidence: NDArray[np.float64], members: Sequence[NDArray[np.intp]], typical: Sequence[int]
) -> list[list[int]]:
    """The objects of each cluster with the least confidence, that is not the greatest there, most doubtful first.

    Never the typical one.
    """
    found = []
    for all_rows, one in zip(members, typical, strict=True):
        greatest, rows = np.fmax.reduce(confidence[all_rows], initial=-np.inf), all_rows[all_rows != one]
        values = confidence[rows]
        below = np.flatnonzero(values < greatest)
        found.append(rows[below[np.argsort(values[below], kind="stable")[:MOST_BORDER]]].tolist())
    return found


def nearness(X: NDArray[np.float64], clusters: NDArray[np.intp], k: int) -> NDArray[np.float64]:
    """(n,) how much nearer an object is to the mean of its cluster than to the nearest other one: (b − a) / max(a, b).

    The simplified silhouette; 1 for all where there is one cluster, NaN in no cluster. O(n k d) time.
    """
    n = len(X)
    inside = clusters < k
    if k < 2:
        return np.where(inside, 1.0, np.nan)
    sizes = np.maximum(np.bincount(clusters[inside], minlength=k), 1)
    order = np.argsort(clusters, kind="stable")[: int(inside.sum())]
    starts = np.searchsorted(clusters[order], np.arange(k))
    means = np.add.reduceat(X[order], starts, axis=0) / sizes[:, None]
    own, other = np.full(n, np.nan), np.full(n, np.inf)
    for c in range(k):
        distance = np.sqrt(((X - means[c]) ** 2).sum(axis=1))
        is_own = clusters == c
        own[is_own] = distance[is_own]
        other = np.where(is_own, other, np.minimum(other, distance))
    largest = np.maximum(own, other)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(inside, np.where(largest > 0, (other - own) / largest, 0.0), np.nan)
