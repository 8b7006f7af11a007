"""Rows with equal labels as bits: each label has a map of words, in which the bits of its rows are set.

The rows that a partition joins with a row are the map of the row's label. How many partitions join it with each row is
counted for all rows of a block at once, by carry-save adders: bit l of the numbers is plane l.
"""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ensemblage.kernels._jit import PLAIN_KERNELS, inner_jit, jit

WORDS = 64
"""Words of 64 rows of a block: the planes, and the maps of a row's labels, fit into the first-level cache."""
BLOCK_BITS = 64 * WORDS
EIGHT = 8
"""Words of a vector, and maps that are added at once."""
LANES = 8
"""Words of a vector of planes."""
HELD = 6
"""Planes that are held in registers: counts to 63."""


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


@jit
def count_by_words(maps: Any, k: int, numbers: Any, planes: Any) -> None:
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


@intrinsic
def count_by_vectors(typing_context: Any, maps: Any, k: Any, numbers: Any, planes: Any) -> Any:
    """`count_by_words` in vector registers, with a third of the run time. C-contiguous arrays; nothing is checked.

    Written as LLVM instructions: the compiler does not keep planes in registers from one map to the next.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        size, vector = ir.IntType(64), ir.VectorType(ir.IntType(64), LANES)
        arrays = [cgutils.create_struct_proxy(signature.args[a])(context, builder, values[a]) for a in (0, 2, 3)]
        data, places, out = (array.data for array in arrays)
        shapes = [cgutils.unpack_tuple(builder, array.shape) for array in arrays]
        block, n_blocks = context.cast(builder, values[1], signature.args[1], types.int64), shapes[0][1]
        n_groups, n_planes = builder.udiv(shapes[1][0], size(EIGHT)), shapes[2][0]
        zeros = vector([0] * LANES)

        def vector_at(array: Any, row: Any, word: Any) -> Any:
            place = builder.add(builder.mul(row, size(WORDS)), word)
            return builder.bitcast(builder.gep(array, [place]), vector.as_pointer())

        def add(plane: Any, a: Any, b: Any) -> Any:
            """Carry; the sum stays in the plane."""
            held = builder.load(plane)
            differ = builder.xor(a, b)
            builder.store(builder.xor(differ, held), plane)
            return builder.or_(builder.and_(a, b), builder.and_(differ, held))

        registers = [cgutils.alloca_once(builder, vector) for _ in range(HELD)]
        carry = cgutils.alloca_once(builder, vector)
        with cgutils.for_range(builder, size(WORDS // LANES)) as words:
            word = builder.mul(words.index, size(LANES))
            for plane in registers:
                builder.store(zeros, plane)
            with cgutils.for_range(builder, n_planes) as high:
                builder.store(zeros, vector_at(out, high.index, word), align=8)
            with cgutils.for_range(builder, n_groups) as group:
                added = []
                for t in range(EIGHT):
                    place = builder.add(builder.mul(group.index, size(EIGHT)), size(t))
                    row = builder.mul(builder.load(builder.gep(places, [place])), n_blocks)
                    added.append(builder.load(vector_at(data, builder.add(row, block), word), align=8))
                for plane in registers[:3]:
                    added = [add(plane, a, b) for a, b in zip(added[::2], added[1::2], strict=True)]
                (over,) = added
                for plane in registers[3:]:
                    held = builder.load(plane)
                    builder.store(builder.xor(held, over), plane)
                    over = builder.and_(held, over)
                builder.store(over, carry)
                with cgutils.for_range_slice(builder, size(HELD), n_planes, size(1), size) as (g, _):
                    place = vector_at(out, g, word)
                    held, over = builder.load(place, align=8), builder.load(carry)
                    builder.store(builder.xor(held, over), place, align=8)
                    builder.store(builder.and_(held, over), carry)
            for g, plane in enumerate(registers):
                builder.store(builder.load(plane), vector_at(out, size(g), word), align=8)
        return context.get_dummy_value()

    return types.void(maps, k, numbers, planes), generate


@jit
def mark_by_words(planes: Any, best: Any, left: Any, marks: Any) -> Any:
    """Whether a row is marked.

    planes : IN (L, WORDS) uint64, numbers of rows
    best : IN (L, WORDS)
    left : IN (WORDS,) rows that are looked at
    marks : OUT (WORDS,) those of them whose number is 1 at least, and the best one at least
    """
    known = np.zeros(WORDS, np.uint64)
    marks[:] = left
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


@intrinsic
def mark_by_vectors(typing_context: Any, planes: Any, best: Any, left: Any, marks: Any) -> Any:
    """`mark_by_words` in vector registers, C-contiguous arrays; nothing is checked."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        size, vector = ir.IntType(64), ir.VectorType(ir.IntType(64), EIGHT)
        arrays = [
            cgutils.create_struct_proxy(kind)(context, builder, value)
            for kind, value in zip(signature.args, values, strict=True)
        ]
        n_planes, zeros = cgutils.unpack_tuple(builder, arrays[0].shape)[0], vector([0] * EIGHT)
        mark, known, some = (cgutils.alloca_once_value(builder, zeros) for _ in range(3))

        def vector_at(array: Any, place: Any) -> Any:
            return builder.bitcast(builder.gep(array.data, [place]), vector.as_pointer())

        with cgutils.for_range(builder, size(WORDS // EIGHT)) as words:
            word = builder.mul(words.index, size(EIGHT))
            among = builder.load(vector_at(arrays[2], word), align=8)
            builder.store(among, mark)
            builder.store(zeros, known)
            with cgutils.for_range(builder, n_planes) as g:
                place = builder.add(builder.mul(g.index, size(WORDS)), word)
                plane, other = (builder.load(vector_at(array, place), align=8) for array in arrays[:2])
                equal = builder.and_(builder.load(mark), builder.not_(builder.xor(plane, other)))
                builder.store(builder.or_(builder.and_(plane, builder.not_(other)), equal), mark)
                builder.store(builder.or_(builder.load(known), plane), known)
            found = builder.and_(builder.and_(builder.load(mark), builder.load(known)), among)
            builder.store(found, vector_at(arrays[3], word), align=8)
            builder.store(builder.or_(builder.load(some), found), some)
        bits = ir.IntType(64 * EIGHT)
        return builder.icmp_unsigned("!=", builder.bitcast(builder.load(some), bits), bits(0))

    return types.boolean(planes, best, left, marks), generate


@jit
def _mark_by_vectors(planes: Any, best: Any, left: Any, marks: Any) -> Any:
    return mark_by_vectors(planes, best, left, marks)


@jit
def _count_by_vectors(maps: Any, k: int, numbers: Any, planes: Any) -> None:
    count_by_vectors(maps, k, numbers, planes)


BY_VECTORS = not PLAIN_KERNELS and platform.machine().lower() in ("x86_64", "amd64")
count_in_planes = _count_by_vectors if BY_VECTORS else count_by_words
mark_no_worse = _mark_by_vectors if BY_VECTORS else mark_by_words
"""The faster of the two, where that was measured."""


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
        # Twice, for a shift by 64 is none.
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
