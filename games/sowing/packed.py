"""State of two words: up to seven holes a side."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, ZERO, Truth, U, leading_zeros, nth_bit, trailing_zeros
from games.kernels.context import RULES, TABLE, Context, context
from games.kernels.hashing import pair_key
from games.kernels.jit import inlined
from games.kernels.masks import LAST_BIT, count, except_highest, none, plies, rest
from games.sowing.rules import (
    BANK_LAST,
    EITHER,
    FACING,
    MAJORITY,
    NEEDS_NONEMPTY,
    PERIOD,
    SWEEP,
    TO_ENDER,
    TO_NOBODY,
    Rows,
    SowingRules,
    last_bean,
    path,
    scalars,
    start_rows,
)

__all__ = ["count", "except_highest", "none", "plies", "rest"]  # of the family, shared

FAMILY = "sowing_packed"
READ_BY = "games.sowing.packed_cells"  # what features and knowledge are written in
MOST_BEANS = 255
POT = 7
ROW_WORDS = U(4)
SLOT_WORDS = U(16 * 4)

HOLES = U(0x00FF_FFFF_FFFF_FFFF)
LOW_BITS = U(0x007F_7F7F_7F7F_7F7F)
TOP_BITS = U(0x0080_8080_8080_8080)
BYTE = U(255)
EACH_BYTE = U(0x0101_0101_0101_0101)
EVEN_BYTES = U(0x00FF_00FF_00FF_00FF)
EACH_PAIR = U(0x0001_0001_0001_0001)
TWO, THREE, EIGHT, POT_SHIFT, PAIR_SHIFT = U(2), U(3), U(8), U(56), U(48)


class SowingState(NamedTuple):
    """The mover's row and pot, and the other side's."""

    own: np.uint64
    other: np.uint64


# A name of its own: Numba's quick dispatch tells named tuples apart by class name alone.
State = SowingState


@inlined
def moves(ctx: Context, s: State) -> np.uint64:
    """The top bit of each lane of the mover's row that holds beans."""
    row = s.own & HOLES
    return (((row & LOW_BITS) + LOW_BITS) | row) & TOP_BITS


@inlined
def lowest(mask: np.uint64) -> np.uint64:
    """The slot of the first move, the one farthest from the mover's pot."""
    return trailing_zeros(mask) >> THREE


@inlined
def nth(mask: np.uint64, n: np.uint64) -> np.uint64:
    """The slot of move `n` of the mask."""
    return lowest(nth_bit(mask, n))


@inlined
def highest(mask: np.uint64) -> np.uint64:
    """The slot of the last move, the one next to the mover's pot."""
    return (LAST_BIT - leading_zeros(mask)) >> THREE


@inlined
def beans(row: np.uint64) -> np.uint64:
    """All beans of a row; its pot must be masked off."""
    return (row * EACH_BYTE) >> POT_SHIFT


@inlined
def half_is_banked(s: State) -> Truth:
    """Whether a pot holds more than half of all beans."""
    lanes = (s.own & EVEN_BYTES) + ((s.own >> EIGHT) & EVEN_BYTES)
    lanes += (s.other & EVEN_BYTES) + ((s.other >> EIGHT) & EVEN_BYTES)
    total = (lanes * EACH_PAIR) >> PAIR_SHIFT
    most = max(s.own >> POT_SHIFT, s.other >> POT_SHIFT)
    return most + most > total


@inlined
def captured(ctx: Context, s: State, slot: np.uint64) -> State:
    """The state after the capture by a last bean alone in the mover's hole `slot`."""
    shift = slot << THREE
    facing = (U(ctx[RULES + FACING]) - slot) << THREE
    prize = (s.other >> facing) & BYTE
    if prize == ZERO and ctx[RULES + NEEDS_NONEMPTY] != 0:
        return s
    own = s.own + (prize << POT_SHIFT)
    if ctx[RULES + BANK_LAST] != 0:
        own = own + (ONE << POT_SHIFT) - (ONE << shift)
    return State(own, s.other - (prize << facing))


