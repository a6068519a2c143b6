"""Positions of games with the values that a fit learns from."""

from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.search import bind
from agents.search.alphabeta import search
from agents.search.context import (
    CHECK_AT,
    DEADLINE,
    GUESSES,
    HIGHEST,
    NODES,
    SALT,
    SOLVE,
    STOPPED,
    UNIT,
    UNLIMITED,
    WIN,
    agent_context,
)
from agents.search.knowledge_names import remaining
from games import Game, Position
from games.kernels.bits import ONE, ZERO, U
from games.kernels.boards import legal, packing, words_of
from games.kernels.context import PASS, Context
from games.kernels.family import State, play, turned
from games.kernels.jit import bound, inline_copies, inlined, specialise
from games.kernels.splitmix import STRIDE
from games.kernels.streams import mixed

TABLE_BITS = 16

Rows = NDArray[np.uint64]


class Positions(NamedTuple):
    """Positions in the order of their games: their words, what each was worth, whose game."""

    rows: Rows  # the words of the state
    margins: NDArray[np.int16]  # of the game from here on, as the mover sees it
    games: NDArray[np.int32]
    signs: NDArray[np.int8]  # 1 where the first player moves, -1 where the second does

    def part(self, own: slice | NDArray[np.bool_]) -> "Positions":
        """Some of them."""
        rows, margins, games, signs = self
        return Positions(rows[own], margins[own], games[own], signs[own])


class LearnedGames(NamedTuple):
    """Games to learn from, one after the other: their moves as slots."""

    slots: NDArray[np.int16]
    plies: NDArray[np.int32]
    opening: NDArray[np.int32]  # plies of each game that nobody chose
    margins: NDArray[np.int32]  # for the first player: of the end, or of the last position
    last: NDArray[np.int32]  # the ply of the last position that is learned from

    def part(self, start: int, stop: int) -> "LearnedGames":
        """Games `start` to `stop` - 1."""
        ends = np.concatenate([[0], np.cumsum(self.plies)])
        moves, own = self.slots[ends[start] : ends[stop]], slice(start, stop)
        return LearnedGames(moves, self.plies[own], self.opening[own], self.margins[own],
                           self.last[own])  # fmt: skip


NEVER = 1 << 20  # a ply that no game reaches


def pack(board: NDArray[np.uint64], s: State) -> None:
    """Write the state as words; every family has its own."""
    raise NotImplementedError


def solved(ctx: Context, s: State) -> np.int64:
    """The margin for the mover under perfect play of both sides."""
    # The table forgets: a label is a function of its position, whoever solved what before.
    ctx[SALT] = np.int64(mixed(U(ctx[SALT]) + STRIDE))
    ctx[STOPPED] = ctx[NODES] = ctx[GUESSES] = 0
    ctx[CHECK_AT] = ctx[DEADLINE] = UNLIMITED
    value = search(ctx, s, np.int64(SOLVE), np.int64(0), np.int64(-HIGHEST), np.int64(HIGHEST))
    if value == 0:
        return np.int64(0)
    return (value - WIN) // UNIT if value > 0 else -((-value - WIN) // UNIT)


def solve_ends(
    ctx: Context,
    start: State,
    games: "LearnedGames",
    least: int,
) -> int:
    """Of each game the first position with at most `least` left is solved and ends it.

    Its value becomes the margin of the game, its ply the last one; a game that never comes there
    keeps its margin.
    """
    at = 0
    for game in range(games.plies.size):
        s, sign = start, 1
        for ply in range(games.plies[game]):
            slot = np.int64(games.slots[at + ply])
            if ply >= games.opening[game] and slot != PASS and remaining(ctx, s) <= least:
                games.margins[game] = sign * solved(ctx, s)
                games.last[game] = ply
                break
            if slot == PASS:
                s, same = turned(s), ZERO == ONE
            else:
                s, same = play(ctx, s, U(slot))
            sign = sign if same else -sign
        at += games.plies[game]
    return at


