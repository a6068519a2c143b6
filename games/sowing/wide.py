"""State of ten words: eight to sixteen holes a side."""

from typing import Any, NamedTuple

import numpy as np

from games.kernels.bits import ONE, ZERO, Truth, U, leading_zeros, nth_bit, trailing_zeros
from games.kernels.context import RULES, TABLE, Context, context
from games.kernels.hashing import quad_key
from games.kernels.jit import inline
from games.kernels.masks import LAST_BIT, count, except_highest, none, rest
from games.kernels.quad import Quad, empty, make_quad, minus, place_word, plus, times, word_of
from games.kernels.streams import mixed
from games.sowing.phased import moves_again, next_phase
from games.sowing.rules import (
    BANK_LAST,
    CELL_FUNCTIONS,
    EITHER,
    FACING,
    MAJORITY,
    NEEDS_NONEMPTY,
    PERIOD,
    SETTLED,
    SWAP_OPEN,
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

ROW_WORDS = 10  # four words a row, the pots, the code of the last bean
__all__ = [
    "CELL_FUNCTIONS",
    "count",
    "except_highest",
    "none",
    "rest",
]  # functions of the family that are defined elsewhere
FAMILY = "sowing_wide"
MOST_BEANS = 65535
POT = 16
SWAP_SLOT = U(16)
LOW_BITS = U(0x7FFF_7FFF_7FFF_7FFF)
TOP_BITS = U(0x8000_8000_8000_8000)
LANE = U(0xFFFF)
EVEN_LANES = U(0x0000_FFFF_0000_FFFF)
HALF = U(0xFFFF_FFFF)
SWAP_BIT = U(1 << 52)  # `lowest` reads it as hole 16
TWO, THREE, FOUR, FIFTEEN, SIXTEEN, HALF_SHIFT = U(2), U(3), U(4), U(15), U(16), U(32)


def row_words(row: tuple[int, ...]) -> tuple[int, ...]:
    """Return four words of four 16-bit lanes: hole k in word k mod 4, lane k div 4."""
    return tuple(sum(b << 16 * i for i, b in enumerate(row[word::4])) for word in range(4))


def sowing_table(rules: SowingRules, pot: int) -> list[int]:
    """Return `ROW_WORDS` words for every hole and every number of beans up to a lap."""
    table: list[int] = []
    for hole in range(rules.holes):
        row, other, pots = [0] * rules.holes, [0] * rules.holes, 0
        for cell in sowing_path(rules, hole):
            if cell < rules.holes:
                row[cell] += 1
            elif cell == rules.holes:
                pots += 1
            elif cell <= 2 * rules.holes:
                other[cell - rules.holes - 1] += 1
            else:
                pots += 1 << 32
            last = last_bean_code(rules, cell, cell, pot)
            table += [*row_words(tuple(row)), *row_words(tuple(other)), pots, last]
    return table


class LongState(NamedTuple):
    """The mover's row, the opponent's, the pots (the mover's in the low half) and the phase."""

    own: Quad
    other: Quad
    pots: np.uint64
    phase: np.uint64


# A unique class name: Numba's fast dispatch compares named tuples by class name only.
State = LongState


@inline
def nonempty_lanes(word: np.uint64) -> np.uint64:
    """Return the lowest bit of each lane that holds beans."""
    return ((((word & LOW_BITS) + LOW_BITS) | word) & TOP_BITS) >> FIFTEEN


@inline
def moves(ctx: Context, s: State) -> np.uint64:
    """Return bit 16 * (k div 4) + k mod 4 for each hole k with beans, and SWAP_BIT for the swap."""
    low = nonempty_lanes(s.own.w0) | nonempty_lanes(s.own.w1) << ONE
    mask = low | nonempty_lanes(s.own.w2) << TWO | nonempty_lanes(s.own.w3) << THREE
    return mask | SWAP_BIT if s.phase == U(SWAP_OPEN) else mask


@inline
def plies(mask: np.uint64) -> np.uint64:
    """Return all moves but the swap."""
    return mask & ~SWAP_BIT


@inline
def lowest(mask: np.uint64) -> np.uint64:
    bit = trailing_zeros(mask)
    return ((bit >> FOUR) << TWO) + (bit & FIFTEEN)


@inline
def nth(mask: np.uint64, n: np.uint64) -> np.uint64:
    return lowest(nth_bit(mask, n))


@inline
def highest(mask: np.uint64) -> np.uint64:
    bit = LAST_BIT - leading_zeros(mask)
    return ((bit >> FOUR) << TWO) + (bit & FIFTEEN)


@inline
def lane_of(slot: np.uint64) -> np.uint64:
    """Return the shift of hole `slot` in its word."""
    return (slot >> TWO) << FOUR


@inline
def lane_beans(row: Quad, slot: np.uint64) -> np.uint64:
    """Return the beans in hole `slot` of a row."""
    return (word_of(row, slot & THREE) >> lane_of(slot)) & LANE


@inline
def place_beans(beans: np.uint64, slot: np.uint64) -> Quad:
    """Return a row with `beans` in hole `slot` and nothing else."""
    return place_word(beans << lane_of(slot), slot & THREE)


@inline
def beans(row: Quad) -> np.uint64:
    """Return all beans of a row."""
    total = ZERO
    for word in (row.w0, row.w1, row.w2, row.w3):
        pairs = (word & EVEN_LANES) + ((word >> SIXTEEN) & EVEN_LANES)
        total += (pairs + (pairs >> HALF_SHIFT)) & HALF
    return total


@inline
def has_majority(s: State) -> Truth:
    """Return whether a pot holds more than half of all beans."""
    own_pot, other_pot = s.pots & HALF, s.pots >> HALF_SHIFT
    total = own_pot + other_pot + beans(s.own) + beans(s.other)
    most = max(own_pot, other_pot)
    return most + most > total


@inline
def capture_beans(ctx: Context, s: State, slot: np.uint64) -> State:
    """Return the state after a capture by a single last bean in the mover's hole `slot`."""
    facing = U(ctx[RULES + FACING]) - slot
    prize = lane_beans(s.other, facing)
    if prize == ZERO and ctx[RULES + NEEDS_NONEMPTY] != 0:
        return s
    last = ONE if ctx[RULES + BANK_LAST] != 0 else ZERO
    return State(
        minus(s.own, place_beans(last, slot)),
        minus(s.other, place_beans(prize, facing)),
        s.pots + prize + last,
        s.phase,
    )


@inline
def row_at(ctx: Context, at: np.int64) -> Quad:
    """Return four words of the sowing table."""
    return Quad(U(ctx[at]), U(ctx[at + 1]), U(ctx[at + 2]), U(ctx[at + 3]))


@inline
def sow(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """Return the state after sowing and capture, and whether the last bean gives an extra turn."""
    taken = lane_beans(s.own, slot)
    own, other, pots = minus(s.own, place_beans(taken, slot)), s.other, s.pots
    row = np.int64(taken) - 1
    period = ctx[RULES + PERIOD]
    at = TABLE + np.int64(slot) * period * ROW_WORDS
    if row >= period:
        laps = U(row // period)
        row = row % period
        lap = at + (period - 1) * ROW_WORDS
        own = plus(own, times(laps, row_at(ctx, lap)))
        other = plus(other, times(laps, row_at(ctx, lap + 4)))
        pots += laps * U(ctx[lap + 8])
    at += row * ROW_WORDS
    own, other = plus(own, row_at(ctx, at)), plus(other, row_at(ctx, at + 4))
    last = U(ctx[at + 9])
    after = State(own, other, pots + U(ctx[at + 8]), s.phase)
    if last < U(POT) and lane_beans(own, last) == ONE:
        after = capture_beans(ctx, after, last)
    return after, last == U(POT)


@inline
def has_ended(ctx: Context, s: State, same: Truth) -> Truth:
    """Return whether the last ply ended the game; `s` is still seen by the player who made it."""
    either = ctx[RULES + EITHER] != 0
    if empty(s.own) and (either or same):
        return True
    if empty(s.other) and (either or not same):
        return True
    return ctx[RULES + MAJORITY] != 0 and has_majority(s)


@inline
def sweep(ctx: Context, s: State) -> State:
    """Empty the rows into the pots; the side in `own` ended the game."""
    own, other = beans(s.own), beans(s.other)
    if ctx[RULES + SWEEP] == TO_ENDER:
        own, other = own + other, ZERO
    elif ctx[RULES + SWEEP] == TO_NOBODY:
        own, other = ZERO, ZERO
    no_beans = Quad(ZERO, ZERO, ZERO, ZERO)
    return State(no_beans, no_beans, s.pots + own + (other << HALF_SHIFT), U(SETTLED))


@inline
def turned(s: State) -> State:
    return State(s.other, s.own, s.pots >> HALF_SHIFT | s.pots << HALF_SHIFT, s.phase)


@inline
def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """Return the position after the move as its mover sees it, and whether the same side moves."""
    if slot == SWAP_SLOT:
        return State(s.own, s.other, s.pots, U(SETTLED)), False
    after, last_in_pot = sow(ctx, s, slot)
    same = moves_again(ctx, s.phase, last_in_pot)
    after = State(after.own, after.other, after.pots, next_phase(ctx, s.phase, same))
    if has_ended(ctx, after, same):
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
    return mixed(quad_key(s.own) + mixed(quad_key(s.other) ^ mixed(s.pots + s.phase))) | ONE


@inline
def final(ctx: Context, s: State) -> np.int64:
    return np.int64(s.pots & HALF) - np.int64(s.pots >> HALF_SHIFT)


def slots(rules: SowingRules) -> tuple[int, ...]:
    """Return the slot of every move number; the swap is slot 16 on every board."""
    return (*range(rules.holes), POT) if rules.swap == "yes" else tuple(range(rules.holes))


def make_context(rules: SowingRules) -> Context:
    return context(rule_words(rules, rules.holes - 1), sowing_table(rules, POT))


def start(rules: SowingRules) -> State:
    return pack(start_rows(rules))


def from_words(raw: Any) -> State:
    return State(make_quad(raw[0]), make_quad(raw[1]), U(raw[2]), U(raw[3]))


def pack(rows: Rows) -> State:
    pots = U(rows.own_pot | rows.other_pot << 32)
    return State(
        make_quad(row_words(rows.own)), make_quad(row_words(rows.other)), pots, U(rows.phase)
    )


def unpack(s: State, holes: int) -> Rows:
    own, other = (
        tuple(int(row[hole % 4]) >> 16 * (hole // 4) & 0xFFFF for hole in range(holes))
        for row in (s.own, s.other)
    )
    pots = int(s.pots)
    return Rows(own, pots & 0xFFFF_FFFF, other, pots >> 32, int(s.phase))


@inline
def pot_beans(s: LongState) -> np.uint64:
    """Return the beans in the mover's pot."""
    return s.pots & HALF


@inline
def row_beans(s: LongState) -> np.uint64:
    """Return the beans in the mover's row."""
    return beans(s.own)


@inline
def held(s: LongState, slot: np.uint64) -> np.uint64:
    """Return the beans in one of the mover's holes."""
    return lane_beans(s.own, slot)


@inline
def facing_held(ctx: Context, s: LongState, slot: np.uint64) -> np.uint64:
    """Return the beans in the hole opposite the mover's `slot`."""
    return lane_beans(s.other, U(ctx[RULES + FACING]) - slot)


@inline
def first_slot(ctx: Context) -> np.uint64:
    """Return the slot of the mover's hole farthest from its pot."""
    return ZERO


@inline
def end_slot(ctx: Context) -> np.uint64:
    """Return the slot after the hole nearest to the pot."""
    return U(ctx[RULES + FACING]) + ONE


@inline
def reaching(ctx: Context, s: LongState) -> np.uint64:
    """Return the moves from holes with exactly enough beans to reach the pot, as a mask."""
    end, mask, slot = end_slot(ctx), ZERO, ZERO
    while slot < end:
        if lane_beans(s.own, slot) == end - slot:
            mask |= ONE << (((slot >> U(2)) << U(4)) + (slot & U(3)))
        slot += ONE
    return mask
