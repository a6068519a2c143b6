"""The search of packed sowing positions without their pots."""

from types import ModuleType, SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from games.kernels.bits import Truth, U, popcount
from games.kernels.context import Context
from games.kernels.jit import inline_copies, specialise
from games.kernels.masks import except_highest, none
from games.solving.sowing_database import (
    BEANS,
    CHILDREN_AT,
    MOST_NODES,
    NODES,
    PENALTY,
    STOPPED,
    Values,
    rank_of,
)
from games.sowing.packed import (
    HOLES,
    POT_SHIFT,
    State,
    beans,
    has_ended,
    highest,
    moves,
    reaching,
    sow,
    sweep,
)

Table = NDArray[np.uint64]

PLIES = 1024  # longer lines stay undecided
# Children of a ply: own row, other row, gain and turn of each, then the search order.
OWN, OTHER, TURN, ORDER, WIDTH = U(0), U(8), U(16), U(24), U(32)
PLACE_SHIFT, PLACES = 3, 7
AGAIN = 1 << 20  # extra turns come first
LOWEST = -1 << 20

BUCKET = U(8)  # words: four entries of two
MOST_STORED = np.uint64(126)  # beans; bounds of more do not fit a byte
BYTE_SHIFT, MIDDLE = U(56), 128
ZERO, ONE, TWO = U(0), U(1), U(2)


def bucket(table: Table, own: np.uint64, other: np.uint64) -> np.uint64:
    """Return the index of the four entries that may hold this position."""
    word = own * U(0x9E37_79B9_7F4A_7C15) + (other ^ (other >> U(31))) * U(0xD6E8_FEB8_6659_FD93)
    word = (word ^ (word >> U(29))) * U(0xBF58_476D_1CE4_E5B9)
    return (word >> U(20)) & (U(table.size) - BUCKET) & ~U(7)


def find_entry(table: Table, own: np.uint64, other: np.uint64) -> np.uint64:
    """Return the index of the entry for these rows, or the table's size if there is none."""
    at = bucket(table, own, other)
    end = at + BUCKET
    while at < end:
        if table[at] & HOLES == own and table[at + ONE] & HOLES == other:
            return at
        at += TWO
    return U(table.size)


def low_of(table: Table, at: np.uint64) -> np.int64:
    """Return the lower bound of an entry."""
    return np.int64(table[at] >> BYTE_SHIFT) - MIDDLE


def high_of(table: Table, at: np.uint64) -> np.int64:
    """Return the upper bound of an entry."""
    return np.int64(table[at + ONE] >> BYTE_SHIFT) - MIDDLE


def store(
    table: Table,
    own: np.uint64,
    other: np.uint64,
    held: np.uint64,
    bound: np.int64,
    value: np.int64,
) -> np.int64:
    """Store the answer `value` to the question about `bound`; return it.

    It replaces the entry with the fewest beans, which is the fastest to search again.
    """
    if held > MOST_STORED:
        return value
    low, high = -np.int64(held), np.int64(held)
    at = find_entry(table, own, other)
    if at < U(table.size):
        low, high = low_of(table, at), high_of(table, at)
    else:
        place = bucket(table, own, other)
        end, fewest = place + BUCKET, U(1 << 20)
        while place < end:
            count = beans(table[place] & HOLES) + beans(table[place + ONE] & HOLES)
            if count < fewest:
                at, fewest = place, count
            place += TWO
    if value >= bound:
        low = max(low, value)
    else:
        high = min(high, value)
    table[at] = own | (U(low + MIDDLE) << BYTE_SHIFT)
    table[at + ONE] = other | (U(high + MIDDLE) << BYTE_SHIFT)
    return value


def urgency(ctx: Context, gain: np.int64, same: Truth, slot: np.uint64, child: State) -> np.int64:
    """Rank moves: extra turns, then beans banked, then few extra turns left to the opponent."""
    if same:
        return AGAIN + np.int64(slot)
    left = np.int64(popcount(reaching(ctx, child)))
    return 8 * gain + np.int64(slot) - ctx[PENALTY] * left


def insert_in_order(ctx: Context, at: np.uint64, count: np.uint64, item: np.int64) -> None:
    """Insert the item into the `count` items at `at`, which are in descending order."""
    place = at + count
    while place > at and ctx[place - ONE] < item:
        ctx[place] = ctx[place - ONE]
        place -= ONE
    ctx[place] = item


