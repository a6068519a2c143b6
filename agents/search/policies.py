"""The simple policies: a random move, the first or last, the smallest hole, the largest gain."""

import numpy as np

from agents.search.context import (
    FEWEST_KIND,
    GREEDY_KIND,
    HIGHEST,
    KIND,
    LAST_KIND,
    NEAREST_KIND,
    ORDER_AT,
    ORDER_PLIES,
    ORDER_WIDTH,
    RANDOM,
    RANDOM_TIES,
    TIES_BY_SIDE,
    VALUE,
)
from agents.search.knowledge_names import gain, hole_beans
from games.kernels.bits import U
from games.kernels.context import Context
from games.kernels.family import Mask, State, count, lowest, moves, none, nth, play, plies, rest
from games.kernels.splitmix import STRIDE
from games.kernels.streams import below


def draw(ctx: Context, bound: np.int64 | int) -> np.int64:
    """A number below `bound` from the agent's own stream."""
    ctx[RANDOM] = np.int64(U(ctx[RANDOM]) + STRIDE)
    return np.int64(below(U(ctx[RANDOM]), U(bound)))


def drawn(ctx: Context, mask: Mask) -> np.int64:
    """A random legal move."""
    return np.int64(nth(mask, U(draw(ctx, count(mask)))))


def board_order(ctx: Context, mask: Mask, side: int) -> int:
    """List the moves at the root in the order of the board, left to right; returns how many.

    A swap is not on the board and comes last.
    """
    at, length = ctx[ORDER_AT] + ORDER_WIDTH * ORDER_PLIES, 0
    sowings = count(plies(mask))
    while not none(mask):
        ctx[at + length] = np.int64(lowest(mask))
        mask = rest(mask)
        length += 1
    if ctx[TIES_BY_SIDE] != 0 and side == 1:
        last = at + sowings - 1
        for i in range(sowings // 2):
            mirrored = ctx[last - i]
            ctx[last - i] = ctx[at + i]
            ctx[at + i] = mirrored
    return length


def simple_value(ctx: Context, s: State, slot: np.int64, place: int) -> np.int64:
    """The value of a move to the agent's simple policy, which plays the highest."""
    kind = ctx[KIND]
    if kind == LAST_KIND:
        return np.int64(place)
    if kind == NEAREST_KIND:
        return slot
    if kind == FEWEST_KIND:
        return -hole_beans(ctx, s, U(slot))
    if kind == GREEDY_KIND:
        child, same = play(ctx, s, U(slot))
        return np.int64(gain(ctx, s, child, same))
    return np.int64(-place)


def by_policy(ctx: Context, s: State, side: int) -> np.int64:
    """The move of a simple policy; ties go to the first on the board, or to a random one."""
    mask = moves(ctx, s)
    greedy = ctx[KIND] == GREEDY_KIND
    length = board_order(ctx, mask if greedy else plies(mask), side)
    at = ctx[ORDER_AT] + ORDER_WIDTH * ORDER_PLIES
    best, chosen, ties = np.int64(-HIGHEST), ctx[at], 1
    for place in range(length):
        value = simple_value(ctx, s, ctx[at + place], place)
        if value > best:
            best, chosen, ties = value, ctx[at + place], 1
        elif value == best:
            ties += 1
            if ctx[RANDOM_TIES] != 0 and draw(ctx, ties) == 0:
                chosen = ctx[at + place]
    ctx[VALUE] = best
    return chosen


INLINED = (draw, drawn, simple_value)
COMPILED = (board_order, by_policy)
PASSAGES = COMPILED
