"""Single linkage of mutual reachability distances, and how long its components live."""

from typing import Any

import numpy as np

from ensemblage.kernels._dendrogram import root_of
from ensemblage.kernels._jit import jit
from ensemblage.kernels._small_means import squared_distances


@jit
def reachability_tree(X: Any, core: Any, nearest: Any, keys: Any, pairs: Any, heights: Any) -> None:
    """Minimum spanning tree by Prim: O(n² d) time.

    X : IN (n, d)
    core : IN (n,) core distance
    nearest : WORK (n,) int64
    keys : WORK (n,)
    pairs : OUT (n - 1, 2) int64 objects of each edge, in the order in which they were joined
    heights : OUT (n - 1,) max(core of both, distance)
    """
    n = X.shape[0]
    columns, squares = np.ascontiguousarray(X.T), np.empty((1, n))
    keys[:] = np.inf
    current = 0
    keys[0] = -1.0  # in the tree
    for edge in range(n - 1):
        squared_distances(columns, 0, X[current : current + 1], squares)
        best, next_one = np.inf, -1
        for i in range(n):
            if keys[i] < 0:
                continue
            reach = max(max(core[i], core[current]), np.sqrt(squares[0, i]))
            if reach < keys[i]:
                keys[i], nearest[i] = reach, current
            if keys[i] < best:
                best, next_one = keys[i], i
        pairs[edge, 0], pairs[edge, 1], heights[edge] = nearest[next_one], next_one, best
        keys[next_one] = -1.0
        current = next_one


@jit
def component_deaths(pairs: Any, heights: Any, least: int, parent: Any, sizes: Any, births: Any, lives: Any) -> int:
    """Births and deaths of the components of single linkage that have some objects; returns the number of deaths.

    pairs : IN (n - 1, 2) edges, heights ascending
    heights : IN (n - 1,)
    least : IN objects with which a component is born
    parent : WORK (n,) int64
    sizes : WORK (n,) int64
    births : WORK (n,) of the component of each root, ∞ before it is born
    lives : OUT (n - 1, 2) birth and death of each component that another took in; the one that was born later dies
    """
    for i in range(parent.shape[0]):
        parent[i], sizes[i], births[i] = i, 1, np.inf
    n_deaths = 0
    for edge in range(pairs.shape[0]):
        a, b, height = root_of(parent, pairs[edge, 0]), root_of(parent, pairs[edge, 1]), heights[edge]
        older, later = min(births[a], births[b]), max(births[a], births[b])
        if later < np.inf:
            lives[n_deaths, 0], lives[n_deaths, 1] = later, height
            n_deaths += 1
        parent[b] = a
        sizes[a] += sizes[b]
        births[a] = older if older < np.inf or sizes[a] < least else height
    return n_deaths
