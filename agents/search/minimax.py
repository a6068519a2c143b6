"""Minimax by plies or by whole turns."""

import numpy as np

from agents.search.alphabeta import final_score, is_limit_reached, position_value
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
    """Return the value for the mover after `depth` more plies; a pass costs no depth."""
    ctx[NODES] += 1
    if ctx[NODES] > ctx[CHECK_AT] and is_limit_reached(ctx):
        return np.int64(0)
    mask = moves(ctx, s)
    if none(mask) and over(ctx, s):
        return final_score(final(ctx, s))
    if depth <= 0:
        return position_value(ctx, s)
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


def best_turn_end(ctx: Context, s: State, side: int) -> tuple[State, np.int64]:
    """Return the best position after a turn, seen by the other side, and its value.

    All sequences of extra turns are compared by the evaluation of their last position. Ties go to
    the first hole on the board, which is the last slot for side 1.
    """
    mask = moves(ctx, s)
    best, chosen = np.int64(-HIGHEST), turned(s)
    if none(mask):
        return chosen, final_score(final(ctx, s))
    while not none(mask):
        child, same = play(ctx, s, highest(mask))
        mask = except_highest(mask)
        ctx[NODES] += 1
        if ctx[NODES] > ctx[CHECK_AT] and is_limit_reached(ctx):
            break
        if same:
            child, value = best_turn_end(ctx, child, side)
        else:
            value = -position_value(ctx, child)
        if value > best or (value == best and side == 0):
            best, chosen = value, child
    return chosen, best


def side_after(ctx: Context, side: int, slot: np.int64) -> int:
    """Return the side of the board that moves next; a swap passes the same side to the opponent."""
    return side if slot == ctx[SWAP_SLOT] else 1 - side


def minimax_by_turns(ctx: Context, s: State, side: int, depth: np.int64) -> np.int64:
    """Return the minimax value with `depth` in turns: a turn includes its extra moves."""
    ctx[NODES] += 1
    if ctx[NODES] > ctx[CHECK_AT] and is_limit_reached(ctx):
        return np.int64(0)
    mask = moves(ctx, s)
    if none(mask) and over(ctx, s):
        return final_score(final(ctx, s))
    if depth <= 0:
        return position_value(ctx, s)
    if none(mask):
        return -minimax_by_turns(ctx, turned(s), 1 - side, depth)
    best = np.int64(-HIGHEST)
    while not none(mask):
        slot = highest(mask)
        mask = except_highest(mask)
        child, same = play(ctx, s, slot)
        if same:
            child = best_turn_end(ctx, child, side)[0]
        after = side_after(ctx, side, np.int64(slot))
        best = max(best, -minimax_by_turns(ctx, child, after, depth - 1))
        if ctx[STOPPED] != 0:
            return np.int64(0)
    return best


INLINED = (side_after,)
COMPILED = (minimax, best_turn_end, minimax_by_turns)
INTERNAL = COMPILED
