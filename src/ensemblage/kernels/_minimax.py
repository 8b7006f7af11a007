"""Robust minimax similarity (Chang & Yeung 2008; Zhong et al. 2019): best paths whose weakest edge is strongest.

An edge counts as similarity times the weights of its ends. Rows stand for objects with equal labels: they carry counts.
Similarities are the entries of a matrix, or numbers of ``values`` where these are not empty.
"""

from typing import Any

import numpy as np

from ensemblage._jit import jit


@jit
def association(matrix: Any, values: Any, i: int, j: int) -> float:
    """Similarity of rows i and j."""
    if values.shape[0] == 0:
        own: float = np.float64(matrix[i, j])
        return own
    of_level: float = values[np.int64(matrix[i, j])]
    return of_level


@jit
def point_weights(
    matrix: Any,  # IN (m, m)
    values: Any,  # IN
    counts: Any,  # IN (m,) objects of each row
    members: Any,  # IN (q,) rows to look at, no others are neighbours
    n_neighbors: int,  # IN
    weights: Any,  # OUT (q,) sum of an object's largest similarities to other objects, over the largest such sum
) -> None:
    largest = np.empty(n_neighbors)
    highest = 0.0
    for a in range(members.shape[0]):
        i = members[a]
        largest[:] = 0
        for b in range(members.shape[0]):
            j = members[b]
            value = association(matrix, values, i, j)
            n_others = counts[j] - 1 if a == b else counts[j]
            while n_others > 0 and value > largest[0]:
                # Insert into the ascending list, drop its least.
                s = 0
                while s + 1 < n_neighbors and largest[s + 1] < value:
                    largest[s] = largest[s + 1]
                    s += 1
                largest[s] = value
                n_others -= 1
        weights[a] = largest.sum()
        highest = max(highest, weights[a])
    if highest > 0:
        for a in range(members.shape[0]):
            weights[a] /= highest


@jit
def weakest_link(
    matrix: Any,  # IN (m, m)
    values: Any,  # IN
    members: Any,  # IN (q,) rows of a cluster
    weights: Any,  # IN (q,) their weights within it
) -> float:
    """Least robust minimax similarity within a cluster: the weakest edge of its maximum spanning tree (Prim)."""
    q = members.shape[0]
    if q == 1:
        own: float = association(matrix, values, members[0], members[0]) * weights[0] * weights[0]
        return own
    best = np.full(q, -1.0)
    left = np.ones(q, np.bool_)
    a, weakest = 0, np.inf
    for _ in range(q - 1):
        left[a] = False
        nearest = -1
        for b in range(q):
            if left[b]:
                value = association(matrix, values, members[a], members[b])
                best[b] = max(best[b], value * weights[a] * weights[b])
                if nearest < 0 or best[b] > best[nearest]:
                    nearest = b
        weakest = min(weakest, best[nearest])
        a = nearest
    return weakest


@jit
def strongest_bridges(
    matrix: Any,  # IN (m, m)
    values: Any,  # IN
    clusters: Any,  # IN (m,) 0 … k - 1, negative = left out
    weights: Any,  # IN (m,)
    bridges: Any,  # IN/OUT (k,) strongest edge that leaves each cluster, 0 before
) -> None:
    for i in range(clusters.shape[0]):
        c = clusters[i]
        if c < 0:
            continue
        strongest = 0.0
        for j in range(clusters.shape[0]):
            if clusters[j] != c and clusters[j] >= 0:
                strongest = max(strongest, association(matrix, values, i, j) * weights[i] * weights[j])
        bridges[c] = max(bridges[c], strongest)
