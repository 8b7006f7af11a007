"""Linkage of rows whose similarity is a number of partitions: the partitions that join them, of those that label both.

Rows are distinct and in order. Ties are the rule, so edges of the spanning tree are totally ordered: by similarity,
then by (i, j) with i < j. Under a total order there is one minimum spanning tree.
"""

from typing import Any

import numpy as np

from ensemblage._jit import jit
from ensemblage.kernels._joined import count_joined, count_labelled

BLOCK = 2048
"""Rows whose counters stay in the first-level cache."""


@jit
def lower_keys(
    columns: Any, missing: Any, rank: Any, shift: int, row: int, codes: Any, start: int, counters: Any, keys: Any
) -> Any:
    """Returns the lowest key.

    columns : IN (p, m) codes
    missing : IN (p,) code of the missing entry, or empty: nothing is missing
    rank : IN (p + 1, p + 1) rank of a similarity from its counts; p − the first one where nothing is missing
    row : IN the row that came into the tree, ...
    codes : IN (p,) ... and its codes
    start : IN first of the rows it is compared with
    counters : WORK (2, n or more) unsigned
    keys : IN/OUT (n,) the lower of each and of the row's
    """
    p, key_of, n = columns.shape[0], keys.dtype.type, keys.shape[0]
    joined, labelled = counters[0, :n], counters[1, :n]
    lowest = key_of(0) - key_of(1)
    count_joined(columns, codes, missing, start, joined)
    if missing.shape[0] == 0:
        for j in range(n):
            keys[j] = min(keys[j], (key_of(p - joined[j]) << key_of(shift)) | key_of(row))
            lowest = min(lowest, keys[j])
    else:
        count_labelled(columns, codes, missing, start, labelled)
        for j in range(n):
            keys[j] = min(keys[j], (key_of(rank[joined[j], labelled[j]]) << key_of(shift)) | key_of(row))
            lowest = min(lowest, keys[j])
    return lowest


@jit
def first_edge(rank: Any, shift: int, rows: Any, keys: Any, least: Any) -> tuple[Any, Any, int]:
    """The edge of that rank with the smallest (i, j), i < j: i, j, and the place of its row that is left.

    rank : IN lowest of all ranks
    rows : IN (n,) rows that are left
    keys : IN (n,) of their edges
    least : IN lowest key of each block
    """
    key_of, n = keys.dtype.type, rows.shape[0]
    mask = (key_of(1) << key_of(shift)) - key_of(1)
    first, second, place = np.int64(mask) + 1, np.int64(mask) + 1, 0
    for start in range(0, n, BLOCK):
        if least[start // BLOCK] >> key_of(shift) > rank:
            continue
        for j in range(start, min(start + BLOCK, n)):
            if keys[j] >> key_of(shift) == rank:
                row = np.int64(keys[j] & mask)
                a, b = min(row, rows[j]), max(row, rows[j])
                if a < first or (a == first and b < second):
                    first, second, place = a, b, j
    return first, second, place


@jit
def spanning_tree_of_counts(
    columns: Any,
    missing: Any,
    rank: Any,
    shift: int,
    rows: Any,
    keys: Any,
    counters: Any,
    progress: Any,
    edges: Any,
    ranks: Any,
    budget: int,
) -> bool:
    """Prim's algorithm; returns whether edges are left to find.

    columns : WORK (p, m) codes
    missing : IN (p,) code of the missing entry, or empty: nothing is missing
    rank : IN (p + 1, p + 1) rank of a similarity from its counts; (p + 1, 1) if nothing is missing; 0 = highest
    shift : IN bits of a key that hold a row
    rows : WORK (m,) 0 … m - 1; the rows that are left come first
    keys : WORK (m,) unsigned, filled with its largest value; rank and tree row of the best edge of each row left
    counters : WORK (2, BLOCK) unsigned, counts to p
    progress : WORK (2,) zeros; edges found, place of the row that comes into the tree next
    edges : OUT (m - 1, 2) rows of each edge, the smaller first
    ranks : OUT (m - 1,) rank of each edge
    budget : IN operations of this slice
    """
    p, m = columns.shape
    least = np.empty(m // BLOCK + 1, keys.dtype)
    e, place = progress[0], progress[1]
    while e < m - 1 and budget > 0:
        left = m - 1 - e
        budget -= left * (2 + p // 8 if missing.shape[0] == 0 else 2 + p // 4)
        row, codes = rows[place], columns[:, place].copy()
        rows[place], keys[place], columns[:, place] = rows[left], keys[left], columns[:, left]
        for start in range(0, left, BLOCK):
            stop = min(start + BLOCK, left)
            part = keys[start:stop]
            least[start // BLOCK] = lower_keys(columns, missing, rank, shift, row, codes, start, counters, part)
        lowest = least[: (left + BLOCK - 1) // BLOCK].min() >> keys.dtype.type(shift)
        edges[e, 0], edges[e, 1], place = first_edge(lowest, shift, rows[:left], keys[:left], least)
        ranks[e] = lowest
        e += 1
    progress[0], progress[1] = e, place
    return bool(e < m - 1)


@jit
def fill_levels(
    columns: Any, missing: Any, level: Any, members: Any, first: int, last: int, counters: Any, matrix: Any, known: Any
) -> None:
    """columns : IN (p, m) codes
    missing : IN (p,) code of the missing entry, or empty: nothing is missing
    level : IN (p + 1, p + 1) level of a similarity from its counts; (p + 1, 1) if nothing is missing
    members : IN (m,) each entry is multiplied by those of both rows
    first : IN rows first ≤ i < last
    counters : WORK (2, BLOCK) unsigned, counts to p
    matrix : OUT condensed, as in SciPy
    known : OUT condensed, partitions that label both rows; empty if not asked for or nothing is missing
    """
    m = columns.shape[1]
    for i in range(first, last):
        codes = columns[:, i].copy()
        base = i * (2 * m - i - 1) // 2 - i - 1
        for start in range(i + 1, m, BLOCK):
            stop = min(start + BLOCK, m)
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
