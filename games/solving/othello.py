"""The search of standard Othello endgames."""

import json
from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace

import numpy as np

from games.core import Game, Position
from games.kernels.bits import ONE, U, popcount, trailing_zeros
from games.kernels.context import COUNTERS, RULES, Context
from games.kernels.hashing import pair_key
from games.kernels.jit import inline, inline_copies, specialise
from games.kernels.masks import rest
from games.learned_block import (
    LEARNED,
    MOST_REMAINING,
    Shorts,
    append_tables,
    phase_of,
    ternary,
    unfold_weights,
    weight_at,
)
from games.learned_tables import TableLayout
from games.othello.bitboard import FAMILY, STRIDE, State, final, flips, moves
from games.othello.rules import BOARD, CELLS, COLUMNS, CORNERS, ROWS, OthelloRules
from games.othello.tables import patterns
from games.solving.generic import (
    MOST_NODES,
    NODES,
    ORDER_AT,
    STOPPED,
    Table,
    TableSearch,
    cache_line_zeros,
)

# Words of the context.
QUADRANTS = COUNTERS + 4
NEIGHBOURS = U(COUNTERS + 32)  # of every square
PLIES, WIDTH = 80, U(64)  # one move list per ply, passes included
SLOT_BITS, SLOT_MASK = 6, 63
LOWEST = -1 << 20
# Numbers of empty squares, found on the FFO positions 23 to 34 and 40 to 44.
LAST = 4  # up to here every empty square is tried
FEW = 6  # up to here moves are not sorted
KEPT_FROM = 8  # from here the table is used
CHILDREN_FROM = 10  # from here all children are looked up first
# From the first number on, learned tables sort the moves; each later number adds one ply of
# search.
ESTIMATED_FROM = (12, 14, 18, 22)
DISC_BITS = 8  # in estimates a disc is 256
REPLY = 640  # the value of a reply in estimates
FARTHEST = np.int64(1 << 40)  # beyond all estimates
STABLE_FROM = 24  # lower bounds are hardly ever cut by stable discs
# Typed, because for two plain numbers Numba compiles two functions that call each other, and
# such a pair crashes when loaded from the disk cache.
NOT_YET, PASSED = np.int64(0), np.int64(1)
ENTRY, BUCKET = U(4), U(8)  # words: own, other, bounds with the move, empty squares
ZERO, TWO, THREE, SIX = U(0), U(2), U(3), U(6)
BYTE, MIDDLE = U(255), 128
EIGHT, SIXTEEN = U(8), U(16)
WHOLE_ROW, ROW_STEP = U(255), U(8)
NOT_FIRST_COLUMN = U(0xFEFE_FEFE_FEFE_FEFE)
NOT_LAST_COLUMN = U(0x7F7F_7F7F_7F7F_7F7F)


def odd_quadrants(ctx: Context, empties: np.uint64) -> np.uint64:
    """Return the quarters of the board that have an odd number of empty squares."""
    odd = ZERO
    for quadrant in range(4):
        squares = U(ctx[QUADRANTS + quadrant])
        if popcount(empties & squares) & ONE == ONE:
            odd |= squares
    return odd


def last_square(ctx: Context, own: np.uint64, other: np.uint64, empties: np.uint64) -> np.int64:
    """Return the final margin when one square is left, playable for either side or neither."""
    square = trailing_zeros(empties)
    turned = flips(ctx, State(own, other), square)
    if turned != ZERO:
        return np.int64(final(ctx, State(own | turned | empties, other & ~turned)))
    turned = flips(ctx, State(other, own), square)
    if turned != ZERO:
        return np.int64(final(ctx, State(own & ~turned, other | turned | empties)))
    return np.int64(final(ctx, State(own, other)))


def flips_near(ctx: Context, own: np.uint64, other: np.uint64, square: np.uint64) -> np.uint64:
    """Return the flips of a move on an empty square; skip squares without an opponent nearby."""
    if U(ctx[NEIGHBOURS + square]) & other == ZERO:
        return ZERO
    return flips(ctx, State(own, other), square)


def last_two(
    ctx: Context, own: np.uint64, other: np.uint64, empties: np.uint64, bound: np.int64
) -> np.int64:
    """Do what `finish` does, for two empty squares; return LOWEST if the mover must pass."""
    best, left = np.int64(LOWEST), empties
    while left != ZERO and best < bound:
        square = trailing_zeros(left)
        left = rest(left)
        turned = flips_near(ctx, own, other, square)
        if turned != ZERO:
            ctx[NODES] += 1
            disc = ONE << square
            value = -last_square(ctx, other & ~turned, own | turned | disc, empties ^ disc)
            best = max(best, value)
    return best


