"""Legal moves as the bits of one word: the mask functions of most state families."""

import numpy as np

from games.kernels.bits import (
    ONE,
    ZERO,
    Truth,
    U,
    leading_zeros,
    nth_bit,
    popcount,
    trailing_zeros,
)
from games.kernels.jit import inline

LAST_BIT = U(63)
TOP_BIT = U(0x8000_0000_0000_0000)


@inline
def plies(mask: np.uint64) -> np.uint64:
    return mask


@inline
def none(mask: np.uint64) -> Truth:
    return mask == ZERO


@inline
def lowest(mask: np.uint64) -> np.uint64:
    return trailing_zeros(mask)


@inline
def nth(mask: np.uint64, n: np.uint64) -> np.uint64:
    return trailing_zeros(nth_bit(mask, n))


@inline
def highest(mask: np.uint64) -> np.uint64:
    return LAST_BIT - leading_zeros(mask)


@inline
def rest(mask: np.uint64) -> np.uint64:
    return mask & (mask - ONE)


@inline
def except_highest(mask: np.uint64) -> np.uint64:
    return mask ^ (TOP_BIT >> leading_zeros(mask))


@inline
def count(mask: np.uint64) -> np.int64:
    return np.int64(popcount(mask))
