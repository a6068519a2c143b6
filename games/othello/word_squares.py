"""Sets of squares on one word: Othello's features use these names, here for boards up to 8x8."""

import numpy as np

from games.kernels.bits import ONE, ZERO, Truth, U, popcount
from games.kernels.context import RULES, Context
from games.kernels.jit import inlined
from games.othello.bitboard import STRIDE as STRIDE_BITS

ROW_STEP = U(STRIDE_BITS)


@inlined
def squares(ctx: Context, which: int) -> np.uint64:
    """The mask that stands at `which` among the rule scalars."""
    return U(ctx[RULES + which])


@inlined
def one_square(slot: np.uint64) -> np.uint64:
    """The set of one square."""
    return ONE << slot


@inlined
def both(a: np.uint64, b: np.uint64) -> np.uint64:
    """Squares in both."""
    return a & b


@inlined
def either(a: np.uint64, b: np.uint64) -> np.uint64:
    """Squares in one or both."""
    return a | b


@inlined
def without(a: np.uint64, b: np.uint64) -> np.uint64:
    """Squares of `a` that are not in `b`."""
    return a & ~b


@inlined
def empty(a: np.uint64) -> Truth:
    """Whether there is no square."""
    return a == ZERO


@inlined
def bits(a: np.uint64) -> np.int64:
    """The number of squares."""
    return np.int64(popcount(a))


@inlined
def raised(a: np.uint64, by: np.uint64) -> np.uint64:
    """Shifted towards the last square."""
    return a << by


@inlined
def lowered(a: np.uint64, by: np.uint64) -> np.uint64:
    """Shifted towards the first square."""
    return a >> by