def finish(
    ctx: Context,
    own: np.uint64,
    other: np.uint64,
    empties: np.uint64,
    bound: np.int64,
    passed: np.int64,
) -> np.int64:
    """Do what `at_least` does, for few empty squares; try odd quarters first, to end them."""
    ctx[NODES] += 1
    if rest(empties) == ZERO:
        return last_square(ctx, own, other, empties)
    if rest(rest(empties)) == ZERO:
        value = last_two(ctx, own, other, empties, bound)
        if value != LOWEST:
            return value
        value = -last_two(ctx, other, own, empties, 1 - bound)
        return value if value != -LOWEST else np.int64(final(ctx, State(own, other)))
    best = np.int64(LOWEST)
    left = empties if popcount(empties) <= U(LAST) else moves(ctx, State(own, other))
    odd = odd_quadrants(ctx, empties)
    first, later = left & odd, left & ~odd
    while first | later != ZERO:
        if first == ZERO:
            first, later = later, ZERO
        square = trailing_zeros(first)
        first = rest(first)
        turned = flips_near(ctx, own, other, square)
        if turned == ZERO:
            continue
        disc = ONE << square
        mine = own | turned | disc
        value = -finish(ctx, other & ~turned, mine, empties ^ disc, 1 - bound, NOT_YET)
        best = max(best, value)
        if best >= bound:
            return best
    if best != LOWEST:
        return best
    if passed == PASSED:
        return np.int64(final(ctx, State(own, other)))
    return -finish(ctx, other, own, empties, 1 - bound, PASSED)


def stable_border_discs(ctx: Context, discs: np.uint64) -> np.int64:
    """Return the number of discs that are connected to a corner along the border."""
    border = U(ctx[RULES + ROWS]) | U(ctx[RULES + COLUMNS])
    stable = discs & U(ctx[RULES + CORNERS])
    while True:
        sides = ((stable & NOT_LAST_COLUMN) << ONE) | ((stable & NOT_FIRST_COLUMN) >> ONE)
        more = stable | ((sides | (stable << ROW_STEP) | (stable >> ROW_STEP)) & discs & border)
        if more == stable:
            return np.int64(popcount(stable))
        stable = more


def entry(table: Table, own: np.uint64, other: np.uint64) -> np.uint64:
    """Return the index of the entry for these discs, or the table's size if there is none."""
    at = bucket(table, own, other)
    for place in (at, at + ENTRY):
        if table[place] == own and table[place + ONE] == other:
            return place
    return U(table.size)


def bucket(table: Table, own: np.uint64, other: np.uint64) -> np.uint64:
    """Return the index of the two entries that may hold this position."""
    return (pair_key(own, other) >> U(4)) & (U(table.size) - BUCKET) & ~U(7)


def low_of(table: Table, at: np.uint64) -> np.int64:
    """Return the lower bound of an entry."""
    return np.int64(table[at + TWO] & BYTE) - MIDDLE


def high_of(table: Table, at: np.uint64) -> np.int64:
    """Return the upper bound of an entry."""
    return np.int64((table[at + TWO] >> EIGHT) & BYTE) - MIDDLE


def store(
    table: Table,
    own: np.uint64,
    other: np.uint64,
    empties: np.uint64,
    bound: np.int64,
    value: np.int64,
    slot: np.int64,
) -> None:
    """Store the result; it replaces the entry with fewer empty squares."""
    low, high = np.int64(-MIDDLE), np.int64(MIDDLE - 1)
    at = entry(table, own, other)
    if at < U(table.size):
        low, high = low_of(table, at), high_of(table, at)
    else:
        at = bucket(table, own, other)
        if table[at + THREE] > table[at + ENTRY + THREE]:
            at += ENTRY
    if value >= bound:
        low = max(low, value)
    else:
        high = min(high, value)
    table[at], table[at + ONE] = own, other
    table[at + TWO] = U(low + MIDDLE) | (U(high + MIDDLE) << EIGHT) | (U(slot) << SIXTEEN)
    table[at + THREE] = popcount(empties)


def freedom(ctx: Context, own: np.uint64, other: np.uint64) -> np.int64:
    """Return the mobility of the side `own`: its moves, those in corners twice."""
    replies = moves(ctx, State(own, other))
    return np.int64(popcount(replies) + popcount(replies & U(ctx[RULES + CORNERS])))


def lookups(rules: Context, position: State, base: np.int64) -> np.int64:
    """Return the sum of the table entries of a position; bound for each layout."""
    raise NotImplementedError


