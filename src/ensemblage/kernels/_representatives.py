"""Objects by their nearest representatives: who these are, and what the graph of both sides makes of them."""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit


@inner_jit
def nearest_column(row: Any, columns: Any, first: int, last: int, squares: Any) -> int:
    """The column of least squared distance, the first on ties.

    row : IN (q,)
    columns : IN (q, c), points in columns: their distances are summed side by side
    first, last : IN columns first … last - 1
    squares : WORK (c,)
    """
    squares[first:last] = 0
    for t in range(row.shape[0]):
        for j in range(first, last):
            away = row[t] - columns[t, j]
            squares[j] += away * away
    nearest = first
    for j in range(first + 1, last):
        if squares[j] < squares[nearest]:
            nearest = j
    return nearest


@jit
def nearest_representatives(
    X: Any,
    representatives: Any,
    group_centres: Any,
    members: Any,
    ends: Any,
    order: Any,
    around: Any,
    neighbours: Any,
    distances: Any,
) -> None:
    """The approximate K nearest representatives of each row: of its nearest group, the nearest; those near that one.

    X : IN (n, q)
    representatives : IN (P, q)
    group_centres : IN (q, g)
    members : IN (q, P) representatives, group by group
    ends : IN (g + 1,) where the members of each group begin, and P; no group is empty
    order : IN (P,) numbers of the members
    around : IN (P, c) the c nearest representatives of each, itself included
    neighbours : OUT (n, K) from the nearest on; of equally near ones, the first in ``around``
    distances : OUT (n, K) float64
    """
    K = neighbours.shape[1]
    near, work = np.empty(K), np.empty(max(members.shape[1], group_centres.shape[1]), X.dtype)
    for i in range(X.shape[0]):
        row = X[i]
        group = nearest_column(row, group_centres, 0, group_centres.shape[1], work)
        itself = order[nearest_column(row, members, ends[group], ends[group + 1], work)]
        near[:] = np.inf
        for j in around[itself]:
            square = 0.0
            for t in range(row.shape[0]):
                away = row[t] - representatives[j, t]
                square += away * away
            place = K
            while place > 0 and square < near[place - 1]:
                place -= 1
            if place < K:
                for s in range(K - 1, place, -1):
                    near[s], neighbours[i, s] = near[s - 1], neighbours[i, s - 1]
                near[place], neighbours[i, place] = square, j
        for s in range(K):
            distances[i, s] = np.sqrt(near[s])


@jit
def add_walk(neighbours: Any, affinities: Any, sums: Any, walk: Any) -> None:
    """neighbours : IN (n, K) columns of the entries of each row of B
    affinities : IN (n, K) entries, above 0
    sums : IN/OUT (P,), to which the column sums of B are added
    walk : IN/OUT (P, P), to which B' D^-1 B is added; D are the row sums of B
    """
    n, K = neighbours.shape
    for i in range(n):
        degree = 0.0
        for s in range(K):
            degree += affinities[i, s]
        for s in range(K):
            j, share = neighbours[i, s], affinities[i, s] / degree
            sums[j] += affinities[i, s]
            for t in range(K):
                walk[j, neighbours[i, t]] += share * affinities[i, t]


@jit
def embed(neighbours: Any, affinities: Any, table: Any, points: Any) -> None:
    """neighbours, affinities : IN (n, K)
    table : IN (P, k) float64, coordinates of each representative
    points : OUT (n, k) float32, means of the neighbours by affinity, brought to length one
    """
    K, k = neighbours.shape[1], table.shape[1]
    total = np.empty(k)
    for i in range(neighbours.shape[0]):
        total[:] = 0
        degree = 0.0
        for s in range(K):
            degree += affinities[i, s]
        for s in range(K):
            row, share = table[neighbours[i, s]], affinities[i, s] / degree
            for c in range(k):
                total[c] += share * row[c]
        length = 0.0
        for c in range(k):
            length += total[c] * total[c]
        length = np.sqrt(length) + 1e-10
        for c in range(k):
            points[i, c] = total[c] / length