@inlined
def sown(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """The state after sowing and capture, and whether the mover goes on; the end is not tested."""
    shift = slot << THREE
    taken = (s.own >> shift) & BYTE
    own = s.own - (taken << shift)
    other = s.other
    # Unsigned throughout: Numba would test whether a signed index is negative.
    row = taken - ONE
    at = U(TABLE) + slot * SLOT_WORDS
    period = U(ctx[RULES + PERIOD])
    if row >= period:
        laps = row // period
        row = row % period
        lap = at + (period - ONE) * ROW_WORDS
        own += laps * U(ctx[lap])
        other += laps * U(ctx[lap + ONE])
    at += row * ROW_WORDS
    own += U(ctx[at])
    other += U(ctx[at + ONE])
    last = U(ctx[at + TWO])
    after = State(own, other)
    if last < U(POT) and (own >> (last << THREE)) & BYTE == ONE:
        after = captured(ctx, after, last)
    return after, last == U(POT)


@inlined
def swept(ctx: Context, s: State) -> State:
    """The rows emptied into the pots, the side in `own` having ended the game."""
    own, other = beans(s.own & HOLES), beans(s.other & HOLES)
    if ctx[RULES + SWEEP] == TO_ENDER:
        own, other = own + other, ZERO
    elif ctx[RULES + SWEEP] == TO_NOBODY:
        own, other = ZERO, ZERO
    own_pot, other_pot = s.own >> POT_SHIFT, s.other >> POT_SHIFT
    return State((own_pot + own) << POT_SHIFT, (other_pot + other) << POT_SHIFT)


@inlined
def ended(ctx: Context, s: State, same: Truth) -> Truth:
    """Whether the ply that led to `s`, still seen by its mover, ended the game."""
    either = ctx[RULES + EITHER] != 0
    if s.own & HOLES == ZERO and (either or same):
        return True
    if s.other & HOLES == ZERO and (either or not same):
        return True
    return ctx[RULES + MAJORITY] != 0 and half_is_banked(s)


@inlined
def turned(s: State) -> State:
    """The same board seen by the other side."""
    return State(s.other, s.own)


@inlined
def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """The position after the move as its mover sees it, and whether the same side moves again."""
    after, same = sown(ctx, s, slot)
    rare = ctx[RULES + MAJORITY] != 0
    if (rare or after.own & HOLES == ZERO or after.other & HOLES == ZERO) and ended(
        ctx, after, same
    ):
        after = swept(ctx, after)
    if same:
        return after, True
    return turned(after), False


@inlined
def over(ctx: Context, s: State) -> Truth:
    """A finished game has no beans to sow; asked only when there is no move."""
    return True


@inlined
def key(s: State) -> np.uint64:
    """A hash of the state, never 0."""
    return pair_key(s.own, s.other)


@inlined
def final(ctx: Context, s: State) -> np.int64:
    """The mover's pot minus the other's."""
    return np.int64(s.own >> POT_SHIFT) - np.int64(s.other >> POT_SHIFT)


def slots(rules: SowingRules) -> tuple[int, ...]:
    """The slot of every move number."""
    return tuple(range(POT - rules.holes, POT))


def make_context(rules: SowingRules) -> Context:
    """The context of a game on this state."""
    table = [0] * (POT * int(SLOT_WORDS))
    for hole, slot in enumerate(slots(rules)):
        own, other = 0, 0
        for row, cell in enumerate(path(rules, hole)):
            if cell <= rules.holes:
                own += 1 << 8 * (POT - rules.holes + cell)
            else:
                other += 1 << 8 * (POT - rules.holes + cell - rules.holes - 1)
            at = slot * int(SLOT_WORDS) + row * int(ROW_WORDS)
            table[at : at + 3] = own, other, last_bean(rules, cell, POT - rules.holes + cell, POT)
    facing = 2 * POT - rules.holes - 1
    return context(scalars(rules, facing), table)


def start(rules: SowingRules) -> State:
    """The position before the first ply."""
    return pack(start_rows(rules))


def restored(raw: Sequence[int]) -> State:
    """The state whose words a kernel returned as plain numbers."""
    return State(U(raw[0]), U(raw[1]))


def pack(rows: Rows) -> State:
    """The state that holds `rows`."""
    return State(_word(rows.own, rows.own_pot), _word(rows.other, rows.other_pot))


def _word(row: tuple[int, ...], pot: int) -> np.uint64:
    return U(sum(held << 8 * (POT - len(row) + k) for k, held in enumerate((*row, pot))))


def unpack(s: State, holes: int) -> Rows:
    """The rows that `s` holds."""
    own, other = (
        tuple(int(word) >> 8 * slot & 255 for slot in range(POT - holes, POT + 1)) for word in s[:2]
    )
    return Rows(own[:-1], own[-1], other[:-1], other[-1])