def estimate(
    ctx: Context,
    own: np.uint64,
    other: np.uint64,
    depth: np.int64,
    alpha: np.int64,
    beta: np.int64,
) -> np.int64:
    """Return the value by learned tables after `depth` plies, exact between `alpha` and `beta`."""
    ctx[NODES] += 1
    if depth == 0:
        left = popcount(U(ctx[RULES + BOARD]) & ~(own | other))
        return lookups(ctx, State(own, other), ctx[U(ctx[LEARNED]) + left])
    mask = moves(ctx, State(own, other))
    if mask == ZERO:
        if moves(ctx, State(other, own)) == ZERO:
            return np.int64(final(ctx, State(own, other))) << DISC_BITS
        return -estimate(ctx, other, own, depth, -beta, -alpha)
    best = -FARTHEST
    while mask != ZERO and best < beta:
        square = trailing_zeros(mask)
        mask = rest(mask)
        turned = flips(ctx, State(own, other), square)
        mine, low = own | turned | (ONE << square), max(alpha, best)
        best = max(best, -estimate(ctx, other & ~turned, mine, depth - 1, -beta, -low))
    return best


def list_moves(
    ctx: Context,
    at: np.uint64,
    own: np.uint64,
    other: np.uint64,
    empties: np.uint64,
    hint: np.int64,
) -> np.uint64:
    """List the moves at `at`, the `hint` first, then in the order of their promise."""
    mask, listed = moves(ctx, State(own, other)), ZERO
    depth = np.int64(-1)  # of the estimates; negative: none
    for least in ESTIMATED_FROM:
        depth += 1 if popcount(empties) >= U(least) else 0
    odd = odd_quadrants(ctx, empties)
    while mask != ZERO:
        square = trailing_zeros(mask)
        mask = rest(mask)
        disc = ONE << square
        turned = flips(ctx, State(own, other), square)
        child_own, child_other = other & ~turned, own | turned | disc
        if depth >= 0:
            worth = -REPLY * freedom(ctx, child_own, child_other)
            worth -= estimate(ctx, child_own, child_other, depth, -FARTHEST, FARTHEST)
        else:
            worth = -16 * freedom(ctx, child_own, child_other) - np.int64(
                popcount(child_other) >> ONE
            )
            worth += 4 if disc & odd != ZERO else 0
            worth += 8 if disc & U(ctx[RULES + CORNERS]) != ZERO else 0
        if np.int64(square) == hint:
            worth = FARTHEST
        item = (worth << SLOT_BITS) | np.int64(square)
        place = at + listed
        while place > at and ctx[place - ONE] < item:
            ctx[place] = ctx[place - ONE]
            place -= ONE
        ctx[place] = item
        listed += ONE
    return listed


def cutoff_of_children(
    ctx: Context, table: Table, own: np.uint64, other: np.uint64, bound: np.int64
) -> np.int64:
    """Return a lower bound of at least `bound` from a child in the table; LOWEST if none has one.

    The enhanced transposition cutoff (Plaat, Schaeffer, Pijls, de Bruin 1996).
    """
    mask = moves(ctx, State(own, other))
    while mask != ZERO:
        square = trailing_zeros(mask)
        mask = rest(mask)
        turned = flips(ctx, State(own, other), square)
        place = entry(table, other & ~turned, own | turned | (ONE << square))
        if place < U(table.size) and -high_of(table, place) >= bound:
            return -high_of(table, place)
    return np.int64(LOWEST)


def at_least(
    ctx: Context, table: Table, own: np.uint64, other: np.uint64, bound: np.int64, ply: np.int64
) -> np.int64:
    """Return a bound of the final margin that decides whether it is at least `bound`."""
    ctx[NODES] += 1
    if ctx[NODES] > ctx[MOST_NODES]:
        ctx[STOPPED] = 1
        return np.int64(0)
    empties = U(ctx[RULES + BOARD]) & ~(own | other)
    if empties == ZERO:
        return np.int64(final(ctx, State(own, other)))
    if popcount(empties) <= U(FEW):
        return finish(ctx, own, other, empties, bound, NOT_YET)
    if moves(ctx, State(own, other)) == ZERO:
        if moves(ctx, State(other, own)) == ZERO:
            return np.int64(final(ctx, State(own, other)))
        return -at_least(ctx, table, other, own, 1 - bound, ply + 1)
    hint, kept = np.int64(-1), popcount(empties) >= U(KEPT_FROM)
    place = entry(table, own, other) if kept else U(table.size)
    if place < U(table.size):
        low, high = low_of(table, place), high_of(table, place)
        if low >= bound:
            return low
        if high < bound:
            return high
        hint = np.int64(table[place + TWO] >> SIXTEEN)
    if bound >= STABLE_FROM:
        most = ctx[RULES + CELLS] - 2 * stable_border_discs(ctx, other)
        if most < bound:
            return most
    if popcount(empties) >= U(CHILDREN_FROM):
        known = cutoff_of_children(ctx, table, own, other, bound)
        if known >= bound:
            return known
    at = U(ctx[ORDER_AT]) + WIDTH * U(ply)
    best, chosen = np.int64(LOWEST), np.int64(0)
    for i in range(list_moves(ctx, at, own, other, empties, hint)):
        square = U(ctx[at + U(i)] & SLOT_MASK)
        turned = flips(ctx, State(own, other), square)
        mine = own | turned | (ONE << square)
        value = -at_least(ctx, table, other & ~turned, mine, 1 - bound, ply + 1)
        if ctx[STOPPED] != 0:
            return np.int64(0)
        if value > best:
            best, chosen = value, np.int64(square)
            if best >= bound:
                break
    if kept:
        store(table, own, other, empties, bound, best, chosen)
    return best


