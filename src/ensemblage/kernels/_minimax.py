"""Robust minimax similarity (Chang & Yeung 2008; Zhong et al. 2019): best paths whose weakest edge is strongest.

An edge counts as similarity times the weights of its ends. Rows stand for objects with equal labels: they carry counts.
Similarities are the entries of a matrix, or numbers of ``values`` where these are not empty.
"""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._slices import next_rows


@jit
def association(matrix: Any, values: Any, i: int, j: int) -> float:
    """Similarity of rows i and j."""
    if values.shape[0] == 0:
        own: float = np.float64(matrix[i, j])
        return own
    of_level: float = values[np.int64(matrix[i, j])]
    return of_level


FEW = 64
"""Neighbours that are kept in a list; more of them are found by sorting."""


@inner_jit
def sum_of_few(similarities: Any, counts: Any, largest: Any) -> float:
    """Sum of the largest similarities of objects.

    similarities : IN (q,) of each row
    counts : IN (q,) objects of each row
    largest : WORK (l,)
    """
    n = largest.shape[0]
    largest[:] = 0
    for b in range(similarities.shape[0]):
        value, n_others = similarities[b], counts[b]
        while n_others > 0 and value > largest[0]:
            # Insert into the ascending list, drop its least.
            s = 0
            while s + 1 < n and largest[s + 1] < value:
                largest[s] = largest[s + 1]
                s += 1
            largest[s] = value
            n_others -= 1
    total: float = largest.sum()
    return total


@inner_jit
def sum_of_many(similarities: Any, counts: Any, n_neighbors: int) -> float:
    """As `sum_of_few`, in a time that does not grow with the number of objects."""
    order = np.argsort(similarities)
    total, n_left = 0.0, n_neighbors
    for s in range(order.shape[0] - 1, -1, -1):
        n = min(n_left, counts[order[s]])
        total += n * similarities[order[s]]
        n_left -= n
    return total


@jit
def point_weights(
    matrix: Any, values: Any, counts: Any, members: Any, n_neighbors: int, progress: Any, weights: Any, budget: int
) -> bool:
    """Returns whether members are left to look at.

    matrix : IN (m, m)
    values : IN
    counts : IN (m,) objects of each row
    members : IN (q,) rows to look at, no others are neighbours
    n_neighbors : IN
    progress : WORK (1,) zero; members looked at
    weights : OUT (q,) sum of an object's largest similarities to other objects
    budget : IN operations of this slice
    """
    q = members.shape[0]
    few = n_neighbors <= FEW
    largest = np.empty(n_neighbors if few else 0)
    similarities, others = np.empty(q), counts[members]
    first, last = next_rows(q, 2 * q + 8 * n_neighbors * n_neighbors if few else 64 * q, budget, progress)
    for a in range(first, last):
        for b in range(q):
            similarities[b] = association(matrix, values, members[a], members[b])
        others[a] -= 1  # not of itself
        weights[a] = (
            sum_of_few(similarities, others, largest) if few else sum_of_many(similarities, others, n_neighbors)
        )
        others[a] += 1
    return bool(last < q)


@jit
def weakest_link(
    matrix: Any, values: Any, members: Any, weights: Any, best: Any, left: Any, progress: Any, weakest: Any, budget: int
) -> bool:
    """Maximum spanning tree of two rows or more (Prim); returns whether edges are left to find.

    matrix : IN (m, m)
    values : IN
    members : IN (q,) rows of a cluster
    weights : IN (q,) their weights within it
    best : WORK (q,) -1; strongest edge of each to the tree
    left : WORK (q,) True; whether it is not in the tree
    progress : WORK (2,) zeros; edges found, member that comes into the tree next
    weakest : IN/OUT (1,) weakest edge of the tree, infinite before
    budget : IN operations of this slice
    """
    q = members.shape[0]
    e, a = progress[0], progress[1]
    while e < q - 1 and budget > 0:
        budget -= 2 * q
        left[a] = False
        nearest = -1
        for b in range(q):
            if left[b]:
                value = association(matrix, values, members[a], members[b])
                best[b] = max(best[b], value * weights[a] * weights[b])
                if nearest < 0 or best[b] > best[nearest]:
                    nearest = b
        weakest[0] = min(weakest[0], best[nearest])
        a = nearest
        e += 1
    progress[0], progress[1] = e, a
    return bool(e < q - 1)


@jit
def strongest_bridges(
    matrix: Any, values: Any, clusters: Any, weights: Any, progress: Any, bridges: Any, budget: int
) -> bool:
    """Returns whether rows are left to look at.

    matrix : IN (m, m)
    values : IN
    clusters : IN (m,) 0 … k - 1, negative = left out
    weights : IN (m,)
    progress : WORK (1,) zero; rows looked at
    bridges : IN/OUT (k,) strongest edge that leaves each cluster, 0 before
    budget : IN operations of this slice
    """
    m = clusters.shape[0]
    first, last = next_rows(m, 2 * m, budget, progress)
    for i in range(first, last):
        c = clusters[i]
        if c < 0:
            continue
        strongest = 0.0
        for j in range(clusters.shape[0]):
            if clusters[j] != c and clusters[j] >= 0:
                strongest = max(strongest, association(matrix, values, i, j) * weights[i] * weights[j])
        bridges[c] = max(bridges[c], strongest)
    return bool(last < m)
