"""State of two words: boards up to 8x8."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, ZERO, Truth, U, leading_zeros, popcount
from games.kernels.context import RULES, TABLE, Context, context
from games.kernels.hashing import pair_key
from games.kernels.jit import inlined
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
    CELLS,
    Discs,
    OthelloRules,
    scalars,
    start_discs,
    strided,
)

__all__ = [  # of the family, shared
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
READ_BY = "games.othello.word_squares"  # what features and knowledge are written in
STRIDE = 8

INNER_COLUMNS = U(0x7E7E_7E7E_7E7E_7E7E)
NOT_FIRST_COLUMN = U(0xFEFE_FEFE_FEFE_FEFE)
NOT_LAST_COLUMN = U(0x7F7F_7F7F_7F7F_7F7F)
EAST, SOUTHWEST, SOUTH, SOUTHEAST = U(1), U(7), U(8), U(9)


class OthelloState(NamedTuple):
    """The mover's discs and the other side's."""

    own: np.uint64
    other: np.uint64


# A name of its own: Numba's quick dispatch tells named tuples apart by class name alone.
State = OthelloState


@inlined
def along(own: np.uint64, through: np.uint64, by: np.uint64) -> np.uint64:
    """Squares that end a run of `through` discs from an own disc, both ways on one axis."""
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


@inlined
def flipping(s: State) -> np.uint64:
    """Squares, empty or not, from which a disc of the mover would bracket a run."""
    # A run cannot pass a border column sideways: masking them stops it wrapping round.
    inner = s.other & INNER_COLUMNS
    ends = along(s.own, inner, EAST) | along(s.own, s.other, SOUTH)
    return ends | along(s.own, inner, SOUTHWEST) | along(s.own, inner, SOUTHEAST)


@inlined
def touching(discs: np.uint64, adjacency: np.int64) -> np.uint64:
    """Squares next to a disc, by four or eight neighbours."""
    sides = ((discs & NOT_LAST_COLUMN) << EAST) | ((discs & NOT_FIRST_COLUMN) >> EAST)
    columns = discs | sides if adjacency == 8 else discs
    return sides | (columns << SOUTH) | (columns >> SOUTH)


@inlined
def moves(ctx: Context, s: State) -> np.uint64:
    """The squares where the mover may play."""
    taken = s.own | s.other
    adjacency = ctx[RULES + ADJACENCY]
    reached = flipping(s) if adjacency == 0 else touching(taken, adjacency)
    return reached & U(ctx[RULES + BOARD]) & ~taken


@inlined
def rising(s: State, ray: np.uint64) -> np.uint64:
    """Flips on a ray towards higher bits: adding one carries through the other's discs."""
    end = ((s.other | ~ray) + ONE) & s.own & ray
    return (end - (ONE if end != ZERO else ZERO)) & ray


@inlined
def falling(s: State, ray: np.uint64) -> np.uint64:
    """Flips on a ray towards lower bits: its highest square that is not the other's ends it."""
    stop = TOP_BIT >> leading_zeros((ray & ~s.other) | ONE)
    end = stop & s.own & ray
    return (ZERO - (end + end)) & ray


@inlined
def flips(ctx: Context, s: State, square: np.uint64) -> np.uint64:
    """The discs that a move on `square` turns."""
    at = TABLE + np.int64(square) * 8
    up = rising(s, U(ctx[at])) | rising(s, U(ctx[at + 1]))
    up |= rising(s, U(ctx[at + 2])) | rising(s, U(ctx[at + 3]))
    down = falling(s, U(ctx[at + 4])) | falling(s, U(ctx[at + 5]))
    return up | down | falling(s, U(ctx[at + 6])) | falling(s, U(ctx[at + 7]))


@inlined
def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """The position after the move as the other side sees it; nobody moves twice."""
    turned_discs = flips(ctx, s, slot)
    return State(s.other & ~turned_discs, s.own | turned_discs | (ONE << slot)), False


@inlined
def turned(s: State) -> State:
    """The same board seen by the other side."""
    return State(s.other, s.own)


@inlined
def over(ctx: Context, s: State) -> Truth:
    """Whether the other side cannot move either; asked only when the mover cannot."""
    return moves(ctx, turned(s)) == ZERO


@inlined
def key(s: State) -> np.uint64:
    """A hash of the state, never 0."""
    return pair_key(s.own, s.other)


@inlined
def final(ctx: Context, s: State) -> np.int64:
    """Disc difference for the mover, empty squares counted for the winner."""
    own, other = np.int64(popcount(s.own)), np.int64(popcount(s.other))
    empties = ctx[RULES + CELLS] - own - other
    if own > other:
        return own - other + empties
    return own - other - empties if own < other else np.int64(0)


def slots(rules: OthelloRules) -> tuple[int, ...]:
    """The slot of every square in row-major order."""
    return strided(rules, STRIDE)


def make_context(rules: OthelloRules) -> Context:
    """The context of a game on this state: masks, and eight rays a square."""
    table = [0] * (64 * 8)
    for bit in slots(rules):
        row, col = divmod(bit, STRIDE)
        rays = [_ray(rules.size, row, col, down, right) for down, right in DIRECTIONS]
        table[bit * 8 : bit * 8 + 8] = rays
    return context(scalars(rules, STRIDE), table)


# The first four lead to higher bits, the others are their opposites.
DIRECTIONS = ((0, 1), (1, -1), (1, 0), (1, 1), (0, -1), (-1, 1), (-1, 0), (-1, -1))


def _ray(size: int, row: int, col: int, down: int, right: int) -> int:
    """The squares of the board seen from one square in one direction."""
    ray = 0
    while 0 <= (row := row + down) < size and 0 <= (col := col + right) < size:
        ray |= 1 << row * STRIDE + col
    return ray


def start(rules: OthelloRules) -> State:
    """The position before the first move."""
    return pack(start_discs(rules), rules.size)


def restored(raw: Sequence[int]) -> State:
    """The state whose words a kernel returned as plain numbers."""
    return State(U(raw[0]), U(raw[1]))


def pack(discs: Discs, size: int) -> State:
    """The state that holds `discs`."""
    bits = strided(OthelloRules(size), STRIDE)
    return State(*(U(sum(1 << bits[square] for square in side)) for side in discs))


def unpack(s: State, size: int) -> Discs:
    """The discs that `s` holds."""
    bits = strided(OthelloRules(size), STRIDE)
    own, other = int(s.own), int(s.other)
    return Discs(
        frozenset(square for square, bit in enumerate(bits) if own >> bit & 1),
        frozenset(square for square, bit in enumerate(bits) if other >> bit & 1),
    )
