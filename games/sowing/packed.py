"""State of two words: up to seven holes a side."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, ZERO, Truth, U, leading_zeros, nth_bit, trailing_zeros
from games.kernels.context import RULES, TABLE, Context, context
from games.kernels.hashing import pair_key
from games.kernels.jit import inline
from games.kernels.masks import LAST_BIT, count, except_highest, none, plies, rest
from games.sowing.rules import (
    BANK_LAST,
    CELL_FUNCTIONS,
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
    last_bean_code,
    rule_words,
    sowing_path,
    start_rows,
)

__all__ = [
    "CELL_FUNCTIONS",
    "count",
    "except_highest",
    "none",
    "plies",
    "rest",
]  # functions of the family that are defined elsewhere
FAMILY = "sowing_packed"
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
# The number of beans with which each slot reaches the pot.
DISTANCES = U(0x0001_0203_0405_0607)
SIX, SEVEN = U(6), U(7)


class SowingState(NamedTuple):
    """The mover's row and pot, and the opponent's."""

    own: np.uint64
    other: np.uint64


# A unique class name: Numba's fast dispatch compares named tuples by class name only.
State = SowingState


@inline
def moves(ctx: Context, s: State) -> np.uint64:
    """Return the top bit of each lane of the mover's row that holds beans."""
    row = s.own & HOLES
    return (((row & LOW_BITS) + LOW_BITS) | row) & TOP_BITS


@inline
def lowest(mask: np.uint64) -> np.uint64:
    """Return the slot of the first move, the farthest from the mover's pot."""
    return trailing_zeros(mask) >> THREE


@inline
def nth(mask: np.uint64, n: np.uint64) -> np.uint64:
    return lowest(nth_bit(mask, n))


@inline
def highest(mask: np.uint64) -> np.uint64:
    """Return the slot of the last move, the nearest to the mover's pot."""
    return (LAST_BIT - leading_zeros(mask)) >> THREE


@inline
def beans(row: np.uint64) -> np.uint64:
    """Return all beans of a row whose pot is masked off."""
    return (row * EACH_BYTE) >> POT_SHIFT


@inline
def has_majority(s: State) -> Truth:
    """Return whether a pot holds more than half of all beans."""
    lanes = (s.own & EVEN_BYTES) + ((s.own >> EIGHT) & EVEN_BYTES)
    lanes += (s.other & EVEN_BYTES) + ((s.other >> EIGHT) & EVEN_BYTES)
    total = (lanes * EACH_PAIR) >> PAIR_SHIFT
    most = max(s.own >> POT_SHIFT, s.other >> POT_SHIFT)
    return most + most > total


@inline
def capture_beans(ctx: Context, s: State, slot: np.uint64) -> State:
    """Return the state after a capture by a single last bean in the mover's hole `slot`."""
    shift = slot << THREE
    facing = (U(ctx[RULES + FACING]) - slot) << THREE
    prize = (s.other >> facing) & BYTE
    if prize == ZERO and ctx[RULES + NEEDS_NONEMPTY] != 0:
        return s
    own = s.own + (prize << POT_SHIFT)
    if ctx[RULES + BANK_LAST] != 0:
        own = own + (ONE << POT_SHIFT) - (ONE << shift)
    return State(own, s.other - (prize << facing))


