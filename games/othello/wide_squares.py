"""Sets of squares on four words: the names of `word_squares` for boards past 8x8."""

import numpy as np

from games.kernels.bits import ONE, U
from games.kernels.context import RULES, Context
from games.kernels.jit import inlined
from games.kernels.quad import (
    Quad,
    bits,
    both,
    either,
    empty,
    lowered,
    placed,
    raised,
    without,
)
from games.kernels.quad_masks import IN_WORD, SIX
from games.othello.wide_board import STRIDE as STRIDE_BITS

__all__ = ["bits", "both", "either", "empty", "lowered", "raised", "without"]

ROW_STEP = U(STRIDE_BITS)


@inlined
def squares(ctx: Context, which: int) -> Quad:
    """The mask that stands at `which` among the rule scalars."""
    at = RULES + which
    return Quad(U(ctx[at]), U(ctx[at + 1]), U(ctx[at + 2]), U(ctx[at + 3]))


@inlined
def one_square(slot: np.uint64) -> Quad:
    """The set of one square."""
    return placed(ONE << (slot & IN_WORD), slot >> SIX)
