"""Games of packed sowing rules walked backwards: what every position of them was worth."""

from types import ModuleType, SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from games.kernels.bits import Truth, U
from games.kernels.context import Context
from games.kernels.jit import bound, inline_copies, specialise
from games.solving.kernels import sowing_search
from games.solving.kernels.sowing_endgames import Values
from games.solving.kernels.sowing_rank import BEANS, MOST_NODES, NODES, STOPPED
from games.solving.kernels.sowing_search import Table, at_least, rank
from games.sowing.states.packed import (
    BYTE,
    HOLES,
    POT,
    POT_SHIFT,
    THREE,
    State,
    beans,
    count,
    moves,
    play,
)

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]
Slots = NDArray[np.int16]

# Words of `limits`: beans in play up to which is judged, nodes that a question may take, nodes
# spent so far; then the slots of South and of North in the order of the board.
LAST, NODES_A_QUESTION, SPENT, BOARD_ORDER = range(4)
MOST_HOLES = POT
LIMIT_WORDS = BOARD_ORDER + 2 * MOST_HOLES
# Columns of a ply: beans in play, moves to choose from, bounds of the value, the best slot.
LEFT, CHOICES, LOW, HIGH, BEST, SIDE, COLUMNS = range(7)


def replayed(
    ctx: Context, places: Slots, slots: Slots, own: Words, other: Words, plies: Numbers
) -> int:
    """Fill in the states and what is known of every ply without a search.

    `slots` are those of each word, for South and then for North. Returns how many plies are
    legal, the rest is not filled in.
    """
    words = slots.size // 2
    for ply in range(places.size):  # of words that nobody knows, the last slot is -1
        at = ply * COLUMNS
        s = State(own[ply], other[ply])
        side = plies[at + SIDE]
        slot = np.int64(slots[side * words + places[ply]])
        if slot < 0 or (s.own >> (U(slot) << THREE)) & BYTE == U(0):
            return ply
        plies[at + LEFT] = beans(s.own & HOLES) + beans(s.other & HOLES)
        plies[at + CHOICES] = count(moves(ctx, s))
        plies[at + BEST] = slot
        after, same = play(ctx, s, U(slot))
        own[ply + 1], other[ply + 1] = after.own, after.other
        plies[at + COLUMNS + SIDE] = side if same else 1 - side
    return places.size


def banked(own: np.uint64, other: np.uint64) -> np.int64:
    """What the mover's pot holds more than the other."""
    return np.int64(own >> POT_SHIFT) - np.int64(other >> POT_SHIFT)


def asked(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    own: np.uint64,
    other: np.uint64,
    bound: np.int64,
) -> np.int64:
    """A bound of the final margin, on that side of `bound` on which the margin is."""
    more = banked(own, other)
    row, facing = own & HOLES, other & HOLES
    if row == U(0):
        return more
    if beans(row) + beans(facing) <= U(ctx[BEANS]):
        return more + np.int64(values[rank(ctx, row, facing)])
    ctx[NODES], ctx[MOST_NODES], ctx[STOPPED] = 0, limits[NODES_A_QUESTION], 0
    value = at_least(ctx, table, values, row, facing, bound - more, np.int64(0))
    limits[SPENT] += ctx[NODES]
    return more + value


def narrowed(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    own: np.uint64,
    other: np.uint64,
    low: np.int64,
    high: np.int64,
) -> tuple[np.int64, np.int64]:
    """The bounds of the margin, asked upwards from `low` until they meet or nodes run out."""
    while low < high:
        value = asked(ctx, table, values, limits, own, other, low + 1)
        if ctx[STOPPED] != 0:
            break
        if value > low:
            low = value
        else:
            high = value
    return low, high


def is_worth(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    s: State,
    slot: np.uint64,
    margin: np.int64,
) -> Truth:
    """Whether the move leads to at least this margin."""
    after, same = play(ctx, s, slot)
    if same:
        return asked(ctx, table, values, limits, after.own, after.other, margin) >= margin
    return asked(ctx, table, values, limits, after.own, after.other, 1 - margin) <= -margin


def lowest_best(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    s: State,
    side: np.int64,
    margin: np.int64,
) -> np.int64:
    """The slot of the lowest move on the board that keeps the margin; -1 if nodes run out."""
    for place in range(MOST_HOLES):
        slot = U(limits[BOARD_ORDER + side * MOST_HOLES + place])
        if (s.own >> (slot << THREE)) & BYTE != U(0):
            worth = is_worth(ctx, table, values, limits, s, slot, margin)
            if ctx[STOPPED] != 0:
                return np.int64(-1)
            if worth:
                return np.int64(slot)
    return np.int64(-1)


def walked_back(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    own: Words,
    other: Words,
    plies: Numbers,
    known: np.int64,
) -> int:
    """Value the positions before `known`, whose value is known, one question a ply.

    Is there anything better than what was played? If not, the move was perfect and the value
    is that after it. Returns the first ply whose value is known.
    """
    ctx[STOPPED] = 0
    for ply in range(known - 1, -1, -1):
        at = ply * COLUMNS
        if plies[at + LEFT] > limits[LAST]:
            return ply + 1
        same = plies[at + SIDE] == plies[at + COLUMNS + SIDE]
        after = plies[at + COLUMNS + LOW] if same else -plies[at + COLUMNS + LOW]
        most = banked(own[ply], other[ply]) + plies[at + LEFT]
        plies[at + LOW], plies[at + HIGH] = after, most
        value = asked(ctx, table, values, limits, own[ply], other[ply], after + 1)
        if ctx[STOPPED] != 0:
            return ply + 1
        if value <= after:
            plies[at + HIGH] = after
            continue
        low, high = narrowed(ctx, table, values, limits, own[ply], other[ply], value, most)
        plies[at + LOW], plies[at + HIGH] = low, high
        if low < high:
            return ply + 1
        s = State(own[ply], other[ply])
        plies[at + BEST] = lowest_best(ctx, table, values, limits, s, plies[at + SIDE], low)
        if ctx[STOPPED] != 0:
            return ply
    return 0


INLINED = (banked,)
COMPILED = (replayed, asked, narrowed, is_worth, lowest_best, walked_back)


def of_packed(family: ModuleType) -> SimpleNamespace:
    """The walk, compiled for the packed family, with the search that it asks."""
    search = bound(family.__name__, sowing_search.of_packed)
    names = {"at_least": search.at_least, "rank": search.rank}
    return specialise(family.FAMILY, COMPILED, **inline_copies(INLINED, {}), **names)
