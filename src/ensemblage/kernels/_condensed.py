"""Complete and average linkage by the nearest-neighbour chain on a condensed matrix of similarities.

Entry (i, j), i < j, of m rows lies at i (2 m - i - 1) / 2 + j - i - 1, as in SciPy.
"""

from typing import Any

import numpy as np

from ensemblage._jit import jit


@jit
def start_of(i: int, m: int) -> int:
    """Where the entries (i, i + 1), (i, i + 2), … begin."""
    return i * (2 * m - i - 1) // 2


@jit
def condensed_chain(
    matrix: Any,  # WORK condensed similarities of m rows; for the average times the objects of both
    sizes: Any,  # WORK (m,) float64, objects of each row
    average: bool,  # IN mean of the pairs' similarities; otherwise the least
    pairs: Any,  # OUT (m - 1, 2) first rows of the two clusters of each merge, the smaller first
    similarities: Any,  # OUT (m - 1,) on the scale of the matrix
) -> None:
    """Merges in the order of the chain. Ties: the smallest pair of first rows."""
    m = sizes.shape[0]
    left = np.arange(m)  # the clusters by their first row, ascending, with gaps (-1) that are closed now and then
    n_left, n_merges = m, 0
    chain, links, n_chain, chained = np.empty(m, np.int64), np.empty(m), 0, np.zeros(m, np.bool_)
    dead = np.zeros(m, np.bool_)
    lowest = 0
    while n_merges < m - 1:
        if n_chain == 0:
            while dead[lowest]:
                lowest += 1
            chain[0], n_chain = lowest, 1
            chained[lowest] = True
        top = chain[n_chain - 1]
        before = chain[n_chain - 2] if n_chain > 1 else -1
        best = links[n_chain - 2] if n_chain > 1 else -1.0
        nearest = before if n_chain > 1 else m
        base = start_of(top, m) - top - 1
        for s in range(n_left):
            c = left[s]
            if c < top:
                value = np.float64(matrix[start_of(c, m) + top - c - 1])
            elif c > top:
                value = np.float64(matrix[base + c])
            else:
                continue
            if average:
                value /= sizes[c] * sizes[top]
            if (value > best or (value == best and c < nearest)) and not dead[c] and (not chained[c] or c == before):
                best, nearest = value, c
        if nearest != before:
            links[n_chain - 1] = best
            chain[n_chain] = nearest
            chained[nearest] = True
            n_chain += 1
            continue
        n_chain -= 2
        chained[top], chained[before] = False, False
        first, second = min(top, before), max(top, before)
        pairs[n_merges, 0], pairs[n_merges, 1] = first, second
        similarities[n_merges] = best
        n_merges += 1
        dead[second] = True
        for s in range(n_left):
            c = left[s]
            if c == first or dead[c]:
                continue
            a = start_of(min(c, first), m) + max(c, first) - min(c, first) - 1
            b = start_of(min(c, second), m) + max(c, second) - min(c, second) - 1
            matrix[a] = matrix[a] + matrix[b] if average else min(matrix[a], matrix[b])
        sizes[first] += sizes[second]
        if n_merges % 64 == 0:
            n_left = without_dead(left, n_left, dead)


@jit
def without_dead(left: Any, n_left: int, dead: Any) -> int:
    """Close the gaps in `left`; returns how many are left."""
    kept = 0
    for s in range(n_left):
        if not dead[left[s]]:
            left[kept] = left[s]
            kept += 1
    return kept
