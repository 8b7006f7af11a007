"""Pairs of objects that two partitions join, and longest edges on the way through a tree."""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import jit


@jit
def count_joined_pairs(labels: Any, numbers: Any, others: Any, width: int, table: Any, both: Any) -> None:
    """labels, numbers : IN (p, n), (p,) partitions and their numbers of clusters
    others : IN (q, n) others
    width : IN clusters of each of the others, at most
    table : WORK int64, ``width`` for each cluster of the first partitions
    both : OUT (p, q) int64 pairs of objects that both partitions join
    """
    for a in range(labels.shape[0]):
        for b in range(others.shape[0]):
            joined = 0
            for cell in range(numbers[a] * width):
                table[cell] = 0
            for i in range(labels.shape[1]):
                table[labels[a, i] * width + others[b, i]] += 1
            for cell in range(numbers[a] * width):
                joined += table[cell] * (table[cell] - 1)
            both[a, b] = joined // 2


def pair_agreement(labels: Any, numbers: Any, others: Any, of_others: Any, ari: Any, shared: Any) -> None:
    """labels, numbers : IN (p, n), (p,) partitions and their numbers of clusters
    others, of_others : IN (q, n), (q,) others
    ari : OUT (p, q) adjusted Rand indices
    shared : OUT (p, q) share of the pairs of objects of each that the other joins too
    """
    n, width = labels.shape[1], int(max(of_others))
    both = np.empty((len(labels), len(others)), dtype=np.int64)
    count_joined_pairs(labels, numbers, others, width, np.empty(width * int(max(numbers)), dtype=np.int64), both)
    first, second = (np.array([_n_pairs(np.bincount(one)) for one in many]) for many in (labels, others))
    expected, mean = first[:, None] * second / _n_pairs(np.array([n])), (first[:, None] + second) / 2
    differ = mean != expected
    ari[:] = np.where(differ, (both - expected) / np.where(differ, mean - expected, 1.0), 1.0)
    shared[:] = both / np.maximum(first, 1.0)[:, None]


def _n_pairs(sizes: Any) -> Any:
    """Pairs of objects within clusters of these sizes."""
    return (sizes * (sizes - 1) / 2).sum()


@jit
def longest_edges(pairs: Any, lengths: Any, rows: Any, out: Any) -> None:
    """pairs, lengths : IN (n - 1, 2), (n - 1,) of a tree in the order of `mutual_reachability_tree`
    rows : IN (r,)
    out : OUT (r, n) float32, the longest edge between each of these rows and every object
    """
    out[:] = -1.0
    for a in range(len(rows)):
        out[a, rows[a]] = 0.0
        for e in range(len(lengths) - 1, -1, -1):  # to where the tree began ...
            if out[a, pairs[e, 1]] >= 0:
                out[a, pairs[e, 0]] = max(out[a, pairs[e, 1]], lengths[e])
        for e in range(len(lengths)):  # ... and from there to all others
            if out[a, pairs[e, 1]] < 0:
                out[a, pairs[e, 1]] = max(out[a, pairs[e, 0]], lengths[e])
