"""Legal moves as the bits of one word: the mask functions that most families share."""

import numpy as np

from games.kernels.bits import ONE, ZERO, Truth, U, leading_zeros, popcount
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
