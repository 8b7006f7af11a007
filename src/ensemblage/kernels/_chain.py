"""The nearest-neighbour chain of agglomerative clustering. Of equally similar clusters the lowest number is nearest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._jit import inner_jit, jit


class Chain(NamedTuple):
    """The chain over m clusters, named by their first row."""

    nodes: NDArray[np.int64]
    """(m,)"""
    links: NDArray[np.float64]
    """(m,) similarity of each to the next."""
    chained: NDArray[np.bool_]
    """(m,) whether a cluster is on the chain."""
    dead: NDArray[np.bool_]
    """(m,) whether a cluster was merged into another."""
    progress: NDArray[np.int64]
    """(2,) length of the chain, merges made."""

    @classmethod
    def of(cls, m: int) -> Chain:
        """No chain yet."""
        chained, dead = np.zeros((2, m), dtype=np.bool_)
        return cls(np.empty(m, dtype=np.int64), np.empty(m), chained, dead, np.zeros(2, dtype=np.int64))


@inner_jit
def is_nearer(similarity: float, other: int, itself: int, best: float, nearest: int, before: int, chained: Any) -> bool:
    """other : IN a cluster of this similarity to ...
    itself : IN ... this one
    best : IN largest similarity so far
    nearest : IN cluster of that similarity
    before : IN the one cluster of the chain that may be the nearest
    chained : IN (m,)
    """
    is_better = similarity > best or (similarity == best and other < nearest)
    return is_better and other != itself and (not chained[other] or other == before)


@inner_jit
def end_of(chain: Any) -> tuple[Any, Any, Any]:
    """The last cluster, the one before it (-1: none), and how similar they are."""
    nodes, links, _, _, progress = chain
    n = progress[0]
    return (nodes[n - 1], nodes[n - 2], links[n - 2]) if n > 1 else (nodes[0], -1, -1.0)


@jit
def extend(chain: Any, node: int, similarity: float) -> None:
    """Put a cluster at the end; ``similarity`` is that to the last one."""
    nodes, links, chained, _, progress = chain
    n = progress[0]
    if n > 0:
        links[n - 1] = similarity
    nodes[n], chained[node] = node, True
    progress[0] += 1


@inner_jit
def merge_end(chain: Any, pairs: Any, similarities: Any) -> tuple[int, int]:
    """Merge the last two clusters; returns the one that takes the other in, and the other.

    chain : IN/OUT without its last two clusters
    pairs : OUT (m - 1, 2) first rows of the two clusters of each merge, the smaller first
    similarities : OUT (m - 1,)
    """
    _, _, chained, dead, progress = chain
    last, before, similarity = end_of(chain)
    first, second, s = min(last, before), max(last, before), progress[1]
    chained[last], chained[before], dead[second] = False, False, True
    pairs[s, 0], pairs[s, 1], similarities[s] = first, second, similarity
    progress[0] -= 2
    progress[1] += 1
    return first, second
