"""Lumbermark (Gagolewski 2026): clusters by cutting the long edges of a spanning tree that leave no small part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from ensemblage.kernels._spanning_trees import core_squares, cut_long_edges, mutual_reachability_tree

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
    X = np.ascontiguousarray(X)
    n, core = len(X), np.empty(len(X))
    if known_nearest is None:
        nearest = NearestNeighbors(n_neighbors=min(N_NEIGHBOURS + 1, n)).fit(X).kneighbors(X, return_distance=False)
    else:
        nearest = np.column_stack([np.arange(n), known_nearest])
    core_squares(X, nearest, core)
    pairs, reach, plain = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1), np.empty(n - 1)
    mutual_reachability_tree(X, core, pairs, reach, plain)
    clusters = np.empty((max(most_clusters - 1, 0), n), dtype=np.int32)
    made = cut_long_edges(pairs[np.lexsort((plain, reach))], SHARE, LEAST, clusters)
    renumbered = [np.unique(labels, return_inverse=True)[1] for labels in clusters[:made]]
    return np.array(renumbered, dtype=np.int32).reshape(made, n)
