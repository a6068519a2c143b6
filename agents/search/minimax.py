"""Minimax by plies or by whole turns."""

import numpy as np

from agents.search.alphabeta import exact, out_of_limits, standing
from agents.search.context import CHECK_AT, HIGHEST, NODES, STOPPED, SWAP_SLOT
from games.kernels.context import Context
from games.kernels.family import (
    State,
    except_highest,
    final,
    highest,
    moves,
    none,
    over,
    play,
    turned,
)


def minimax(ctx: Context, s: State, depth: np.int64) -> np.int64:
    """The value for the mover after `depth` more plies; a pass costs none."""
    ctx[NODES] += 1
    if ctx[NODES] > ctx[CHECK_AT] and out_of_limits(ctx):
        return np.int64(0)
    mask = moves(ctx, s)
    if none(mask) and over(ctx, s):
        return exact(final(ctx, s))
    if depth <= 0:
        return standing(ctx, s)
    if none(mask):
        return -minimax(ctx, turned(s), depth)
    best = np.int64(-HIGHEST)
    while not none(mask):
        child, same = play(ctx, s, highest(mask))
        mask = except_highest(mask)
        value = minimax(ctx, child, depth - 1)
        if ctx[STOPPED] != 0:
            return np.int64(0)
        best = max(best, value if same else -value)
    return best


def turn_end(ctx: Context, s: State, side: int) -> tuple[State, np.int64]:
    """The end of the turn that the mover values highest, seen by the other side, and its value.

    All sequences of extra turns are compared by the evaluation at their end;
    ties go to the first hole on the board, which is the last one for side 1.
    """
    mask = moves(ctx, s)
    best, chosen = np.int64(-HIGHEST), turned(s)
    if none(mask):
        return chosen, exact(final(ctx, s))
    while not none(mask):
        child, same = play(ctx, s, highest(mask))
        mask = except_highest(mask)
        ctx[NODES] += 1
        if ctx[NODES] > ctx[CHECK_AT] and out_of_limits(ctx):
            break
        if same:
            child, value = turn_end(ctx, child, side)
        else:
            value = -standing(ctx, child)
        if value > best or (value == best and side == 0):
            best, chosen = value, child
    return chosen, best


def side_after(ctx: Context, side: int, slot: np.int64) -> int:
    """The side of the board to move after a turn; a swap hands it to the other player."""
    return side if slot == ctx[SWAP_SLOT] else 1 - side


def collapsed(ctx: Context, s: State, side: int, depth: np.int64) -> np.int64:
    """As minimax, but `depth` counts turns: all extra turns of a side are one move."""
    ctx[NODES] += 1
    if ctx[NODES] > ctx[CHECK_AT] and out_of_limits(ctx):
        return np.int64(0)
    mask = moves(ctx, s)
    if none(mask) and over(ctx, s):
        return exact(final(ctx, s))
    if depth <= 0:
        return standing(ctx, s)
    if none(mask):
        return -collapsed(ctx, turned(s), 1 - side, depth)
    best = np.int64(-HIGHEST)
    while not none(mask):
        slot = highest(mask)
        mask = except_highest(mask)
        child, same = play(ctx, s, slot)
        if same:
            child = turn_end(ctx, child, side)[0]
        after = side_after(ctx, side, np.int64(slot))
        best = max(best, -collapsed(ctx, child, after, depth - 1))
        if ctx[STOPPED] != 0:
            return np.int64(0)
    return best


INLINED = (side_after,)
COMPILED = (minimax, turn_end, collapsed)
PASSAGES = COMPILED
