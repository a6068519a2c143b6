"""State of two words: boards up to 8x8."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, ZERO, Truth, U, leading_zeros, popcount
from games.kernels.context import RULES, TABLE, Context, context
from games.kernels.hashing import pair_key
from games.kernels.jit import inline
from games.kernels.masks import (
    TOP_BIT,
    count,
    except_highest,
    highest,
    lowest,
    none,
    nth,
    plies,
    rest,
)
from games.othello.rules import (
    ADJACENCY,
    BOARD,
    CELL_FUNCTIONS,
    CELLS,
    Discs,
    OthelloRules,
    rule_words,
    square_slots,
    start_discs,
)

__all__ = [  # functions of the family that are defined elsewhere
    "CELL_FUNCTIONS",
    "count",
    "except_highest",
    "highest",
    "lowest",
    "none",
    "nth",
    "plies",
    "rest",
]
FAMILY = "othello_bitboard"
STRIDE = 8
INNER_COLUMNS = U(0x7E7E_7E7E_7E7E_7E7E)
NOT_FIRST_COLUMN = U(0xFEFE_FEFE_FEFE_FEFE)
NOT_LAST_COLUMN = U(0x7F7F_7F7F_7F7F_7F7F)
EAST, SOUTHWEST, SOUTH, SOUTHEAST = U(1), U(7), U(8), U(9)
# The first four lead to higher bits, the others are the opposite directions.
DIRECTIONS = ((0, 1), (1, -1), (1, 0), (1, 1), (0, -1), (-1, 1), (-1, 0), (-1, -1))
ROW_STEP = U(STRIDE)


class OthelloState(NamedTuple):
    """The mover's discs and the opponent's."""

    own: np.uint64
    other: np.uint64


# A unique class name: Numba's fast dispatch compares named tuples by class name only.
State = OthelloState


@inline
def along(own: np.uint64, through: np.uint64, by: np.uint64) -> np.uint64:
    """Return the squares that end a run of `through` discs from an own disc, in both directions."""
    double = by + by
    up = through & (own << by)
    down = through & (own >> by)
    up |= through & (up << by)
    down |= through & (down >> by)
    pairs_up = through & (through << by)
    pairs_down = pairs_up >> by
    up |= pairs_up & (up << double)
    down |= pairs_down & (down >> double)
    up |= pairs_up & (up << double)
    down |= pairs_down & (down >> double)
    return (up << by) | (down >> by)


@inline
def flipping(s: State) -> np.uint64:
    """Return the squares, empty or not, from which a disc of the mover would bracket a run."""
    # Masking the border columns stops horizontal and diagonal runs from wrapping around.
    inner = s.other & INNER_COLUMNS
    ends = along(s.own, inner, EAST) | along(s.own, s.other, SOUTH)
    return ends | along(s.own, inner, SOUTHWEST) | along(s.own, inner, SOUTHEAST)


@inline
def touching(discs: np.uint64, adjacency: np.int64) -> np.uint64:
    """Return the squares next to a disc, by four or eight neighbours."""
    sides = ((discs & NOT_LAST_COLUMN) << EAST) | ((discs & NOT_FIRST_COLUMN) >> EAST)
    columns = discs | sides if adjacency == 8 else discs
    return sides | (columns << SOUTH) | (columns >> SOUTH)


@inline
def moves(ctx: Context, s: State) -> np.uint64:
    """Return the squares where the mover may play."""
    taken = s.own | s.other
    adjacency = ctx[RULES + ADJACENCY]
    reached = flipping(s) if adjacency == 0 else touching(taken, adjacency)
    return reached & U(ctx[RULES + BOARD]) & ~taken


@inline
def flips_up(s: State, ray: np.uint64) -> np.uint64:
    """Return the flips on a ray to higher bits: adding one carries through opponent's discs."""
    end = ((s.other | ~ray) + ONE) & s.own & ray
    return (end - (ONE if end != ZERO else ZERO)) & ray


@inline
def flips_down(s: State, ray: np.uint64) -> np.uint64:
    """Return the flips on a ray to lower bits: its highest other square ends the run."""
    stop = TOP_BIT >> leading_zeros((ray & ~s.other) | ONE)
    end = stop & s.own & ray
    return (ZERO - (end + end)) & ray


