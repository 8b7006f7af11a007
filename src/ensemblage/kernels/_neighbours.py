"""Rows that many partitions join, row by row: edges of the co-association graph without the matrix."""

from typing import Any

import numpy as np

from ensemblage.kernels._bitmaps import (
    BLOCK_BITS,
    WORDS,
    count_bits,
    count_in_planes,
    lowest_bit,
    mark_after,
    mark_at_least,
    number_at,
    number_maps,
    plane_count,
)
from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._pairs import count_joined, count_labelled
from ensemblage.kernels._vectors import EIGHT


@inner_jit
def nth_largest(values: Any, n: int) -> Any:
    """Hoare's selection; `partition` of NumPy compiles in 3 s.

    values : IN, WORK (m,), put in another order
    n : IN 1 to m
    """
    low, high, place = 0, values.shape[0] - 1, values.shape[0] - n
    while low < high:
        pivot, a, b = values[(low + high) // 2], low, high
        while a <= b:
            while values[a] < pivot:
                a += 1
            while values[b] > pivot:
                b -= 1
            if a <= b:
                values[a], values[b] = values[b], values[a]
                a += 1
                b -= 1
        if place <= b:
            high = b
        elif place >= a:
            low = a
        else:
            low = high
    return values[place]


@inner_jit
def least_to_keep(joined: Any, i: int, n_neighbors: int, p: int, weighted: bool) -> float:
    """The n_neighbors-th largest entry of others than i.

    joined : IN (m,) how strongly each row is joined with row i
    n_neighbors : IN
    p : IN number of partitions; joined is a number of them if weighted is False
    """
    m = joined.shape[0]
    if weighted:
        others = np.empty(m, joined.dtype)
        for j in range(m):
            others[j] = joined[j]
        others[i] = 0
        return np.float64(nth_largest(others, n_neighbors))
    histogram = np.zeros(p + 1, np.int64)
    for j in range(m):
        histogram[np.int64(joined[j])] += 1
    histogram[np.int64(joined[i])] -= 1
    level, n_above = p, histogram[p]
    while level > 0 and n_above < n_neighbors:
        level -= 1
        n_above += histogram[level]
    return np.float64(level)


@jit
def find_neighbours(
    columns: Any,
    absent: Any,
    weights: Any,
    first: int,
    last: int,
    total: float,
    threshold: float,
    n_neighbors: int,
    counters: Any,
    ends: Any,
    neighbours: Any,
    links: Any,
) -> int:
    """Returns the number of neighbours. Of equally strong ones, those that come next after the row (cyclically).

    columns : IN (p, m) codes
    absent : IN (p,) code for missing; empty: nothing is missing
    weights : IN (p,) float64 weights of the partitions; None: 1 each
    first : IN rows first … last - 1
    total : IN weight of all partitions
    threshold : IN rows of no larger co-association (joined / both labelled) are no neighbours
    n_neighbors : IN most per row; 0 = all
    counters : WORK (2, m) unsigned; float64 with weights
    ends : OUT (last - first,) int64, where each row's neighbours end
    neighbours : OUT int32, ascending from the row itself on and around
    links : OUT float64, how strongly
    """
    p, m = columns.shape
    joined, labelled = counters[0], counters[1]
    n_found = 0
    for i in range(first, last):
        row = columns[:, i].copy()
        count_joined(columns, row, absent, 0, joined, weights)
        if threshold > 0 and absent.shape[0] == 0:
            for j in range(m):
                if joined[j] / total <= threshold:
                    joined[j] = 0
        elif threshold > 0:
            count_labelled(columns, row, absent, 0, labelled, weights)
            for j in range(m):
                if joined[j] > 0 and joined[j] / labelled[j] <= threshold:
                    joined[j] = 0
        limit, n_ties = 0.0, m
        if n_neighbors > 0 and n_neighbors < m - 1:
            limit = least_to_keep(joined, i, n_neighbors, p, weights is not None)
            n_above = 0
            for j in range(m):
                n_above += joined[j] > limit and j != i
            n_ties = n_neighbors - n_above if limit > 0 else 0
        for step in range(1, m):
            j = i + step if i + step < m else i + step - m
            value = np.float64(joined[j])
            tied = value == limit and n_ties > 0 and limit > 0
            if value > limit or tied:
                n_ties -= tied
                neighbours[n_found], links[n_found] = j, value
                n_found += 1
        ends[i - first] = n_found
    return n_found


@jit
def find_neighbours_by_bits(
    codes: Any,
    offsets: Any,
    maps: Any,
    first: int,
    last: int,
    least: int,
    n_neighbors: int,
    ends: Any,
    neighbours: Any,
    links: Any,
) -> int:
    """`find_neighbours` of partitions of weight 1 where nothing is missing.

    codes : IN (m, p)
    offsets : IN (p,) first map of each partition
    maps : IN (d + 2, n_blocks or more, WORDS) of all rows
    first : IN rows first … last - 1
    least : IN partitions that join a neighbour at least, from 1 to p + 1
    n_neighbors : IN most per row, 1 or more
    ends, neighbours, links : OUT
    """
    (m, p) = codes.shape
    n_blocks = (m + BLOCK_BITS - 1) // BLOCK_BITS
    planes, numbers = np.empty((n_blocks, plane_count(p + 1), WORDS), np.uint64), np.empty(p + -p % EIGHT, np.uint64)
    above, tied = np.empty((n_blocks, WORDS), np.uint64), np.empty((n_blocks, WORDS), np.uint64)
    n_found = 0
    for i in range(first, last):
        number_maps(codes[i], offsets, maps, numbers)
        for k in range(n_blocks):
            count_in_planes(maps, k, numbers, planes[k])
            mark_after(maps, k, -1, tied[k])
            mark_at_least(planes[k], least, tied[k])
        word = i // 64
        tied[word // WORDS, word % WORDS] &= ~(np.uint64(1) << np.uint64(i % 64))
        n_ties = part_strongest(planes, n_neighbors, above, tied)
        n_words = n_blocks * WORDS
        later = ~np.uint64(0) << np.uint64(i % 64)
        for step in range(n_words + 1):
            w = (word + step) % n_words
            k, at = w // WORDS, w % WORDS
            marked = above[k, at] | tied[k, at]
            if step == 0:
                marked &= later
            elif step == n_words:
                marked &= ~later
            while marked != 0:
                bit = lowest_bit(marked)
                marked &= marked - np.uint64(1)
                if (tied[k, at] >> np.uint64(bit)) & np.uint64(1):
                    if n_ties == 0:
                        continue
                    n_ties -= 1
                neighbours[n_found], links[n_found] = 64 * w + bit, number_at(planes[k], at, bit)
                n_found += 1
        ends[i - first] = n_found
    return n_found


@inner_jit
def part_strongest(planes: Any, n: int, above: Any, tied: Any) -> Any:
    """Returns how many of the ties are among the n largest numbers: the others of them are above the ties.

    planes : IN (n_blocks, L, WORDS) bits of numbers
    n : IN
    above : OUT (n_blocks, WORDS) numbers above the n-th largest; all if there are no more than n
    tied : IN/OUT (n_blocks, WORDS) which numbers count; afterwards those that equal the n-th largest, or none
    """
    n_blocks, n_planes, _ = planes.shape
    total = np.int64(0)
    for k in range(n_blocks):
        for w in range(WORDS):
            total += np.int64(count_bits(tied[k, w]))
    if total <= n:
        above[:] = tied
        tied[:] = 0
        return 0
    above[:] = 0
    n_above = np.int64(0)
    for g in range(n_planes - 1, -1, -1):
        ones = np.int64(0)
        for k in range(n_blocks):
            for w in range(WORDS):
                ones += np.int64(count_bits(tied[k, w] & planes[k, g, w]))
        keep = np.uint64(0) if ones >= n - n_above else ~np.uint64(0)
        for k in range(n_blocks):
            for w in range(WORDS):
                one = tied[k, w] & planes[k, g, w]
                above[k, w] |= one & keep
                tied[k, w] = (tied[k, w] & keep) ^ one
        n_above += ones if ones < n - n_above else 0
    return n - n_above


ROUNDING = 1e-12
"""A co-association this little below another one counts as equal to it: sums of weights are rounded."""


@inner_jit
def associate_row(columns: Any, absent: Any, weights: Any, total: float, i: int, counters: Any, link: Any) -> None:
    """columns : IN (p, m) codes
    absent : IN (p,) code for missing; empty: nothing is missing
    weights : IN (p,) float64 weights of the partitions; None: 1 each
    total : IN weight of all partitions
    i : IN a row
    counters : WORK (2, m) unsigned; float64 with weights
    link : OUT (m,) co-association with each row, 0 with itself
    """
    m, row = columns.shape[1], columns[:, i].copy()
    joined, labelled = counters[0], counters[1]
    count_joined(columns, row, absent, 0, joined, weights)
    if absent.shape[0] > 0:
        count_labelled(columns, row, absent, 0, labelled, weights)
        for j in range(m):
            link[j] = joined[j] / labelled[j] if labelled[j] > 0 else 0.0
    else:
        for j in range(m):
            link[j] = joined[j] / total
    link[i] = 0


@jit
def find_thresholds(
    columns: Any, absent: Any, weights: Any, total: float, first: int, last: int, K: int, counters: Any, thresholds: Any
) -> None:
    """columns, absent, weights, total, counters : as in `associate_row`
    first, last : IN rows first … last - 1
    K : IN at most m
    thresholds : OUT (last - first,) what an elite neighbour is joined with at least: the K-th largest co-association
    """
    link = np.empty(columns.shape[1])
    for i in range(first, last):
        associate_row(columns, absent, weights, total, i, counters, link)
        thresholds[i - first] = least_to_keep(link, i, K, 0, True) - ROUNDING


@jit
def find_elite(
    columns: Any,
    absent: Any,
    weights: Any,
    total: float,
    first: int,
    last: int,
    thresholds: Any,
    counters: Any,
    degrees: Any,
    neighbours: Any,
    links: Any,
) -> None:
    """Rows of which either is an elite neighbour of the other.

    columns, absent, weights, total, counters : as in `associate_row`
    first, last : IN rows first … last - 1
    thresholds : IN (m,)
    degrees : OUT (last - first,) neighbours of each row
    neighbours : OUT those of one row after the other, ascending; empty: they are only counted
    links : OUT co-associations with them; as long
    """
    m = columns.shape[1]
    link, n_found = np.empty(m), 0
    for i in range(first, last):
        associate_row(columns, absent, weights, total, i, counters, link)
        before = n_found
        for j in range(m):
            if link[j] > 0 and (link[j] >= thresholds[i] or link[j] >= thresholds[j]):
                if neighbours.shape[0] > 0:
                    neighbours[n_found], links[n_found] = j, link[j]
                n_found += 1
        degrees[i - first] = n_found - before