@inline
def sow(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """Return the state after sowing and capture, and whether the mover moves again."""
    shift = slot << THREE
    taken = (s.own >> shift) & BYTE
    own = s.own - (taken << shift)
    other = s.other
    # Unsigned throughout: Numba tests signed indices for negative values.
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
        after = capture_beans(ctx, after, last)
    return after, last == U(POT)


@inline
def sweep(ctx: Context, s: State) -> State:
    """Empty the rows into the pots; the side in `own` ended the game."""
    own, other = beans(s.own & HOLES), beans(s.other & HOLES)
    if ctx[RULES + SWEEP] == TO_ENDER:
        own, other = own + other, ZERO
    elif ctx[RULES + SWEEP] == TO_NOBODY:
        own, other = ZERO, ZERO
    own_pot, other_pot = s.own >> POT_SHIFT, s.other >> POT_SHIFT
    return State((own_pot + own) << POT_SHIFT, (other_pot + other) << POT_SHIFT)


@inline
def has_ended(ctx: Context, s: State, same: Truth) -> Truth:
    """Return whether the last ply ended the game; `s` is still seen by the player who made it."""
    either = ctx[RULES + EITHER] != 0
    if s.own & HOLES == ZERO and (either or same):
        return True
    if s.other & HOLES == ZERO and (either or not same):
        return True
    return ctx[RULES + MAJORITY] != 0 and has_majority(s)


@inline
def turned(s: State) -> State:
    return State(s.other, s.own)


@inline
def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """Return the position after the move as its mover sees it, and whether the same side moves."""
    after, same = sow(ctx, s, slot)
    majority = ctx[RULES + MAJORITY] != 0
    if (majority or after.own & HOLES == ZERO or after.other & HOLES == ZERO) and has_ended(
        ctx, after, same
    ):
        after = sweep(ctx, after)
    if same:
        return after, True
    return turned(after), False


@inline
def over(ctx: Context, s: State) -> Truth:
    """Return True, because a position without moves has no beans to sow."""
    return True


@inline
def key(s: State) -> np.uint64:
    return pair_key(s.own, s.other)


@inline
def final(ctx: Context, s: State) -> np.int64:
    return np.int64(s.own >> POT_SHIFT) - np.int64(s.other >> POT_SHIFT)


def slots(rules: SowingRules) -> tuple[int, ...]:
    return tuple(range(POT - rules.holes, POT))


def make_context(rules: SowingRules) -> Context:
    table = [0] * (POT * int(SLOT_WORDS))
    for hole, slot in enumerate(slots(rules)):
        own, other = 0, 0
        for row, cell in enumerate(sowing_path(rules, hole)):
            if cell <= rules.holes:
                own += 1 << 8 * (POT - rules.holes + cell)
            else:
                other += 1 << 8 * (POT - rules.holes + cell - rules.holes - 1)
            at = slot * int(SLOT_WORDS) + row * int(ROW_WORDS)
            table[at : at + 3] = (
                own,
                other,
                last_bean_code(rules, cell, POT - rules.holes + cell, POT),
            )
    facing = 2 * POT - rules.holes - 1
    return context(rule_words(rules, facing), table)


def start(rules: SowingRules) -> State:
    return pack(start_rows(rules))


def from_words(raw: Sequence[int]) -> State:
    return State(U(raw[0]), U(raw[1]))


def pack(rows: Rows) -> State:
    return State(_word(rows.own, rows.own_pot), _word(rows.other, rows.other_pot))


def _word(row: tuple[int, ...], pot: int) -> np.uint64:
    return U(sum(held << 8 * (POT - len(row) + k) for k, held in enumerate((*row, pot))))


def unpack(s: State, holes: int) -> Rows:
    own, other = (
        tuple(int(word) >> 8 * slot & 255 for slot in range(POT - holes, POT + 1)) for word in s[:2]
    )
    return Rows(own[:-1], own[-1], other[:-1], other[-1])


@inline
def pot_beans(s: State) -> np.uint64:
    """Return the beans in the mover's pot."""
    return s.own >> POT_SHIFT


@inline
def row_beans(s: State) -> np.uint64:
    """Return the beans in the mover's row."""
    return beans(s.own & HOLES)


@inline
def held(s: State, slot: np.uint64) -> np.uint64:
    """Return the beans in one of the mover's holes."""
    return (s.own >> (slot << THREE)) & BYTE


@inline
def facing_held(ctx: Context, s: State, slot: np.uint64) -> np.uint64:
    """Return the beans in the hole opposite the mover's `slot`."""
    return (s.other >> ((U(ctx[RULES + FACING]) - slot) << THREE)) & BYTE


@inline
def first_slot(ctx: Context) -> np.uint64:
    """Return the slot of the mover's hole farthest from its pot."""
    return U(ctx[RULES + FACING]) - SIX


@inline
def end_slot(ctx: Context) -> np.uint64:
    """Return the slot after the hole nearest to the pot."""
    return SEVEN


@inline
def reaching(ctx: Context, s: State) -> np.uint64:
    """Return the moves from holes with exactly enough beans to reach the pot, as a mask."""
    off = (s.own & HOLES) ^ DISTANCES
    return TOP_BITS ^ ((((off & LOW_BITS) + LOW_BITS) | off) & TOP_BITS)
