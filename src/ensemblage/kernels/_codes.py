"""Codes of labels: made from values, grouped into distinct rows, and ordered by what the rows hold.

Values become codes by their range instead of by sorting. Distinct rows come from a hash table that compares whole rows,
then a sort of the distinct ones. Colour refinement gives labels colours through the rows that have them: a colour is a
hash of 64 bits; sums of them may wrap.
"""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit


@jit
def mark_values(values: Any, lowest: Any, starts: Any, present: Any) -> None:
    """values : IN (n, p) integers
    lowest : IN (p,) int64, smallest value per column
    starts : IN (p,) int64, start of each column's range in `present`
    present : OUT flat uint8, 1 where a value occurs
    """
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            present[starts[j] + values[i, j] - lowest[j]] = 1


@jit
def look_up_values(values: Any, codes: Any, lowest: Any, starts: Any, code_of: Any) -> None:
    """values : IN (n, p) integers
    codes : OUT (n, p) unsigned integers
    lowest : IN (p,) int64
    starts : IN (p,) int64
    code_of : IN flat, code of every value of every column's range
    """
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            codes[i, j] = code_of[starts[j] + values[i, j] - lowest[j]]


@jit
def pack_rows(codes: Any, radices: Any, word: Any, words: Any) -> None:
    """codes : IN (n, p)
    radices : IN (p,) uint64, codes of column j are below radices[j]
    word : IN (p,) the word that column j is part of, from 0 up
    words : OUT (n, w) uint64, mixed-radix numbers that compare as rows do
    """
    for i in range(codes.shape[0]):
        words[i] = 0
        for j in range(codes.shape[1]):
            words[i, word[j]] = words[i, word[j]] * radices[j] + np.uint64(codes[i, j])


@jit
def group_rows(words: Any, table: Any, group: Any, first: Any) -> int:
    """words : IN (n, w) uint64
    table : WORK (power of two > n,) int32 or int64, filled with -1
    group : OUT (n,) number of the row's group, in order of first appearance
    first : OUT (n,) first row of each group; the first n_groups entries count
    """
    n, w = words.shape
    mask = np.uint64(table.shape[0] - 1)
    n_groups = 0
    for i in range(n):
        h = np.uint64(0x9E3779B97F4A7C15)
        for c in range(w):
            h = (h ^ words[i, c]) * np.uint64(0xBF58476D1CE4E5B9)
            h ^= h >> np.uint64(29)
        slot = (h ^ (h >> np.uint64(32))) & mask
        for _ in range(table.shape[0]):
            g = table[slot]
            if g < 0:
                table[slot] = n_groups
                first[n_groups] = i
                group[i] = n_groups
                n_groups += 1
                break
            r = first[g]
            same = True
            for c in range(w):
                if words[r, c] != words[i, c]:
                    same = False
                    break
            if same:
                group[i] = g
                break
            slot = (slot + np.uint64(1)) & mask
    return n_groups


@inner_jit
def row_is_less(words: Any, a: int, b: int) -> bool:
    for c in range(1, words.shape[1]):
        if words[a, c] != words[b, c]:
            return bool(words[a, c] < words[b, c])
    return False


@jit
def sort_ties(words: Any, order: Any, longest: int) -> bool:
    """Shell sort of every run of rows with the same first word; False, half done, if one is too long for it.

    words : IN (m, w) uint64, distinct rows
    order : IN/OUT (m,) rows sorted by their first word; afterwards by all words
    longest : IN longest run of equal first words to sort here
    """
    start = 0
    for stop in range(1, order.shape[0] + 1):
        if stop < order.shape[0] and words[order[stop], 0] == words[order[start], 0]:
            continue
        if stop - start > longest:
            return False
        gap = 1
        while gap < (stop - start) // 3:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(start + gap, stop):
                row, j = order[i], i
                while j >= start + gap and row_is_less(words, row, order[j - gap]):
                    order[j] = order[j - gap]
                    j -= gap
                order[j] = row
            gap //= 3
        start = stop
    return True


@jit
def mix(x: Any) -> Any:
    """A permutation of the unsigned 64-bit integers that spreads every bit (SplitMix64), of one number or an array."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@jit
def add_row_colours(codes: Any, counts: Any, marks: Any, offsets: Any, colours: Any, sums: Any) -> None:
    """codes : IN (n, p)
    counts : IN (n,) objects with that row
    marks : IN (n,) uint64, what the row's colour begins with
    offsets : IN (p + 1,)
    colours : IN (offsets[p],) uint64, colour of each label; 0 for missing
    sums : IN/OUT (offsets[p],) int64, colours of the label's objects
    """
    for i in range(codes.shape[0]):
        colour = marks[i]
        for j in range(codes.shape[1]):
            colour += colours[offsets[j] + codes[i, j]]
        share = np.int64(mix(colour)) * counts[i]
        for j in range(codes.shape[1]):
            sums[offsets[j] + codes[i, j]] += share
