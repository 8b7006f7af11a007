"""How long the dense parts of the data live apart before they merge: components of any shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._dendrogram import component_deaths
from ensemblage.kernels._spanning_trees import (
    mutual_reachability_tree,
    mutual_reachability_tree_of_squares,
    state_of_tree,
)
from ensemblage.kernels._squares import cores_by_squares, cores_of_points

LEAST_NEIGHBOURS = 4
LEAST_MEMBERS = 5
SHARE_OF_MEMBERS = 0.04
"""Objects with which a component is born, as a share of all."""


def persistences(X: NDArray[np.float64], squares: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """ln(death / birth) of every component but the one that is left, largest first; as many as there are.

    The core distance of an object is that to its max(4, round(log2 n))-th neighbour, the distance of two objects the
    largest of theirs and of both core distances (mutual reachability). In single linkage a component is born at the
    height at which it has max(5, .04 n) objects; where two that were born merge, the later-born dies. A birth at height
    0, of equal objects, counts as at the least height above 0.

    X : (n, d) finite, n ≥ 2. O(n² d) time, O(n d) memory; O(n²) time where the squared distances of all pairs,
    ``squares``, (n, n), are given.
    """
    n = len(X)
    least = np.empty(1 + min(n - 1, max(LEAST_NEIGHBOURS, round(np.log2(n)))))
    core, pairs, edges = np.empty(n), np.empty((n - 1, 2), dtype=np.int64), np.empty((2, n - 1))
    if squares is None:
        points = np.ascontiguousarray(X)
        cores_of_points(points, least, core)
        columns = np.ascontiguousarray(points.T)
        mutual_reachability_tree(columns, core, np.empty(n), *state_of_tree(n), pairs, *edges)
    else:
        cores_by_squares(squares, least, core)
        mutual_reachability_tree_of_squares(squares, core, *state_of_tree(n), pairs, *edges)
    heights = np.sqrt(edges[0])
    order = np.argsort(heights, kind="stable")
    lives = np.empty((n - 1, 2))
    state = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
    least_members = max(LEAST_MEMBERS, int(np.ceil(SHARE_OF_MEMBERS * n)))
    n_deaths = component_deaths(pairs[order], heights[order], least_members, *state, lives)
    births, deaths = lives[:n_deaths].T
    above = heights[heights > 0]
    if not len(above):
        return np.zeros(n_deaths)
    floor = above.min()
    return np.sort(np.log(np.maximum(deaths, floor) / np.maximum(births, floor)))[::-1]


def pad_persistences(found: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """The largest persistences P_1, P_2, … of descending ones; 0 where there are fewer."""
    return np.pad(found[:length], (0, max(0, length - len(found))))


def count_components(found: NDArray[np.float64], reference_largest: NDArray[np.float64]) -> int:
    """1 + the persistences above mean + 2 standard deviations of the largest ones of the references."""
    bound = reference_largest.mean() + 2 * reference_largest.std(ddof=1)
    return 1 + int((found > bound).sum())
