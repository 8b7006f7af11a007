"""Complete, average and single linkage by the nearest-neighbour chain on a condensed matrix of similarities.

Entry (i, j), i < j, of m rows lies at i (2 m - i - 1) / 2 + j - i - 1, as in SciPy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._chain import end_of, extend, is_nearer, merge_end
from ensemblage.kernels._jit import inner_jit, jit

COMPLETE, AVERAGE, SINGLE = 0, 1, 2


class Condensed(NamedTuple):
    """Similarities of m rows; for the average sums over pairs of objects."""

    matrix: NDArray[Any]
    """Condensed. For the average: what joins the pairs."""
    known: NDArray[Any]
    """Condensed, for the average: what labels both of the pairs; empty: as much for each pair."""
    sizes: NDArray[np.float64]
    """(m,) objects of each row."""


@jit
def start_of(i: int, m: int) -> int:
    """Where the entries (i, i + 1), (i, i + 2), … begin."""
    return i * (2 * m - i - 1) // 2


@jit
def place_of(a: int, b: int, m: int) -> int:
    """Where the entry of two rows lies."""
    return start_of(min(a, b), m) + max(a, b) - min(a, b) - 1


@inner_jit
def merge_entries(first: int, second: int, condensed: Any, linkage: int, left: Any, dead: Any) -> None:
    """first : IN the cluster that takes the other in
    second : IN
    condensed : IN/OUT Condensed
    linkage : IN
    left : IN the other clusters there are
    dead : IN (m,)
    """
    matrix, known, sizes = condensed
    m = sizes.shape[0]
    for c in left:
        if c == first or dead[c]:
            continue
        a, b = place_of(c, first, m), place_of(c, second, m)
        if linkage == AVERAGE:
            matrix[a] += matrix[b]
        elif linkage == SINGLE:
            matrix[a] = max(matrix[a], matrix[b])
        else:
            matrix[a] = min(matrix[a], matrix[b])
        if known.shape[0] > 0:
            known[a] = known[a] + known[b]
    sizes[first] += sizes[second]


@inner_jit
def nearest_entry(
    top: int, before: int, link: float, condensed: Any, linkage: int, left: Any, chained: Any, dead: Any
) -> tuple[int, float]:
    """The most similar cluster, and how similar it is.

    top : IN a cluster
    before : IN the one cluster of the chain that may be found; negative: none
    link : IN how similar it is
    condensed : IN Condensed
    linkage : IN
    left : IN the clusters there are
    chained : IN (m,)
    dead : IN (m,)
    """
    matrix, known, sizes = condensed
    m = sizes.shape[0]
    base, best, nearest = start_of(top, m) - top - 1, link, before if before >= 0 else m
    for c in left:
        if c == top:
            continue
        at = base + c if c > top else start_of(c, m) + top - c - 1
        value = np.float64(matrix[at])
        if known.shape[0] > 0:
            value = value / np.float64(known[at]) if known[at] > 0 else np.float64(0)
        elif linkage == AVERAGE:
            value /= sizes[c] * sizes[top]
        if is_nearer(value, c, top, best, nearest, before, chained) and not dead[c]:
            best, nearest = value, c
    return nearest, best


@jit
def condensed_chain(
    condensed: Any, linkage: int, chain: Any, left: Any, n_left: Any, pairs: Any, similarities: Any, budget: int
) -> bool:
    """Merges in the order of the chain. Ties: the smallest pair of first rows. Returns whether any is left to make.

    A ratio of two whole numbers is rounded once, so that equal ratios are equal.

    condensed : WORK Condensed, as a plain tuple
    linkage : IN AVERAGE is the ratio of the sums over all pairs, COMPLETE the least similarity, SINGLE the largest
    chain : WORK Chain, as a plain tuple
    left : WORK (m,) 0 … m - 1; the clusters, ascending, with dead ones that are taken out now and then
    n_left : IN/OUT (1,) m; entries of `left`
    pairs : OUT (m - 1, 2) first rows of the two clusters of each merge, the smaller first
    similarities : OUT (m - 1,) on the scale of the matrix
    budget : IN operations of this slice
    """
    _, _, chained, dead, progress = chain
    m = dead.shape[0]
    while progress[1] < m - 1 and budget > 0:
        if progress[0] == 0:
            s = 0
            while dead[left[s]]:
                s += 1
            extend(chain, left[s], -1.0)
        top, before, link = end_of(chain)
        budget -= 4 * n_left[0]
        nearest, similarity = nearest_entry(top, before, link, condensed, linkage, left[: n_left[0]], chained, dead)
        if nearest != before:
            extend(chain, nearest, similarity)
            continue
        first, second = merge_end(chain, pairs, similarities)
        merge_entries(first, second, condensed, linkage, left[: n_left[0]], dead)
        if progress[1] % 64 == 0:
            n_left[0] = without_dead(left[: n_left[0]], dead)
    return bool(progress[1] < m - 1)


@inner_jit
def without_dead(left: Any, dead: Any) -> int:
    """Close the gaps in `left`; returns how many are left."""
    kept = 0
    for c in left:
        if not dead[c]:
            left[kept] = c
            kept += 1
    return kept
