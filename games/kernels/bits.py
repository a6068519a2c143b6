"""Bit counts for kernels: one machine instruction when compiled, plain Python otherwise."""

from collections.abc import Callable, Sequence
from typing import cast

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from games.kernels.compile_cache import config
from games.kernels.jit import INTERPRETED, inline

U = np.uint64
ZERO = U(0)
ONE = U(1)
ALL = U(0xFFFF_FFFF_FFFF_FFFF)
DEFINED_AT_ZERO = ir.Constant(ir.IntType(1), 0)

Count = Callable[[np.uint64], np.uint64]
NthBit = Callable[[np.uint64, np.uint64], np.uint64]
Values = Sequence[ir.Value]
Emit = Callable[[ir.IRBuilder, ir.Value], ir.Value]
# An intrinsic returns Numba's signature and the function that writes its code.
IntrinsicResult = tuple[object, Callable[..., ir.Value]]
Truth = bool | np.bool_  # the result of a comparison, compiled or interpreted


def _instruction(emit: Emit) -> Count:
    """Return an intrinsic from uint64 to uint64 whose code `emit(builder, value)` writes."""

    def count(_context: object, _word: object) -> IntrinsicResult:
        def code(
            _context: object, builder: ir.IRBuilder, _signature: object, arguments: Values
        ) -> ir.Value:
            return emit(builder, arguments[0])

        return types.uint64(types.uint64), code

    return cast("Count", intrinsic(count))  # Numba gives it the type of `count`


def _popcount(word: np.uint64) -> np.uint64:
    return U(int(word).bit_count())


def _trailing_zeros(word: np.uint64) -> np.uint64:
    value = int(word)
    return U((value & -value).bit_length() - 1 if value else 64)


def _leading_zeros(word: np.uint64) -> np.uint64:
    return U(64 - int(word).bit_length())


def _nth_bit(word: np.uint64, n: np.uint64) -> np.uint64:
    """Return a word with only the set bit number `n`, counted from 0."""
    while n > ZERO:
        word &= word - ONE
        n -= ONE
    return word & (~word + ONE)


def _nth_bit_in_one_instruction(_context: object, _word: object, _n: object) -> IntrinsicResult:
    """`pdep` moves a single bit to the n-th set place; a loop would mispredict on every move."""

    def code(
        _context: object, builder: ir.IRBuilder, _signature: object, arguments: Values
    ) -> ir.Value:
        i64 = ir.IntType(64)
        shape = ir.FunctionType(i64, [i64, i64])
        pdep = cgutils.get_or_insert_function(builder.module, shape, "llvm.x86.bmi.pdep.64")
        lone = builder.shl(ir.Constant(i64, 1), arguments[1])
        return builder.call(pdep, [lone, arguments[0]])

    return types.uint64(types.uint64, types.uint64), code


def _gather_bits(word: np.uint64, mask: np.uint64) -> np.uint64:
    """Return the bits of the word at the set places of the mask, packed from the lowest bit."""
    packed, place, rest = 0, 0, int(mask)
    while rest:
        lone = rest & -rest
        packed |= (1 << place) if int(word) & lone else 0
        place, rest = place + 1, rest ^ lone
    return U(packed)


def _gather_in_one_instruction(_context: object, _word: object, _mask: object) -> IntrinsicResult:
    """`pext`, the inverse of `pdep`."""

    def code(
        _context: object, builder: ir.IRBuilder, _signature: object, arguments: Values
    ) -> ir.Value:
        i64 = ir.IntType(64)
        shape = ir.FunctionType(i64, [i64, i64])
        pext = cgutils.get_or_insert_function(builder.module, shape, "llvm.x86.bmi.pext.64")
        return builder.call(pext, [arguments[0], arguments[1]])

    return types.uint64(types.uint64, types.uint64), code


def _has_fast_pdep() -> bool:
    """Return whether the processor has `pdep` in hardware; two early Zens use slow microcode."""
    if INTERPRETED or config.CPU_NAME:
        return False
    slow = llvmlite.binding.get_host_cpu_name() in ("znver1", "znver2")
    return not slow and bool(llvmlite.binding.get_host_cpu_features().get("bmi2"))


def _python_or_intrinsic(plain: Count, emit: Emit) -> Count:
    return plain if INTERPRETED else _instruction(emit)


popcount = _python_or_intrinsic(_popcount, lambda builder, value: builder.ctpop(value))
trailing_zeros = _python_or_intrinsic(
    _trailing_zeros, lambda builder, value: builder.cttz(value, DEFINED_AT_ZERO)
)
nth_bit = (
    cast("NthBit", intrinsic(_nth_bit_in_one_instruction)) if _has_fast_pdep() else inline(_nth_bit)
)
FAST_GATHER = _has_fast_pdep()  # without it kernels shift runs of bits one by one
gathered_bits = (
    cast("NthBit", intrinsic(_gather_in_one_instruction))
    if FAST_GATHER
    else _gather_bits  # only interpreted kernels and tests call it
)
leading_zeros = _python_or_intrinsic(
    _leading_zeros, lambda builder, value: builder.ctlz(value, DEFINED_AT_ZERO)
)

# A user's rules also run in plain Python, which cannot call intrinsics.
PYTHON_TWINS = (
    (popcount, _popcount),
    (trailing_zeros, _trailing_zeros),
    (leading_zeros, _leading_zeros),
    (nth_bit, _nth_bit),
)
