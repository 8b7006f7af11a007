"""Complete and average linkage by the nearest-neighbour chain on a condensed matrix of similarities.

Entry (i, j), i < j, of m rows lies at i (2 m - i - 1) / 2 + j - i - 1, as in SciPy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage._jit import jit


class Condensed(NamedTuple):
    """Similarities of m rows; for the average sums over pairs of objects."""

    matrix: NDArray[Any]
    """Condensed. For the average: what joins the pairs."""
    known: NDArray[Any]
    """Condensed, for the average: what labels both of the pairs; empty: as much for each pair."""
    sizes: NDArray[np.float64]
    """(m,) objects of each row."""


class Chain(NamedTuple):
    """The chain of nearest neighbours and the clusters there are, by their first row."""

    left: NDArray[np.int64]
    """(m,) the clusters, ascending, with dead ones that are taken out now and then."""
    dead: NDArray[np.bool_]
    """(m,) whether a cluster was merged into another."""
    nodes: NDArray[np.int64]
    """(m,) the chain."""
    links: NDArray[np.float64]
    """(m,) similarity of each to the next."""
    chained: NDArray[np.bool_]
    """(m,) whether a cluster is on the chain."""
    progress: NDArray[np.int64]
    """(4,) entries of `left`, merges made, length of the chain, the lowest cluster that may be alive."""

    @classmethod
    def of(cls, m: int) -> Chain:
        """No chain yet."""
        dead, chained = np.zeros((2, m), dtype=np.bool_)
        return cls(np.arange(m), dead, np.empty(m, np.int64), np.empty(m), chained, np.array([m, 0, 0, 0]))


@jit
def start_of(i: int, m: int) -> int:
    """Where the entries (i, i + 1), (i, i + 2), … begin."""
    return i * (2 * m - i - 1) // 2


@jit
def place_of(a: int, b: int, m: int) -> int:
    """Where the entry of two rows lies."""
    return start_of(min(a, b), m) + max(a, b) - min(a, b) - 1


@jit
def merge_entries(
    first: int,  # IN the cluster that takes the other in
    second: int,  # IN
    condensed: Any,  # IN/OUT Condensed
    average: bool,
    left: Any,  # IN the other clusters there are
    dead: Any,  # IN (m,)
) -> None:
    matrix, known, sizes = condensed
    m = sizes.shape[0]
    for c in left:
        if c == first or dead[c]:
            continue
        a, b = place_of(c, first, m), place_of(c, second, m)
        matrix[a] = matrix[a] + matrix[b] if average else min(matrix[a], matrix[b])
        if known.shape[0] > 0:
            known[a] = known[a] + known[b]
    sizes[first] += sizes[second]


@jit
def condensed_chain(
    condensed: Any,  # WORK Condensed, as a plain tuple
    average: bool,  # IN ratio of the sums over all pairs; otherwise the least similarity
    chain: Any,  # WORK Chain, as a plain tuple
    pairs: Any,  # OUT (m - 1, 2) first rows of the two clusters of each merge, the smaller first
    similarities: Any,  # OUT (m - 1,) on the scale of the matrix
    budget: int,  # IN operations of this slice
) -> bool:
    """Merges in the order of the chain. Ties: the smallest pair of first rows. Returns whether any is left to make.

    A ratio of two whole numbers is rounded once, so that equal ratios are equal.
    """
    matrix, known, sizes = condensed
    left, dead, nodes, links, chained, progress = chain
    m = sizes.shape[0]
    two = known.shape[0] > 0
    n_left, n_merges, n_chain, lowest = progress[0], progress[1], progress[2], progress[3]
    while n_merges < m - 1 and budget > 0:
        if n_chain == 0:
            while dead[lowest] and lowest < m - 1:
                lowest += 1
            nodes[0], n_chain = lowest, 1
            chained[lowest] = True
        top = nodes[n_chain - 1]
        before = nodes[n_chain - 2] if n_chain > 1 else -1
        best = links[n_chain - 2] if n_chain > 1 else -1.0
        nearest = before if n_chain > 1 else m
        budget -= 4 * n_left
        base = start_of(top, m) - top - 1
        for s in range(n_left):
            c = left[s]
            if c == top:
                continue
            at = base + c if c > top else start_of(c, m) + top - c - 1
            value = np.float64(matrix[at])
            if two:
                value = value / np.float64(known[at]) if known[at] > 0 else np.float64(0)
            elif average:
                value /= sizes[c] * sizes[top]
            if (value > best or (value == best and c < nearest)) and not dead[c] and (not chained[c] or c == before):
                best, nearest = value, c
        if nearest != before:
            links[n_chain - 1] = best
            nodes[n_chain] = nearest
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
        merge_entries(first, second, condensed, average, left[:n_left], dead)
        if n_merges % 64 == 0:
            n_left = without_dead(left, n_left, dead)
    progress[0], progress[1], progress[2], progress[3] = n_left, n_merges, n_chain, lowest
    return bool(n_merges < m - 1)


@jit
def without_dead(left: Any, n_left: int, dead: Any) -> int:
    """Close the gaps in `left`; returns how many are left."""
    kept = 0
    for s in range(n_left):
        if not dead[left[s]]:
            left[kept] = left[s]
            kept += 1
    return kept
