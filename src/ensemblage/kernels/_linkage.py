"""Linkage on similarities of all pairs of rows: the nearest-neighbour chain on a condensed matrix, or on rows of bytes.

Of equally similar clusters the lowest number is nearest. Entry (i, j), i < j, of a condensed matrix of m rows lies at
i (2 m - i - 1) / 2 + j - i - 1, as in SciPy.

Complete linkage of rows of bytes: a row is made when it is first read. A merge is written to the row of the new cluster
alone; any other one takes note of it when it is next read. So all that is read and written lies in rows, and few of
them are there at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._jit import inner_jit, is_set, jit
from ensemblage.kernels._pairs import ROWS_AT_ONCE, count_joined, count_labelled


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
    n_of: NDArray[np.int64]
    """(2,) clusters on the chain, merges made."""

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
    nodes, links, _, _, n_of = chain
    n = n_of[0]
    return (nodes[n - 1], nodes[n - 2], links[n - 2]) if n > 1 else (nodes[0], -1, -1.0)


@jit
def extend(chain: Any, node: int, similarity: float) -> None:
    """Put a cluster at the end; ``similarity`` is that to the last one."""
    nodes, links, chained, _, n_of = chain
    n = n_of[0]
    if n > 0:
        links[n - 1] = similarity
    nodes[n], chained[node] = node, True
    n_of[0] += 1


@inner_jit
def merge_end(chain: Any, pairs: Any, similarities: Any) -> tuple[int, int]:
    """Merge the last two clusters; returns the one that takes the other in, and the other.

    chain : IN/OUT without its last two clusters
    pairs : OUT (m - 1, 2) first rows of the two clusters of each merge, the smaller first
    similarities : OUT (m - 1,)
    """
    _, _, chained, dead, n_of = chain
    last, before, similarity = end_of(chain)
    first, second, s = min(last, before), max(last, before), n_of[1]
    chained[last], chained[before], dead[second] = False, False, True
    pairs[s, 0], pairs[s, 1], similarities[s] = first, second, similarity
    n_of[0] -= 2
    n_of[1] += 1
    return first, second


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
    condensed: Any, linkage: int, chain: Any, left: Any, pairs: Any, similarities: Any, stop_flag: Any
) -> None:
    """Merges in the order of the chain. Ties: the smallest pair of first rows.

    A ratio of two whole numbers is rounded once, so that equal ratios are equal.

    condensed : WORK Condensed, as a plain tuple
    linkage : IN AVERAGE is the ratio of the sums over all pairs, COMPLETE the least similarity, SINGLE the largest
    chain : WORK Chain, as a plain tuple
    left : WORK (m,) 0 … m - 1; the clusters, ascending, with dead ones that are taken out now and then
    pairs : OUT (m - 1, 2) first rows of the two clusters of each merge, the smaller first
    similarities : OUT (m - 1,) on the scale of the matrix
    stop_flag : IN (1,)
    """
    _, _, chained, dead, n_of = chain
    n_left = m = dead.shape[0]
    while n_of[1] < m - 1 and not is_set(stop_flag):
        if n_of[0] == 0:
            s = 0
            while dead[left[s]]:
                s += 1
            extend(chain, left[s], -1.0)
        top, before, link = end_of(chain)
        nearest, similarity = nearest_entry(top, before, link, condensed, linkage, left[:n_left], chained, dead)
        if nearest != before:
            extend(chain, nearest, similarity)
            continue
        first, second = merge_end(chain, pairs, similarities)
        merge_entries(first, second, condensed, linkage, left[:n_left], dead)
        if n_of[1] % 64 == 0:
            n_left = without_dead(left[:n_left], dead)


@inner_jit
def without_dead(left: Any, dead: Any) -> int:
    """Close the gaps in `left`; returns how many are left."""
    kept = 0
    for c in left:
        if not dead[c]:
            left[kept] = c
            kept += 1
    return kept


@jit
def fill_levels(
    columns: Any, missing: Any, level: Any, members: Any, first: int, last: int, counters: Any, matrix: Any, known: Any
) -> None:
    """columns : IN (p, m) codes
    missing : IN (p,) code of the missing entry, or empty: nothing is missing
    level : IN (p + 1, p + 1) level of a similarity from its counts; (p + 1, 1) if nothing is missing
    members : IN (m,) each entry is multiplied by those of both rows
    first : IN rows first ≤ i < last
    counters : WORK (2, ROWS_AT_ONCE) unsigned, counts to p
    matrix : OUT condensed, as in SciPy
    known : OUT condensed, partitions that label both rows; empty if not asked for or nothing is missing
    """
    m = columns.shape[1]
    for i in range(first, last):
        codes = columns[:, i].copy()
        base = i * (2 * m - i - 1) // 2 - i - 1
        for start in range(i + 1, m, ROWS_AT_ONCE):
            stop = min(start + ROWS_AT_ONCE, m)
            joined, labelled = counters[0, : stop - start], counters[1, : stop - start]
            count_joined(columns, codes, missing, start, joined)
            if missing.shape[0] == 0:
                for j in range(start, stop):
                    matrix[base + j] = level[joined[j - start], 0] * members[i] * members[j]
                continue
            count_labelled(columns, codes, missing, start, labelled)
            for j in range(start, stop):
                matrix[base + j] = level[joined[j - start], labelled[j - start]] * members[i] * members[j]
            if known.shape[0] > 0:
                for j in range(start, stop):
                    known[base + j] = labelled[j - start] * members[i] * members[j]


@inner_jit
def fill_row_tables(codes: Any, compared: Any, tables: Any) -> None:
    """codes : IN (p,) codes of a row
    compared : IN Compared
    tables : OUT (d, 2) weighted similarity of each label with the row's, and the weight if both are labelled
    """
    offsets, weights, joins, similar, starts, _ = compared
    for t in range(codes.shape[0]):
        begin, none = offsets[t], offsets[t + 1] - 1
        k, c = none - begin, np.int64(codes[t])
        for g in range(k + 1):
            tables[begin + g, 0] = 0
            tables[begin + g, 1] = weights[t] if c < k and g < k else 0.0
        if c == k:
            continue
        if similar.shape[0] == 0:
            tables[begin + c, 0] = joins[begin + c]
        else:
            for g in range(k):
                tables[begin + g, 0] = weights[t] * similar[starts[t] + c * k + g]


@inner_jit
def sums_of_pair(codes: Any, offsets: Any, tables: Any) -> tuple[float, float, float]:
    """Weighted similarity of the labels of a row with those of the tables' row, weight of what labels both; ratio."""
    joined, labelled = 0.0, 0.0
    for t in range(codes.shape[0]):
        pair = tables[offsets[t] + codes[t]]
        joined += pair[0]
        labelled += pair[1]
    return joined, labelled, joined / labelled if labelled > 0 else 0.0


