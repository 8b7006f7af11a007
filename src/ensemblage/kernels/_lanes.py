"""Rows of tables of floats in vector registers, eight columns at a time.

Written as LLVM instructions: from a loop over the columns the compiler makes code with three to four times the run
time, for it does not keep sums over columns in registers. They are vectors of LLVM, of no one processor: it makes of
them what the processor has, and `_plain` has loops that give the same bits.
A table's width must be a multiple of ``LANES``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ensemblage.kernels import _plain
from ensemblage.kernels._jit import by_vectors, inner_jit

LANES = 8
"""Columns that are added at once."""

LINE = 64
"""Bytes of the line of a label in `add_lines`."""
N_CHAINS = 4
"""Sums that are made side by side, so that an addition need not wait for the one before."""
SIZE = ir.IntType(64)


@inner_jit
def partition_starts(partitions: Any, offsets: Any, width: Any) -> Any:
    """For `row_starts`: the partitions and where their rows begin in the flat table, both uint64.

    An index without a sign needs no test for negative ones, which would take as long as the look-up itself.

    partitions : IN
    offsets : IN (p + 1,)
    width : IN columns of the table
    """
    firsts = np.empty((2, partitions.shape[0]), np.uint64)
    for t in range(partitions.shape[0]):
        firsts[0, t] = partitions[t]
        firsts[1, t] = offsets[partitions[t]] * width
    return firsts


@inner_jit
def row_starts(labels: Any, firsts: Any, width: Any, starts: Any) -> None:
    """labels : IN (p,) codes of one row
    firsts : IN of `partition_starts`
    width : IN columns of the table
    starts : OUT, where the rows of its labels begin in the flat table
    """
    for t in range(firsts.shape[1]):
        starts[t] = firsts[1, t] + np.uint64(labels[firsts[0, t]]) * np.uint64(width)


@by_vectors(_plain.add_table_rows)
@intrinsic
def add_table_rows(typing_context: Any, table: Any, starts: Any, sums: Any) -> Any:
    """``sums[c]`` = the sum of ``table[s + c]`` over s in ``starts``, added in their order, for every c.

    ``table`` is flat and C-contiguous, of the type of ``sums``; ``starts`` are uint64 places in it. Nothing is checked.
    """
    return types.void(table, starts, sums), _generate_sums(table.dtype, weighted=False)


@by_vectors(_plain.add_weighted_rows)
@intrinsic
def add_weighted_rows(typing_context: Any, table: Any, starts: Any, weights: Any, sums: Any) -> Any:
    """`add_table_rows` of ``weights[t] * table[s + c]`` for the t-th of ``starts``; products are rounded."""
    return types.void(table, starts, weights, sums), _generate_sums(table.dtype, weighted=True)


def _generate_sums(kind: Any, weighted: bool) -> Any:
    """What writes the code of `add_table_rows` or of `add_weighted_rows`."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        arrays = [
            cgutils.create_struct_proxy(kind)(context, builder, value)
            for kind, value in zip(signature.args, values, strict=True)
        ]
        vector = ir.VectorType(context.get_value_type(kind), LANES)
        data, places, out = arrays[0].data, arrays[1].data, arrays[-1].data
        n_starts, width = (cgutils.unpack_tuple(builder, array.shape, 1)[0] for array in (arrays[1], arrays[-1]))
        column = cgutils.alloca_once_value(builder, SIZE(0))
        # Four vectors at once while there are four, so that each start is read once for 32 columns; then what is left.
        for n_vectors in (4, 3, 2, 1):
            registers = [cgutils.alloca_once(builder, vector) for _ in range(n_vectors)]
            with while_there_are(builder, column, SIZE(n_vectors * LANES), width) as first:
                for register in registers:
                    builder.store(vector([0.0] * LANES), register)
                with cgutils.for_range(builder, n_starts) as loop:
                    start = builder.add(builder.load(builder.gep(places, [loop.index])), first)
                    if weighted:
                        weight = all_lanes(builder, builder.load(builder.gep(arrays[2].data, [loop.index])), vector)
                    for v, register in enumerate(registers):
                        place = builder.add(start, SIZE(v * LANES))
                        row = builder.load(vectors_at(builder, data, place, vector), align=4)
                        if weighted:
                            row = builder.fmul(weight, row)
                        builder.store(builder.fadd(builder.load(register), row), register)
                for v, register in enumerate(registers):
                    place = vectors_at(builder, out, builder.add(first, SIZE(v * LANES)), vector)
                    builder.store(builder.load(register), place, align=4)
        return context.get_dummy_value()

    return generate


