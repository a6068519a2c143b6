"""A search that solves any small game."""

from types import ModuleType, SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from games.core import Game, Position
from games.kernels.bits import ONE, U
from games.kernels.context import COUNTERS, Context
from games.kernels.drivers import FAMILY_NAMES
from games.kernels.family import (
    State,
    count,
    except_highest,
    final,
    highest,
    key,
    moves,
    none,
    over,
    play,
    turned,
)
from games.kernels.jit import Kernel, Scope, family_kernels, inline, specialise
from games.kernels.quad import Quad
from games.solving.solver import FARTHEST, Answer, Bounds

Table = NDArray[np.uint64]
# Words of the context: nodes searched, the limit, whether the limit was reached.
NODES, MOST_NODES, STOPPED, ORDER_AT = range(COUNTERS, COUNTERS + 4)
ORDER_WIDTH = 256
ORDER_PLIES = 512  # endless games stop here, undecided
SLOT_BITS, SLOT_MASK = 12, (1 << 12) - 1
AGAIN = 1 << 20  # extra turns come first
MIDDLE = U(1 << 31)
CACHE_LINE = 8  # words
HALF, LOW_HALF = U(32), U(0xFFFF_FFFF)


def bounds_word(low: np.int64, high: np.int64) -> np.uint64:
    """Return both bounds in one word."""
    return ((U(low) + MIDDLE) << HALF) | ((U(high) + MIDDLE) & LOW_HALF)


def words(s: State) -> tuple[np.uint64, ...]:
    """Return all words of a state; generated for each family."""
    raise NotImplementedError


