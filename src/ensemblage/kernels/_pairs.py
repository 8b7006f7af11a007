"""Pairs of objects: how many partitions join them and how many label both, or what these weigh; counted, not listed."""

from typing import Any

import numpy as np

from ensemblage.kernels._bitmaps import (
    BLOCK_BITS,
    WORDS,
    count_bits,
    count_in_planes,
    count_members,
    mark_after,
    number_maps,
    plane_count,
)
from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._vectors import EIGHT


@inner_jit
def count_joined(columns: Any, row: Any, absent: Any, start: int, joined: Any, weights: Any = None) -> None:
    """columns : IN (p, m) codes
    row : IN (p,) codes of one row
    absent : IN (p,) code for missing; empty: nothing is missing
    start : IN first of the rows it is compared with
    joined : OUT (n,) partitions that join the row with rows start … start + n - 1, or the sum of their weights
    weights : IN (p,) float64; None: 1 each
    """
    p, n = columns.shape[0], joined.shape[0]
    joined[:] = 0
    # Four partitions at once: the counters are read and written a quarter as often.
    n_at_once = p - p % 4 if weights is None and absent.shape[0] == 0 else 0
    for t in range(0, n_at_once, 4):
        a, b = columns[t, start : start + n], columns[t + 1, start : start + n]
        c, d = columns[t + 2, start : start + n], columns[t + 3, start : start + n]
        of_a, of_b, of_c, of_d = row[t], row[t + 1], row[t + 2], row[t + 3]
        for j in range(n):
            joined[j] += (a[j] == of_a) + (b[j] == of_b) + (c[j] == of_c) + (d[j] == of_d)
    for t in range(n_at_once, p):
        column, code = columns[t, start : start + n], row[t]
        if absent.shape[0] > 0 and code == absent[t]:
            continue
        if weights is None:
            for j in range(n):
                joined[j] += np.uint8(column[j] == code)
        else:
            weight = weights[t]
            for j in range(n):
                joined[j] += weight * (column[j] == code)


@inner_jit
def count_labelled(columns: Any, row: Any, absent: Any, start: int, labelled: Any, weights: Any = None) -> None:
    """columns : IN (p, m) codes
    row : IN (p,) codes of one row
    absent : IN (p,) code for missing
    start : IN first of the rows it is compared with
    labelled : OUT (n,) partitions that label the row and rows start … start + n - 1, or the sum of their weights
    weights : IN (p,) float64; None: 1 each
    """
    n = labelled.shape[0]
    labelled[:] = 0
    for t in range(columns.shape[0]):
        column, none = columns[t, start : start + n], absent[t]
        if row[t] == none:
            continue
        if weights is None:
            for j in range(n):
                labelled[j] += np.uint8(column[j] != none)
        else:
            weight = weights[t]
            for j in range(n):
                labelled[j] += weight * (column[j] != none)


ROWS_AT_ONCE = 2048
"""Rows whose counters stay in the first-level cache."""


@jit
def group_objects(clusters: Any, ends: Any, order: Any) -> None:
    """clusters : IN (n,) cluster of each object, negative = none
    ends : IN/OUT (k,) int64, where each cluster starts in `order`; afterwards where it ends
    order : OUT the assigned objects, cluster by cluster
    """
    for i in range(clusters.shape[0]):
        c = clusters[i]
        if c >= 0:
            order[ends[c]] = i
            ends[c] += 1


