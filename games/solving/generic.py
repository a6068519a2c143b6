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
from games.kernels.jit import Kernel, Scope, bound, inlined, specialise
from games.kernels.quad import Quad
from games.solving.solver import FARTHEST, Answer, Bounds

Table = NDArray[np.uint64]
# Words of the context: nodes looked at, how many may be, whether that was not enough.
NODES, MOST_NODES, STOPPED, ORDER_AT = range(COUNTERS, COUNTERS + 4)
ORDER_WIDTH = 256
ORDER_PLIES = 512  # games without end stop here, undecided
SLOT_BITS, SLOT_MASK = 12, (1 << 12) - 1
AGAIN = 1 << 20  # a move after which the mover goes on comes before all others
MIDDLE = U(1 << 31)
CACHE_LINE = 8  # words
HALF, LOW_HALF = U(32), U(0xFFFF_FFFF)


def bounds_word(low: np.int64, high: np.int64) -> np.uint64:
    """Both bounds in one word."""
    return ((U(low) + MIDDLE) << HALF) | ((U(high) + MIDDLE) & LOW_HALF)


def words(s: State) -> tuple[np.uint64, ...]:
    """All words of a state; made for each family by `of_family`."""
    raise NotImplementedError


def entry(table: Table, s: State) -> np.uint64:
    """Where the entry of this state stands: its words, then the bounds."""
    width = U(len(words(s)) + 1)
    return (key(s) >> U(8)) % (U(table.size) // width) * width


def is_of(table: Table, at: np.uint64, s: State) -> bool:
    """Whether the entry belongs to this very state; no hash is trusted."""
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


def listed(ctx: Context, s: State, at: np.uint64) -> np.uint64:
    """List the moves at `at`, extra turns and few replies first; how many."""
    mask, found = moves(ctx, s), U(0)
    while not none(mask):
        slot = highest(mask)
        mask = except_highest(mask)
        child, same = play(ctx, s, slot)
        worth = np.int64(AGAIN) if same else -np.int64(count(moves(ctx, child)))
        item = (worth << SLOT_BITS) | np.int64(slot)
        place = at + found
        while place > at and ctx[place - ONE] < item:
            ctx[place] = ctx[place - ONE]
            place -= ONE
        ctx[place] = item
        found += ONE
    return found


def at_least(ctx: Context, table: Table, s: State, bound: np.int64, ply: np.int64) -> np.int64:
    """A bound of the margin of the mover, on that side of `bound` on which the margin is."""
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
    if is_of(table, place, s):
        word = table[place + U(len(words(s)))]
        low = np.int64(word >> HALF) - np.int64(MIDDLE)
        high = np.int64(word & LOW_HALF) - np.int64(MIDDLE)
        if low >= bound:
            return low
        if high < bound:
            return high
    at = U(ctx[ORDER_AT]) + U(ORDER_WIDTH) * U(ply)
    best = np.int64(-FARTHEST)
    for i in range(listed(ctx, s, at)):
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


COMPILED = (bounds_word, entry, is_of, store, listed, at_least)


def word_paths(state: type) -> list[str]:
    """How each word of a state is written: `s[0]`, or `s[0][3]` where four are one value."""
    paths = []
    for place, kind in enumerate(state.__annotations__.values()):
        paths += [f"s[{place}][{each}]" for each in range(4)] if kind is Quad else [f"s[{place}]"]
    return paths


def words_of(state: type) -> Kernel:
    """A compiled function that gives all words of such a state."""
    scope: Scope = {}
    exec(f"def words(s):\n    return ({', '.join(word_paths(state))},)", scope)
    return inlined(scope["words"])


def of_family(family: ModuleType) -> SimpleNamespace:
    """The search compiled for one family of states."""
    names = {name: getattr(family, name) for name in FAMILY_NAMES}
    names["words"] = words_of(family.State)
    return specialise(family.FAMILY, COMPILED, **names)


class PlainQuestions:
    """Alpha-beta with whole states in its table; the pots belong to the state."""

    def __init__(self, of: Game, table_bits: int) -> None:
        """The table has about 2 ** `table_bits` entries."""
        self.game, self.nodes = of, 0
        self.kernels = bound(of.family_name, of_family)
        width = len(word_paths(of.family.State)) + 1
        self.table = np.zeros(width << table_bits, np.uint64)
        self.context = search_context(of.context)

    def prepare(self) -> None:
        """Nothing needs preparing."""

    def forget(self) -> None:
        """Empty the table."""
        self.table.fill(0)

    def limits(self, position: Position) -> Bounds:
        """All beans, or all squares; unknown for a user's game."""
        if self.game.over(position):
            return finished(self.game, position)
        most = most_of(self.game, position)
        return Bounds(-most, most)

    def ask(self, position: Position, bound: int, nodes: int) -> Answer:
        """Search, starting from what the table knows."""
        ctx = self.context
        ctx[NODES], ctx[MOST_NODES], ctx[STOPPED] = 0, nodes, 0
        value = self.kernels.at_least(ctx, self.table, position.state, bound, 0)
        self.nodes += int(ctx[NODES])
        return None if ctx[STOPPED] else int(value)


def aligned(words: int) -> Table:
    """Zeros aligned to a cache line of the processor."""
    room = np.zeros(words + CACHE_LINE, np.uint64)
    skipped = -room.ctypes.data // room.itemsize % CACHE_LINE
    return room[skipped : skipped + words]


def search_context(rules: Context) -> Context:
    """The rules, followed by the lists of moves."""
    ctx = np.zeros(len(rules) + ORDER_WIDTH * ORDER_PLIES, np.int64)
    ctx[: len(rules)] = rules
    ctx[ORDER_AT] = len(rules)
    return ctx


def finished(of: Game, position: Position) -> Bounds:
    """The margin of a finished game, seen by the side to move."""
    margin = of.margin(position) * (1 if position.mover == 0 else -1)
    return Bounds(margin, margin)


def most_of(of: Game, position: Position) -> int:
    """The largest possible margin: all beans, all squares, or unknown."""
    if of.pack == "sowing":
        return int(of.plain(position).total)
    return int(of.rules.cells) if of.pack == "othello" else FARTHEST
