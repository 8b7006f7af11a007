"""Points: their k-means, their nearest representatives, and label rows as points.

k-means comes twice, for two kinds of data: `best_of_starts` is for small data and many starts (k-means++ and Lloyd's
iterations, Arthur & Vassilvitskii 2007, in float64); `move_points` is one step for many points in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._table_rows import add_weighted_rows
from ensemblage.kernels._vectors import LANES

BLOCK = 256
"""Objects whose distances are counted at once: feature by feature, so that the compiler makes vectors of them."""


@inner_jit
def squared_distances(columns: Any, first: Any, centres: Any, squares: Any) -> None:
    """Of some objects in a row to centres, summed in the order of the features; each feature is read once.

    columns : IN (d, n)
    first : IN the first of the objects
    centres : IN (k, d)
    squares : OUT (k, m) of objects first to first + m - 1
    """
    d, (k, m) = columns.shape[0], squares.shape
    squares[:] = 0.0
    # Four features at a time, added in their order: a sum is loaded and stored once for them.
    for f in range(0, d - 3, 4):
        p, q = columns[f, first : first + m], columns[f + 1, first : first + m]
        r, s = columns[f + 2, first : first + m], columns[f + 3, first : first + m]
        for c in range(k):
            row, w, x, y, z = squares[c], centres[c, f], centres[c, f + 1], centres[c, f + 2], centres[c, f + 3]
            for i in range(m):
                row[i] = row[i] + (p[i] - w) ** 2 + (q[i] - x) ** 2 + (r[i] - y) ** 2 + (s[i] - z) ** 2
    for f in range(d - d % 4, d):
        part = columns[f, first : first + m]
        for c in range(k):
            row, at = squares[c], centres[c, f]
            for i in range(m):
                row[i] += (part[i] - at) ** 2


@jit
def spread_seeds(columns: Any, uniforms: Any, least: Any, centres: Any) -> None:
    """k-means++: each further centre is an object, with a chance that grows with its squared distance to the others.

    columns : IN (d, n)
    uniforms : IN (k,) in [0, 1)
    least : WORK (n,)
    centres : OUT (k, d)
    """
    n = columns.shape[1]
    squares = np.empty((1, n))
    least[:] = 1.0
    for c in range(centres.shape[0]):
        total = 0.0
        for i in range(n):
            total += least[i]
        passed, chosen = uniforms[c] * total, n - 1
        for i in range(n):
            passed -= least[i]
            if passed < 0:
                chosen = i
                break
        for f in range(columns.shape[0]):
            centres[c, f] = columns[f, chosen]
        squared_distances(columns, np.int64(0), centres[c : c + 1], squares)
        for i in range(n):
            if c == 0 or squares[0, i] < least[i]:
                least[i] = squares[0, i]


@jit
def iterate(
    X: Any, columns: Any, centres: Any, labels: Any, least: Any, sizes: Any, room: Any, nearest: Any, max_iter: int
) -> float:
    """Lloyd's iterations until no label changes; returns the sum of squared distances to the means.

    A cluster that loses all its objects begins again at the object that is farthest from its mean.

    X : IN (n, d)
    columns : IN (d, n) the same
    centres : IN/OUT (k, d)
    labels : OUT (n,)
    least : WORK (n,)
    sizes : WORK (k,) int64
    room, nearest : WORK (k * BLOCK,), (BLOCK,) int32
    """
    n, k = X.shape[0], centres.shape[0]
    labels[:] = -1
    total = 0.0
    for _ in range(max_iter):
        changed, total = False, 0.0
        for first in range(0, n, BLOCK):
            size = min(BLOCK, n - first)
            best = least[first : first + size]
            best[:] = np.inf
            nearest[:] = 0
            squares = room[: k * size].reshape(k, size)
            squared_distances(columns, first, centres, squares)
            for c in range(k):
                for i in range(size):
                    if squares[c, i] < best[i]:
                        best[i], nearest[i] = squares[c, i], c
            for i in range(size):
                changed = changed or labels[first + i] != nearest[i]
                labels[first + i] = nearest[i]
                total += best[i]
        if not changed:
            break
        sizes[:] = 0
        for i in range(n):
            sizes[labels[i]] += 1
        for c in range(k):
            if sizes[c] == 0:
                farthest = 0
                for i in range(n):
                    if least[i] > least[farthest]:
                        farthest = i
                if least[farthest] > 0:
                    sizes[labels[farthest]] -= 1
                    labels[farthest], least[farthest], sizes[c] = c, 0.0, 1
        centres[:] = 0.0
        for i in range(n):
            row, centre = X[i], centres[labels[i]]
            for f in range(row.shape[0]):
                centre[f] += row[f]
        for c in range(k):
            for f in range(X.shape[1]):
                if sizes[c] > 0:
                    centres[c, f] /= sizes[c]
    return total


@jit
def best_of_starts(X: Any, uniforms: Any, max_iter: int, labels: Any) -> float:
    """The least sum of squared distances to the means over some starts of k-means.

    X : IN (n, d)
    uniforms : IN (n_init, k) in [0, 1)
    labels : OUT (n,) int32, of the best start
    """
    n, (n_init, k) = X.shape[0], uniforms.shape
    centres, least, sizes = np.empty((k, X.shape[1])), np.empty(n), np.empty(k, dtype=np.int64)
    room, nearest = np.empty(k * BLOCK), np.empty(BLOCK, dtype=np.int32)
    columns, found, best = np.ascontiguousarray(X.T), np.empty_like(labels), np.inf
    for start in range(n_init):
        spread_seeds(columns, uniforms[start], least, centres)
        total = iterate(X, columns, centres, found, least, sizes, room, nearest, max_iter)
        if total < best:
            best = total
            for i in range(n):
                labels[i] = found[i]
    return best


@jit
def embed_rows(codes: Any, offsets: Any, table: Any, points: Any, least: float) -> None:
    """codes : IN (n, p)
    offsets : IN (p + 1,)
    table : IN (offsets[p], k) float64, coordinates of each label, 0 for missing
    points : OUT (n, k) float32, of length one; 0 where nothing is labelled
    least : IN added to the length that a point is divided by, so that one of rounding errors comes near 0
    """
    k = table.shape[1]
    total = np.empty(k)
    for i in range(codes.shape[0]):
        total[:] = 0
        for j in range(codes.shape[1]):
            row = table[offsets[j] + codes[i, j]]
            for c in range(k):
                total[c] += row[c]
        length = 0.0
        for c in range(k):
            length += total[c] * total[c]
        length = np.sqrt(length)
        for c in range(k):
            points[i, c] = total[c] / (length + least) if length > 0 else 0


@jit
def move_points(points: Any, counts: Any, centres: Any, clusters: Any, sums: Any) -> int:
    """One step of k-means; returns how many points moved.

    points : IN (n, q) float32
    counts : IN (n,) objects of each point
    centres : IN (k, q) float32
    clusters : IN/OUT (n,) nearest centre, the first on ties
    sums : OUT (k, q + 1) float64, per cluster: points times counts, counts
    """
    n, q = points.shape
    k = centres.shape[0]
    # Half the squared length of each centre less its product with a point: rows of a table, the first one times 1.
    table = np.zeros((q + 1, k + -k % LANES), np.float32)
    for c in range(k):
        for s in range(q):
            table[0, c] += centres[c, s] * centres[c, s] / 2
            table[1 + s, c] = centres[c, s]
    rows, starts, weights = np.zeros((1, q + 1), np.uint32), np.zeros(q + 1, np.uint64), np.ones(q + 1, np.float32)
    for s in range(q):
        rows[0, 1 + s] = 1 + s
    flat, distances = table.ravel(), np.empty(table.shape[1], np.float32)
    sums[:] = 0
    moved = 0
    for i in range(n):
        for s in range(q):
            weights[1 + s] = -points[i, s]
        add_weighted_rows(flat, rows, 0, starts, distances, weights)
        best, nearest = np.float32(np.inf), 0
        for c in range(k):
            if distances[c] < best:
                best, nearest = distances[c], c
        moved += clusters[i] != nearest
        clusters[i] = nearest
        for s in range(q):
            sums[nearest, s] += np.float64(points[i, s]) * counts[i]
        sums[nearest, q] += counts[i]
    return moved


@jit
def add_members(X: Any, labels: Any, sums: Any, sizes: Any) -> None:
    """X : IN (n, m)
    labels : IN (n,) cluster of each row
    sums : IN/OUT (k, m) float64, to which the rows of each cluster are added in their order
    sizes : IN/OUT (k,) int64
    """
    for i in range(X.shape[0]):
        c = labels[i]
        sizes[c] += 1
        for t in range(X.shape[1]):
            sums[c, t] += X[i, t]


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
def embed_by_neighbours(neighbours: Any, affinities: Any, table: Any, points: Any) -> None:
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


@jit
def gower(numbers: Any, categories: Any, first: int, last: int, distances: Any) -> None:
    """numbers : IN (n, a) of range 1, NaN where missing
    categories : IN (n, b) −1 where missing
    first : IN rows of this call: first, ...
    last : IN ... to last - 1; pairs with all earlier rows
    distances : OUT (n, n) mean over the columns that both rows have, NaN where there is none
    """
    for i in range(first, last):
        distances[i, i] = 0.0
        for j in range(i):
            total, n_both = 0.0, 0
            for f in range(numbers.shape[1]):
                difference = abs(numbers[i, f] - numbers[j, f])
                if not np.isnan(difference):
                    total += difference
                    n_both += 1
            for f in range(categories.shape[1]):
                a, b = categories[i, f], categories[j, f]
                if a >= 0 and b >= 0:
                    total += a != b
                    n_both += 1
            distances[i, j] = distances[j, i] = total / n_both if n_both else np.nan
