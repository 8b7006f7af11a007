"""Average linkage of label rows by the nearest-neighbour chain on cluster profiles: no pair matrix.

The mean similarity to a union lies between those to its parts. So the similarity of a cluster to its nearest one, once
found, bounds what it can have to any later one, and the nearest one stays the nearest as long as it is not merged.
Chains start where that bound is largest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._chain import end_of, extend, merge_end
from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._nearest import add_union, nearest_to, work_of_search


class Nearest(NamedTuple):
    """What is known of the nearest cluster of each of m clusters."""

    partner: NDArray[np.int64]
    """(m,) nearest cluster when last searched, negative = never."""
    searched: NDArray[np.int64]
    """(m,) merges made by then."""
    born: NDArray[np.int64]
    """(m,) merges made when the cluster got its members."""
    n_searched: NDArray[np.int64]
    """(1,) rows whose nearest one was found first of all."""

    @classmethod
    def of(cls, m: int) -> Nearest:
        """Nothing yet."""
        searched, born = np.zeros((2, m), dtype=np.int64)
        return cls(np.full(m, -1), searched, born, np.zeros(1, dtype=np.int64))


@inner_jit
def most_promising(clusters: Any) -> int:
    """The cluster that may be most similar to another."""
    rows, several, used, bound = clusters[1], clusters[2], clusters[5], clusters[11]
    best, chosen = -1.0, -1
    for j in range(used[0]):
        if bound[rows[j]] > best:
            best, chosen = bound[rows[j]], rows[j]
    for j in range(used[1]):
        if bound[several[j]] > best:
            best, chosen = bound[several[j]], several[j]
    return chosen


@inner_jit
def take_out(c: int, offsets: Any, clusters: Any) -> None:
    """Take a cluster that is about to be merged off its list; a row alone gets counts of its labels."""
    codes, rows, several, place, alone, used, sizes, labels, counts, begin, length, _ = clusters
    at = place[c]
    if not alone[c]:
        used[1] -= 1
        last = several[used[1]]
        several[at], place[last] = last, at
        return
    begin[c], length[c] = used[2], offsets.shape[0] - 1
    for t in range(length[c]):
        labels[used[2] + t], counts[used[2] + t] = offsets[t] + codes[at, t], sizes[c]
    used[2] += length[c]
    used[0] -= 1
    last = rows[used[0]]
    rows[at], place[last] = last, at
    codes[at] = codes[used[0]]


@jit
def move_together(clusters: Any) -> None:
    """Close the gaps between the labels of the clusters."""
    several, used, labels, counts, begin, length = (
        clusters[2], clusters[5], clusters[7], clusters[8], clusters[9], clusters[10],
    )  # fmt: skip
    order = np.argsort(begin[several[: used[1]]])
    end = 0
    for i in order:
        c = several[i]
        for e in range(length[c]):
            labels[end + e] = labels[begin[c] + e]
            counts[end + e] = counts[begin[c] + e]
        begin[c] = end
        end += length[c]
    used[2] = end


@inner_jit
def merge_labels(first: int, second: int, clusters: Any) -> None:
    """Write the label counts of both clusters behind all others; they are the first one's from now on."""
    _, _, _, _, _, used, _, labels, counts, begin, length, _ = clusters
    end = add_union(labels, counts, begin[first], length[first], begin[second], length[second], used[2])
    begin[first], length[first] = used[2], end - used[2]
    used[2] = end


@jit
def merge(first: int, second: int, offsets: Any, clusters: Any) -> None:
    """The second cluster becomes part of the first."""
    several, place, alone, used, sizes = clusters[2], clusters[3], clusters[4], clusters[5], clusters[6]
    labels, length = clusters[7], clusters[10]
    if used[2] + 4 * (offsets.shape[0] - 1) + length[first] + length[second] > labels.shape[0]:
        move_together(clusters)
    take_out(first, offsets, clusters)
    take_out(second, offsets, clusters)
    merge_labels(first, second, clusters)
    sizes[first] += sizes[second]
    alone[first], alone[second] = False, False
    several[used[1]], place[first] = first, used[1]
    used[1] += 1


@jit
def average_chain(
    compared: Any, clusters: Any, chain: Any, nearest: Any, pairs: Any, similarities: Any, budget: int
) -> bool:
    """Merges in the order of the chain. Ties: the smallest pair of first rows. Returns whether any is left to make.

    compared : IN Compared, as a plain tuple
    clusters : WORK Clusters, as a plain tuple
    chain : WORK Chain, as a plain tuple
    nearest : WORK Nearest, as a plain tuple
    pairs : OUT (m - 1, 2) first rows of the two clusters of each merge, the smaller first
    similarities : OUT (m - 1,)
    budget : IN operations of this slice
    """
    _, _, chained, dead, progress = chain
    partner, searched, born, n_searched = nearest
    bound, m = clusters[11], dead.shape[0]
    tables = np.zeros((3, compared[0][-1]))
    while progress[1] < m - 1 and budget > 0:
        # First every row finds its nearest one; then the most promising cluster starts a chain.
        top, before, link = n_searched[0], -1, -1.0
        if n_searched[0] < m:
            n_searched[0] += 1
        else:
            if progress[0] == 0:
                extend(chain, most_promising(clusters), -1.0)
            top, before, link = end_of(chain)
        near = partner[top]
        if near < 0 or dead[near] or born[near] > searched[top]:
            budget -= work_of_search(compared, clusters)
            near, bound[top] = nearest_to(top, before, link, compared, clusters, chained, tables)
            partner[top], searched[top] = near, progress[1]
        if progress[0] == 0:
            continue
        # With rounded sums two clusters may not see each other alike: a chain never turns back.
        if near != before and not chained[near]:
            extend(chain, near, bound[top])
            continue
        first, second = merge_end(chain, pairs, similarities)
        merge(first, second, compared[0], clusters)
        bound[first], partner[first], born[first] = link, -1, progress[1]
    return bool(progress[1] < m - 1)
