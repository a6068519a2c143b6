"""Four 64-bit words as one value: the large boards' unit of state."""

from typing import NamedTuple

import numpy as np

from games.kernels.bits import ZERO, Truth, U, popcount
from games.kernels.jit import inlined


class Quad(NamedTuple):
    """Four words, the lowest first."""

    w0: np.uint64
    w1: np.uint64
    w2: np.uint64
    w3: np.uint64


def quad_of(words: tuple[int, ...]) -> Quad:
    """The quad of four plain numbers."""
    return Quad(U(words[0]), U(words[1]), U(words[2]), U(words[3]))


@inlined
def word_of(quad: Quad, which: np.uint64) -> np.uint64:
    """Word `which` of the quad."""
    low = quad.w0 if which == ZERO else quad.w1
    high = quad.w2 if which == U(2) else quad.w3
    return low if which < U(2) else high


@inlined
def placed(word: np.uint64, which: np.uint64) -> Quad:
    """A quad of zeros except for `word` at `which`."""
    return Quad(
        word if which == U(0) else ZERO,
        word if which == U(1) else ZERO,
        word if which == U(2) else ZERO,
        word if which == U(3) else ZERO,
    )


@inlined
def plus(a: Quad, b: Quad) -> Quad:
    """The sum word by word, without carries between words."""
    return Quad(a.w0 + b.w0, a.w1 + b.w1, a.w2 + b.w2, a.w3 + b.w3)


@inlined
def minus(a: Quad, b: Quad) -> Quad:
    """The difference word by word, without borrows between words."""
    return Quad(a.w0 - b.w0, a.w1 - b.w1, a.w2 - b.w2, a.w3 - b.w3)


@inlined
def times(factor: np.uint64, a: Quad) -> Quad:
    """Every word multiplied."""
    return Quad(factor * a.w0, factor * a.w1, factor * a.w2, factor * a.w3)


@inlined
def both(a: Quad, b: Quad) -> Quad:
    """Bits set in both."""
    return Quad(a.w0 & b.w0, a.w1 & b.w1, a.w2 & b.w2, a.w3 & b.w3)


@inlined
def either(a: Quad, b: Quad) -> Quad:
    """Bits set in one or both."""
    return Quad(a.w0 | b.w0, a.w1 | b.w1, a.w2 | b.w2, a.w3 | b.w3)


@inlined
def without(a: Quad, b: Quad) -> Quad:
    """Bits of `a` that are not in `b`."""
    return Quad(a.w0 & ~b.w0, a.w1 & ~b.w1, a.w2 & ~b.w2, a.w3 & ~b.w3)


@inlined
def empty(a: Quad) -> Truth:
    """Whether every word is zero."""
    return (a.w0 | a.w1 | a.w2 | a.w3) == ZERO


@inlined
def bits(a: Quad) -> np.int64:
    """The number of bits set."""
    return np.int64(popcount(a.w0) + popcount(a.w1) + popcount(a.w2) + popcount(a.w3))


@inlined
def raised(a: Quad, by: np.uint64) -> Quad:
    """The 256 bits shifted up by 1 to 63."""
    down = U(64) - by
    return Quad(
        a.w0 << by, a.w1 << by | a.w0 >> down, a.w2 << by | a.w1 >> down, a.w3 << by | a.w2 >> down
    )


@inlined
def lowered(a: Quad, by: np.uint64) -> Quad:
    """The 256 bits shifted down by 1 to 63."""
    up = U(64) - by
    return Quad(
        a.w0 >> by | a.w1 << up, a.w1 >> by | a.w2 << up, a.w2 >> by | a.w3 << up, a.w3 >> by
    )
