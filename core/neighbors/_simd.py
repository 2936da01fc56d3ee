"""Sums of differences between a few rows at a time, written for vector registers.

A loop over two rows is bound by loading them. Four rows against two are six loads for eight sums
that stay in registers, which is two to six times faster, but compilers do not find that form by
themselves, nor the instruction that sums absolute differences of 32 bytes. So the loop is built
here in LLVM's portable vector language; the one machine instruction it names is used only where
the compiler's target has it.

Rows are read in whole vectors: widths must be multiples of :func:`lanes`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it ships no types
from numba.core import cgutils, types
from numba.extending import intrinsic

ROWS_A, ROWS_B = 4, 2
# Rows that one row is compared with at a time in float64: each sum waits for its own last
# addition, and so many hide that.
ROWS_PAIRED = 4

_INT8, _INT16, _INT64 = ir.IntType(8), ir.IntType(16), ir.IntType(64)
_FLOAT, _DOUBLE = ir.FloatType(), ir.DoubleType()
_FLOAT_LANES, _BYTE_LANES = 8, 32


def lanes(dtype: np.dtype) -> int:
    """Columns that are read at once."""
    return _BYTE_LANES if dtype == np.uint8 else _FLOAT_LANES


@dataclass(frozen=True)
class _Recipe:
    """How one step adds to a register, and how a register becomes a number.

    ``clamp(builder, value, low, high)`` is the nearest to a value between two others.
    """

    lanes: int
    register: ir.VectorType
    load: Callable[[Any, Any], Any]
    clamp: Callable[[Any, Any, Any, Any], Any]
    add: Callable[[Any, Any, Any, Any], Any]
    total: Callable[[Any, Any], Any]


def _call(
    builder: Any, name: str, result: Any, *arguments: Any, flags: tuple[str, ...] = ()
) -> Any:
    signature = ir.FunctionType(result, [argument.type for argument in arguments])
    function = builder.module.declare_intrinsic(name, (), signature)
    return builder.call(function, arguments, fastmath=flags)


def _floats(norm: int, real: ir.Type, item: types.Type) -> _Recipe:
    """Eight lanes of ``real``, each the running sum of every eighth column.

    In double precision the lanes are added in order and nothing may be reassociated, so the same
    rows give the same sum on every machine.
    """
    register = ir.VectorType(real, _FLOAT_LANES)
    suffix = "v8f32" if real is _FLOAT else "v8f64"
    source = ir.VectorType(_FLOAT if item == types.float32 else _INT8, _FLOAT_LANES)
    flags = ("reassoc",) if real is _FLOAT else ()

    def load(builder: Any, pointer: Any) -> Any:
        value = builder.load(builder.bitcast(pointer, source.as_pointer()), align=1)
        if item != types.float32:
            return builder.uitofp(value, register)
        return value if real is _FLOAT else builder.fpext(value, register)

    def clamp(builder: Any, value: Any, low: Any, high: Any) -> Any:
        value = builder.select(builder.fcmp_ordered("<", value, high), value, high)
        return builder.select(builder.fcmp_ordered(">", value, low), value, low)

    def add(builder: Any, running: Any, a: Any, b: Any) -> Any:
        difference = builder.fsub(a, b)
        if norm == 1:
            term = _call(builder, f"llvm.fabs.{suffix}", register, difference)
        else:
            term = builder.fmul(difference, difference)
        return builder.fadd(running, term)

    def total(builder: Any, running: Any) -> Any:
        name, start = f"llvm.vector.reduce.fadd.{suffix}", ir.Constant(real, 0.0)
        number = _call(builder, name, real, start, running, flags=flags)
        return number if real is _DOUBLE else builder.fpext(number, _DOUBLE)

    return _Recipe(_FLOAT_LANES, register, load, clamp, add, total)


def _bytes(has_avx2: bool) -> _Recipe:
    """Absolute differences of 32 bytes; exact as long as a chunk has at most 8,192 columns."""
    source = ir.VectorType(_INT8, _BYTE_LANES)
    register = ir.VectorType(_INT64, 4) if has_avx2 else ir.VectorType(_INT16, _BYTE_LANES)

    def load(builder: Any, pointer: Any) -> Any:
        return builder.load(builder.bitcast(pointer, source.as_pointer()), align=1)

    def clamp(builder: Any, value: Any, low: Any, high: Any) -> Any:
        value = _call(builder, "llvm.umin.v32i8", source, value, high)
        return _call(builder, "llvm.umax.v32i8", source, value, low)

    def add(builder: Any, running: Any, a: Any, b: Any) -> Any:
        if has_avx2:
            return builder.add(running, _call(builder, "llvm.x86.avx2.psad.bw", register, a, b))
        high = _call(builder, "llvm.umax.v32i8", source, a, b)
        low = _call(builder, "llvm.umin.v32i8", source, a, b)
        return builder.add(running, builder.zext(builder.sub(high, low), register))

    def total(builder: Any, running: Any) -> Any:
        if not has_avx2:
            running = builder.zext(running, ir.VectorType(_INT64, _BYTE_LANES))
        name = f"llvm.vector.reduce.add.v{running.type.count}i64"
        return builder.uitofp(_call(builder, name, _INT64, running), _DOUBLE)

    return _Recipe(_BYTE_LANES, register, load, clamp, add, total)


def _choose(context: Any, item: types.Type, norm: int, real: ir.Type) -> _Recipe:
    if item == types.uint8 and norm == 1:
        features = context.codegen().magic_tuple()[2]
        return _bytes("+avx2" in features.split(","))
    return _floats(norm, real, item)


def _number(value: int) -> ir.Constant:
    return ir.Constant(_INT64, value)


def _array(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return cgutils.create_struct_proxy(kind)(context, builder, value)


def _at(builder: Any, base: Any, offset: Any) -> Any:
    return builder.gep(builder.bitcast(base, _INT8.as_pointer()), [offset])


def _row(context: Any, builder: Any, kind: Any, value: Any, row: Any, start: Any) -> Any:
    """Where column ``start`` of a row is; a slice would count references, which is slow."""
    array = _array(context, builder, kind, value)
    stride = cgutils.unpack_tuple(builder, array.strides)[0]
    column = builder.mul(start, _number(kind.dtype.bitwidth // 8))
    return _at(builder, array.data, builder.add(builder.mul(row, stride), column))


def _sum_columns(
    builder: Any,
    recipe: _Recipe,
    n_sums: int,
    compared: Callable[[Callable[[Any], Any]], Iterable[tuple[Any, Any]]],
    size: int,
    width: Any,
) -> list[Any]:
    """Emit the loop over ``width`` columns of ``size`` bytes; return the totals.

    ``compared(load)`` emits one step and gives, for each sum in turn, the two vectors whose
    difference it takes in; ``load(row)`` is the step's columns of a row.
    """
    before = builder.block
    loop = builder.append_basic_block("columns")
    after = builder.append_basic_block("totals")
    builder.branch(loop)
    builder.position_at_end(loop)
    offset = builder.phi(_INT64)
    offset.add_incoming(_number(0), before)
    running = [builder.phi(recipe.register) for _ in range(n_sums)]

    def load(row: Any) -> Any:
        return recipe.load(builder, builder.gep(row, [offset]))

    sums = [
        recipe.add(builder, register, a, b)
        for register, (a, b) in zip(running, compared(load), strict=True)
    ]
    following = builder.add(offset, _number(recipe.lanes * size))
    offset.add_incoming(following, loop)
    for register, updated in zip(running, sums, strict=True):
        register.add_incoming(ir.Constant(recipe.register, None), before)
        register.add_incoming(updated, loop)
    end = builder.mul(width, _number(size))
    builder.cbranch(builder.icmp_signed("<", following, end), loop, after)
    builder.position_at_end(after)
    return [recipe.total(builder, cell) for cell in sums]


def _block(norm: int, real: ir.Type, count_a: int, count_b: int) -> Any:
    """Make ``add(x, rows_a, i, rows_b, j, start, stop, weight, out)``, in precision ``real``.

    It compares rows ``rows_a[i : i + count_a]`` of x with ``rows_b[j : j + count_b]`` and adds the
    weighted sums to ``out[i : i + count_a, j : j + count_b]``. Past the end of a list its last row
    is taken again: what is then written twice is the same both times. In double precision each
    sum is that of :func:`_pair`, to the last bit.
    """

    @intrinsic
    def add(
        typing: Any,
        x: Any,
        rows_a: Any,
        i: Any,
        rows_b: Any,
        j: Any,
        start: Any,
        stop: Any,
        weight: Any,
        out: Any,
    ) -> Any:
        _check_type(x)
        integer = types.int64
        signature = types.void(
            x, rows_a, integer, rows_b, integer, integer, integer, types.float64, out
        )

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            x, rows_a, i, rows_b, j, start, stop, weight, out = arguments
            kind, kind_a, _, kind_b, *_, kind_out = signature.args
            recipe = _choose(context, kind.dtype, norm, real)

            def places(kind: Any, value: Any, first: Any, count: int) -> list[Any]:
                rows = _array(context, builder, kind, value)
                last = builder.sub(cgutils.unpack_tuple(builder, rows.shape)[0], _number(1))
                following = [builder.add(first, _number(step)) for step in range(count)]
                return [
                    builder.select(builder.icmp_signed("<", place, last), place, last)
                    for place in following
                ]

            def pointers(list_kind: Any, value: Any, chosen: list[Any]) -> list[Any]:
                rows = _array(context, builder, list_kind, value)
                named = [builder.load(builder.gep(rows.data, [place])) for place in chosen]
                return [_row(context, builder, kind, x, row, start) for row in named]

            places_a, places_b = (
                places(kind_a, rows_a, i, count_a),
                places(kind_b, rows_b, j, count_b),
            )
            left, right = pointers(kind_a, rows_a, places_a), pointers(kind_b, rows_b, places_b)

            def compared(load: Callable[[Any], Any]) -> list[tuple[Any, Any]]:
                values_a, values_b = [load(row) for row in left], [load(row) for row in right]
                return [(a, b) for a in values_a for b in values_b]

            size, width = kind.dtype.bitwidth // 8, builder.sub(stop, start)
            totals = _sum_columns(builder, recipe, count_a * count_b, compared, size, width)
            cells = [
                _row(context, builder, kind_out, out, a, b) for a in places_a for b in places_b
            ]
            cells = [builder.bitcast(cell, _DOUBLE.as_pointer()) for cell in cells]
            before = [builder.load(cell) for cell in cells]
            for cell, old, total in zip(cells, before, totals, strict=True):
                builder.store(builder.fadd(old, builder.fmul(weight, total)), cell)
            return context.get_dummy_value()

        return signature, codegen

    return add


def _pair(norm: int) -> Any:
    """Make ``total(x, i, j, start, stop)``: between two rows in float64, always in one order."""

    @intrinsic
    def total(typing: Any, x: Any, i: Any, j: Any, start: Any, stop: Any) -> Any:
        _check_type(x)

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            x, i, j, start, stop = arguments
            kind = signature.args[0]
            recipe = _choose(context, kind.dtype, norm, _DOUBLE)
            rows = [_row(context, builder, kind, x, row, start) for row in (i, j)]

            def compared(load: Callable[[Any], Any]) -> list[tuple[Any, Any]]:
                return [(load(rows[0]), load(rows[1]))]

            size, width = kind.dtype.bitwidth // 8, builder.sub(stop, start)
            return _sum_columns(builder, recipe, 1, compared, size, width)[0]

        return types.float64(x, *[types.int64] * 4), codegen

    return total


def _box(norm: int) -> Any:
    """Make ``total(x, i, lower, upper, node, start, stop)``: from a row to a box, in float32.

    The distance to a box is that to the nearest of its points.
    """

    @intrinsic
    def total(
        typing: Any, x: Any, i: Any, lower: Any, upper: Any, node: Any, start: Any, stop: Any
    ) -> Any:
        _check_type(x)

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            x, i, lower, upper, node, start, stop = arguments
            kind = signature.args[0]
            recipe = _choose(context, kind.dtype, norm, _FLOAT)
            rows = [
                _row(context, builder, kind, array, row, start)
                for array, row in ((x, i), (lower, node), (upper, node))
            ]

            def compared(load: Callable[[Any], Any]) -> list[tuple[Any, Any]]:
                value, low, high = [load(row) for row in rows]
                return [(value, recipe.clamp(builder, value, low, high))]

            size, width = kind.dtype.bitwidth // 8, builder.sub(stop, start)
            return _sum_columns(builder, recipe, 1, compared, size, width)[0]

        integer = types.int64
        return types.float64(x, integer, x, x, integer, integer, integer), codegen

    return total


def _check_type(x: Any) -> None:
    if x.dtype not in (types.float32, types.uint8):
        raise TypeError(f"rows must be float32 or uint8, not {x.dtype}")


l1_block, l2_block = (_block(norm, _FLOAT, ROWS_A, ROWS_B) for norm in (1, 2))
l1_pairs, l2_pairs = (_block(norm, _DOUBLE, 1, ROWS_PAIRED) for norm in (1, 2))
l1_pair, l2_pair = _pair(1), _pair(2)
l1_box, l2_box = _box(1), _box(2)
