"""State of ten words: eight to sixteen holes a side."""

from typing import Any, NamedTuple

import numpy as np

from games.kernels.bits import ONE, ZERO, Truth, U, leading_zeros, nth_bit, trailing_zeros
from games.kernels.context import RULES, TABLE, Context, context
from games.kernels.hashing import quad_key
from games.kernels.jit import inlined
from games.kernels.masks import LAST_BIT, count, except_highest, none, rest
from games.kernels.quad import Quad, empty, minus, placed, plus, quad_of, times, word_of
from games.kernels.streams import mixed
from games.sowing.phase import goes_on, next_phase
from games.sowing.rules import (
    BANK_LAST,
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
    scalars,
    start_rows,
)
from games.sowing.wide_table import ROW_WORDS, sowing_table, words_of

__all__ = ["count", "except_highest", "none", "rest"]  # of the family, shared

FAMILY = "sowing_wide"
READ_BY = "games.sowing.wide_cells"  # what features and knowledge are written in
MOST_BEANS = 65535
POT = 16
SWAP_SLOT = U(16)

LOW_BITS = U(0x7FFF_7FFF_7FFF_7FFF)
TOP_BITS = U(0x8000_8000_8000_8000)
LANE = U(0xFFFF)
EVEN_LANES = U(0x0000_FFFF_0000_FFFF)
HALF = U(0xFFFF_FFFF)
SWAP_BIT = U(1 << 52)  # read by `lowest` as hole 16
TWO, THREE, FOUR, FIFTEEN, SIXTEEN, HALF_SHIFT = U(2), U(3), U(4), U(15), U(16), U(32)


class LongState(NamedTuple):
    """The mover's row, the other's, the pots (the mover's in the low half) and the phase."""

    own: Quad
    other: Quad
    pots: np.uint64
    phase: np.uint64


# A name of its own: Numba's quick dispatch tells named tuples apart by class name alone.
State = LongState


@inlined
def filled(word: np.uint64) -> np.uint64:
    """The lowest bit of each lane that holds beans."""
    return ((((word & LOW_BITS) + LOW_BITS) | word) & TOP_BITS) >> FIFTEEN


@inlined
def moves(ctx: Context, s: State) -> np.uint64:
    """Bit 16 * (k div 4) + k mod 4 for each hole k with beans, and SWAP_BIT for the swap."""
    low = filled(s.own.w0) | filled(s.own.w1) << ONE
    mask = low | filled(s.own.w2) << TWO | filled(s.own.w3) << THREE
    return mask | SWAP_BIT if s.phase == U(SWAP_OPEN) else mask


@inlined
def plies(mask: np.uint64) -> np.uint64:
    """All moves but the swap."""
    return mask & ~SWAP_BIT


@inlined
def lowest(mask: np.uint64) -> np.uint64:
    """The first hole with beans."""
    bit = trailing_zeros(mask)
    return ((bit >> FOUR) << TWO) + (bit & FIFTEEN)


@inlined
def nth(mask: np.uint64, n: np.uint64) -> np.uint64:
    """The slot of move `n` of the mask."""
    return lowest(nth_bit(mask, n))


@inlined
def highest(mask: np.uint64) -> np.uint64:
    """The last hole with beans."""
    bit = LAST_BIT - leading_zeros(mask)
    return ((bit >> FOUR) << TWO) + (bit & FIFTEEN)


@inlined
def lane_of(slot: np.uint64) -> np.uint64:
    """How far hole `slot` is shifted in its word."""
    return (slot >> TWO) << FOUR


@inlined
def held(row: Quad, slot: np.uint64) -> np.uint64:
    """Beans in hole `slot`."""
    return (word_of(row, slot & THREE) >> lane_of(slot)) & LANE


@inlined
def in_hole(beans: np.uint64, slot: np.uint64) -> Quad:
    """A row with `beans` in hole `slot` and nothing else."""
    return placed(beans << lane_of(slot), slot & THREE)


@inlined
def beans(row: Quad) -> np.uint64:
    """All beans of a row."""
    total = ZERO
    for word in (row.w0, row.w1, row.w2, row.w3):
        pairs = (word & EVEN_LANES) + ((word >> SIXTEEN) & EVEN_LANES)
        total += (pairs + (pairs >> HALF_SHIFT)) & HALF
    return total


@inlined
def half_is_banked(s: State) -> Truth:
    """Whether a pot holds more than half of all beans."""
    own_pot, other_pot = s.pots & HALF, s.pots >> HALF_SHIFT
    total = own_pot + other_pot + beans(s.own) + beans(s.other)
    most = max(own_pot, other_pot)
    return most + most > total


