"""What is known of a position without a search when the rest of a game is solved."""

import numpy as np

from agents.kernels.knowledge_names import CAPPED_FROM, LOOKED_UP_FROM, most_margin, remaining
from agents.kernels.layout import HIGHEST, SOLVE, UNIT, WIN
from agents.kernels.transposition_table import (
    AT_LEAST,
    AT_MOST,
    bound_of,
    entry,
    is_solved,
    known,
    score_of,
)
from games.kernels.context import Context
from games.kernels.family import Mask, State, except_highest, highest, key, none, play

UNPROVED = 1 << 60  # no score


def exact(margin: np.int64) -> np.int64:
    """The score of a finished game: beyond every evaluation, a larger margin farther."""
    if margin == 0:
        return np.int64(0)
    return WIN + UNIT * margin if margin > 0 else UNIT * margin - WIN


def better_move(ctx: Context, s: State, mask: Mask, beta: np.int64) -> np.int64:
    """What the table proves that a move is worth, if that is `beta` or more; else less.

    Looking all children up before one is searched: enhanced transposition cut-off (Schaeffer,
    Plaat 1996).
    """
    while not none(mask):
        child, same = play(ctx, s, highest(mask))
        mask = except_highest(mask)
        word = key(child)
        fact = known(ctx, word, entry(ctx, word))
        if fact != 0 and is_solved(fact) and bound_of(fact) != (AT_MOST if same else AT_LEAST):
            value = score_of(fact) if same else -score_of(fact)
            if value >= beta:
                return value
    return np.int64(-HIGHEST)


def proved(
    ctx: Context, s: State, mask: Mask, depth: np.int64, alpha: np.int64, beta: np.int64
) -> np.int64:
    """A bound that leaves nothing to be asked between `alpha` and `beta`, or UNPROVED."""
    if depth != SOLVE:
        return np.int64(UNPROVED)
    if alpha >= WIN + UNIT * CAPPED_FROM:
        most = exact(most_margin(ctx, s))
        if most <= alpha:
            return most
    if remaining(ctx, s) >= LOOKED_UP_FROM:
        value = better_move(ctx, s, mask, beta)
        if value >= beta:
            return value
    return np.int64(UNPROVED)