def value_of_move(
    ctx: Context,
    table: Table,
    values: Values,
    after: State,
    same: Truth,
    gain: np.int64,
    bound: np.int64,
) -> np.int64:
    """Return the value of a move or a bound that decides about `bound`, without a search.

    LOWEST means that a search is needed. `after` is the state as its mover sees it; its pots are
    ignored.
    """
    row, facing = after.own & HOLES, after.other & HOLES
    held = beans(row) + beans(facing)
    own, other = (row, facing) if same else (facing, row)
    if held <= U(ctx[BEANS]):
        value = np.int64(values[rank_of(ctx, own, other)])
        return gain + value if same else gain - value
    low, high = gain - np.int64(held), gain + np.int64(held)
    if low >= bound:
        return low
    if high < bound:
        return high
    at = find_entry(table, own, other)
    if at < U(table.size):
        if same:
            low, high = gain + low_of(table, at), gain + high_of(table, at)
        else:
            low, high = gain - high_of(table, at), gain - low_of(table, at)
        if low >= bound:
            return low
        if high < bound:
            return high
    return np.int64(LOWEST)


def list_moves(
    ctx: Context, table: Table, values: Values, s: State, bound: np.int64, at: np.uint64
) -> tuple[np.int64, np.uint64]:
    """Play every move; return the best value known without a search, and the number of others.

    The others are listed at `at` for the search; there are none if the best value suffices.
    """
    best, count = np.int64(LOWEST), ZERO
    mask = moves(ctx, s)
    while not none(mask):
        slot = highest(mask)
        mask = except_highest(mask)
        after, same = sow(ctx, s, slot)
        row, facing = after.own & HOLES, after.other & HOLES
        if min(row, facing) == ZERO and has_ended(ctx, after, same):
            end = sweep(ctx, after)
            gain = np.int64(end.own >> POT_SHIFT) - np.int64(end.other >> POT_SHIFT)
            value = gain
        else:
            gain = np.int64(after.own >> POT_SHIFT) - np.int64(after.other >> POT_SHIFT)
            value = value_of_move(ctx, table, values, after, same, gain, bound)
        if value >= bound:
            return value, ZERO
        best = max(best, value)
        if value == LOWEST:
            child = State(row, facing) if same else State(facing, row)
            ctx[at + OWN + count] = np.int64(child.own)
            ctx[at + OTHER + count] = np.int64(child.other)
            ctx[at + TURN + count] = (gain << 1) | (1 if same else 0)
            item = urgency(ctx, gain, same, slot, child) << PLACE_SHIFT
            insert_in_order(ctx, at + ORDER, count, item | np.int64(count))
            count += ONE
    return best, count


def at_least(
    ctx: Context,
    table: Table,
    values: Values,
    own: np.uint64,
    other: np.uint64,
    bound: np.int64,
    ply: np.int64,
) -> np.int64:
    """Return a bound of the mover's future gain that decides whether it is at least `bound`."""
    ctx[NODES] += 1
    if ctx[NODES] > ctx[MOST_NODES] or ply >= PLIES:
        ctx[STOPPED] = 1
        return np.int64(0)
    known = find_entry(table, own, other)
    if known < U(table.size):
        low, high = low_of(table, known), high_of(table, known)
        if low >= bound:
            return low
        if high < bound:
            return high
    held = beans(own) + beans(other)
    at = U(ctx[CHILDREN_AT]) + WIDTH * U(ply)
    best, count = list_moves(ctx, table, values, State(own, other), bound, at)
    for i in range(count):
        place = at + U(ctx[at + ORDER + U(i)] & PLACES)
        gain, same = ctx[place + TURN] >> 1, ctx[place + TURN] & 1 != 0
        child_own, child_other = U(ctx[place + OWN]), U(ctx[place + OTHER])
        if same:
            deeper = at_least(ctx, table, values, child_own, child_other, bound - gain, ply + 1)
            value = gain + deeper
        else:
            deeper = at_least(ctx, table, values, child_own, child_other, gain - bound + 1, ply + 1)
            value = gain - deeper
        if ctx[STOPPED] != 0:
            return np.int64(0)
        best = max(best, value)
        if best >= bound:
            break
    return store(table, own, other, held, bound, best)


def rank(ctx: Context, own: np.uint64, other: np.uint64) -> np.uint64:
    """Return the place of the position in the database."""
    return rank_of(ctx, own, other)


INLINED = (
    bucket,
    find_entry,
    low_of,
    high_of,
    store,
    urgency,
    insert_in_order,
    value_of_move,
    list_moves,
)
COMPILED = (at_least, rank)


def bind_search(family: ModuleType) -> SimpleNamespace:
    """Return the search compiled for the packed family."""
    return specialise(family.FAMILY, COMPILED, **inline_copies(INLINED, {}))