def entry(table: Table, s: State) -> np.uint64:
    """Return the index of the entry for this state: its words, then the bounds."""
    width = U(len(words(s)) + 1)
    return (key(s) >> U(8)) % (U(table.size) // width) * width


def is_entry_of(table: Table, at: np.uint64, s: State) -> bool:
    """Return whether the entry holds this state; whole states are compared, not hashes."""
    place = at
    for word in words(s):
        if table[place] != word:
            return False
        place += ONE
    return table[place] != U(0)


def store(table: Table, at: np.uint64, s: State, low: np.int64, high: np.int64) -> None:
    """Overwrite the entry."""
    place = at
    for word in words(s):
        table[place] = word
        place += ONE
    table[place] = bounds_word(low, high)


def list_moves(ctx: Context, s: State, at: np.uint64) -> np.uint64:
    """List the moves at `at`, extra turns and few replies first; return their number."""
    mask, listed = moves(ctx, s), U(0)
    while not none(mask):
        slot = highest(mask)
        mask = except_highest(mask)
        child, same = play(ctx, s, slot)
        worth = np.int64(AGAIN) if same else -np.int64(count(moves(ctx, child)))
        item = (worth << SLOT_BITS) | np.int64(slot)
        place = at + listed
        while place > at and ctx[place - ONE] < item:
            ctx[place] = ctx[place - ONE]
            place -= ONE
        ctx[place] = item
        listed += ONE
    return listed


def at_least(ctx: Context, table: Table, s: State, bound: np.int64, ply: np.int64) -> np.int64:
    """Return a bound of the mover's margin that decides whether it is at least `bound`."""
    ctx[NODES] += 1
    if ctx[NODES] > ctx[MOST_NODES] or ply >= ORDER_PLIES:
        ctx[STOPPED] = 1
        return np.int64(0)
    if none(moves(ctx, s)):
        if over(ctx, s):
            return np.int64(final(ctx, s))
        return -at_least(ctx, table, turned(s), 1 - bound, ply + 1)
    low, high = np.int64(-FARTHEST), np.int64(FARTHEST)
    place = entry(table, s)
    if is_entry_of(table, place, s):
        word = table[place + U(len(words(s)))]
        low = np.int64(word >> HALF) - np.int64(MIDDLE)
        high = np.int64(word & LOW_HALF) - np.int64(MIDDLE)
        if low >= bound:
            return low
        if high < bound:
            return high
    at = U(ctx[ORDER_AT]) + U(ORDER_WIDTH) * U(ply)
    best = np.int64(-FARTHEST)
    for i in range(list_moves(ctx, s, at)):
        child, same = play(ctx, s, U(ctx[at + U(i)] & SLOT_MASK))
        if same:
            value = at_least(ctx, table, child, bound, ply + 1)
        else:
            value = -at_least(ctx, table, child, 1 - bound, ply + 1)
        if ctx[STOPPED] != 0:
            return np.int64(0)
        best = max(best, value)
        if best >= bound:
            break
    if best >= bound:
        store(table, place, s, best, high)
    else:
        store(table, place, s, low, best)
    return best


COMPILED = (bounds_word, entry, is_entry_of, store, list_moves, at_least)


def word_paths(state: type) -> list[str]:
    """Return the expression of each word of a state: `s[0]`, or `s[0][3]` inside a quad."""
    paths = []
    for place, kind in enumerate(state.__annotations__.values()):
        paths += [f"s[{place}][{each}]" for each in range(4)] if kind is Quad else [f"s[{place}]"]
    return paths


def words_of(state: type) -> Kernel:
    """Generate a function that returns all words of such a state."""
    scope: Scope = {}
    exec(f"def words(s):\n    return ({', '.join(word_paths(state))},)", scope)
    return inline(scope["words"])


def bind_search(family: ModuleType) -> SimpleNamespace:
    """Return the search compiled for one state family."""
    names = {name: getattr(family, name) for name in FAMILY_NAMES}
    names["words"] = words_of(family.State)
    return specialise(family.FAMILY, COMPILED, **names)


class TableSearch:
    """A search whose table holds whole positions; the pots are part of the position."""

    def __init__(self, game: Game, kernels: SimpleNamespace, table: Table, ctx: Context) -> None:
        self.game, self.nodes = game, 0
        self.kernels, self.table, self.context = kernels, table, ctx

    def prepare(self) -> None:
        """Do nothing: no data is shared."""

    def clear(self) -> None:
        """Empty the table."""
        self.table.fill(0)

    def limits(self, position: Position) -> Bounds:
        """Return bounds from all beans or all squares; infinite for a user's game."""
        if self.game.over(position):
            return final_bounds(self.game, position)
        most = max_margin(self.game, position)
        return Bounds(-most, most)

    def bound_margin(self, position: Position, bound: int, nodes: int) -> Answer:
        """Search with the results in the table."""
        ctx = self.context
        ctx[NODES], ctx[MOST_NODES], ctx[STOPPED] = 0, nodes, 0
        value = self.at_least(position, bound)
        self.nodes += int(ctx[NODES])
        return None if ctx[STOPPED] else value

    def at_least(self, position: Position, bound: int) -> int:
        """Return a bound of the margin that decides whether it is at least `bound`."""
        return int(self.kernels.at_least(self.context, self.table, position.state, bound, 0))


def generic_search(game: Game, table_bits: int) -> TableSearch:
    """Return a search with about 2 ** `table_bits` entries of whole states."""
    width = len(word_paths(game.family.State)) + 1
    table = np.zeros(width << table_bits, np.uint64)
    kernels = family_kernels(game.family_name, bind_search)
    return TableSearch(game, kernels, table, search_context(game.context))


def cache_line_zeros(words: int) -> Table:
    """Return zeros that are aligned to a cache line of the processor."""
    zeros = np.zeros(words + CACHE_LINE, np.uint64)
    skipped = -zeros.ctypes.data // zeros.itemsize % CACHE_LINE
    return zeros[skipped : skipped + words]


def search_context(rules: Context) -> Context:
    """Return the rules, followed by space for move lists."""
    ctx = np.zeros(len(rules) + ORDER_WIDTH * ORDER_PLIES, np.int64)
    ctx[: len(rules)] = rules
    ctx[ORDER_AT] = len(rules)
    return ctx


def final_bounds(game: Game, position: Position) -> Bounds:
    """Return the margin of a finished game for the side to move."""
    margin = game.margin(position) * (1 if position.mover == 0 else -1)
    return Bounds(margin, margin)


def max_margin(game: Game, position: Position) -> int:
    """Return the largest possible margin: all beans, all squares, or FARTHEST."""
    if game.pack == "sowing":
        return int(game.plain(position).total)
    return int(game.rules.cells) if game.pack == "othello" else FARTHEST
