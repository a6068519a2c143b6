"""In which order a search tries the moves of a position, as a list in the context."""

import numpy as np

from agents.kernels.knowledge_names import SORTED_FROM, late_urgency, urgency
from agents.kernels.layout import SOLVE
from games.kernels.bits import ONE, ZERO, Truth, U
from games.kernels.context import Context
from games.kernels.family import Mask, State, except_highest, highest, none, play

SLOT_BITS = 12
SLOT_MASK = (1 << SLOT_BITS) - 1


def listed(ctx: Context, at: np.uint64, mask: Mask) -> np.uint64:
    """List the moves of the mask at `at`, last first; returns how many."""
    length = ZERO
    while not none(mask):
        ctx[at + length] = np.int64(highest(mask))
        mask = except_highest(mask)
        length += ONE
    return length


def move_first(ctx: Context, at: np.uint64, length: np.uint64, slot: np.int64) -> None:
    """Bring `slot` to the front of the list, if it is there."""
    place = at
    while place < at + length:
        if ctx[place] & SLOT_MASK == slot:
            while place > at:
                ctx[place] = ctx[place - ONE]
                place -= ONE
            ctx[at] = slot
            break
        place += ONE


def sort_by_urgency(
    ctx: Context, s: State, at: np.uint64, length: np.uint64, solving: Truth
) -> None:
    """Sort the list so that urgent moves come first; insertion sort, lists are short."""
    place = at
    while place < at + length:
        slot = ctx[place]
        child, same = play(ctx, s, U(slot))
        if solving:
            item = (late_urgency(ctx, s, child, same) << SLOT_BITS) | slot
        else:
            item = (urgency(ctx, s, child, same) << SLOT_BITS) | slot
        hole = place
        while hole > at and ctx[hole - ONE] < item:
            ctx[hole] = ctx[hole - ONE]
            hole -= ONE
        ctx[hole] = item
        place += ONE


def order_moves(
    ctx: Context, s: State, mask: Mask, depth: np.int64, at: np.uint64, best: np.int64
) -> np.uint64:
    """List the moves at `at`, those likely to be best first; returns how many."""
    length = listed(ctx, at, mask)
    if depth >= SORTED_FROM:
        sort_by_urgency(ctx, s, at, length, depth == SOLVE)
    if best >= 0:
        move_first(ctx, at, length, best)
    return length