@jit
def square_label_counts(
    codes: Any, order: Any, starts: Any, offsets: Any, alpha: Any, squares: Any, labelled: Any
) -> None:
    """codes : IN (n, p)
    order : IN objects, cluster by cluster
    starts : IN (k + 1,) int64
    offsets : IN (p + 1,) int64
    alpha : WORK (offsets[p],) int64, zeros before and after
    squares : OUT (k, p) int64, sum of squared label counts
    labelled : OUT (k, p) int64, members that the partition labels
    """
    p = codes.shape[1]
    for c in range(squares.shape[0]):
        for t in range(p):
            squares[c, t] = 0
            labelled[c, t] = 0
        for s in range(starts[c], starts[c + 1]):
            i = order[s]
            for t in range(p):
                alpha[offsets[t] + codes[i, t]] += 1
        for t in range(p):
            labelled[c, t] = starts[c + 1] - starts[c] - alpha[offsets[t + 1] - 1]
            alpha[offsets[t + 1] - 1] = 0
        if starts[c + 1] - starts[c] < alpha.shape[0] // p:
            for s in range(starts[c], starts[c + 1]):
                i = order[s]
                for t in range(p):
                    f = offsets[t] + codes[i, t]
                    squares[c, t] += alpha[f] * alpha[f]
                    alpha[f] = 0
        else:
            for t in range(p):
                for f in range(offsets[t], offsets[t + 1]):
                    squares[c, t] += alpha[f] * alpha[f]
                    alpha[f] = 0


@jit
def add_pairs(columns: Any, absent: Any, counts: Any, first: int, last: int, counters: Any, histogram: Any) -> None:
    """columns : IN (p, m) codes of distinct rows
    absent : IN (p,) code for missing; empty: nothing is missing
    counts : IN (m,) objects with each row
    first : IN pairs i < j with first ≤ i < last
    counters : WORK (2, block) unsigned
    histogram : IN/OUT (p + 1, p + 1) pairs by (joined, labelled); (p + 1, 1) if nothing is missing
    """
    m, block = columns.shape[1], counters.shape[1]
    for start in range(first + 1, m, block):
        stop = min(start + block, m)
        for i in range(first, min(last, stop - 1)):
            begin, row = max(start, i + 1), columns[:, i].copy()
            joined, labelled = counters[0, : stop - begin], counters[1, : stop - begin]
            count_joined(columns, row, absent, begin, joined)
            if absent.shape[0] == 0:
                for j in range(stop - begin):
                    histogram[joined[j], 0] += counts[i] * counts[begin + j]
            else:
                count_labelled(columns, row, absent, begin, labelled)
                for j in range(stop - begin):
                    histogram[joined[j], labelled[j]] += counts[i] * counts[begin + j]


@jit
def add_pairs_of_tile(bitmaps: Any, tile: Any, first: int, last: int, histogram: Any) -> None:
    """`add_pairs` where nothing is missing, of the pairs of rows with later rows of a tile.

    bitmaps : IN counting's Bitmaps, as a plain tuple
    tile : IN counting's Tile, as a plain tuple
    first : IN the rows of this task: first, ...
    last : IN ... to last - 1
    histogram : IN/OUT (p + 1, 1)
    """
    codes, offsets, _, places, counts = bitmaps
    first_block, maps, members, _ = tile
    p = codes.shape[1]
    n_planes = plane_count(p)
    planes, masks = np.empty((n_planes, WORDS), np.uint64), np.empty((n_planes + 1, WORDS), np.uint64)
    numbers, zeros = np.empty(p + -p % EIGHT, np.uint64), np.zeros(n_planes + 1, np.int64)
    for k in range(members.shape[0]):
        start = (first_block + k) * BLOCK_BITS
        for i in range(first, last):
            if places[i] >= start + BLOCK_BITS - 1:
                break
            number_maps(codes[i], offsets, maps, numbers)
            count_in_planes(maps, k, numbers, planes)
            mark_after(maps, k, places[i] - start, masks[n_planes])
            add_numbers(planes, members[k], counts[i], masks, zeros, histogram)


