"""Rows that many partitions join, row by row: edges of the co-association graph without the matrix."""

from typing import Any

import numpy as np

from ensemblage._jit import jit
from ensemblage.kernels._joined import count_joined, count_labelled


@jit
def least_to_keep(joined: Any, i: int, n_neighbors: int, p: int, weighted: bool) -> float:
    """The n_neighbors-th largest entry of others than i.

    joined : IN (m,) how strongly each row is joined with row i
    n_neighbors : IN
    p : IN number of partitions; joined is a number of them if weighted is False
    """
    m = joined.shape[0]
    if weighted:
        others = joined.copy()
        others[i] = 0
        return np.float64(np.partition(others, m - n_neighbors)[m - n_neighbors])
    histogram = np.zeros(p + 1, np.int64)
    for j in range(m):
        histogram[np.int64(joined[j])] += 1
    histogram[np.int64(joined[i])] -= 1
    level, n_above = p, histogram[p]
    while level > 0 and n_above < n_neighbors:
        level -= 1
        n_above += histogram[level]
    return np.float64(level)


@jit
def find_neighbours(
    columns: Any,
    absent: Any,
    weights: Any,
    first: int,
    last: int,
    total: float,
    threshold: float,
    n_neighbors: int,
    counters: Any,
    ends: Any,
    neighbours: Any,
    links: Any,
) -> int:
    """Returns the number of neighbours. Of equally strong ones, those that come next after the row (cyclically).

    columns : IN (p, m) codes
    absent : IN (p,) code for missing; empty: nothing is missing
    weights : IN (p,) float64 weights of the partitions; None: 1 each
    first : IN rows first … last - 1
    total : IN weight of all partitions
    threshold : IN rows of no larger co-association (joined / both labelled) are no neighbours
    n_neighbors : IN most per row; 0 = all
    counters : WORK (2, m) unsigned; float64 with weights
    ends : OUT (last - first,) int64, where each row's neighbours end
    neighbours : OUT int32, ascending from the row itself on and around
    links : OUT float64, how strongly
    """
    p, m = columns.shape
    joined, labelled = counters[0], counters[1]
    n_found = 0
    for i in range(first, last):
        row = columns[:, i].copy()
        count_joined(columns, row, absent, 0, joined, weights)
        if threshold > 0 and absent.shape[0] == 0:
            for j in range(m):
                if joined[j] / total <= threshold:
                    joined[j] = 0
        elif threshold > 0:
            count_labelled(columns, row, absent, 0, labelled, weights)
            for j in range(m):
                if joined[j] > 0 and joined[j] / labelled[j] <= threshold:
                    joined[j] = 0
        limit, n_ties = 0.0, m
        if n_neighbors > 0 and n_neighbors < m - 1:
            limit = least_to_keep(joined, i, n_neighbors, p, weights is not None)
            n_above = 0
            for j in range(m):
                n_above += joined[j] > limit and j != i
            n_ties = n_neighbors - n_above if limit > 0 else 0
        for step in range(1, m):
            j = i + step if i + step < m else i + step - m
            value = np.float64(joined[j])
            tied = value == limit and n_ties > 0 and limit > 0
            if value > limit or tied:
                n_ties -= tied
                neighbours[n_found], links[n_found] = j, value
                n_found += 1
        ends[i - first] = n_found
    return n_found
