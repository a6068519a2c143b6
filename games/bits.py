"""Bit counts for kernels: one machine instruction compiled, plain Python interpreted."""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from games.jit import INTERPRETED

U = np.uint64
ZERO = U(0)
ONE = U(1)
ALL = U(0xFFFF_FFFF_FFFF_FFFF)
DEFINED_AT_ZERO = ir.Constant(ir.IntType(1), 0)

Count = Callable[[np.uint64], np.uint64]
Truth = bool | np.bool_  # what a comparison gives, compiled or interpreted


def _instruction(emit: Callable[[Any, Any], Any]) -> Count:
    """A compiled function from uint64 to uint64 whose code `emit(builder, value)` writes."""

    def count(_context: Any, _word: Any) -> Any:
        def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return emit(builder, arguments[0])

        return types.uint64(types.uint64), code

    make: Any = intrinsic  # typed by Numba as what it is made from, not as what it makes
    made: Count = make(count)
    return made


def _popcount(word: np.uint64) -> np.uint64:
    return U(int(word).bit_count())


def _trailing_zeros(word: np.uint64) -> np.uint64:
    value = int(word)
    return U((value & -value).bit_length() - 1 if value else 64)


def _leading_zeros(word: np.uint64) -> np.uint64:
    return U(64 - int(word).bit_length())


def _chosen(plain: Count, emit: Callable[[Any, Any], Any]) -> Count:
    return plain if INTERPRETED else _instruction(emit)


popcount = _chosen(_popcount, lambda builder, value: builder.ctpop(value))
trailing_zeros = _chosen(
    _trailing_zeros, lambda builder, value: builder.cttz(value, DEFINED_AT_ZERO)
)
leading_zeros = _chosen(_leading_zeros, lambda builder, value: builder.ctlz(value, DEFINED_AT_ZERO))
