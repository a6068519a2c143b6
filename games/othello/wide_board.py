"""State of eight words: boards of 10x10 to 16x16."""

from typing import Any, NamedTuple

import numpy as np

from games.kernels.bits import ALL, ONE, ZERO, Truth, U
from games.kernels.context import RULES, Context, context
from games.kernels.hashing import quad_key
from games.kernels.jit import inlined
from games.kernels.quad import (
    Quad,
    bits,
    both,
    either,
    empty,
    lowered,
    placed,
    quad_of,
    raised,
    without,
)
from games.kernels.quad_masks import (
    IN_WORD,
    SIX,
    count,
    except_highest,
    highest,
    lowest,
    none,
    nth,
    plies,
    rest,
)
from games.kernels.streams import mixed
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
FAMILY = "othello_wide"
READ_BY = "games.othello.wide_squares"  # what features and knowledge are written in
STRIDE = 16

INNER_COLUMNS = U(0x7FFE_7FFE_7FFE_7FFE)
NOT_FIRST_COLUMN = U(0xFFFE_FFFE_FFFE_FFFE)
NOT_LAST_COLUMN = U(0x7FFF_7FFF_7FFF_7FFF)
EAST, SOUTHWEST, SOUTH, SOUTHEAST = U(1), U(15), U(16), U(17)


class LargeOthelloState(NamedTuple):
    """The mover's discs and the other side's."""

    own: Quad
    other: Quad


# A name of its own: Numba's quick dispatch tells named tuples apart by class name alone.
State = LargeOthelloState


@inlined
def masked(a: Quad, columns: np.uint64) -> Quad:
    """The squares of `a` in `columns`."""
    return Quad(a.w0 & columns, a.w1 & columns, a.w2 & columns, a.w3 & columns)


@inlined
def run_up(seeds: Quad, through: Quad, by: np.uint64) -> Quad:
    """The `through` squares that follow `seeds` without a gap, towards higher bits."""
    run = both(raised(seeds, by), through)
    grown = run
    while not empty(grown):
        grown = without(both(raised(grown, by), through), run)
        run = either(run, grown)
    return run


@inlined
def run_down(seeds: Quad, through: Quad, by: np.uint64) -> Quad:
    """The `through` squares that follow `seeds` without a gap, towards lower bits."""
    run = both(lowered(seeds, by), through)
    grown = run
    while not empty(grown):
        grown = without(both(lowered(grown, by), through), run)
        run = either(run, grown)
    return run


@inlined
def along(s: State, through: Quad, by: np.uint64) -> Quad:
    """Squares that end a run of `through` discs from an own disc, both ways on one axis."""
    up = raised(run_up(s.own, through, by), by)
    return either(up, lowered(run_down(s.own, through, by), by))


@inlined
def flipping(s: State) -> Quad:
    """Squares, empty or not, from which a disc of the mover would bracket a run."""
    inner = masked(s.other, INNER_COLUMNS)
    straight = either(along(s, inner, EAST), along(s, s.other, SOUTH))
    return either(straight, either(along(s, inner, SOUTHWEST), along(s, inner, SOUTHEAST)))


@inlined
def touching(discs: Quad, adjacency: np.int64) -> Quad:
    """Squares next to a disc, by four or eight neighbours."""
    right = raised(masked(discs, NOT_LAST_COLUMN), EAST)
    sides = either(right, lowered(masked(discs, NOT_FIRST_COLUMN), EAST))
    columns = either(discs, sides) if adjacency == 8 else discs
    return either(sides, either(raised(columns, SOUTH), lowered(columns, SOUTH)))


@inlined
def board(ctx: Context) -> Quad:
    """All squares of the board."""
    at = RULES + BOARD
    return Quad(U(ctx[at]), U(ctx[at + 1]), U(ctx[at + 2]), U(ctx[at + 3]))


@inlined
def moves(ctx: Context, s: State) -> Quad:
    """The squares where the mover may play."""
    taken = either(s.own, s.other)
    adjacency = ctx[RULES + ADJACENCY]
    reached = flipping(s) if adjacency == 0 else touching(taken, adjacency)
    return without(both(reached, board(ctx)), taken)


@inlined
def bracketed(s: State, disc: Quad, through: Quad, by: np.uint64) -> Quad:
    """The runs on one axis, both ways, that end in an own disc."""
    turned_discs = Quad(ZERO, ZERO, ZERO, ZERO)
    up = run_up(disc, through, by)
    if not empty(both(raised(up, by), s.own)):
        turned_discs = up
    down = run_down(disc, through, by)
    if not empty(both(lowered(down, by), s.own)):
        turned_discs = either(turned_discs, down)
    return turned_discs


@inlined
def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """The position after the move as the other side sees it; nobody moves twice."""
    disc = placed(ONE << (slot & IN_WORD), slot >> SIX)
    inner = masked(s.other, INNER_COLUMNS)
    straight = either(bracketed(s, disc, inner, EAST), bracketed(s, disc, s.other, SOUTH))
    slanted = either(bracketed(s, disc, inner, SOUTHWEST), bracketed(s, disc, inner, SOUTHEAST))
    turned_discs = either(straight, slanted)
    return State(without(s.other, turned_discs), either(either(s.own, disc), turned_discs)), False


@inlined
def turned(s: State) -> State:
    """The same board seen by the other side."""
    return State(s.other, s.own)


@inlined
def over(ctx: Context, s: State) -> Truth:
    """Whether the other side cannot move either; asked only when the mover cannot."""
    return empty(moves(ctx, turned(s)))


@inlined
def key(s: State) -> np.uint64:
    """A hash of the state, never 0."""
    return mixed(quad_key(s.own) + mixed(quad_key(s.other))) | ONE


@inlined
def final(ctx: Context, s: State) -> np.int64:
    """Disc difference for the mover, empty squares counted for the winner."""
    own, other = bits(s.own), bits(s.other)
    empties = ctx[RULES + CELLS] - own - other
    if own > other:
        return own - other + empties
    return own - other - empties if own < other else np.int64(0)


def slots(rules: OthelloRules) -> tuple[int, ...]:
    """The slot of every square in row-major order."""
    return strided(rules, STRIDE)


def make_context(rules: OthelloRules) -> Context:
    """The context of a game on this state."""
    return context(scalars(rules, STRIDE), [])


def _words(squares: frozenset[int], size: int) -> tuple[int, ...]:
    positions = strided(OthelloRules(size), STRIDE)
    board = sum(1 << positions[square] for square in squares)
    return tuple(board >> 64 * word & int(ALL) for word in range(4))


def start(rules: OthelloRules) -> State:
    """The position before the first move."""
    return pack(start_discs(rules), rules.size)


def restored(raw: Any) -> State:
    """The state whose words a kernel returned as plain numbers."""
    return State(quad_of(raw[0]), quad_of(raw[1]))


def pack(discs: Discs, size: int) -> State:
    """The state that holds `discs`."""
    return State(quad_of(_words(discs.own, size)), quad_of(_words(discs.other, size)))


def unpack(s: State, size: int) -> Discs:
    """The discs that `s` holds."""
    sides = (sum(int(word) << 64 * i for i, word in enumerate(quad)) for quad in (s.own, s.other))
    positions = strided(OthelloRules(size), STRIDE)
    return Discs(
        *(
            frozenset(square for square, bit in enumerate(positions) if board >> bit & 1)
            for board in sides
        )
    )
