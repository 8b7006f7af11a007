"""Random pairs of objects: mean distances of clusterings from the consensus, and how sure the means are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage._jit import jit


@jit
def distances_of_pair(
    row: Any,  # IN (p,) codes of one object in the ensemble
    other: Any,  # IN (p,) of the other
    n_clusters: Any,  # IN (p,) the code that means missing
    judged: Any,  # IN (s,) its codes in the clusterings that are judged
    judged_other: Any,  # IN (s,)
    judged_clusters: Any,  # IN (s,)
    tables: Any,  # IN (2, p + 1, p + 1) distance by partitions that label and that join the pair: joined, separated
    distances: Any,  # OUT (s,) distance of each clustering, -1 where it does not label the pair
) -> None:
    labelled, joined = 0, 0
    for t in range(row.shape[0]):
        if row[t] != n_clusters[t] and other[t] != n_clusters[t]:
            labelled += 1
            joined += row[t] == other[t]
    for t in range(judged.shape[0]):
        if judged[t] == judged_clusters[t] or judged_other[t] == judged_clusters[t]:
            distances[t] = -1.0
        else:
            distances[t] = tables[0 if judged[t] == judged_other[t] else 1, labelled, joined]


@jit
def sum_distances(
    pairs: Any,  # IN (2, k) rows
    codes: Any,  # IN (m, p)
    n_clusters: Any,  # IN (p,)
    judged: Any,  # IN (m, s)
    judged_clusters: Any,  # IN (s,)
    tables: Any,  # IN (2, p + 1, p + 1)
    sums: Any,  # OUT (2, s) sum of the distances, pairs that the clustering labels
) -> None:
    distances = np.empty(judged.shape[1])
    for k in range(pairs.shape[1]):
        i, j = pairs[0, k], pairs[1, k]
        distances_of_pair(codes[i], codes[j], n_clusters, judged[i], judged[j], judged_clusters, tables, distances)
        for t in range(distances.shape[0]):
            if distances[t] >= 0:
                sums[0, t] += distances[t]
                sums[1, t] += 1


@jit
def sum_squares(
    pairs: Any,  # IN (2, k) rows
    codes: Any,  # IN (m, p)
    n_clusters: Any,  # IN (p,)
    judged: Any,  # IN (m, s)
    judged_clusters: Any,  # IN (s,)
    tables: Any,  # IN (2, p + 1, p + 1)
    means: Any,  # IN (s,) mean distance
    shares: Any,  # IN (s,) share of the pairs that the clustering labels
    order: Any,  # IN (s,) the clusterings, best first
    squares: Any,  # OUT (2, s) of the residuals; of the differences between neighbours in the order
) -> None:
    distances = np.empty(judged.shape[1])
    residuals = np.empty(judged.shape[1])
    for k in range(pairs.shape[1]):
        i, j = pairs[0, k], pairs[1, k]
        distances_of_pair(codes[i], codes[j], n_clusters, judged[i], judged[j], judged_clusters, tables, distances)
        for r in range(order.shape[0]):
            t = order[r]
            residuals[r] = (distances[t] - means[t]) / shares[t] if distances[t] >= 0 else 0.0
            squares[0, t] += residuals[r] * residuals[r]
            if r > 0:
                difference = residuals[r] - residuals[r - 1]
                squares[1, r - 1] += difference * difference
