"""Rows of float32 tables in vector registers, eight columns at a time.

Written as LLVM instructions: from a loop over the columns the compiler makes code with three to four times the run
time, for it does not keep sums over columns in registers. A table's width must be a multiple of ``LANES``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

LANES = 8
"""Columns that are added at once."""

SIZE, VECTOR = ir.IntType(64), ir.VectorType(ir.FloatType(), LANES)


def whole_lanes(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """The table with columns of infinity up to a multiple of ``LANES``; they are never the least."""
    padding = -table.shape[1] % LANES
    return np.pad(table, ((0, 0), (0, padding)), constant_values=np.inf)


@intrinsic
def add_table_rows(typing_context: Any, table: Any, starts: Any, sums: Any) -> Any:
    """``sums[c]`` = the sum of ``table[s + c]`` over s in ``starts``, added in their order, for every c.

    ``table`` is flat and C-contiguous, ``starts`` uint64 places in it; neither is checked.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        arrays = [
            cgutils.create_struct_proxy(kind)(context, builder, value)
            for kind, value in zip(signature.args, values, strict=True)
        ]
        data, places, out = (array.data for array in arrays)
        n_starts, width = (cgutils.unpack_tuple(builder, array.shape, 1)[0] for array in arrays[1:])
        column = cgutils.alloca_once_value(builder, SIZE(0))
        # Four vectors at once while there are four, so that each start is read once for 32 columns; then what is left.
        for n_vectors in (4, 3, 2, 1):
            registers = [cgutils.alloca_once(builder, VECTOR) for _ in range(n_vectors)]
            with _while_there_are(builder, column, SIZE(n_vectors * LANES), width) as first:
                for register in registers:
                    builder.store(VECTOR([0.0] * LANES), register)
                with cgutils.for_range(builder, n_starts) as loop:
                    start = builder.add(builder.load(builder.gep(places, [loop.index])), first)
                    for v, register in enumerate(registers):
                        row = builder.load(_vector(builder, data, builder.add(start, SIZE(v * LANES))), align=4)
                        builder.store(builder.fadd(builder.load(register), row), register)
                for v, register in enumerate(registers):
                    place = _vector(builder, out, builder.add(first, SIZE(v * LANES)))
                    builder.store(builder.load(register), place, align=4)
        return context.get_dummy_value()

    return types.void(table, starts, sums), generate


@intrinsic
def two_least(typing_context: Any, values: Any) -> Any:
    """The least of ``values`` and the least of the others (C-contiguous float32, a multiple of ``LANES``, no NaN)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
        n_vectors = builder.udiv(cgutils.unpack_tuple(builder, array.shape, 1)[0], SIZE(LANES))
        least, next_least = (cgutils.alloca_once_value(builder, VECTOR([np.inf] * LANES)) for _ in range(2))
        with cgutils.for_range(builder, n_vectors) as loop:
            vector = builder.load(_vector(builder, array.data, builder.mul(loop.index, SIZE(LANES))), align=4)
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

    return types.UniTuple(types.float32, 2)(values), generate


def _vector(builder: Any, data: Any, place: Any) -> Any:
    return builder.bitcast(builder.gep(data, [place]), VECTOR.as_pointer())


@contextmanager
def _while_there_are(builder: Any, column: Any, size: Any, width: Any) -> Iterator[Any]:
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


def _sorted(builder: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The lower and the higher, lane by lane."""
    is_less = builder.fcmp_ordered("<", a, b)
    return builder.select(is_less, a, b), builder.select(is_less, b, a)


def _rotated(builder: Any, vector: Any, step: int) -> Any:
    order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [(lane + step) % LANES for lane in range(LANES)])
    return builder.shuffle_vector(vector, ir.Constant(VECTOR, ir.Undefined), order)
