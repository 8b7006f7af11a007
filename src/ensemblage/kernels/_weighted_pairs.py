"""Pairs of objects by their weighted co-association, whose values are too many to be counted one by one."""

from typing import Any

from ensemblage.kernels._jit import jit
from ensemblage.kernels._joined import count_joined, count_labelled


@jit
def add_weighted_pairs(
    columns: Any,
    absent: Any,
    weights: Any,
    counts: Any,
    first: int,
    last: int,
    sums: Any,
    tally: Any,
    largest: Any,
) -> None:
    """columns : IN (p, m) codes of distinct rows
    absent : IN (p,) code for missing
    weights : IN (p,) float64
    counts : IN (m,) objects with each row
    first, last : IN pairs i < j with first ≤ i < last
    sums : WORK (2, m) float64
    tally : IN/OUT (b + 1,) int64, pairs whose positive co-association times b rounds to the bin
    largest : IN/OUT (b + 1,) float64, the largest of these co-associations
    """
    m, b = columns.shape[1], tally.shape[0] - 1
    for i in range(first, last):
        row, joined, labelled = columns[:, i].copy(), sums[0, : m - i - 1], sums[1, : m - i - 1]
        count_joined(columns, row, absent, i + 1, joined, weights)
        count_labelled(columns, row, absent, i + 1, labelled, weights)
        for j in range(m - i - 1):
            if joined[j] > 0:
                value = joined[j] / labelled[j]
                at = int(value * b + 0.5)
                tally[at] += counts[i] * counts[i + 1 + j]
                largest[at] = max(largest[at], value)