@inline
def flips(ctx: Context, s: State, square: np.uint64) -> np.uint64:
    """Return the discs that a move on `square` flips."""
    at = TABLE + np.int64(square) * 8
    up = flips_up(s, U(ctx[at])) | flips_up(s, U(ctx[at + 1]))
    up |= flips_up(s, U(ctx[at + 2])) | flips_up(s, U(ctx[at + 3]))
    down = flips_down(s, U(ctx[at + 4])) | flips_down(s, U(ctx[at + 5]))
    return up | down | flips_down(s, U(ctx[at + 6])) | flips_down(s, U(ctx[at + 7]))


@inline
def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """Return the position after the move as the other side sees it; there are no extra turns."""
    turned_discs = flips(ctx, s, slot)
    return State(s.other & ~turned_discs, s.own | turned_discs | (ONE << slot)), False


@inline
def turned(s: State) -> State:
    return State(s.other, s.own)


@inline
def over(ctx: Context, s: State) -> Truth:
    """Return whether the other side cannot move either; called only if the mover cannot."""
    return moves(ctx, turned(s)) == ZERO


@inline
def key(s: State) -> np.uint64:
    return pair_key(s.own, s.other)


@inline
def final(ctx: Context, s: State) -> np.int64:
    """Return the disc difference for the mover; empty squares count for the winner."""
    own, other = np.int64(popcount(s.own)), np.int64(popcount(s.other))
    empties = ctx[RULES + CELLS] - own - other
    if own > other:
        return own - other + empties
    return own - other - empties if own < other else np.int64(0)


def slots(rules: OthelloRules) -> tuple[int, ...]:
    return square_slots(rules, STRIDE)


def make_context(rules: OthelloRules) -> Context:
    """Return the context of a game with this state: masks, and eight rays per square."""
    table = [0] * (64 * 8)
    for bit in slots(rules):
        row, col = divmod(bit, STRIDE)
        rays = [_ray(rules.size, row, col, down, right) for down, right in DIRECTIONS]
        table[bit * 8 : bit * 8 + 8] = rays
    return context(rule_words(rules, STRIDE), table)


def _ray(size: int, row: int, col: int, down: int, right: int) -> int:
    """Return the squares of the board in one direction from one square."""
    ray = 0
    while 0 <= (row := row + down) < size and 0 <= (col := col + right) < size:
        ray |= 1 << row * STRIDE + col
    return ray


def start(rules: OthelloRules) -> State:
    return pack(start_discs(rules), rules.size)


def from_words(raw: Sequence[int]) -> State:
    return State(U(raw[0]), U(raw[1]))


def pack(discs: Discs, size: int) -> State:
    bits = square_slots(OthelloRules(size), STRIDE)
    return State(*(U(sum(1 << bits[square] for square in side)) for side in discs))


def unpack(s: State, size: int) -> Discs:
    bits = square_slots(OthelloRules(size), STRIDE)
    own, other = int(s.own), int(s.other)
    return Discs(
        frozenset(square for square, bit in enumerate(bits) if own >> bit & 1),
        frozenset(square for square, bit in enumerate(bits) if other >> bit & 1),
    )


@inline
def squares(ctx: Context, which: int) -> np.uint64:
    """Return the mask at `which` among the rule scalars."""
    return U(ctx[RULES + which])


@inline
def one_square(slot: np.uint64) -> np.uint64:
    """Return the set of one square."""
    return ONE << slot


@inline
def both(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return the squares in both sets."""
    return a & b


@inline
def either(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return the squares in one or both sets."""
    return a | b


@inline
def without(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return the squares of `a` that are not in `b`."""
    return a & ~b


@inline
def empty(a: np.uint64) -> Truth:
    """Return whether the set is empty."""
    return a == ZERO


@inline
def bits(a: np.uint64) -> np.int64:
    """Return the number of squares."""
    return np.int64(popcount(a))


@inline
def shift_up(a: np.uint64, by: np.uint64) -> np.uint64:
    """Shift towards the last square."""
    return a << by


@inline
def shift_down(a: np.uint64, by: np.uint64) -> np.uint64:
    """Shift towards the first square."""
    return a >> by
