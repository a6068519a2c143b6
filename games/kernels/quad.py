"""Four 64-bit words as one value, and masks of up to 256 moves."""

from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, ZERO, Truth, U, leading_zeros, popcount, trailing_zeros
from games.kernels.jit import inline

SIX, IN_WORD = U(6), U(63)


class Quad(NamedTuple):
    """Four words, the lowest first."""

    w0: np.uint64
    w1: np.uint64
    w2: np.uint64
    w3: np.uint64


def make_quad(words: tuple[int, ...]) -> Quad:
    """Return the quad of four Python integers."""
    return Quad(U(words[0]), U(words[1]), U(words[2]), U(words[3]))


@inline
def word_of(quad: Quad, which: np.uint64) -> np.uint64:
    """Return word `which` of the quad."""
    low = quad.w0 if which == ZERO else quad.w1
    high = quad.w2 if which == U(2) else quad.w3
    return low if which < U(2) else high


@inline
def place_word(word: np.uint64, which: np.uint64) -> Quad:
    """Return a quad that is zero except for `word` at `which`."""
    return Quad(
        word if which == U(0) else ZERO,
        word if which == U(1) else ZERO,
        word if which == U(2) else ZERO,
        word if which == U(3) else ZERO,
    )


@inline
def plus(a: Quad, b: Quad) -> Quad:
    """Add word by word, without carries between words."""
    return Quad(a.w0 + b.w0, a.w1 + b.w1, a.w2 + b.w2, a.w3 + b.w3)


@inline
def minus(a: Quad, b: Quad) -> Quad:
    """Subtract word by word, without borrows between words."""
    return Quad(a.w0 - b.w0, a.w1 - b.w1, a.w2 - b.w2, a.w3 - b.w3)


@inline
def times(factor: np.uint64, a: Quad) -> Quad:
    """Multiply every word."""
    return Quad(factor * a.w0, factor * a.w1, factor * a.w2, factor * a.w3)


@inline
def both(a: Quad, b: Quad) -> Quad:
    """Return the bits that are set in both."""
    return Quad(a.w0 & b.w0, a.w1 & b.w1, a.w2 & b.w2, a.w3 & b.w3)


@inline
def either(a: Quad, b: Quad) -> Quad:
    """Return the bits that are set in one or both."""
    return Quad(a.w0 | b.w0, a.w1 | b.w1, a.w2 | b.w2, a.w3 | b.w3)


@inline
def without(a: Quad, b: Quad) -> Quad:
    """Return the bits of `a` that are not in `b`."""
    return Quad(a.w0 & ~b.w0, a.w1 & ~b.w1, a.w2 & ~b.w2, a.w3 & ~b.w3)


@inline
def empty(a: Quad) -> Truth:
    """Return whether every word is zero."""
    return (a.w0 | a.w1 | a.w2 | a.w3) == ZERO


@inline
def bits(a: Quad) -> np.int64:
    """Return the number of set bits."""
    return np.int64(popcount(a.w0) + popcount(a.w1) + popcount(a.w2) + popcount(a.w3))


@inline
def shift_up(a: Quad, by: np.uint64) -> Quad:
    """Shift the 256 bits up by 1 to 63."""
    down = U(64) - by
    return Quad(
        a.w0 << by, a.w1 << by | a.w0 >> down, a.w2 << by | a.w1 >> down, a.w3 << by | a.w2 >> down
    )


@inline
def shift_down(a: Quad, by: np.uint64) -> Quad:
    """Shift the 256 bits down by 1 to 63."""
    up = U(64) - by
    return Quad(
        a.w0 >> by | a.w1 << up, a.w1 >> by | a.w2 << up, a.w2 >> by | a.w3 << up, a.w3 >> by
    )


@inline
def plies(mask: Quad) -> Quad:
    return mask


@inline
def none(mask: Quad) -> Truth:
    return empty(mask)


@inline
def lowest(mask: Quad) -> np.uint64:
    if mask.w0 != ZERO:
        return trailing_zeros(mask.w0)
    if mask.w1 != ZERO:
        return U(64) + trailing_zeros(mask.w1)
    if mask.w2 != ZERO:
        return U(128) + trailing_zeros(mask.w2)
    return U(192) + trailing_zeros(mask.w3)


@inline
def rest(mask: Quad) -> Quad:
    # A word loses its lowest bit only if all lower words are empty.
    one = ONE if mask.w0 == ZERO else ZERO
    two = one if mask.w1 == ZERO else ZERO
    three = two if mask.w2 == ZERO else ZERO
    return Quad(
        mask.w0 & (mask.w0 - ONE),
        mask.w1 & ((mask.w1 - ONE) | (one - ONE)),
        mask.w2 & ((mask.w2 - ONE) | (two - ONE)),
        mask.w3 & ((mask.w3 - ONE) | (three - ONE)),
    )


@inline
def nth(mask: Quad, n: np.uint64) -> np.uint64:
    while n > ZERO:
        mask = rest(mask)
        n -= ONE
    return lowest(mask)


@inline
def highest(mask: Quad) -> np.uint64:
    if mask.w3 != ZERO:
        return U(255) - leading_zeros(mask.w3)
    if mask.w2 != ZERO:
        return U(191) - leading_zeros(mask.w2)
    if mask.w1 != ZERO:
        return U(127) - leading_zeros(mask.w1)
    return IN_WORD - leading_zeros(mask.w0)


@inline
def except_highest(mask: Quad) -> Quad:
    slot = highest(mask)
    return without(mask, place_word(ONE << (slot & IN_WORD), slot >> SIX))


@inline
def count(mask: Quad) -> np.int64:
    return bits(mask)
