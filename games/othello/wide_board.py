"""State of eight words: boards of 10x10 to 16x16."""

from typing import Any, NamedTuple

import numpy as np

from games.kernels.bits import ALL, ONE, ZERO, Truth, U
from games.kernels.context import RULES, Context, context
from games.kernels.hashing import quad_key
from games.kernels.jit import inline
from games.kernels.quad import (
    IN_WORD,
    SIX,
    Quad,
    bits,
    both,
    count,
    either,
    empty,
    except_highest,
    highest,
    lowest,
    make_quad,
    none,
    nth,
    place_word,
    plies,
    rest,
    shift_down,
    shift_up,
    without,
)
from games.kernels.streams import mixed
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
FAMILY = "othello_wide"
STRIDE = 16
INNER_COLUMNS = U(0x7FFE_7FFE_7FFE_7FFE)
NOT_FIRST_COLUMN = U(0xFFFE_FFFE_FFFE_FFFE)
NOT_LAST_COLUMN = U(0x7FFF_7FFF_7FFF_7FFF)
EAST, SOUTHWEST, SOUTH, SOUTHEAST = U(1), U(15), U(16), U(17)
ROW_STEP = U(STRIDE)


class LargeOthelloState(NamedTuple):
    """The mover's discs and the opponent's."""

    own: Quad
    other: Quad


# A unique class name: Numba's fast dispatch compares named tuples by class name only.
State = LargeOthelloState


@inline
def mask_columns(a: Quad, columns: np.uint64) -> Quad:
    """Return the squares of `a` in `columns`."""
    return Quad(a.w0 & columns, a.w1 & columns, a.w2 & columns, a.w3 & columns)


@inline
def run_up(seeds: Quad, through: Quad, by: np.uint64) -> Quad:
    """Return the `through` squares that follow `seeds` without a gap, towards higher bits."""
    run = both(shift_up(seeds, by), through)
    grown = run
    while not empty(grown):
        grown = without(both(shift_up(grown, by), through), run)
        run = either(run, grown)
    return run


@inline
def run_down(seeds: Quad, through: Quad, by: np.uint64) -> Quad:
    """Return the `through` squares that follow `seeds` without a gap, towards lower bits."""
    run = both(shift_down(seeds, by), through)
    grown = run
    while not empty(grown):
        grown = without(both(shift_down(grown, by), through), run)
        run = either(run, grown)
    return run


@inline
def along(s: State, through: Quad, by: np.uint64) -> Quad:
    """Return the squares that end a run of `through` discs from an own disc, in both directions."""
    up = shift_up(run_up(s.own, through, by), by)
    return either(up, shift_down(run_down(s.own, through, by), by))


@inline
def flipping(s: State) -> Quad:
    """Return the squares, empty or not, from which a disc of the mover would bracket a run."""
    inner = mask_columns(s.other, INNER_COLUMNS)
    straight = either(along(s, inner, EAST), along(s, s.other, SOUTH))
    return either(straight, either(along(s, inner, SOUTHWEST), along(s, inner, SOUTHEAST)))


@inline
def touching(discs: Quad, adjacency: np.int64) -> Quad:
    """Return the squares next to a disc, by four or eight neighbours."""
    right = shift_up(mask_columns(discs, NOT_LAST_COLUMN), EAST)
    sides = either(right, shift_down(mask_columns(discs, NOT_FIRST_COLUMN), EAST))
    columns = either(discs, sides) if adjacency == 8 else discs
    return either(sides, either(shift_up(columns, SOUTH), shift_down(columns, SOUTH)))


@inline
def board_mask(ctx: Context) -> Quad:
    """Return all squares of the board."""
    at = RULES + BOARD
    return Quad(U(ctx[at]), U(ctx[at + 1]), U(ctx[at + 2]), U(ctx[at + 3]))


@inline
def moves(ctx: Context, s: State) -> Quad:
    """Return the squares where the mover may play."""
    taken = either(s.own, s.other)
    adjacency = ctx[RULES + ADJACENCY]
    reached = flipping(s) if adjacency == 0 else touching(taken, adjacency)
    return without(both(reached, board_mask(ctx)), taken)


@inline
def run_flips(s: State, disc: Quad, through: Quad, by: np.uint64) -> Quad:
    """Return the runs on one axis, in both directions, that end in an own disc."""
    turned_discs = Quad(ZERO, ZERO, ZERO, ZERO)
    up = run_up(disc, through, by)
    if not empty(both(shift_up(up, by), s.own)):
        turned_discs = up
    down = run_down(disc, through, by)
    if not empty(both(shift_down(down, by), s.own)):
        turned_discs = either(turned_discs, down)
    return turned_discs


@inline
def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """Return the position after the move as the other side sees it; there are no extra turns."""
    disc = place_word(ONE << (slot & IN_WORD), slot >> SIX)
    inner = mask_columns(s.other, INNER_COLUMNS)
    straight = either(run_flips(s, disc, inner, EAST), run_flips(s, disc, s.other, SOUTH))
    slanted = either(run_flips(s, disc, inner, SOUTHWEST), run_flips(s, disc, inner, SOUTHEAST))
    turned_discs = either(straight, slanted)
    return State(without(s.other, turned_discs), either(either(s.own, disc), turned_discs)), False


@inline
def turned(s: State) -> State:
    return State(s.other, s.own)


@inline
def over(ctx: Context, s: State) -> Truth:
    """Return whether the other side cannot move either; called only if the mover cannot."""
    return empty(moves(ctx, turned(s)))


@inline
def key(s: State) -> np.uint64:
    return mixed(quad_key(s.own) + mixed(quad_key(s.other))) | ONE


@inline
def final(ctx: Context, s: State) -> np.int64:
    """Return the disc difference for the mover; empty squares count for the winner."""
    own, other = bits(s.own), bits(s.other)
    empties = ctx[RULES + CELLS] - own - other
    if own > other:
        return own - other + empties
    return own - other - empties if own < other else np.int64(0)


def slots(rules: OthelloRules) -> tuple[int, ...]:
    return square_slots(rules, STRIDE)


def make_context(rules: OthelloRules) -> Context:
    return context(rule_words(rules, STRIDE), [])


def _words(squares: frozenset[int], size: int) -> tuple[int, ...]:
    positions = square_slots(OthelloRules(size), STRIDE)
    board = sum(1 << positions[square] for square in squares)
    return tuple(board >> 64 * word & int(ALL) for word in range(4))


def start(rules: OthelloRules) -> State:
    return pack(start_discs(rules), rules.size)


def from_words(raw: Any) -> State:
    return State(make_quad(raw[0]), make_quad(raw[1]))


def pack(discs: Discs, size: int) -> State:
    return State(make_quad(_words(discs.own, size)), make_quad(_words(discs.other, size)))


def unpack(s: State, size: int) -> Discs:
    sides = (sum(int(word) << 64 * i for i, word in enumerate(quad)) for quad in (s.own, s.other))
    positions = square_slots(OthelloRules(size), STRIDE)
    return Discs(
        *(
            frozenset(square for square, bit in enumerate(positions) if board >> bit & 1)
            for board in sides
        )
    )


@inline
def squares(ctx: Context, which: int) -> Quad:
    """Return the mask at `which` among the rule scalars."""
    at = RULES + which
    return Quad(U(ctx[at]), U(ctx[at + 1]), U(ctx[at + 2]), U(ctx[at + 3]))


@inline
def one_square(slot: np.uint64) -> Quad:
    """Return the set of one square."""
    return place_word(ONE << (slot & IN_WORD), slot >> SIX)