@inlined
def captured(ctx: Context, s: State, slot: np.uint64) -> State:
    """The state after the capture by a last bean alone in the mover's hole `slot`."""
    facing = U(ctx[RULES + FACING]) - slot
    prize = held(s.other, facing)
    if prize == ZERO and ctx[RULES + NEEDS_NONEMPTY] != 0:
        return s
    last = ONE if ctx[RULES + BANK_LAST] != 0 else ZERO
    return State(
        minus(s.own, in_hole(last, slot)),
        minus(s.other, in_hole(prize, facing)),
        s.pots + prize + last,
        s.phase,
    )


@inlined
def row_at(ctx: Context, at: np.int64) -> Quad:
    """Four words of the sowing table."""
    return Quad(U(ctx[at]), U(ctx[at + 1]), U(ctx[at + 2]), U(ctx[at + 3]))


@inlined
def sown(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """The state after sowing and capture, and whether the last bean lets the mover go on."""
    taken = held(s.own, slot)
    own, other, pots = minus(s.own, in_hole(taken, slot)), s.other, s.pots
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
    if last < U(POT) and held(own, last) == ONE:
        after = captured(ctx, after, last)
    return after, last == U(POT)


@inlined
def ended(ctx: Context, s: State, same: Truth) -> Truth:
    """Whether the ply that led to `s`, still seen by its mover, ended the game."""
    both_count = ctx[RULES + EITHER] != 0
    if empty(s.own) and (both_count or same):
        return True
    if empty(s.other) and (both_count or not same):
        return True
    return ctx[RULES + MAJORITY] != 0 and half_is_banked(s)


@inlined
def swept(ctx: Context, s: State) -> State:
    """The rows emptied into the pots, the side in `own` having ended the game."""
    own, other = beans(s.own), beans(s.other)
    if ctx[RULES + SWEEP] == TO_ENDER:
        own, other = own + other, ZERO
    elif ctx[RULES + SWEEP] == TO_NOBODY:
        own, other = ZERO, ZERO
    bare = Quad(ZERO, ZERO, ZERO, ZERO)
    return State(bare, bare, s.pots + own + (other << HALF_SHIFT), U(SETTLED))


@inlined
def turned(s: State) -> State:
    """The same board seen by the other side."""
    return State(s.other, s.own, s.pots >> HALF_SHIFT | s.pots << HALF_SHIFT, s.phase)


@inlined
def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """The position after the move as its mover sees it, and whether the same side moves again."""
    if slot == SWAP_SLOT:
        return State(s.own, s.other, s.pots, U(SETTLED)), False
    after, last_in_pot = sown(ctx, s, slot)
    same = goes_on(ctx, s.phase, last_in_pot)
    after = State(after.own, after.other, after.pots, next_phase(ctx, s.phase, same))
    if ended(ctx, after, same):
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
    return mixed(quad_key(s.own) + mixed(quad_key(s.other) ^ mixed(s.pots + s.phase))) | ONE


@inlined
def final(ctx: Context, s: State) -> np.int64:
    """The mover's pot minus the other's."""
    return np.int64(s.pots & HALF) - np.int64(s.pots >> HALF_SHIFT)


def slots(rules: SowingRules) -> tuple[int, ...]:
    """The slot of every move number; the swap is slot 16 on every board."""
    return (*range(rules.holes), POT) if rules.swap == "yes" else tuple(range(rules.holes))


def make_context(rules: SowingRules) -> Context:
    """The context of a game on this state."""
    return context(scalars(rules, rules.holes - 1), sowing_table(rules, POT))


def start(rules: SowingRules) -> State:
    """The position before the first ply."""
    return pack(start_rows(rules))


def restored(raw: Any) -> State:
    """The state whose words a kernel returned as plain numbers."""
    return State(quad_of(raw[0]), quad_of(raw[1]), U(raw[2]), U(raw[3]))


def pack(rows: Rows) -> State:
    """The state that holds `rows`."""
    pots = U(rows.own_pot | rows.other_pot << 32)
    return State(quad_of(words_of(rows.own)), quad_of(words_of(rows.other)), pots, U(rows.phase))


def unpack(s: State, holes: int) -> Rows:
    """The rows that `s` holds."""
    own, other = (
        tuple(int(row[hole % 4]) >> 16 * (hole // 4) & 0xFFFF for hole in range(holes))
        for row in (s.own, s.other)
    )
    pots = int(s.pots)
    return Rows(own, pots & 0xFFFF_FFFF, other, pots >> 32, int(s.phase))
