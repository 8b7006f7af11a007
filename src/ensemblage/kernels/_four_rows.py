"""The rows of a table added for four objects at once: eight columns of one object are one chain of additions, each of
which waits for the one before.

Written as LLVM instructions, as `ensemblage.kernels._lanes`, for any processor.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from ensemblage.kernels import _plain
from ensemblage.kernels._jit import by_vectors
from ensemblage.kernels._lanes import LANES, SIZE, vectors_at

OBJECTS = 4
"""Objects at once."""

BYTES, INDEX = ir.IntType(8).as_pointer(), ir.IntType(32)
DOUBLES = ir.VectorType(ir.DoubleType(), LANES)


@by_vectors(_plain.limit_four_rows)
@intrinsic
def limit_four_rows(
    typing_context: Any,
    codes: Any,
    first: Any,
    starts: Any,
    table: Any,
    base: Any,
    nearest: Any,
    counts: Any,
    distances: Any,
    totals: Any,
) -> Any:
    """`ensemblage.kernels._label_kmeans.limit_distances` for the objects ``first`` … ``first + OBJECTS - 1``, as far as
    there are such; it adds to ``totals``.

    ``starts`` are the places in the flat ``table``, uint64, where the rows of each partition's labels begin. All but
    ``codes`` are C-contiguous. Nothing else is checked.
    """
    if any(kind.layout != "C" for kind in (starts, table, base, nearest, counts, distances, totals)):
        raise TypingError("all arrays but codes must be C-contiguous")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = [(kind, value) for kind, value in zip(signature.args, values, strict=True) if kind != types.int64]
        arrays = [cgutils.create_struct_proxy(kind)(context, builder, value) for kind, value in kinds]
        rows, *others = arrays
        places, cells, of_base, limits, weights, out, sums = (array.data for array in others)
        vector = ir.VectorType(context.get_value_type(table.dtype), LANES)
        n, _ = cgutils.unpack_tuple(builder, rows.shape, 2)
        objects = [builder.add(values[1], SIZE(i)) for i in range(OBJECTS)]
        scores = _added_rows(builder, rows, objects, places, cells, vector)
        # Not in memory from one object to the next: there it would be waited for.
        place = builder.bitcast(sums, DOUBLES.as_pointer())
        total = cgutils.alloca_once_value(builder, builder.load(place, align=8))
        for i, score in zip(objects, scores, strict=True):
            with builder.if_then(builder.icmp_unsigned("<", i, n)):
                far = builder.fadd(_everywhere(builder, builder.load(builder.gep(of_base, [i])), vector), score)
                limit = _everywhere(builder, builder.load(builder.gep(limits, [i])), vector)
                near = builder.select(builder.fcmp_ordered("<", far, limit), far, limit)
                zero = vector([0.0] * LANES)
                near = builder.select(builder.fcmp_ordered(">", near, zero), near, zero)
                builder.store(near, vectors_at(builder, out, builder.mul(i, SIZE(LANES)), vector), align=4)
                count = builder.sitofp(builder.load(builder.gep(weights, [i])), ir.DoubleType())
                more = builder.fmul(builder.fpext(near, DOUBLES), _everywhere(builder, count, DOUBLES))
                builder.store(builder.fadd(builder.load(total), more), total)
        builder.store(builder.load(total), place, align=8)
        return context.get_dummy_value()

    return types.void(codes, types.int64, starts, table, base, nearest, counts, distances, totals), generate


def _added_rows(builder: Any, codes: Any, objects: Any, places: Any, cells: Any, vector: Any) -> list[Any]:
    """For each object the sum of the first ``LANES`` columns of its labels' rows, partition by partition; the last
    object's for one that there is not.
    """
    (n, p), (of_row, of_column) = (cgutils.unpack_tuple(builder, pair, 2) for pair in (codes.shape, codes.strides))
    last, begin, code = builder.sub(n, SIZE(1)), builder.bitcast(codes.data, BYTES), codes.data.type
    clipped = [builder.select(builder.icmp_unsigned("<", i, n), i, last) for i in objects]
    rows = [builder.gep(begin, [builder.mul(i, of_row)]) for i in clipped]
    registers = [cgutils.alloca_once(builder, vector) for _ in rows]
    for register in registers:
        builder.store(vector([0.0] * LANES), register)
    with cgutils.for_range(builder, p) as loop:
        place = builder.load(builder.gep(places, [loop.index]))
        column = builder.mul(loop.index, of_column)
        for row, register in zip(rows, registers, strict=True):
            label = builder.load(builder.bitcast(builder.gep(row, [column]), code))
            if label.type.width < SIZE.width:
                label = builder.zext(label, SIZE)
            start = builder.add(place, builder.mul(label, SIZE(LANES)))
            added = builder.load(vectors_at(builder, cells, start, vector), align=4)
            builder.store(builder.fadd(builder.load(register), added), register)
    return [builder.load(register) for register in registers]


def _everywhere(builder: Any, value: Any, vector: Any) -> Any:
    """A vector that holds the value in every lane."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, value, INDEX(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(INDEX, LANES), [0] * LANES))
