"""What an Othello move is worth at first sight, to the greedy agent or for move ordering."""

import numpy as np

from games.kernels.bits import ONE, Truth
from games.kernels.context import RULES, Context
from games.kernels.family import (
    Mask,
    State,
    count,
    except_highest,
    final,
    highest,
    moves,
    none,
    play,
    turned,
)
from games.othello.states.discs import (
    ADJACENCY,
    BOARD,
    CELLS,
    COLUMNS,
    CORNERS,
    LEFT,
    ROWS,
    UPPER,
)
from games.othello.states.word_squares import (
    ROW_STEP,
    bits,
    both,
    either,
    empty,
    lowered,
    raised,
    squares,
    without,
)

SORTED_FROM = 2
FINISH_FROM = 6
LOOKED_UP_FROM = 9
CAPPED_FROM = 24  # below it as many discs are hardly ever stable
TRIED_FROM = 4  # empty squares from which trying them all is faster than finding the moves
ANSWERS_FROM = 12  # empty squares from which moves are sorted by the best answer to them
TIES_BY_SIDE = 0  # squares read the same way for both sides


def remaining(ctx: Context, s: State) -> np.int64:
    """Empty squares."""
    return ctx[RULES + CELLS] - bits(either(s.own, s.other))


def gain(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """Four times the discs flipped; a corner counts two more, another border square one."""
    disc = without(child.other, either(s.own, s.other))
    border = either(squares(ctx, ROWS), squares(ctx, COLUMNS))
    flips = bits(child.other) - bits(s.own) - 1
    place = 0 if empty(both(disc, border)) else 1
    return 4 * flips + (place if empty(both(disc, squares(ctx, CORNERS))) else 2)


def urgency(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """Few replies and few discs first; replies in corners count twice."""
    corners = squares(ctx, CORNERS)
    replies = moves(ctx, child)
    cost = 8 * (np.int64(count(replies)) + bits(both(replies, corners))) + bits(child.other)
    return (0 if empty(without(both(child.other, corners), s.own)) else 4) - cost


def freedom(ctx: Context, s: State) -> np.int64:
    """How many moves the mover has, those in corners counted twice."""
    replies = moves(ctx, s)
    return np.int64(count(replies)) + bits(both(replies, squares(ctx, CORNERS)))


def least_freedom(ctx: Context, s: State) -> np.int64:
    """The freedom of the other side after the move that leaves it least."""
    mask, least = moves(ctx, s), np.int64(64)
    while not none(mask):
        child = play(ctx, s, highest(mask))[0]
        mask = except_highest(mask)
        least = min(least, freedom(ctx, child))
    return least


def odd_quarters(ctx: Context, empties: Mask) -> Mask:
    """The empty squares in those quarters of the board that have an odd number of them."""
    left, upper, odd = squares(ctx, LEFT), squares(ctx, UPPER), empties
    for half in (both(empties, left), without(empties, left)):
        above, below = both(half, upper), without(half, upper)
        if bits(above) & 1 == 0:
            odd = without(odd, above)
        if bits(below) & 1 == 0:
            odd = without(odd, below)
    return odd


def late_urgency(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """Little freedom first, more so for the best answer; then odd quarters and corners.

    Who plays where an odd number of squares is empty often plays last there.
    """
    empties = without(squares(ctx, BOARD), either(s.own, s.other))
    disc = without(child.other, either(s.own, s.other))
    worth = -16 * freedom(ctx, child) - (bits(child.other) >> 1)
    if bits(empties) >= ANSWERS_FROM:
        worth += 4 * least_freedom(ctx, child)
    if not empty(both(disc, odd_quarters(ctx, empties))):
        worth += 4
    return worth if empty(both(disc, squares(ctx, CORNERS))) else worth + 8


def most_margin(ctx: Context, s: State) -> np.int64:
    """All squares, but for the discs that the mover never turns: those joined to a corner."""
    corners, sides = squares(ctx, CORNERS), squares(ctx, COLUMNS)
    border = both(s.other, either(squares(ctx, ROWS), sides))
    stable, more = border, both(border, corners)
    while bits(more) != bits(stable):
        stable = more
        beside = without(either(raised(stable, ONE), lowered(stable, ONE)), sides)
        upright = either(raised(stable, ROW_STEP), lowered(stable, ROW_STEP))
        more = either(stable, both(border, either(beside, upright)))
    return ctx[RULES + CELLS] - 2 * bits(stable)


def tries(ctx: Context, s: State) -> Mask:
    """All empty squares when few are left: most are moves."""
    if ctx[RULES + ADJACENCY] == 0 and remaining(ctx, s) <= TRIED_FROM:
        return without(squares(ctx, BOARD), either(s.own, s.other))
    return moves(ctx, s)


def refused(ctx: Context, s: State, child: State) -> Truth:
    """A move that turns nothing, where one must."""
    return ctx[RULES + ADJACENCY] == 0 and empty(without(s.other, child.own))


def settled(ctx: Context, s: State) -> Truth:
    """One empty square or none."""
    return remaining(ctx, s) <= 1


def settled_margin(ctx: Context, s: State) -> np.int64:
    """The last square is the mover's, or else the other side's, or nobody's."""
    mask = moves(ctx, s)
    if not none(mask):
        child = play(ctx, s, highest(mask))[0]
        return -final(ctx, child)
    mask = moves(ctx, turned(s))
    if not none(mask):
        child = play(ctx, turned(s), highest(mask))[0]
        return final(ctx, child)
    return final(ctx, s)


def promising(ctx: Context, s: State, mask: Mask) -> Mask:
    """The moves to try first: those in quarters of the board with an odd number left."""
    return both(mask, odd_quarters(ctx, without(squares(ctx, BOARD), either(s.own, s.other))))


def others(mask: Mask, first: Mask) -> Mask:
    """The moves of the mask that are not among the `first`."""
    return without(mask, first)


HELPERS = (freedom, least_freedom, odd_quarters)
