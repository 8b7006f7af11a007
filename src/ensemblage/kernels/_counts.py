"""Linkage of rows whose similarity is a number of partitions: the partitions that join them, of those that label both.

Rows are distinct and in order. Ties are the rule, so edges of the spanning tree are totally ordered: by similarity,
then by (i, j) with i < j. Under a total order there is one minimum spanning tree.
"""

from typing import Any

import numpy as np

from ensemblage._jit import jit

BLOCK = 2048
"""Rows whose counters stay in the first-level cache."""


@jit
def count_matches(
    columns: Any,  # IN (p, m) codes
    codes: Any,  # IN (p,) codes of one row
    start: int,
    stop: int,
    joined: Any,  # OUT first stop - start, partitions that join the row with rows start … stop - 1
) -> None:
    width = stop - start
    counter = joined[:width]
    counter[:] = 0
    p = columns.shape[0]
    t = 0
    while t + 4 <= p:
        c0, c1, c2, c3 = codes[t], codes[t + 1], codes[t + 2], codes[t + 3]
        z0, z1 = columns[t, start:stop], columns[t + 1, start:stop]
        z2, z3 = columns[t + 2, start:stop], columns[t + 3, start:stop]
        for j in range(width):
            counter[j] += (z0[j] == c0) + (z1[j] == c1) + (z2[j] == c2) + (z3[j] == c3)
        t += 4
    while t < p:
        c0 = codes[t]
        z0 = columns[t, start:stop]
        for j in range(width):
            counter[j] += z0[j] == c0
        t += 1


@jit
def count_labelled(
    columns: Any,  # IN (p, m) codes
    codes: Any,  # IN (p,) codes of one row
    missing: Any,  # IN (p,) code of the missing entry
    start: int,
    stop: int,
    joined: Any,  # OUT first stop - start, partitions that join the row with rows start … stop - 1
    labelled: Any,  # OUT first stop - start, partitions that label both
) -> None:
    width = stop - start
    n, m = joined[:width], labelled[:width]
    n[:] = 0
    m[:] = 0
    for t in range(columns.shape[0]):
        c, none = codes[t], missing[t]
        if c == none:
            continue
        z = columns[t, start:stop]
        for j in range(width):
            n[j] += z[j] == c
        for j in range(width):
            m[j] += z[j] != none


@jit
def spanning_tree_of_counts(
    columns: Any,  # WORK (p, m) codes
    missing: Any,  # IN (p,) code of the missing entry, or empty: nothing is missing
    rank: Any,  # IN (p + 1,) or flat ((p + 1)²,), rank of a similarity from its counts; 0 = most similar
    shift: int,  # IN bits of a key that hold a row
    rows: Any,  # WORK (m,) 0 … m - 1; the rows that are left come first
    keys: Any,  # WORK (m,) unsigned, filled with its largest value; rank and tree row of the best edge of each row left
    counter: Any,  # WORK (2, BLOCK) unsigned, counts to p
    progress: Any,  # WORK (2,) zeros; edges found, place of the row that comes into the tree next
    edges: Any,  # OUT (m - 1, 2) rows of each edge, the smaller first
    ranks: Any,  # OUT (m - 1,) rank of each edge
    budget: int,  # IN operations of this slice
) -> bool:
    """Prim's algorithm; returns whether edges are left to find."""
    p, m = columns.shape
    codes = np.empty(p, columns.dtype)
    least = np.empty(m // BLOCK + 1, keys.dtype)
    joined, labelled = counter[0], counter[1]
    e, place = progress[0], progress[1]
    while e < m - 1 and budget > 0:
        left = m - 1 - e
        budget -= left * (2 + p // 8 if missing.shape[0] == 0 else 2 + p // 4)
        u = rows[place]
        rows[place] = rows[left]
        keys[place] = keys[left]
        for t in range(p):
            codes[t] = columns[t, place]
            columns[t, place] = columns[t, left]
        lowest = keys.dtype.type(0) - keys.dtype.type(1)
        for start in range(0, left, BLOCK):
            stop = min(start + BLOCK, left)
            part = keys[start:stop]
            low = keys.dtype.type(0) - keys.dtype.type(1)
            if missing.shape[0] == 0:
                count_matches(columns, codes, start, stop, joined)
                for j in range(stop - start):
                    key = (keys.dtype.type(p - joined[j]) << keys.dtype.type(shift)) | keys.dtype.type(u)
                    part[j] = min(part[j], key)
                    low = min(low, part[j])
            else:
                count_labelled(columns, codes, missing, start, stop, joined, labelled)
                for j in range(stop - start):
                    r = rank[np.int64(joined[j]) * (p + 1) + labelled[j]]
                    key = (keys.dtype.type(r) << keys.dtype.type(shift)) | keys.dtype.type(u)
                    part[j] = min(part[j], key)
                    low = min(low, part[j])
            least[start // BLOCK] = low
            lowest = min(lowest, low)
        best = lowest >> keys.dtype.type(shift)
        mask = (keys.dtype.type(1) << keys.dtype.type(shift)) - keys.dtype.type(1)
        first, second = m, m
        for start in range(0, left, BLOCK):
            if least[start // BLOCK] >> keys.dtype.type(shift) > best:
                continue
            for j in range(start, min(start + BLOCK, left)):
                if keys[j] >> keys.dtype.type(shift) == best:
                    a, b = np.int64(keys[j] & mask), rows[j]
                    if a > b:
                        a, b = b, a
                    if a < first or (a == first and b < second):
                        first, second, place = a, b, j
        edges[e, 0], edges[e, 1] = first, second
        ranks[e] = best
        e += 1
    progress[0], progress[1] = e, place
    return bool(e < m - 1)


@jit
def fill_levels(
    columns: Any,  # IN (p, m) codes
    missing: Any,  # IN (p,) code of the missing entry, or empty: nothing is missing
    level: Any,  # IN (p + 1,) or flat ((p + 1)²,), level of a similarity from its counts
    members: Any,  # IN (m,) each entry is multiplied by those of both rows
    first: int,  # IN rows first ≤ i < last
    last: int,
    counter: Any,  # WORK (2, BLOCK) unsigned, counts to p
    matrix: Any,  # OUT condensed, as in SciPy
    known: Any,  # OUT condensed, partitions that label both rows; empty if not asked for or nothing is missing
) -> None:
    p, m = columns.shape
    codes = np.empty(p, columns.dtype)
    joined, labelled = counter[0], counter[1]
    for i in range(first, last):
        codes[:] = columns[:, i]
        base = i * (2 * m - i - 1) // 2 - i - 1
        for start in range(i + 1, m, BLOCK):
            stop = min(start + BLOCK, m)
            if missing.shape[0] == 0:
                count_matches(columns, codes, start, stop, joined)
                for j in range(start, stop):
                    matrix[base + j] = level[joined[j - start]] * members[i] * members[j]
            else:
                count_labelled(columns, codes, missing, start, stop, joined, labelled)
                for j in range(start, stop):
                    pair = np.int64(joined[j - start]) * (p + 1) + labelled[j - start]
                    matrix[base + j] = level[pair] * members[i] * members[j]
                if known.shape[0] > 0:
                    for j in range(start, stop):
                        known[base + j] = labelled[j - start] * members[i] * members[j]