@by_vectors(_plain.add_lines)
@intrinsic
def add_lines(
    typing_context: Any,
    table: Any,
    labels: Any,
    counts: Any,
    begin: Any,
    end: Any,
    limits: Any,
    size: Any,
    sums: Any,
) -> Any:
    """``sums[v]`` = Σ ``counts[e]`` · ``table[labels[e], v]`` over begin ≤ e < end; whether any reaches ``limits[v]`` ·
    ``size``. In a table of bytes every count is taken for 1.

    ``table`` is flat, a line of ``LINE`` bytes for each label, of unsigned integers or floats; ``limits``, ``size`` and
    ``sums`` are of its type; ``labels`` have no sign. Sums and products must be exact. No index is checked.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lines, names, weights, least, out = (
            cgutils.create_struct_proxy(signature.args[i])(context, builder, values[i]).data for i in (0, 1, 2, 5, 7)
        )
        begin, end, size = values[3], values[4], values[6]
        kind = table.dtype
        width = 8 * LINE // kind.bitwidth
        vector = ir.VectorType(context.get_value_type(kind), width)
        is_float = isinstance(kind, types.Float)
        add = partial(builder.fadd, flags=("contract",)) if is_float else builder.add
        multiply = partial(builder.fmul, flags=("contract",)) if is_float else builder.mul
        reaches = builder.fcmp_ordered if is_float else builder.icmp_unsigned
        align = kind.bitwidth // 8
        registers = [cgutils.alloca_once(builder, vector) for _ in range(N_CHAINS)]
        for register in registers:
            builder.store(ir.Constant(vector, [0] * width), register)

        def add_label(place: Any, register: Any) -> None:
            label = builder.zext(builder.load(builder.gep(names, [place])), SIZE)
            line = builder.load(vectors_at(builder, lines, builder.mul(label, SIZE(width)), vector), align=align)
            if kind != types.uint8:
                weight = context.cast(builder, builder.load(builder.gep(weights, [place])), counts.dtype, kind)
                line = multiply(all_lanes(builder, weight, vector), line)
            builder.store(add(builder.load(register), line), register)

        n_labels = builder.sub(end, begin)
        n_left = builder.urem(n_labels, SIZE(N_CHAINS))
        with cgutils.for_range(builder, builder.udiv(n_labels, SIZE(N_CHAINS))) as loop:
            for i, register in enumerate(registers):
                add_label(builder.add(begin, builder.add(builder.mul(loop.index, SIZE(N_CHAINS)), SIZE(i))), register)
        with cgutils.for_range(builder, n_left) as loop:
            add_label(builder.add(builder.sub(end, n_left), loop.index), registers[0])
        total = builder.load(registers[0])
        for register in registers[1:]:
            total = add(total, builder.load(register))
        builder.store(total, vectors_at(builder, out, SIZE(0), vector), align=align)
        limit = builder.load(vectors_at(builder, least, SIZE(0), vector), align=align)
        reached = reaches(">=", total, multiply(limit, all_lanes(builder, size, vector)))
        bits = ir.IntType(width)
        return builder.icmp_unsigned("!=", builder.bitcast(reached, bits), bits(0))

    arguments = table, labels, counts, types.int64, types.int64, limits, table.dtype, sums
    return types.boolean(*arguments), generate


@by_vectors(_plain.two_least)
@intrinsic
def two_least(typing_context: Any, values: Any) -> Any:
    """The least of ``values`` and the least of the others (C-contiguous, a multiple of ``LANES``, no NaN)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
        n_vectors = builder.udiv(cgutils.unpack_tuple(builder, array.shape, 1)[0], SIZE(LANES))
        vectors = ir.VectorType(context.get_value_type(values.dtype), LANES)
        least, next_least = (cgutils.alloca_once_value(builder, vectors([np.inf] * LANES)) for _ in range(2))
        with cgutils.for_range(builder, n_vectors) as loop:
            vector = builder.load(
                vectors_at(builder, array.data, builder.mul(loop.index, SIZE(LANES)), vectors), align=4
            )
            lower, higher = _sorted(builder, builder.load(least), vector)
            builder.store(lower, least)
            builder.store(_sorted(builder, builder.load(next_least), higher)[0], next_least)
        first, second = builder.load(least), builder.load(next_least)
        for step in (4, 2, 1):
            # Every lane meets the one that is `step` away, until each has seen all.
            first_there, second_there = _rotated(builder, first, step), _rotated(builder, second, step)
            first, higher = _sorted(builder, first, first_there)
            second = _sorted(builder, higher, _sorted(builder, second, second_there)[0])[0]
        pair = [builder.extract_element(vector, ir.IntType(32)(0)) for vector in (first, second)]
        return context.make_tuple(builder, signature.return_type, pair)

    return types.UniTuple(values.dtype, 2)(values), generate


def vectors_at(builder: Any, data: Any, place: Any, kind: Any) -> Any:
    """Pointer to the vector that begins at a place in an array."""
    return builder.bitcast(builder.gep(data, [place]), kind.as_pointer())


@contextmanager
def while_there_are(builder: Any, column: Any, size: Any, width: Any) -> Iterator[Any]:
    """Loop over the next ``size`` columns while there are as many; yields the first of them."""
    test, body, end = (builder.append_basic_block() for _ in range(3))
    builder.branch(test)
    builder.position_at_end(test)
    first = builder.load(column)
    after = builder.add(first, size)
    builder.cbranch(builder.icmp_unsigned("<=", after, width), body, end)
    builder.position_at_end(body)
    yield first
    builder.store(after, column)
    builder.branch(test)
    builder.position_at_end(end)


def all_lanes(builder: Any, value: Any, kind: Any) -> Any:
    """A vector with the value in every lane."""
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.IntType(32)(0))
    return builder.shuffle_vector(
        first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
    )


def _sorted(builder: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The lower and the higher, lane by lane."""
    is_less = builder.fcmp_ordered("<", a, b)
    return builder.select(is_less, a, b), builder.select(is_less, b, a)


def _rotated(builder: Any, vector: Any, step: int) -> Any:
    order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [(lane + step) % LANES for lane in range(LANES)])
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), order)
