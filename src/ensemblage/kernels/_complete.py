"""Complete linkage by the nearest-neighbour chain on rows of bytes.

A row is made when it is first read. A merge is written to the row of the new cluster alone; any other one takes note of
it when it is next read. So all that is read and written lies in rows, and few of them are there at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._chain import end_of, extend, is_nearer, merge_end
from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._joined import count_joined, count_labelled

TILE = 256
"""Columns whose largest entry is kept; the width of the matrix is a multiple of it."""
MOST_LEVELS = 254
"""Different similarities that the bytes hold."""


class LevelRows(NamedTuple):
    """Rows of levels of similarities, from 1 up, of clusters with all others; 0 for those that are not there."""

    square: NDArray[np.uint8]
    """(m, w)"""
    place: NDArray[np.int64]
    """(m,) the row of a cluster; negative: not made yet."""
    seen: NDArray[np.int64]
    """(m,) merges that it has taken note of."""
    spare: NDArray[np.int64]
    """(m,) rows that no cluster has any more, ..."""
    used: NDArray[np.int64]
    """(2,) ... how many, and rows that were ever used."""

    @classmethod
    def of(cls, m: int) -> LevelRows:
        width = -(-m // TILE) * TILE
        place, spare = np.full(m, -1), np.empty(m, dtype=np.int64)
        return cls(np.empty((m, width), np.uint8), place, np.zeros(m, np.int64), spare, np.zeros(2, np.int64))


@jit
def fill_row(i: int, columns: Any, missing: Any, level: Any, counters: Any, row: Any) -> None:
    """columns : IN (p, m) codes
    missing : IN (p,) code of the missing entry, or empty: nothing is missing
    level : IN (p + 1, p + 1) uint8 level of a similarity from its counts, from 1 up; (p + 1, 1) if nothing is missing
    counters : WORK (2, m) uint8
    row : OUT (w,) uint8 levels of row i with the others; 0 for itself and beyond m
    """
    m, joined, labelled = columns.shape[1], counters[0], counters[1]
    codes = columns[:, i].copy()
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


@inner_jit
def row_of(i: int, compared: Any, rows: Any, counters: Any, pairs: Any, n_merges: int) -> Any:
    """The row of a cluster, up to date.

    i : IN the cluster
    compared : IN columns, missing and level of `fill_row`
    rows : IN/OUT LevelRows
    counters : WORK (2, m) uint8
    pairs : IN (m - 1, 2) merges, of which there are ...
    n_merges : IN
    """
    square, place, seen, spare, used = rows
    if place[i] < 0:
        if used[0] > 0:
            used[0] -= 1
            place[i] = spare[used[0]]
        else:
            place[i] = used[1]
            used[1] += 1
        columns, missing, level = compared
        fill_row(i, columns, missing, level, counters, square[place[i]])
    row = square[place[i]]
    take_note(row, pairs, seen[i], n_merges)
    seen[i] = n_merges
    return row


@jit
def complete_chain(
    compared: Any, rows: Any, chain: Any, lowest: Any, pairs: Any, similarities: Any, budget: int
) -> bool:
    """`ensemblage.kernels._condensed.condensed_chain` for the least similarity.

    compared : IN columns, missing and level of `fill_row`
    rows : WORK LevelRows, as a plain tuple
    chain : WORK Chain, as a plain tuple
    lowest : IN/OUT (1,) 0; no cluster there is has a lower number
    pairs : OUT (m - 1, 2) first rows of the two clusters of each merge, the smaller first
    similarities : OUT (m - 1,) levels
    budget : IN operations of this slice
    """
    square, place, seen, spare, used = rows
    _, _, chained, dead, progress = chain
    (m, w), p = square.shape, compared[0].shape[0]
    largest, counters = np.empty(w // TILE, np.uint8), np.empty((2, m), np.uint8)
    while progress[1] < m - 1 and budget > 0:
        if progress[0] == 0:
            while dead[lowest[0]]:
                lowest[0] += 1
            extend(chain, lowest[0], -1.0)
        top, before, link = end_of(chain)
        budget -= w // 8 + progress[1] - seen[top] + (m * (p + 8) // 16 if place[top] < 0 else 0)
        row = row_of(top, compared, rows, counters, pairs, progress[1])
        nearest, similarity = nearest_of_row(row, before, link, largest, chained)
        if nearest != before:
            extend(chain, nearest, similarity)
            continue
        other = row_of(before, compared, rows, counters, pairs, progress[1])
        first, second = merge_end(chain, pairs, similarities)
        for c in range(w):
            row[c] = min(row[c], other[c])
        row[first] = row[second] = 0
        spare[used[0]] = place[before]
        used[0] += 1
        place[first], seen[first] = place[top], progress[1]
    return bool(progress[1] < m - 1)