@jit
def fill_similarities(
    codes: Any, compared: Any, first: int, last: int, threshold: float, members: Any, matrix: Any, known: Any
) -> None:
    """codes : IN (m, p) codes of the distinct rows
    compared : IN Compared, as a plain tuple
    first : IN rows first ≤ i < last
    threshold : IN a pair that is no more similar gets 0; negative: none does
    members : IN (m,) float64, sums are multiplied by those of both rows; empty: ratios of the sums are meant
    matrix : OUT condensed, as in SciPy: weighted similarity of the labels of both rows, or similarity
    known : OUT condensed, weight of the partitions that label both; empty: not wanted
    """
    offsets, _, _, _, _, _ = compared
    m, p = codes.shape
    tables = np.zeros((offsets[p], 2))
    for i in range(first, last):
        fill_row_tables(codes[i], compared, tables)
        base = i * (2 * m - i - 1) // 2 - i - 1
        for j in range(i + 1, m):
            joined, labelled, similarity = sums_of_pair(codes[j], offsets, tables)
            value, pairs = similarity, 1.0
            if members.shape[0] > 0:
                value, pairs = joined, members[i] * members[j]
            matrix[base + j] = value * pairs if similarity > threshold else 0.0
            if known.shape[0] > 0:
                known[base + j] = labelled * pairs


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
def complete_chain(compared: Any, rows: Any, chain: Any, pairs: Any, similarities: Any, stop_flag: Any) -> None:
    """`ensemblage.kernels._linkage.condensed_chain` for the least similarity.

    compared : IN columns, missing and level of `fill_row`
    rows : WORK LevelRows, as a plain tuple
    chain : WORK Chain, as a plain tuple
    pairs : OUT (m - 1, 2) first rows of the two clusters of each merge, the smaller first
    similarities : OUT (m - 1,) levels
    stop_flag : IN (1,)
    """
    square, place, seen, spare, used = rows
    _, _, chained, dead, n_of = chain
    m, w = square.shape
    largest, counters = np.empty(w // TILE, np.uint8), np.empty((2, m), np.uint8)
    lowest = 0  # no cluster there is has a lower number
    while n_of[1] < m - 1 and not is_set(stop_flag):
        if n_of[0] == 0:
            while dead[lowest]:
                lowest += 1
            extend(chain, lowest, -1.0)
        top, before, link = end_of(chain)
        row = row_of(top, compared, rows, counters, pairs, n_of[1])
        nearest, similarity = nearest_of_row(row, before, link, largest, chained)
        if nearest != before:
            extend(chain, nearest, similarity)
            continue
        other = row_of(before, compared, rows, counters, pairs, n_of[1])
        first, second = merge_end(chain, pairs, similarities)
        for c in range(w):
            row[c] = min(row[c], other[c])
        row[first] = row[second] = 0
        spare[used[0]] = place[before]
        used[0] += 1
        place[first], seen[first] = place[top], n_of[1]
