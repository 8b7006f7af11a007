"""Rows of codes as points: sums of a table's rows, brought to length one."""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import jit


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
    halves, columns = np.empty(k, np.float32), centres.T.copy()
    for c in range(k):
        halves[c] = 0
        for s in range(q):
            halves[c] += centres[c, s] * centres[c, s] / 2
    distances = np.empty(k, np.float32)
    sums[:] = 0
    moved = 0
    for i in range(n):
        distances[:] = halves
        for s in range(q):
            for c in range(k):
                distances[c] -= points[i, s] * columns[s, c]
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
