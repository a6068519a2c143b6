"""Pairs of two compiled agents: hundreds of games in one compiled call."""

import numpy as np
from numpy.typing import NDArray

from agents.search import game_loop as loop
from agents.search.compiled_agent import CompiledAgent
from arena.planning.games import DRAW, LOSS, RESULT_COLUMNS, WIN, GameColumn, Games
from arena.planning.schedule import Block, PairOrder, Schedule
from arena.planning.seeds import agent_seeds
from arena.playing.referee import MAX_PLIES

# Many, so that a call costs little; few, so that their moves stay in the processor's cache.
PAIRS_AT_ONCE = 512
SEEDS_AT_ONCE = 8 * PAIRS_AT_ONCE
# Columns of games -> columns of the loop's results.
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
AgentPair = tuple[CompiledAgent, CompiledAgent]
Seeds = NDArray[np.uint64]


class GameTooLong(Exception):  # noqa: N818  # an event, not an error of the code
    """A game is too long for the largest buffer: the referee decides it."""


class CompiledLoop:
    """Plays blocks of pairs. It keeps the buffers for moves, which are slow to allocate."""

    def __init__(self, schedule: Schedule) -> None:
        """Start with buffers for games of the usual length."""
        self.game, self.pairs = schedule.game, schedule.pairs
        self.keeps_moves = schedule.plan.keep_moves
        self.openings = schedule.openings.slots
        self.start = schedule.game.start().state
        self.max_plies = 64 + self.openings.shape[1]
        self._allocate()

    def _allocate(self) -> None:
        """Create a buffer of moves and one of results for each leg."""
        size = PAIRS_AT_ONCE
        self.moves = [np.empty((size, self.max_plies), np.int16) for _ in (0, 1)]
        self.results = [np.empty((size, loop.RESULTS), np.int64) for _ in (0, 1)]

    def compile(self, agent: CompiledAgent) -> None:
        """Compile the loop by a call that plays no game."""
        self._call((agent, agent), self.openings[:0], np.empty((0, 2), np.uint64), 0)

    def _call(self, seats: AgentPair, openings: NDArray[np.int16], seeds: Seeds, leg: int) -> int:
        """Play a game from every opening until one does not fit; return how many fitted."""
        moves, results = (each[leg][: len(openings)] for each in (self.moves, self.results))
        first, second = seats
        played: int = first.kernels.play_games(
            first.context, second.context, self.start, openings, seeds, moves, results
        )
        return played

    def play(self, block: Block, agents: AgentPair) -> Games:
        """Return both games of every pair of the block; GameTooLong if one does not end."""
        columns = {name: np.zeros(2 * block.size, dtype) for name, dtype in RESULT_COLUMNS.items()}
        moves: list[NDArray[np.int16]] = []
        for large in block.split(SEEDS_AT_ONCE):
            seeds = [player_seeds(self.pairs, large, leg) for leg in (0, 1)]
            for small in large.split(PAIRS_AT_ONCE):
                own = slice(small.first - large.first, small.first - large.first + small.size)
                self._play(small, agents, [each[own] for each in seeds])
                self._copy_results(columns, 2 * (small.first - block.first), small.size)
                if self.keeps_moves:
                    moves.append(self._move_numbers(small.size))
        margin = columns["margin"]
        columns["result"][:] = np.where(margin > 0, WIN, np.where(margin == 0, DRAW, LOSS))
        none = np.empty(0, np.int16)
        return Games(columns, np.concatenate([none, *moves]) if self.keeps_moves else None, {})

    def _play(self, block: Block, agents: AgentPair, seeds: list[Seeds]) -> None:
        """Fill the buffers leg by leg; a leg is repeated if a game needs a larger buffer."""
        openings = self.openings[self.pairs.opening_numbers(block)]
        for leg in (0, 1):
            seats = agents if leg == 0 else agents[::-1]
            while self._call(seats, openings, seeds[leg], leg) < block.size:
                if self.max_plies >= MAX_PLIES:
                    raise GameTooLong
                self._double_buffers()

    def _double_buffers(self) -> None:
        """Double the size of the buffers; games that are in them stay."""
        old_moves, results = self.moves, self.results
        self.max_plies = min(2 * self.max_plies, MAX_PLIES)
        self._allocate()
        self.results = results
        for moves, old in zip(self.moves, old_moves, strict=True):
            moves[:, : old.shape[1]] = old

    def _copy_results(self, columns: dict[str, GameColumn], row: int, pairs: int) -> None:
        """Copy the results of both legs, whose rows alternate."""
        for leg in (0, 1):
            results = self.results[leg][:pairs]
            rows = slice(row + leg, row + 2 * pairs, 2)
            for name, at in RESULT_FIELDS.items():
                columns[name][rows] = results[:, at]
            columns["game_id"][rows] = results[:, loop.GAME_ID].view(np.uint64)
            if results[:, loop.NODES_SPENT : loop.MOVES_CHOSEN].any():
                for name, at in COST_FIELDS.items():
                    columns[name][rows] = results[:, at]

    def _move_numbers(self, pairs: int) -> NDArray[np.int16]:
        """Return the move numbers of all games, one after another; the legs alternate."""
        both = np.stack([moves[:pairs] for moves in self.moves], axis=1)
        lengths = np.stack([each[:pairs, loop.LENGTH] for each in self.results], axis=1)
        inside = np.arange(self.max_plies) < lengths[:, :, None]
        return self.game.moves_of(both[inside])


def player_seeds(pairs: PairOrder, block: Block, leg: int) -> Seeds:
    """Return the seeds of the first and the second player in one leg of each pair."""
    seeds, places = pairs.seeds(block), (block.a, block.b)
    seats = places if leg == 0 else places[::-1]
    return np.stack([agent_seeds(seeds, leg, pairs.agents[each]) for each in seats], axis=1)
