"""Rows of tables of 16-bit whole numbers in vector registers, sixteen columns at a time.

Written as LLVM instructions, as `ensemblage.kernels._lanes`, for any processor; `_plain` has loops that give the same.
A table's width must be a multiple of ``SHORT_LANES``.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ensemblage.kernels import _plain
from ensemblage.kernels._jit import by_vectors
from ensemblage.kernels._lanes import SIZE, all_lanes, vectors_at, while_there_are

SHORT_LANES = 16
"""Columns that are added at once."""

SHORT = ir.IntType(16)
SHORTS = ir.VectorType(SHORT, SHORT_LANES)
LARGEST = ir.Constant(SHORTS, [2**16 - 1] * SHORT_LANES)
BYTES = ir.IntType(8).as_pointer()


@by_vectors(_plain.add_short_rows)
@intrinsic
def add_short_rows(typing_context: Any, codes: Any, i: Any, starts: Any, table: Any, sums: Any) -> Any:
    """``sums[c]`` = Σ_j ``table[starts[j] + codes[i, j] · width + c]`` for every c < width, the length of ``sums``.

    ``table`` is flat, of uint16 as ``sums``; ``starts`` are uint64 places in it where the rows of each partition's
    labels begin. All but ``codes`` are C-contiguous. No sum may exceed 2¹⁶ - 1. Nothing is checked.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        rows, places, cells, out = (
            cgutils.create_struct_proxy(signature.args[a])(context, builder, values[a]) for a in (0, 2, 3, 4)
        )
        (_, p), (of_row, of_column) = (cgutils.unpack_tuple(builder, pair, 2) for pair in (rows.shape, rows.strides))
        row = builder.gep(builder.bitcast(rows.data, BYTES), [builder.mul(values[1], of_row)])
        width = cgutils.unpack_tuple(builder, out.shape, 1)[0]
        column = cgutils.alloca_once_value(builder, SIZE(0))
        # Four vectors at once while there are four, so that each label is read once for 64 columns; then what is left.
        for n_vectors in (4, 3, 2, 1):
            registers = [cgutils.alloca_once(builder, SHORTS) for _ in range(n_vectors)]
            with while_there_are(builder, column, SIZE(n_vectors * SHORT_LANES), width) as first:
                for register in registers:
                    builder.store(ir.Constant(SHORTS, [0] * SHORT_LANES), register)
                with cgutils.for_range(builder, p) as loop:
                    place = builder.gep(row, [builder.mul(loop.index, of_column)])
                    label = builder.load(builder.bitcast(place, rows.data.type))
                    if label.type.width < SIZE.width:
                        label = builder.zext(label, SIZE)
                    begin = builder.add(builder.load(builder.gep(places.data, [loop.index])), first)
                    start = builder.add(begin, builder.mul(label, width))
                    for v, register in enumerate(registers):
                        there = vectors_at(builder, cells.data, builder.add(start, SIZE(v * SHORT_LANES)), SHORTS)
                        builder.store(builder.add(builder.load(register), builder.load(there, align=2)), register)
                for v, register in enumerate(registers):
                    place = vectors_at(builder, out.data, builder.add(first, SIZE(v * SHORT_LANES)), SHORTS)
                    builder.store(builder.load(register), place, align=2)
        return context.get_dummy_value()

    return types.void(codes, types.int64, starts, table, sums), generate


@by_vectors(_plain.prefetch_row)
@intrinsic
def prefetch_row(typing_context: Any, codes: Any, i: Any) -> Any:
    """Begin to read the first and the last label of row i of a C-contiguous matrix from memory; changes nothing."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        rows = cgutils.create_struct_proxy(signature.args[0])(context, builder, values[0])
        of_row = cgutils.unpack_tuple(builder, rows.strides, 2)[0]
        row = builder.gep(builder.bitcast(rows.data, BYTES), [builder.mul(values[1], of_row)])
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [BYTES, flag, flag, flag])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch.p0", (), kind)
        for place in (SIZE(0), builder.sub(of_row, SIZE(1))):
            builder.call(prefetch, [builder.gep(row, [place]), flag(0), flag(3), flag(1)])  # to read, and often, data
        return context.get_dummy_value()

    return types.void(codes, types.int64), generate


@by_vectors(_plain.two_least_shorts)
@intrinsic
def two_least_shorts(typing_context: Any, sums: Any) -> Any:
    """The least of ``sums``, the least of the others, and the first place of the least.

    C-contiguous uint16, a multiple of ``SHORT_LANES``, fewer than 2¹⁶. Nothing is checked.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = cgutils.create_struct_proxy(signature.args[0])(context, builder, values[0])
        n_vectors = builder.udiv(cgutils.unpack_tuple(builder, array.shape, 1)[0], SIZE(SHORT_LANES))
        name = f"llvm.vector.reduce.umin.v{SHORT_LANES}i16"
        reduce = builder.module.declare_intrinsic(name, (), ir.FunctionType(SHORT, [SHORTS]))

        def least_of(chosen: Any) -> Any:
            """Over all lanes, of what ``chosen`` makes of a vector and the places of its lanes."""
            least = cgutils.alloca_once_value(builder, LARGEST)
            with cgutils.for_range(builder, n_vectors) as loop:
                start = builder.mul(loop.index, SIZE(SHORT_LANES))
                vector = builder.load(vectors_at(builder, array.data, start, SHORTS), align=2)
                lanes = ir.Constant(SHORTS, list(range(SHORT_LANES)))
                value = chosen(vector, builder.add(lanes, all_lanes(builder, builder.trunc(start, SHORT), SHORTS)))
                held = builder.load(least)
                builder.store(builder.select(builder.icmp_unsigned("<", value, held), value, held), least)
            return builder.call(reduce, [builder.load(least)])

        def lanes_where(condition: str, of: str, value: Any) -> Any:
            """Places where the sums are this value, or sums where the places are not; else ``LARGEST``."""
            wanted = all_lanes(builder, value, SHORTS)

            def chosen(vector: Any, places: Any) -> Any:
                compared, kept = (vector, places) if of == "sums" else (places, vector)
                return builder.select(builder.icmp_unsigned(condition, compared, wanted), kept, LARGEST)

            return chosen

        first = least_of(lambda vector, places: vector)
        place = least_of(lanes_where("==", "sums", first))
        second = least_of(lanes_where("!=", "places", place))
        found = [builder.zext(value, SIZE) for value in (first, second, place)]
        return context.make_tuple(builder, signature.return_type, found)

    return types.UniTuple(types.int64, 3)(sums), generate
