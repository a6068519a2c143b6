"""Pairings played move by move: those of bots, of searches by the clock, of games without end."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from agents import Agent
from agents.fault_text import fault_text
from arena.planning.drawing import DrawnPlan
from arena.planning.openings import NO_MOVE
from arena.planning.pairings import Block
from arena.planning.records import LOSS, PLAYED, WIN, Games, Termination
from arena.planning.tasks import CutOff, Task, Unasked, Verdicts
from arena.planning.thought_rows import encoded_thoughts
from arena.planning.time_controls import time_control
from arena.playing.clean_replay import refuse_unclean
from arena.playing.compiled_loop import seeds_of
from arena.playing.early_faults import EarlyFault
from arena.playing.fault_counts import FaultCounts
from arena.playing.game_clock import GameClock
from arena.playing.referee import START, UNHURRIED, PlayedGame, game_id, play_game
from games import Game
from games.board import Board

SEATS = ("first", "second")
EXCLUDED = Unasked(Termination.UNLOADABLE, "is excluded")


def ignore(_: EarlyFault) -> None:
    """Report nothing: nobody waits for it."""


class RefereeLoop:
    """Plays blocks of pairings by the referee, and replays each by clean rules."""

    def __init__(self, drawn: DrawnPlan, agent: Callable[[int], Agent]) -> None:
        """`agent` returns the agent at a place, built if need be."""
        self.drawn, self.agent = drawn, agent
        self.controls = [time_control(drawn.plan, spec) for spec in drawn.specs]
        self._board: Board | None = None
        self.counted: tuple[Task, FaultCounts] | None = None
        self.report: Callable[[EarlyFault], object] = ignore  # gets faults as they happen
        # By place, whether a bot was excluded since this task began: the rule, which is stricter
        # than a part of the games shows, replaces what is played with it from here on.
        self.excluded: Sequence[int] = [0] * len(drawn.specs)

    def _counts(self, task: Task) -> FaultCounts:
        """The faults of this task so far: who has too many of them has so in the whole run, too."""
        if self.counted is None or self.counted[0] is not task:
            self.counted = task, FaultCounts(self.drawn, dict(task.out), part=True)
        return self.counted[1]

    @property
    def board(self) -> Board:
        """The board of all games; its kernels are loaded with the first."""
        if self._board is None:
            self._board = Board(self.drawn.of)
        return self._board

    def play(self, block: Block, task: Task) -> Games:
        """Both games of every pairing of the block, as the task says."""
        of, pairings = self.drawn.of, self.drawn.pairings
        openings = self.drawn.openings.slots[pairings.openings(block)]
        seeds = [seeds_of(pairings, block, leg).tolist() for leg in (0, 1)]
        games: list[PlayedGame] = []
        counts = self._counts(task)
        for i in range(block.size):
            opening = openings[i][openings[i] != NO_MOVE].tolist()
            for leg, places in enumerate(((block.a, block.b), (block.b, block.a))):
                verdict = task.verdicts.get((block.first + i, leg))
                game = self._game(places, opening, seeds[leg][i], verdict, counts.out)
                games.append(game)
                how = game.termination
                guilty = None if how.fair else places[0 if game.result == LOSS else 1]
                if not counts.out.keys() & set(places) and game.trace != EXCLUDED.reason:
                    if guilty is not None:
                        text = fault_text(how.name.lower(), game.trace)
                        row = 2 * (block.first + i) + leg
                        self.report(EarlyFault(guilty, row, text))
                    counts.count(places, guilty, how)
        refuse_unclean(of, games)
        return records(of, games, self.drawn.plan.keep_moves)

    def _game(
        self, places: tuple[int, int], opening: list[int], seeds: list[int],
        verdict: CutOff | None, out: Mapping[int, Unasked],
    ) -> PlayedGame:  # fmt: skip
        for seat, place in enumerate(places):
            if place in out:
                return unplayed(self.drawn.of, seat, out[place])
            if self.excluded[place]:
                return unplayed(self.drawn.of, seat, EXCLUDED)
        seats = (lambda: self.agent(places[0])), (lambda: self.agent(places[1]))
        controls = self.controls[places[0]], self.controls[places[1]]
        thoughtful = self.drawn.plan.thoughts
        return play_game(self.board, seats, opening, (seeds[0], seeds[1]), verdict, controls,
                         thoughtful)  # fmt: skip


def unplayed(of: Game, seat: int, why: Unasked) -> PlayedGame:
    """A game that an agent forfeits without being asked."""
    clocks = GameClock(UNHURRIED[0]), GameClock(UNHURRIED[1])
    result, margin = (WIN if seat else LOSS), of.margin(of.start())
    return PlayedGame((), result, margin, why.termination, clocks, why.reason)


def records(of: Game, games: list[PlayedGame], keep_moves: bool) -> Games:
    """The columns of finished games."""
    rows: dict[str, list[Any]] = {
        "game_id": [game_id(of, game.moves) for game in games],
        "result": [game.result for game in games],
        "margin": [game.margin for game in games],
        "plies": [len(game.moves) for game in games],
        "termination": [int(game.termination) for game in games],
    }
    for seat, name in enumerate(SEATS):
        clocks = [game.clocks[seat] for game in games]
        rows |= {
            f"{name}_nodes": [clock.nodes for clock in clocks],
            f"{name}_nanoseconds": [clock.nanoseconds for clock in clocks],
            f"{name}_longest": [clock.longest for clock in clocks],
            f"{name}_turn": [clock.longest_turn for clock in clocks],
            f"{name}_lag": [clock.lag for clock in clocks],
            f"{name}_moves": [clock.chosen for clock in clocks],
        }
    columns = {name: np.array(rows[name], kind) for name, kind in PLAYED.items()}
    moves = np.array([move for game in games for move in game.moves], np.int16)
    traces = {row: game.trace for row, game in enumerate(games) if game.trace}
    thoughts = {row: encoded_thoughts(g.thoughts) for row, g in enumerate(games) if g.thoughts}
    return Games(columns, moves if keep_moves else None, traces, thoughts)


def stored_verdicts(games: Games, pairings: Iterable[int], first: int = 0) -> Verdicts:
    """The verdicts on stored games that were cut off; with them the games are repeated at once.

    The games begin with those of the pairing `first`.
    """
    verdicts = {}
    for pairing, leg in ((pairing, leg) for pairing in pairings for leg in (0, 1)):
        row = 2 * (pairing - first) + leg
        if games.termination[row] == Termination.TIMEOUT:
            seat, plies = 1 if games.result[row] else 0, int(games.plies[row])
            verdicts[pairing, leg] = CutOff(plies or START, seat)
    return verdicts
