"""Pairings between two compiled agents: hundreds of games in one compiled call."""

import numpy as np
from numpy.typing import NDArray

from agents.search import game_loop as loop
from agents.search.compiled_agent import CompiledAgent
from arena.planning.games import DRAW, LOSS, RESULT_COLUMNS, WIN, GameColumn, Games
from arena.planning.schedule import Block, DrawnPlan, PairOrder
from arena.planning.seeds import agent_seeds
from arena.playing.referee import LONGEST

# Enough that a call costs little, few enough that their moves stay in the processor's cache.
PAIRINGS_AT_ONCE = 512
SEEDS_AT_ONCE = 8 * PAIRINGS_AT_ONCE
# Columns of the records that are columns of the loop's results.
RESULT_FIELDS = {
    "plies": loop.LENGTH,
    "margin": loop.MARGIN,
    "first_moves": loop.MOVES_CHOSEN,
    "second_moves": loop.MOVES_CHOSEN + 1,
}
COST_FIELDS = {
    "first_nodes": loop.NODES_SPENT,
    "second_nodes": loop.NODES_SPENT + 1,
    "first_nanoseconds": loop.NANOSECONDS_SPENT,
    "second_nanoseconds": loop.NANOSECONDS_SPENT + 1,
}

Pair = tuple[CompiledAgent, CompiledAgent]
Words = NDArray[np.uint64]


class GameTooLong(Exception):  # noqa: N818  # what happened, not an error of the code
    """A game is too long for any room: the referee decides it."""


class CompiledLoop:
    """Plays blocks of pairings; reuses the room for their moves, which is slow to allocate."""

    def __init__(self, drawn: DrawnPlan) -> None:
        """There is room for games of the usual length at first."""
        self.of, self.pairings, self.keeps_moves = drawn.of, drawn.pairings, drawn.plan.keep_moves
        self.openings = drawn.openings.slots
        self.start = drawn.of.start().state
        self.longest = 64 + self.openings.shape[1]
        self._make_room()

    def _make_room(self) -> None:
        self.rooms = [np.empty((PAIRINGS_AT_ONCE, self.longest), np.int16) for _ in (0, 1)]
        self.results = [np.empty((PAIRINGS_AT_ONCE, loop.RESULTS), np.int64) for _ in (0, 1)]

    def warm(self, agent: CompiledAgent) -> None:
        """Compile the loop by a call that plays no game."""
        self._call((agent, agent), self.openings[:0], np.empty((0, 2), np.uint64), 0)

    def _call(self, seats: Pair, openings: NDArray[np.int16], seeds: Words, leg: int) -> int:
        """Play a game from every opening; returns how many fitted: it stops at one too long."""
        room, results = (each[leg][: len(openings)] for each in (self.rooms, self.results))
        first, second = seats
        played: int = first.kernels.play_games(
            first.context, second.context, self.start, openings, seeds, room, results
        )
        return played

    def play(self, block: Block, agents: Pair) -> Games:
        """Both games of every pairing of the block; GameTooLong if one does not end."""
        columns = {name: np.zeros(2 * block.size, kind) for name, kind in RESULT_COLUMNS.items()}
        moves: list[NDArray[np.int16]] = []
        for large in block.pieces(SEEDS_AT_ONCE):
            seeds = [player_seeds(self.pairings, large, leg) for leg in (0, 1)]
            for small in large.pieces(PAIRINGS_AT_ONCE):
                own = slice(small.first - large.first, small.first - large.first + small.size)
                self._play(small, agents, [each[own] for each in seeds])
                self._note(columns, 2 * (small.first - block.first), small.size)
                if self.keeps_moves:
                    moves.append(self._moves(small.size))
        margin = columns["margin"]
        columns["result"][:] = np.where(margin > 0, WIN, np.where(margin == 0, DRAW, LOSS))
        none = np.empty(0, np.int16)
        return Games(columns, np.concatenate([none, *moves]) if self.keeps_moves else None, {})

    def _play(self, block: Block, agents: Pair, seeds: list[Words]) -> None:
        """Fill `rooms` and `results`, leg by leg; a leg is repeated if a game needs more room."""
        openings = self.openings[self.pairings.openings(block)]
        for leg in (0, 1):
            seats = agents if leg == 0 else agents[::-1]
            while self._call(seats, openings, seeds[leg], leg) < block.size:
                if self.longest >= LONGEST:
                    raise GameTooLong
                self._more_room()

    def _more_room(self) -> None:
        """Double the room; the games already played stay."""
        rooms, results = self.rooms, self.results
        self.longest = min(2 * self.longest, LONGEST)
        self._make_room()
        self.results = results
        for room, old in zip(self.rooms, rooms, strict=True):
            room[:, : old.shape[1]] = old

    def _note(self, columns: dict[str, GameColumn], row: int, pairings: int) -> None:
        """Copy the results of both legs, whose rows alternate."""
        for leg in (0, 1):
            results = self.results[leg][:pairings]
            rows = slice(row + leg, row + 2 * pairings, 2)
            for name, at in RESULT_FIELDS.items():
                columns[name][rows] = results[:, at]
            columns["game_id"][rows] = results[:, loop.GAME_ID].view(np.uint64)
            if results[:, loop.NODES_SPENT : loop.MOVES_CHOSEN].any():
                for name, at in COST_FIELDS.items():
                    columns[name][rows] = results[:, at]

    def _moves(self, pairings: int) -> NDArray[np.int16]:
        """The move numbers of all games, one after another; the legs alternate."""
        both = np.stack([room[:pairings] for room in self.rooms], axis=1)
        lengths = np.stack([each[:pairings, loop.LENGTH] for each in self.results], axis=1)
        inside = np.arange(self.longest) < lengths[:, :, None]
        return self.of.moves_of(both[inside])


def player_seeds(pairings: PairOrder, block: Block, leg: int) -> Words:
    """The seeds of the first and the second player in one leg of each pairing."""
    pairs, places = pairings.seeds(block), (block.a, block.b)
    seats = places if leg == 0 else places[::-1]
    return np.stack([agent_seeds(pairs, leg, pairings.agents[each]) for each in seats], axis=1)
