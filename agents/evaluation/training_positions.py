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
    new_agent_context,
)
from agents.search.move_ordering import remaining
from games import Game, Position
from games.kernels.bits import ONE, ZERO, U
from games.kernels.context import PASS, Context
from games.kernels.drivers import field_words, is_legal, pack_functions
from games.kernels.family import State, play, turned
from games.kernels.jit import family_kernels, inline, inline_copies, specialise
from games.kernels.splitmix import STRIDE
from games.kernels.streams import mixed

TABLE_BITS = 16

Rows = NDArray[np.uint64]


class Positions(NamedTuple):
    """Positions in game order: state words, value, game and mover."""

    rows: Rows  # state words
    margins: NDArray[np.int16]  # of the rest of the game, from the mover's side
    games: NDArray[np.int32]
    signs: NDArray[np.int8]  # 1 where the first player moves, -1 where the second does

    def select(self, which: slice | NDArray[np.bool_]) -> "Positions":
        """Return a selection of the positions."""
        rows, margins, games, signs = self
        return Positions(rows[which], margins[which], games[which], signs[which])


class TrainingGames(NamedTuple):
    """The training games one after another, with their moves as slots."""

    slots: NDArray[np.int16]
    plies: NDArray[np.int32]
    opening: NDArray[np.int32]  # opening plies of each game
    margins: NDArray[np.int32]  # of the end or the last position, for the first player
    last: NDArray[np.int32]  # the ply of the last training position

    def select(self, start: int, stop: int) -> "TrainingGames":
        """Return games `start` to `stop` - 1."""
        ends = np.concatenate([[0], np.cumsum(self.plies)])
        slots, which = self.slots[ends[start] : ends[stop]], slice(start, stop)
        return TrainingGames(slots, self.plies[which], self.opening[which], self.margins[which],
                             self.last[which])  # fmt: skip


NEVER = 1 << 20  # a ply that no game reaches


def pack(board: NDArray[np.uint64], s: State) -> None:
    """Write the state as words; bound for each family."""
    raise NotImplementedError


def solve_margin(ctx: Context, s: State) -> np.int64:
    """Return the margin for the mover under perfect play of both sides."""
    # A new salt empties the table, so that a label depends on its position alone.
    ctx[SALT] = np.int64(mixed(U(ctx[SALT]) + STRIDE))
    ctx[STOPPED] = ctx[NODES] = ctx[GUESSES] = 0
    ctx[CHECK_AT] = ctx[DEADLINE] = UNLIMITED
    value = search(ctx, s, np.int64(SOLVE), np.int64(0), np.int64(-HIGHEST), np.int64(HIGHEST))
    if value == 0:
        return np.int64(0)
    return (value - WIN) // UNIT if value > 0 else -((-value - WIN) // UNIT)


def solve_ends(ctx: Context, start: State, games: "TrainingGames", least: int) -> int:
    """Solve the first position of each game with at most `least` units left; end the game there.

    The solved value becomes the margin of the game and its ply the last one. A game without such a
    position keeps its margin.
    """
    at = 0
    for game in range(games.plies.size):
        s, sign = start, 1
        for ply in range(games.plies[game]):
            slot = np.int64(games.slots[at + ply])
            if ply >= games.opening[game] and slot != PASS and remaining(ctx, s) <= least:
                games.margins[game] = sign * solve_margin(ctx, s)
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
    games: "TrainingGames",
    rows: NDArray[np.uint64],
    margins: NDArray[np.int16],
    owners: NDArray[np.int32],
    signs: NDArray[np.int8],
) -> int:
    """Write the positions of each game from its opening to its last one; return their number."""
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


def slots_by_side(
    ctx: Context,
    start: State,
    swap_slot: int,
    candidates: NDArray[np.int16],
    plies: NDArray[np.int32],
    slots: NDArray[np.int16],
) -> int:
    """Write the slots of games, chosen from the two `candidates` of each move, one per side.

    Return the number of slots, or -1 minus the number of the first game with an illegal move.
    """
    at = 0
    for game in range(plies.size):
        s, side = start, 0
        for _ in range(plies[game]):
            slot = np.int64(candidates[side, at])
            if not is_legal(ctx, s, int(slot)):
                return -1 - game
            slots[at] = slot
            at += 1
            if slot == PASS:
                s, same = turned(s), ZERO == ONE
            else:
                s, same = play(ctx, s, U(slot))
            side = side if same or slot == swap_slot else 1 - side
    return at


def count_units(ctx: Context, rows: Rows, left: NDArray[np.int64]) -> None:
    """Write the beans in the rows or the empty squares of each position."""
    for row in range(left.size):
        left[row] = remaining(ctx, unpack(rows[row]))


def unpack(board: NDArray[np.uint64]) -> State:
    """Return the state of these words; bound for each family."""
    raise NotImplementedError


COMPILED = (solve_margin, solve_ends, list_positions, slots_by_side, count_units)


def bind_training(family: ModuleType) -> SimpleNamespace:
    """Compile the kernels for one state family."""
    searches = bind.search_kernels(family.__name__)
    names = bind.bind_features(family.__name__) | {"search": searches.search}
    scope = pack_functions(family.State, 0)
    names |= {name: inline(scope[name]) for name in ("unpack", "pack")}
    names |= inline_copies([is_legal], names)
    return specialise(family.FAMILY, COMPILED, **names)


def training_kernels(game: Game) -> SimpleNamespace:
    """Return the kernels for a game."""
    return family_kernels(game.family_name, bind_training)


class GameReader:
    """Converts games to positions; each thread needs its own reader, which has a search table."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.kernels = training_kernels(game)
        self.context = new_agent_context(game, "alphabeta", 0, TABLE_BITS)
        self.width = sum(words for _, words in field_words(game.family.State))

    def units_in_position(self, position: Position) -> int:
        """Return the beans in the rows or the empty squares of one position."""
        row = np.array([word for part in position.state for word in np.ravel(part)], np.uint64)
        return int(self.remaining_units(row[None])[0])

    def solve(self, played: TrainingGames, least: int) -> None:
        """Solve the first position of each game with at most `least` units left."""
        if least >= 0:
            self.kernels.solve_ends(self.context, self.game.start().state, played, least)

    def positions(self, played: TrainingGames) -> Positions:
        """Return the positions of these games, numbered from 0."""
        most = int(played.plies.sum())
        rows = np.empty((most, self.width), np.uint64)
        margins, games = np.empty(most, np.int16), np.empty(most, np.int32)
        filled = Positions(rows, margins, games, np.empty(most, np.int8))
        start = self.game.start().state
        count = self.kernels.list_positions(self.context, start, played, *filled)
        rows, margins, games, signs = filled.select(slice(count))
        return Positions(rows.copy(), margins.copy(), games.copy(), signs.copy())

    def remaining_units(self, rows: Rows) -> NDArray[np.int64]:
        """Return the beans in the rows or the empty squares of each position."""
        left = np.empty(len(rows), np.int64)
        self.kernels.count_units(self.context, rows, left)
        return left
