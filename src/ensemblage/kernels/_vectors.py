"""Loops that the compiler vectorises badly, written as LLVM vectors; each has a plain loop, bitwise identical.

From a loop over columns the compiler makes code that keeps no sums in registers, with two to four times the run time.
The vectors are of LLVM, of no one processor: it makes of them what the processor has. Nothing is checked.

The plain loops are compiled instead where ``ENSEMBLAGE_PLAIN_KERNELS`` is set, and where this numba or llvmlite does
not take the vectors: these are first compiled alone, for the types they are called with, and a failure is logged.
"""

from __future__ import annotations

import inspect
import logging
import os
import platform
from collections.abc import Callable
from typing import Any, NamedTuple

from numba import njit, types

LANES, SHORT_LANES = 8, 16
"""Columns that are added at once, of floats and of 16-bit whole numbers: a table's width must be a multiple of them."""
OBJECTS = 4
"""Objects whose distances are limited side by side."""
LINE = 64
"""Bytes of the line of a label in `add_lines`."""
N_CHAINS = 4
"""Sums that are made side by side, so that an addition need not wait for the one before."""
EIGHT = 8
"""Maps that `count_in_planes` adds at once; and words of its vectors."""
HELD = 6
"""Planes that it holds in registers: counts to 63."""

_reasons: list[Exception] = []
"""Why there are plain loops alone here."""


def _log_plain(reason: Exception) -> None:
    """Log it, the first of all."""
    if not _reasons:
        text = "Plain loops take the place of vectors, which this numba or llvmlite does not compile: %r"
        logging.getLogger(__name__).warning(text, reason)
    _reasons.append(reason)


try:
    from llvmlite import ir
    from numba.core import cgutils
    from numba.extending import intrinsic

    SIZE, LANE = ir.IntType(64), ir.IntType(32)
except Exception as error:
    _log_plain(error)


def by_vectors(write: Callable[..., None], machines: tuple[str, ...] = ()) -> Callable[[Any], Any]:
    """Decorator of a plain kernel: a function for kernels whose code ``write`` writes, if that works.

    Where ``machines`` are named, on these alone.
    """
    elsewhere = machines and platform.machine().lower() not in machines

    def of(plain: Any) -> Any:
        try:
            return _intrinsic(write, plain)
        except Exception as error:
            _log_plain(error)
            return plain

    return (lambda plain: plain) if elsewhere or _reasons or os.environ.get("ENSEMBLAGE_PLAIN_KERNELS") else of


