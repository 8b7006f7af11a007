"""Elite neighbours of label rows in the co-association graph, and random walks over these."""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._joined import count_joined, count_labelled
from ensemblage.kernels._neighbours import least_to_keep

ROUNDING = 1e-12
"""A co-association this little below another one counts as equal to it: sums of weights are rounded."""


@inner_jit
def associate_row(columns: Any, absent: Any, weights: Any, total: float, i: int, counters: Any, link: Any) -> None:
    """columns : IN (p, m) codes
    absent : IN (p,) code for missing; empty: nothing is missing
    weights : IN (p,) float64 weights of the partitions; None: 1 each
    total : IN weight of all partitions
    i : IN a row
    counters : WORK (2, m) unsigned; float64 with weights
    link : OUT (m,) co-association with each row, 0 with itself
    """
    m, row = columns.shape[1], columns[:, i].copy()
    joined, labelled = counters[0], counters[1]
    count_joined(columns, row, absent, 0, joined, weights)
    if absent.shape[0] > 0:
        count_labelled(columns, row, absent, 0, labelled, weights)
        for j in range(m):
            link[j] = joined[j] / labelled[j] if labelled[j] > 0 else 0.0
    else:
        for j in range(m):
            link[j] = joined[j] / total
    link[i] = 0


@jit
def find_thresholds(
    columns: Any, absent: Any, weights: Any, total: float, first: int, last: int, K: int, counters: Any, thresholds: Any
) -> None:
    """columns, absent, weights, total, counters : as in `associate_row`
    first, last : IN rows first … last - 1
    K : IN at most m
    thresholds : OUT (last - first,) what an elite neighbour is joined with at least: the K-th largest co-association
    """
    link = np.empty(columns.shape[1])
    for i in range(first, last):
        associate_row(columns, absent, weights, total, i, counters, link)
        thresholds[i - first] = least_to_keep(link, i, K, 0, True) - ROUNDING


@jit
def find_elite(
    columns: Any,
    absent: Any,
    weights: Any,
    total: float,
    first: int,
    last: int,
    thresholds: Any,
    counters: Any,
    degrees: Any,
    neighbours: Any,
    links: Any,
) -> None:
    """Rows of which either is an elite neighbour of the other.

    columns, absent, weights, total, counters : as in `associate_row`
    first, last : IN rows first … last - 1
    thresholds : IN (m,)
    degrees : OUT (last - first,) neighbours of each row
    neighbours : OUT those of one row after the other, ascending; empty: they are only counted
    links : OUT co-associations with them; as long
    """
    m = columns.shape[1]
    link, n_found = np.empty(m), 0
    for i in range(first, last):
        associate_row(columns, absent, weights, total, i, counters, link)
        before = n_found
        for j in range(m):
            if link[j] > 0 and (link[j] >= thresholds[i] or link[j] >= thresholds[j]):
                if neighbours.shape[0] > 0:
                    neighbours[n_found], links[n_found] = j, link[j]
                n_found += 1
        degrees[i - first] = n_found - before


@jit
def walk(indptr: Any, neighbours: Any, links: Any, before: Any, after: Any, points: Any, walked: Any) -> None:
    """diag(after) W diag(before) times a matrix.

    indptr, neighbours, links : IN W, (m, m) in CSR
    before, after : IN (m,)
    points : IN (m, b)
    walked : OUT (m, b)
    """
    b = points.shape[1]
    for i in range(walked.shape[0]):
        walked[i] = 0
        for e in range(indptr[i], indptr[i + 1]):
            j = neighbours[e]
            share = links[e] * before[j]
            for c in range(b):
                walked[i, c] += share * points[j, c]
        for c in range(b):
            walked[i, c] *= after[i]
