"""Random pairs of objects: mean distances of clusterings from the consensus, and how sure the means are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit


@inner_jit
def distances_of_pair(i: int, j: int, rows: Any, tables: Any, distances: Any) -> None:
    """i : IN a row
    j : IN another
    rows : IN (m, p) codes, (p,) those that mean missing, the same of the s clusterings that are judged
    tables : IN (2, p + 1, p + 1) distance by partitions that label and that join the pair: joined, separated
    distances : OUT (s,) distance of each clustering, -1 where it does not label the pair
    """
    codes, absent, judged, judged_absent = rows
    labelled, joined = 0, 0
    for t in range(absent.shape[0]):
        if codes[i, t] != absent[t] and codes[j, t] != absent[t]:
            labelled += 1
            joined += codes[i, t] == codes[j, t]
    for t in range(judged_absent.shape[0]):
        if judged[i, t] == judged_absent[t] or judged[j, t] == judged_absent[t]:
            distances[t] = -1.0
        else:
            distances[t] = tables[0 if judged[i, t] == judged[j, t] else 1, labelled, joined]


@jit
def sum_distances(pairs: Any, rows: Any, tables: Any, sums: Any) -> None:
    """pairs : IN (2, k) rows
    rows : IN as in `distances_of_pair`
    tables : IN (2, p + 1, p + 1)
    sums : OUT (2, s) sum of the distances, pairs that the clustering labels
    """
    distances = np.empty(sums.shape[1])
    for k in range(pairs.shape[1]):
        distances_of_pair(pairs[0, k], pairs[1, k], rows, tables, distances)
        for t in range(distances.shape[0]):
            if distances[t] >= 0:
                sums[0, t] += distances[t]
                sums[1, t] += 1


@jit
def sum_squares(pairs: Any, rows: Any, tables: Any, means: Any, shares: Any, order: Any, squares: Any) -> None:
    """pairs : IN (2, k) rows
    rows : IN as in `distances_of_pair`
    tables : IN (2, p + 1, p + 1)
    means : IN (s,) mean distance
    shares : IN (s,) share of the pairs that the clustering labels
    order : IN (s,) the clusterings, best first
    squares : OUT (2, s) of the residuals; of the differences between neighbours in the order
    """
    distances, residuals = np.empty(order.shape[0]), np.empty(order.shape[0])
    for k in range(pairs.shape[1]):
        distances_of_pair(pairs[0, k], pairs[1, k], rows, tables, distances)
        for r in range(order.shape[0]):
            t = order[r]
            residuals[r] = (distances[t] - means[t]) / shares[t] if distances[t] >= 0 else 0.0
            squares[0, t] += residuals[r] * residuals[r]
            if r > 0:
                difference = residuals[r] - residuals[r - 1]
                squares[1, r - 1] += difference * difference
