"""Legal moves as the bits of one word: the mask functions that most families share."""

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
from games.kernels.jit import inlined

LAST_BIT = U(63)
TOP_BIT = U(0x8000_0000_0000_0000)


@inlined
def plies(mask: np.uint64) -> np.uint64:
    """Every move is a ply."""
    return mask


@inlined
def none(mask: np.uint64) -> Truth:
    """Whether the mask holds no move."""
    return mask == ZERO


@inlined
def lowest(mask: np.uint64) -> np.uint64:
    """The slot of the first move."""
    return trailing_zeros(mask)


@inlined
def nth(mask: np.uint64, n: np.uint64) -> np.uint64:
    """The slot of move `n` of the mask."""
    return trailing_zeros(nth_bit(mask, n))


@inlined
def highest(mask: np.uint64) -> np.uint64:
    """The slot of the last move."""
    return LAST_BIT - leading_zeros(mask)


@inlined
def rest(mask: np.uint64) -> np.uint64:
    """The mask without its first move."""
    return mask & (mask - ONE)


@inlined
def except_highest(mask: np.uint64) -> np.uint64:
    """The mask without its last move."""
    return mask ^ (TOP_BIT >> leading_zeros(mask))


@inlined
def count(mask: np.uint64) -> np.int64:
    """The number of moves."""
    return np.int64(popcount(mask))
