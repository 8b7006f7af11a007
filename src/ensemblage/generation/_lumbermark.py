"""Lumbermark (Gagolewski 2026): clusters by cutting the long edges of a spanning tree that leave no small part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order
from sklearn.neighbors import NearestNeighbors

from ensemblage.kernels._spanning_trees import cut_long_edges, mutual_reachability_tree, state_of_tree

N_NEIGHBOURS = 5
"""The core distance of an object is that to this one of its nearest others."""
SHARE, LEAST = 0.25, 10
"""Of the objects that are no leaves of the tree, a part has at least this share, divided by the number of clusters, and
at least so many."""


def lumbermark(
    X: NDArray[np.float64], most_clusters: int, known_nearest: NDArray[np.intp] | None = None
) -> NDArray[np.int32]:
    """(K, n) partitions of objects, (n, m), with 2, 3, ... up to ``most_clusters`` clusters, numbered from 0.

    ``known_nearest``, (n, 5), are the nearest other objects of each, looked for here if they are not given. Fewer
    partitions where no edge is left to cut. Edges of the same mutual reachability go by their plain length. O(n² m)
    time, O(n (m + K)) memory.
    """
    n = len(X)
    if known_nearest is None:
        nearest = NearestNeighbors(n_neighbors=min(N_NEIGHBOURS + 1, n)).fit(X).kneighbors(X, return_distance=False)
    else:
        nearest = np.column_stack([np.arange(n), known_nearest])
    columns, core = np.ascontiguousarray(X.T), _core_squares(X, nearest)
    pairs, reach, plain = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1), np.empty(n - 1)
    mutual_reachability_tree(columns, core, np.empty(n), *state_of_tree(n), pairs, reach, plain)
    pairs = pairs[np.lexsort((plain, reach))]
    clusters = np.empty((max(most_clusters - 1, 0), n), dtype=np.int32)
    (degree, sizes, top), is_top = np.zeros((3, n), dtype=np.int64), np.zeros(n, dtype=np.bool_)
    made = cut_long_edges(pairs, *_rooted(pairs), SHARE, LEAST, degree, sizes, top, is_top, clusters)
    renumbered = [np.unique(labels, return_inverse=True)[1] for labels in clusters[:made]]
    return np.array(renumbered, dtype=np.int32).reshape(made, n)


def _core_squares(X: NDArray[np.float64], nearest: NDArray[np.intp]) -> NDArray[np.float64]:
    """(n,) squared distances to the farthest of the nearest other objects, summed in the order of the features.

    ``nearest`` are (n, q + 1), an object mostly among its own: else the farthest is left out.
    """
    squares = np.zeros(nearest.shape)
    for column in X.T:
        squares += (column[:, None] - column[nearest]) ** 2
    squares.sort(axis=1)
    is_there = (nearest == np.arange(len(X))[:, None]).any(axis=1)
    return np.where(is_there, squares[:, -1], squares[:, max(nearest.shape[1] - 2, 0)])


def _rooted(pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The objects of a tree with parents first, (n,), the parent of each, and the object below each edge, (n - 1,)."""
    n = len(pairs) + 1
    graph = csr_array((np.ones(n - 1), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    order, parent = breadth_first_order(graph, 0, directed=False)
    first_is_below = parent[pairs[:, 0]] == pairs[:, 1]
    return order.astype(np.int64), parent.astype(np.int64), np.where(first_is_below, pairs[:, 0], pairs[:, 1])