def list_positions(
    ctx: Context,
    start: State,
    games: "LearnedGames",
    rows: NDArray[np.uint64],
    margins: NDArray[np.int16],
    owners: NDArray[np.int32],
    signs: NDArray[np.int8],
) -> int:
    """Write the positions of each game from its opening to its last one; returns how many."""
    at, row = 0, 0
    for game in range(games.plies.size):
        s, sign = start, 1
        for ply in range(min(games.plies[game], games.last[game] + 1)):
            slot = np.int64(games.slots[at + ply])
            if ply >= games.opening[game] and slot != PASS:
                pack(rows[row], s)
                margins[row], owners[row] = sign * games.margins[game], game
                signs[row] = sign
                row += 1
            if slot == PASS:
                s, same = turned(s), ZERO == ONE
            else:
                s, same = play(ctx, s, U(slot))
            sign = sign if same else -sign
        at += games.plies[game]
    return row


def by_side(
    ctx: Context,
    start: State,
    swap_slot: int,
    of_sides: NDArray[np.int16],
    plies: NDArray[np.int32],
    slots: NDArray[np.int16],
) -> int:
    """Write the slots of games whose words mean one slot for either side; -1 if one means none."""
    at = 0
    for game in range(plies.size):
        s, side = start, 0
        for _ in range(plies[game]):
            slot = np.int64(of_sides[side, at])
            if not legal(ctx, s, int(slot)):
                return -1 - game
            slots[at] = slot
            at += 1
            if slot == PASS:
                s, same = turned(s), ZERO == ONE
            else:
                s, same = play(ctx, s, U(slot))
            side = side if same or slot == swap_slot else 1 - side
    return at


def count_left(ctx: Context, rows: Rows, left: NDArray[np.int64]) -> None:
    """How much is left in each position."""
    for row in range(left.size):
        left[row] = remaining(ctx, unpacked(rows[row]))


def unpacked(board: NDArray[np.uint64]) -> State:
    """The state of these words; every family has its own."""
    raise NotImplementedError


COMPILED = (solved, solve_ends, list_positions, by_side, count_left)


def of_family(family: ModuleType) -> SimpleNamespace:
    """The kernels for one family of states."""
    searches = bind.agent_kernels(family.__name__)
    names = bind.bound_features(family.__name__) | {"search": searches.search}
    scope = packing(family.State, 0)
    names |= {name: inlined(scope[name]) for name in ("unpacked", "pack")}
    names |= inline_copies([legal], names)
    return specialise(family.FAMILY, COMPILED, **names)


def label_kernels(of: Game) -> SimpleNamespace:
    """The kernels for a game."""
    return bound(of.family_name, of_family)


class GameReader:
    """Reads games as positions; has the table of a search, so one for each thread or process."""

    def __init__(self, of: Game) -> None:
        """Compiles nothing yet."""
        self.of = of
        self.kernels = label_kernels(of)
        self.context = agent_context(of, "alphabeta", 0, TABLE_BITS)
        self.width = sum(words for _, words in words_of(of.family.State))

    def amount(self, position: Position) -> int:
        """How much is left in one position."""
        row = np.array([word for part in position.state for word in np.ravel(part)], np.uint64)
        return int(self.left(row[None])[0])

    def solve(self, played: LearnedGames, least: int) -> None:
        """Solve the first position of each game with at most `least` left."""
        if least >= 0:
            self.kernels.solve_ends(self.context, self.of.start().state, played, least)

    def positions(self, played: LearnedGames) -> Positions:
        """The positions of these games, which are numbered from 0."""
        most = int(played.plies.sum())
        rows = np.empty((most, self.width), np.uint64)
        margins, games = np.empty(most, np.int16), np.empty(most, np.int32)
        found = Positions(rows, margins, games, np.empty(most, np.int8))
        start = self.of.start().state
        count = self.kernels.list_positions(self.context, start, played, *found)
        rows, margins, games, signs = found.part(slice(count))
        return Positions(rows.copy(), margins.copy(), games.copy(), signs.copy())

    def left(self, rows: Rows) -> NDArray[np.int64]:
        """How much is left in each position."""
        left = np.empty(len(rows), np.int64)
        self.kernels.count_left(self.context, rows, left)
        return left