@inner_jit
def add_numbers(planes: Any, members: Any, weight: int, masks: Any, zeros: Any, histogram: Any) -> None:
    """Walk down the tree of the planes, from the highest on; branches without a row are left out.

    planes : IN (L, WORDS) bits of the number of each row
    members : IN (WORDS,) objects with each of the rows of a word
    weight : IN each is counted so often
    masks : WORK (L + 1, WORDS) [L] the rows that count; [l] those of a branch with l planes below it
    zeros : WORK (L + 1,) zeros before and after: objects of the other branch, if it is still to be seen
    histogram : IN/OUT (the largest number + 1 or more, 1)
    """
    n_planes = planes.shape[0]
    level, number, total = n_planes, 0, count_members(masks[n_planes], members)
    while level <= n_planes:
        ones = 0
        for w in range(WORDS):
            mask = masks[level, w] & planes[level - 1, w]
            masks[level - 1, w] = mask
            ones += members[w] * np.int64(count_bits(mask))
        if level > 1:
            zeros[level] = total - ones
            if ones > 0:
                level, number, total = level - 1, number | (1 << (level - 1)), ones
                continue
        else:
            if ones > 0:
                histogram[number | 1, 0] += weight * ones
            if total > ones:
                histogram[number, 0] += weight * (total - ones)
        while level <= n_planes and zeros[level] == 0:
            level += 1
        if level <= n_planes:
            for w in range(WORDS):
                masks[level - 1, w] = masks[level, w] & ~planes[level - 1, w]
            number, total, zeros[level] = number >> level << level, zeros[level], 0
            level -= 1


@jit
def associate(rows: Any, columns: Any, absent: Any, weights: Any, joins: Any, labelled: Any, association: Any) -> int:
    """Returns the number of pairs that no partition labels.

    rows : IN (b, p) codes
    columns : IN (p, n) codes
    absent : IN (p,) code for missing
    weights : IN (p,) float64
    joins : IN (b, p) float64, weight of sharing each of the row's labels
    labelled : WORK (n,) float64
    association : OUT (b, n) float64, weight of what joins / weight of the partitions that label both
    """
    n_unknown = 0
    for i in range(rows.shape[0]):
        joined = association[i]
        count_joined(columns, rows[i], absent, 0, joined, joins[i])
        count_labelled(columns, rows[i], absent, 0, labelled, weights)
        for j in range(joined.shape[0]):
            if labelled[j] > 0:
                joined[j] /= labelled[j]
            else:
                n_unknown += 1
    return n_unknown


@jit
def associate_levels(rows: Any, columns: Any, absent: Any, level_of: Any, counters: Any, levels: Any) -> None:
    """rows : IN (b, p) codes
    columns : IN (p, n) codes
    absent : IN (p,) code for missing; empty: nothing is missing
    level_of : IN (p + 1, p + 1) level by partitions that join and that label both; else those that join
    counters : WORK (2, n) unsigned
    levels : OUT (b, n) unsigned
    """
    joined, labelled = counters[0], counters[1]
    for i in range(rows.shape[0]):
        count_joined(columns, rows[i], absent, 0, joined)
        if absent.shape[0] == 0:
            for j in range(joined.shape[0]):
                levels[i, j] = joined[j]
        else:
            count_labelled(columns, rows[i], absent, 0, labelled)
            for j in range(joined.shape[0]):
                levels[i, j] = level_of[joined[j], labelled[j]]


@jit
def add_weighted_pairs(
    columns: Any,
    absent: Any,
    weights: Any,
    counts: Any,
    first: int,
    last: int,
    sums: Any,
    tally: Any,
    largest: Any,
) -> None:
    """columns : IN (p, m) codes of distinct rows
    absent : IN (p,) code for missing
    weights : IN (p,) float64
    counts : IN (m,) objects with each row
    first, last : IN pairs i < j with first ≤ i < last
    sums : WORK (2, m) float64
    tally : IN/OUT (b + 1,) int64, pairs whose positive co-association times b rounds to the bin
    largest : IN/OUT (b + 1,) float64, the largest of these co-associations
    """
    m, b = columns.shape[1], tally.shape[0] - 1
    for i in range(first, last):
        row, joined, labelled = columns[:, i].copy(), sums[0, : m - i - 1], sums[1, : m - i - 1]
        count_joined(columns, row, absent, i + 1, joined, weights)
        count_labelled(columns, row, absent, i + 1, labelled, weights)
        for j in range(m - i - 1):
            if joined[j] > 0:
                value = joined[j] / labelled[j]
                at = int(value * b + 0.5)
                tally[at] += counts[i] * counts[i + 1 + j]
                largest[at] = max(largest[at], value)