INLINED = (
    odd_quadrants, last_square, flips_near, last_two, stable_border_discs, bucket, entry, low_of,
    high_of, freedom, cutoff_of_children,
)  # fmt: skip
COMPILED = (finish, store, estimate, list_moves, at_least)


@cache
def bind_search(layout: TableLayout) -> SimpleNamespace:
    """Return the search compiled for the bitboard and one layout of tables."""
    look = {"look": inline(weight_at), "ternary": inline(ternary)}
    (looked_up,) = inline_copies([patterns.lookups(layout)], look).values()
    names = inline_copies(INLINED, {}) | {"lookups": looked_up}
    return specialise(f"{FAMILY}_{layout.digest}", COMPILED, **names)


def load_weights(game: Game) -> tuple[Mapping[str, int], TableLayout, Shorts]:
    """Return the phases, layout and weights of the shipped tables; zeros if there are none."""
    path = game.defaults.learned.get(game.name)
    if path is None:
        layout = patterns.layout(game.rules)
        return {"least": 0, "most": 0}, layout, np.zeros((1, layout.entries), np.int16)
    with np.load(path, allow_pickle=False) as file:
        about, weights = json.loads(file["about"].tobytes()), file["weights"]
    layout = patterns.layout(game.rules, about["groups"])
    return about, layout, unfold_weights(weights, patterns.same(layout))


class OthelloSearch(TableSearch):
    """A search of boards of one word a side, with a table of 2 ** `table_bits` entries."""

    def __init__(self, game: Game, table_bits: int) -> None:
        about, layout, weights = load_weights(game)
        left, phases = np.arange(MOST_REMAINING), weights.size // layout.entries
        phase = phase_of(left, phases, about["least"], about["most"])
        ctx = append_tables(search_context(game), layout.entries, phase, weights.reshape(-1))
        super().__init__(game, bind_search(layout), cache_line_zeros(int(ENTRY) << table_bits), ctx)

    def at_least(self, position: Position, bound: int) -> int:
        """Return a bound of the margin that decides whether it is at least `bound`."""
        return int(self.kernels.at_least(self.context, self.table, *position.state, bound, 0))


def search_context(game: Game) -> Context:
    """Return the rules, quarters and neighbours, followed by space for move lists."""
    rules = game.context
    ctx = np.zeros(len(rules) + int(WIDTH) * PLIES, np.int64)
    ctx[: len(rules)] = rules
    ctx[QUADRANTS : QUADRANTS + 4] = np.array(quadrants(game.rules), np.uint64).view(np.int64)
    near = np.array([neighbours(square) for square in range(64)], np.uint64)
    ctx[int(NEIGHBOURS) : int(NEIGHBOURS) + 64] = near.view(np.int64)
    ctx[ORDER_AT] = len(rules)
    return ctx


def neighbours(square: int) -> int:
    """Return the up to eight squares around one, in rows of eight."""
    row, column = divmod(square, STRIDE)
    rows = range(max(row - 1, 0), min(row + 2, STRIDE))
    columns = range(max(column - 1, 0), min(column + 2, STRIDE))
    return sum(1 << STRIDE * y + x for y in rows for x in columns) ^ 1 << square


def quadrants(rules: OthelloRules) -> list[int]:
    """Return the squares of each quarter of the board."""
    half = rules.size // 2
    squares = [(row, column) for row in range(half) for column in range(half)]
    corners = [(row, column) for row in (0, half) for column in (0, half)]
    return [
        sum(1 << (top + row) * STRIDE + left + column for row, column in squares)
        for top, left in corners
    ]