def _intrinsic(write: Callable[..., None], plain: Any) -> Any:
    def by_writing(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        write(context, builder, *(Array.of(context, builder, *of) for of in zip(signature.args, values, strict=True)))
        return context.get_dummy_value()

    def by_the_loop(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return context.compile_internal(builder, plain.py_func, signature, values)

    def typed(is_compiled: Callable[[Any], bool]) -> Any:
        def kinds_and_code(typing_context: Any, *kinds: Any) -> Any:
            kinds = tuple(map(types.unliteral, kinds))
            return types.void(*kinds), by_writing if is_compiled(kinds) else by_the_loop

        parameters = inspect.signature(plain.py_func).parameters.values()
        context = inspect.Parameter("typing_context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        kinds_and_code.__signature__ = inspect.Signature([context, *parameters])  # type: ignore[attr-defined]
        return intrinsic(kinds_and_code)

    def is_compiled(kinds: Any) -> bool:
        try:
            njit(lambda *given: only_vectors(*given)).get_call_template(kinds, {})
        except Exception as error:
            _log_plain(error)
            return False
        return True

    only_vectors = typed(lambda kinds: True)
    return typed(is_compiled)


class Array(NamedTuple):
    """An array that a kernel is given, or a number."""

    data: Any
    """Pointer to its first entry; the number."""
    shape: Any
    strides: Any
    """In bytes."""
    kind: Any
    """Numba's type of the entries; of the number."""

    @classmethod
    def of(cls, context: Any, builder: Any, kind: Any, value: Any) -> Array:
        if not isinstance(kind, types.Array):
            return cls(value, None, None, kind)
        array = cgutils.create_struct_proxy(kind)(context, builder, value)
        shape, strides = (cgutils.unpack_tuple(builder, of, kind.ndim) for of in (array.shape, array.strides))
        return cls(array.data, shape, strides, kind.dtype)

    def entry(self, builder: Any, place: Any) -> Any:
        return builder.load(builder.gep(self.data, [place]))


class Vectors:
    """Vectors of numbers of one type in the code of a kernel."""

    def __init__(self, context: Any, builder: Any, kind: Any, lanes: int) -> None:
        self.builder, self.lanes, self.align = builder, lanes, kind.bitwidth // 8
        self.kind = ir.VectorType(context.get_value_type(kind), lanes)
        is_float = isinstance(kind, types.Float)
        self.plus, self.times = (builder.fadd, builder.fmul) if is_float else (builder.add, builder.mul)

    def _at(self, data: Any, place: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(data, [place]), self.kind.as_pointer())

    def load(self, data: Any, place: Any) -> Any:
        """The vector that begins at a place in an array."""
        return self.builder.load(self._at(data, place), align=self.align)

    def store(self, vector: Any, data: Any, place: Any) -> None:
        self.builder.store(vector, self._at(data, place), align=self.align)

    def zeros(self) -> Any:
        return ir.Constant(self.kind, [0] * self.lanes)

    def broadcast(self, value: Any) -> Any:
        """The value in every lane."""
        undefined = ir.Constant(self.kind, ir.Undefined)
        first = self.builder.insert_element(undefined, value, LANE(0))
        order = ir.Constant(ir.VectorType(LANE, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, undefined, order)

    def sums(self, n: int) -> list[Any]:
        """Registers of zeros."""
        registers = [cgutils.alloca_once(self.builder, self.kind) for _ in range(n)]
        for register in registers:
            self.builder.store(self.zeros(), register)
        return registers

    def add(self, register: Any, vector: Any) -> None:
        self.builder.store(self.plus(self.builder.load(register), vector), register)


def added_rows(
    builder: Any, vectors: Vectors, table: Any, codes: Any, rows: Any, firsts: Any, width: Any, at: Any, weights: Any
) -> list[Any]:
    """Registers with the sums, over the labels of each of the rows of codes, of the vectors that begin ``at`` some
    columns of the labels' rows of the table.
    """
    by_row, by_column = codes.strides
    begin = builder.bitcast(codes.data, ir.IntType(8).as_pointer())
    rows = [builder.gep(begin, [builder.mul(i, by_row)]) for i in rows]
    registers = vectors.sums(len(rows) * len(at))
    with cgutils.for_range(builder, codes.shape[1]) as loop:
        first, left = firsts.entry(builder, loop.index), iter(registers)
        for row in rows:
            place = builder.gep(row, [builder.mul(loop.index, by_column)])
            label = builder.load(builder.bitcast(place, codes.data.type))
            label = builder.zext(label, SIZE) if codes.kind.bitwidth < 64 else label
            start = builder.add(first, builder.mul(label, width))
            for column in at:
                added = vectors.load(table.data, builder.add(start, column))
                if weights is not None:
                    added = vectors.times(vectors.broadcast(weights.entry(builder, loop.index)), added)
                vectors.add(next(left), added)
    return registers


def write_table_rows(
    context: Any, builder: Any, table: Any, codes: Any, i: Any, firsts: Any, sums: Any, weights: Any = None
) -> None:
    vectors = Vectors(context, builder, table.kind, SHORT_LANES if table.kind.bitwidth == 16 else LANES)
    (width,), begin = sums.shape, SIZE(0)
    # Four vectors at once while there are four, so that each label is read once for them; then what is left.
    for n_vectors in (4, 3, 2, 1):
        size = SIZE(n_vectors * vectors.lanes)
        end = builder.sub(width, builder.urem(builder.sub(width, begin), size))
        with cgutils.for_range_slice(builder, begin, end, size, SIZE) as (first, _):
            at = [builder.add(first, SIZE(v * vectors.lanes)) for v in range(n_vectors)]
            registers = added_rows(builder, vectors, table, codes, [i.data], firsts, width, at, weights)
            for register, place in zip(registers, at, strict=True):
                vectors.store(builder.load(register), sums.data, place)
        begin = end


def write_limited_rows(
    context: Any, builder: Any, table: Any, codes: Any, first: Any, firsts: Any, base: Any, nearest: Any, counts: Any,
    distances: Any, totals: Any,
) -> None:  # fmt: skip
    vectors, doubles = (Vectors(context, builder, kind, LANES) for kind in (table.kind, types.float64))
    n, last = codes.shape[0], builder.sub(codes.shape[0], SIZE(1))
    objects = [builder.add(first.data, SIZE(s)) for s in range(OBJECTS)]
    there = [builder.icmp_unsigned("<", i, n) for i in objects]
    rows = [builder.select(is_there, i, last) for is_there, i in zip(there, objects, strict=True)]
    # Side by side: eight columns of one object are one chain of additions, each of which waits for the one before.
    sums = added_rows(builder, vectors, table, codes, rows, firsts, SIZE(LANES), [SIZE(0)], None)
    # Not in memory from one object to the next: there it would be waited for.
    total = cgutils.alloca_once_value(builder, doubles.load(totals.data, SIZE(0)))
    for i, is_there, added in zip(objects, there, sums, strict=True):
        with builder.if_then(is_there):
            of_base, limit, count = (array.entry(builder, i) for array in (base, nearest, counts))
            far, limit = builder.fadd(vectors.broadcast(of_base), builder.load(added)), vectors.broadcast(limit)
            near = builder.select(builder.fcmp_ordered("<", far, limit), far, limit)
            near = builder.select(builder.fcmp_ordered(">", near, vectors.zeros()), near, vectors.zeros())
            vectors.store(near, distances.data, builder.mul(i, SIZE(LANES)))
            count = doubles.broadcast(builder.sitofp(count, ir.DoubleType()))
            doubles.add(total, doubles.times(builder.fpext(near, doubles.kind), count))
    doubles.store(builder.load(total), totals.data, SIZE(0))


def write_lines(
    context: Any, builder: Any, table: Any, labels: Any, counts: Any, begin: Any, end: Any, sums: Any
) -> None:
    # Sums are exact: their order is free.
    vectors = Vectors(context, builder, table.kind, 8 * LINE // table.kind.bitwidth)
    registers = vectors.sums(N_CHAINS)

    def add_label(place: Any, register: Any) -> None:
        label = builder.zext(labels.entry(builder, place), SIZE)
        line = vectors.load(table.data, builder.mul(label, SIZE(vectors.lanes)))
        if table.kind != types.uint8:
            weight = context.cast(builder, counts.entry(builder, place), counts.kind, table.kind)
            line = vectors.times(vectors.broadcast(weight), line)
        vectors.add(register, line)

    n_left = builder.urem(builder.sub(end.data, begin.data), SIZE(N_CHAINS))
    last = builder.sub(end.data, n_left)
    with cgutils.for_range_slice(builder, begin.data, last, SIZE(N_CHAINS), SIZE) as (place, _):
        for i, register in enumerate(registers):
            add_label(builder.add(place, SIZE(i)), register)
    with cgutils.for_range_slice(builder, last, end.data, SIZE(1), SIZE) as (place, _):
        add_label(place, registers[0])
    for register in registers[1:]:
        vectors.add(registers[0], builder.load(register))
    vectors.store(builder.load(registers[0]), sums.data, SIZE(0))


def write_planes(context: Any, builder: Any, maps: Any, k: Any, numbers: Any, planes: Any) -> None:
    vectors = Vectors(context, builder, types.uint64, EIGHT)
    (_, n_blocks, n_words), n_planes = maps.shape, planes.shape[0]
    block = context.cast(builder, k.data, k.kind, types.int64)

    def add(plane: Any, a: Any, b: Any) -> Any:
        """Carry; the sum stays in the plane."""
        held = builder.load(plane)
        differ = builder.xor(a, b)
        builder.store(builder.xor(differ, held), plane)
        return builder.or_(builder.and_(a, b), builder.and_(differ, held))

    def place_of(row: Any, word: Any) -> Any:
        return builder.add(builder.mul(row, n_words), word)

    with cgutils.for_range_slice(builder, SIZE(0), n_words, SIZE(EIGHT), SIZE) as (word, _):
        registers, (carry,) = vectors.sums(HELD), vectors.sums(1)
        with cgutils.for_range(builder, n_planes) as high:
            vectors.store(vectors.zeros(), planes.data, place_of(high.index, word))
        with cgutils.for_range_slice(builder, SIZE(0), numbers.shape[0], SIZE(EIGHT), SIZE) as (first, _):
            chosen = [numbers.entry(builder, builder.add(first, SIZE(t))) for t in range(EIGHT)]
            rows = [builder.add(builder.mul(number, n_blocks), block) for number in chosen]
            added = [vectors.load(maps.data, place_of(row, word)) for row in rows]
            for plane in registers[:3]:
                added = [add(plane, a, b) for a, b in zip(added[::2], added[1::2], strict=True)]
            (over,) = added
            for plane in registers[3:]:
                held = builder.load(plane)
                builder.store(builder.xor(held, over), plane)
                over = builder.and_(held, over)
            builder.store(over, carry)
            with cgutils.for_range_slice(builder, SIZE(HELD), n_planes, SIZE(1), SIZE) as (g, _):
                place = place_of(g, word)
                held, over = vectors.load(planes.data, place), builder.load(carry)
                vectors.store(builder.xor(held, over), planes.data, place)
                builder.store(builder.and_(held, over), carry)
        for g, plane in enumerate(registers):
            vectors.store(builder.load(plane), planes.data, place_of(SIZE(g), word))
