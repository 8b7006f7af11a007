"""Complete linkage by the nearest-neighbour chain on a square matrix of bytes.

A merge is written to the row of the new cluster alone. Any other row takes note of it when it is next read: so all that
is read and written lies in rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage._jit import inner_jit, jit
from ensemblage.kernels._chain import end_of, extend, is_nearer, merge_end
from ensemblage.kernels._joined import count_joined, count_labelled

TILE = 256
"""Columns whose largest entry is kept; the width of the matrix is a multiple of it."""
MOST_LEVELS = 254
"""Different similarities that the bytes hold."""


@jit
def fill_square(columns: Any, missing: Any, level: Any, first: int, last: int, counters: Any, square: Any) -> None:
    """columns : IN (p, m) codes
    missing : IN (p,) code of the missing entry, or empty: nothing is missing
    level : IN (p + 1, p + 1) uint8 level of a similarity from its counts, from 1 up; (p + 1, 1) if nothing is missing
    first : IN rows first ≤ i < last
    counters : WORK (2, m) unsigned, counts to p
    square : OUT (m, w) uint8 levels; 0 on the diagonal and beyond m
    """
    m = columns.shape[1]
    joined, labelled = counters[0], counters[1]
    for i in range(first, last):
        codes, row = columns[:, i].copy(), square[i]
        count_joined(columns, codes, missing, 0, joined)
        if missing.shape[0] == 0:
            for j in range(m):
                row[j] = level[joined[j], 0]
        else:
            count_labelled(columns, codes, missing, 0, labelled)
            for j in range(m):
                row[j] = level[joined[j], labelled[j]]
        row[i] = 0
        row[m:] = 0


@inner_jit
def take_note(row: Any, pairs: Any, begin: int, end: int) -> None:
    """row : IN/OUT (w,) levels of a cluster with the others, 0 for those that are not there
    pairs : IN (m - 1, 2) merges ...
    begin : IN ... of which those from this one ...
    end : IN ... to the one before this are new to the row
    """
    for s in range(begin, end):
        first, second = pairs[s, 0], pairs[s, 1]
        row[first] = min(row[first], row[second])
        row[second] = 0


@inner_jit
def largest_level(row: Any, largest: Any) -> Any:
    """row : IN (w,)
    largest : OUT (w / TILE,) the largest entry of each tile
    """
    level = np.uint8(0)
    for t in range(largest.shape[0]):
        tile, most = row[t * TILE : (t + 1) * TILE], np.uint8(0)
        for j in range(TILE):
            most = max(most, tile[j])
        largest[t] = most
        level = max(level, most)
    return level


@inner_jit
def nearest_of_row(row: Any, before: int, link: float, largest: Any, chained: Any) -> tuple[int, float]:
    """The most similar cluster, and how similar it is.

    row : IN (w,) levels of a cluster with the others, 0 for those that are not there
    before : IN the one cluster of the chain that may be found; negative: none
    link : IN how similar it is
    largest : WORK (w / TILE,)
    chained : IN (m,)
    """
    m = chained.shape[0]
    best, nearest = link, before if before >= 0 else m
    level = largest_level(row, largest)
    if level < best:
        return nearest, best
    for t in range(largest.shape[0]):
        if largest[t] == level:
            for c in range(t * TILE, (t + 1) * TILE):
                if row[c] == level and (not chained[c] or c == before):
                    return (c, np.float64(level)) if level > best or c < nearest else (nearest, best)
    for c in range(m):
        if row[c] > 0 and is_nearer(np.float64(row[c]), c, m, best, nearest, before, chained):
            best, nearest = np.float64(row[c]), c
    return nearest, best


@jit
def square_chain(square: Any, chain: Any, seen: Any, lowest: Any, pairs: Any, similarities: Any, budget: int) -> bool:
    """`ensemblage.kernels._condensed.condensed_chain` for the least similarity.

    square : WORK (m, w) of `fill_square`
    chain : WORK Chain, as a plain tuple
    seen : WORK (m,) zeros; merges that each row has taken note of
    lowest : IN/OUT (1,) 0; no cluster there is has a lower number
    pairs : OUT (m - 1, 2) first rows of the two clusters of each merge, the smaller first
    similarities : OUT (m - 1,) levels
    budget : IN operations of this slice
    """
    _, _, chained, dead, progress = chain
    m, w = dead.shape[0], square.shape[1]
    largest = np.empty(w // TILE, np.uint8)
    while progress[1] < m - 1 and budget > 0:
        if progress[0] == 0:
            while dead[lowest[0]]:
                lowest[0] += 1
            extend(chain, lowest[0], -1.0)
        top, before, link = end_of(chain)
        budget -= w // 8 + progress[1] - seen[top]
        take_note(square[top], pairs, seen[top], progress[1])
        seen[top] = progress[1]
        nearest, similarity = nearest_of_row(square[top], before, link, largest, chained)
        if nearest != before:
            extend(chain, nearest, similarity)
            continue
        take_note(square[before], pairs, seen[before], progress[1])
        first, second = merge_end(chain, pairs, similarities)
        row, other = square[first], square[second]
        for c in range(w):
            row[c] = min(row[c], other[c])
        row[first] = row[second] = 0
        seen[first] = progress[1]
    return bool(progress[1] < m - 1)
