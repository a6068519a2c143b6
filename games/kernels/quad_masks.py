"""Legal moves as the 256 bits of four words: the mask functions for boards of many moves."""

import numpy as np

from games.kernels.bits import ONE, ZERO, Truth, U, leading_zeros, trailing_zeros
from games.kernels.jit import inlined
from games.kernels.quad import Quad, bits, empty, placed, without

SIX, IN_WORD = U(6), U(63)


@inlined
def plies(mask: Quad) -> Quad:
    """Every move is a ply."""
    return mask


@inlined
def none(mask: Quad) -> Truth:
    """Whether the mask holds no move."""
    return empty(mask)


@inlined
def lowest(mask: Quad) -> np.uint64:
    """The slot of the first move."""
    if mask.w0 != ZERO:
        return trailing_zeros(mask.w0)
    if mask.w1 != ZERO:
        return U(64) + trailing_zeros(mask.w1)
    if mask.w2 != ZERO:
        return U(128) + trailing_zeros(mask.w2)
    return U(192) + trailing_zeros(mask.w3)


@inlined
def rest(mask: Quad) -> Quad:
    """The mask without its first move."""
    # A word loses its lowest bit only when all words below it are empty.
    one = ONE if mask.w0 == ZERO else ZERO
    two = one if mask.w1 == ZERO else ZERO
    three = two if mask.w2 == ZERO else ZERO
    return Quad(
        mask.w0 & (mask.w0 - ONE),
        mask.w1 & ((mask.w1 - ONE) | (one - ONE)),
        mask.w2 & ((mask.w2 - ONE) | (two - ONE)),
        mask.w3 & ((mask.w3 - ONE) | (three - ONE)),
    )


@inlined
def nth(mask: Quad, n: np.uint64) -> np.uint64:
    """The slot of move `n` of the mask."""
    while n > ZERO:
        mask = rest(mask)
        n -= ONE
    return lowest(mask)


@inlined
def highest(mask: Quad) -> np.uint64:
    """The slot of the last move."""
    if mask.w3 != ZERO:
        return U(255) - leading_zeros(mask.w3)
    if mask.w2 != ZERO:
        return U(191) - leading_zeros(mask.w2)
    if mask.w1 != ZERO:
        return U(127) - leading_zeros(mask.w1)
    return IN_WORD - leading_zeros(mask.w0)


@inlined
def except_highest(mask: Quad) -> Quad:
    """The mask without its last move."""
    slot = highest(mask)
    return without(mask, placed(ONE << (slot & IN_WORD), slot >> SIX))


@inlined
def count(mask: Quad) -> np.int64:
    """The number of moves."""
    return bits(mask)
