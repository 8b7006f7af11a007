"""Rows with equal labels as bits: each label has a map of words, in which the bits of its rows are set.

The rows that a partition joins with a row are the map of the row's label. How many partitions join it with each row is
counted for all rows of a block at once, by carry-save adders: bit l of the numbers is plane l.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._vectors import HELD, by_vectors, write_planes

WORDS = 64
"""Words of 64 rows of a block: the planes, and the maps of a row's labels, fit into the first-level cache."""
BLOCK_BITS = 64 * WORDS


@jit
def fill_maps(codes: Any, offsets: Any, places: Any, first: int, maps: Any) -> None:
    """codes : IN (n, p) of some rows
    offsets : IN (p,) first map of each partition
    places : IN (n,) int64 place of each row's bit
    first : IN first block of the maps
    maps : IN/OUT (d + 2, k, WORDS) uint64, zeros; the rows with each label, all rows, none
    """
    everything = maps.shape[0] - 2
    for i in range(codes.shape[0]):
        place = places[i] - first * BLOCK_BITS
        k, w, bit = place // BLOCK_BITS, place % BLOCK_BITS // 64, np.uint64(1) << np.uint64(place % 64)
        for t in range(codes.shape[1]):
            maps[offsets[t] + np.int64(codes[i, t]), k, w] |= bit
        maps[everything, k, w] |= bit


@inner_jit
def number_maps(codes: Any, offsets: Any, maps: Any, numbers: Any) -> None:
    """codes : IN (p,) of a row
    offsets : IN (p,) first map of each partition
    maps : IN (d + 2, k, WORDS)
    numbers : OUT (p + EIGHT - 1 or less,) uint64 the map of each label, filled up with the empty map
    """
    p = codes.shape[0]
    for t in range(p):
        numbers[t] = offsets[t] + np.int64(codes[t])
    numbers[p:] = maps.shape[0] - 1


@jit
def plane_count(p: int) -> int:
    """Planes that hold numbers up to p; three or more."""
    n_planes = HELD
    while p >> n_planes > 0:
        n_planes += 1
    return n_planes


@by_vectors(write_planes, ("x86_64", "amd64"))  # where that was measured
@inner_jit
def count_in_planes(maps: Any, k: int, numbers: Any, planes: Any) -> None:
    """maps : IN (d, n_blocks, WORDS) uint64
    k : IN the block
    numbers : IN (n,) uint64 maps that are added, n a multiple of EIGHT
    planes : OUT (L, WORDS) uint64, L of `plane_count`: in how many of the maps each bit is set
    """
    n_planes = planes.shape[0]
    carries = np.empty((n_planes, 2, WORDS), np.uint64)
    planes[:] = 0
    # A loop has two results: so the compiler sees that the arrays are apart, and makes vector code.
    for s in range(numbers.shape[0] // 2):
        first, second, slot = numbers[2 * s], numbers[2 * s + 1], s % 2
        for w in range(WORDS):
            plane, a, b = planes[0, w], maps[first, k, w], maps[second, k, w]
            carries[0, slot, w] = (a & b) | ((a ^ b) & plane)
            planes[0, w] = a ^ b ^ plane
        # Two carries of a plane are added to the next one; that of four of them to all above.
        level = 1
        while level < 3 and (s >> (level - 1)) % 2:
            slot = (s >> level) % 2
            for w in range(WORDS):
                plane, a, b = planes[level, w], carries[level - 1, 0, w], carries[level - 1, 1, w]
                carries[level, slot, w] = (a & b) | ((a ^ b) & plane)
                planes[level, w] = a ^ b ^ plane
            level += 1
        if s % 4 == 3:
            slot = (s >> 2) % 2
            for g in range(3, n_planes):
                for w in range(WORDS):
                    plane, carry = planes[g, w], carries[2, slot, w]
                    carries[2, slot, w] = plane & carry
                    planes[g, w] = plane ^ carry


@inner_jit
def mark_no_worse(planes: Any, best: Any, left: Any, marks: Any) -> Any:
    """Whether a row is marked.

    planes : IN (L, WORDS) uint64, numbers of rows
    best : IN (L, WORDS)
    left : IN (WORDS,) rows that are looked at
    marks : OUT (WORDS,) those of them whose number is 1 at least, and the best one at least
    """
    known = np.zeros(WORDS, np.uint64)
    for w in range(WORDS):
        marks[w] = left[w]
    for g in range(planes.shape[0]):
        for w in range(WORDS):
            plane, other = planes[g, w], best[g, w]
            marks[w] = (plane & ~other) | (marks[w] & ~(plane ^ other))
            known[w] |= plane
    some = np.uint64(0)
    for w in range(WORDS):
        marks[w] &= known[w] & left[w]
        some |= marks[w]
    return some != 0


@jit
def mark_at_least(planes: Any, number: int, marks: Any) -> None:
    """planes : IN (L, WORDS)
    number : IN below 2^L
    marks : IN/OUT (WORDS,) bits; those whose number is lower are cleared
    """
    reached = np.empty(WORDS, np.uint64)
    reached[:] = ~np.uint64(0)
    for g in range(planes.shape[0]):
        if (number >> g) % 2:
            for w in range(WORDS):
                reached[w] &= planes[g, w]
        else:
            for w in range(WORDS):
                reached[w] |= planes[g, w]
    for w in range(WORDS):
        marks[w] &= reached[w]


@jit
def mark_after(maps: Any, k: int, place: int, marks: Any) -> None:
    """maps : IN (d + 2, n_blocks, WORDS)
    k : IN the block
    place : IN of a bit in the block; negative: before it
    marks : OUT (WORDS,) rows of the block after the place
    """
    everything = maps.shape[0] - 2
    for w in range(WORDS):
        marks[w] = maps[everything, k, w]
    if place >= 0:
        marks[: place // 64] = 0
        # Shift twice: shifting by 64 is undefined.
        marks[place // 64] &= ~np.uint64(0) << np.uint64(place % 64) << np.uint64(1)


@jit
def count_members(marks: Any, members: Any) -> Any:
    """Objects with the rows that are marked.

    marks : IN (WORDS,) bits
    members : IN (WORDS,) int64 objects with each of the rows of a word
    """
    total = np.int64(0)
    for w in range(WORDS):
        total += members[w] * np.int64(count_bits(marks[w]))
    return total


@jit
def count_bits(word: Any) -> Any:
    """Bits that are set, uint64. The compiler knows this sum, and makes one instruction of it where there is one."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@jit
def lowest_bit(word: Any) -> Any:
    """Place of the lowest bit that is set."""
    return np.int64(count_bits((word & (~word + np.uint64(1))) - np.uint64(1)))


@jit
def number_at(planes: Any, w: int, bit: int) -> Any:
    """The number whose bits the planes hold there.

    planes : IN (L, WORDS)
    w : IN the word
    bit : IN
    """
    number = np.int64(0)
    for g in range(planes.shape[0]):
        number |= np.int64((planes[g, w] >> np.uint64(bit)) & np.uint64(1)) << g
    return number
