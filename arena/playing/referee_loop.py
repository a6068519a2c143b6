"""Blocks of pairs played by the referee and replayed by clean rules."""

import json
import os
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import Agent
from agents.fault_text import fault_text
from agents.registry import user_code_reason
from arena.planning.games import (
    DRAW,
    LOSS,
    RESULT_COLUMNS,
    WIN,
    Games,
    Termination,
    encode_search_info,
)
from arena.planning.openings.openings import NO_MOVE
from arena.planning.schedule import Block, Schedule
from arena.planning.tasks import Cutoff, Cutoffs, Disqualification, Task
from arena.playing.clock import AgentClock, max_timeouts, time_control
from arena.playing.compiled_loop import player_seeds
from arena.playing.referee import NO_LIMITS, START, FinishedGame, game_id, play_game
from games import Game
from games.board import Board
from games.kernels import drivers, jit
from games.kernels.drivers import GAME_ID, HAS_ENDED, LEGAL_PLIES, MARGIN

RESULT_TEXTS = {
    WIN: "a win of the first agent",
    DRAW: "a draw",
    LOSS: "a loss of the first agent",
}
SEATS = ("first", "second")
PIPE_BYTES = 4096  # a pipe takes this much at once, also from several writers
LONGEST_TEXT = 900
DISQUALIFIED = Disqualification(Termination.UNLOADABLE, "is excluded")


class RulesViolation(RuntimeError):  # noqa: N818  # a state of the game
    """The rules give another game for these moves: our fault, not an agent's."""


class EarlyFault(NamedTuple):
    """A fault of an agent in a game of the run, in one line."""

    place: int
    game: int
    text: str


class EarlyFaults:
    """A pipe for forked workers to report the first fault of each agent before its pair ends."""

    def __init__(self) -> None:
        """Open the pipe. If it is full, reports are dropped: the batches have the faults too."""
        self.read_end, self.write_end = os.pipe()
        self.sent: set[int] = set()
        self.partial_line = b""
        for end in (self.read_end, self.write_end):
            os.set_blocking(end, False)
            weakref.finalize(self, os.close, end)

    def send(self, fault: EarlyFault) -> None:
        """Report a fault if it is the first of its agent in this process."""
        if fault.place not in self.sent:
            self.sent.add(fault.place)
            line = json.dumps(fault._replace(text=fault.text[:LONGEST_TEXT]), ensure_ascii=False)
            with suppress(OSError):
                os.write(self.write_end, line.encode()[: PIPE_BYTES - 1] + b"\n")

    def receive(self) -> Iterator[EarlyFault]:
        """Yield the faults that were reported since the last call."""
        with suppress(OSError):
            self.partial_line += os.read(self.read_end, 1 << 16)
        *lines, self.partial_line = self.partial_line.split(b"\n")
        for line in lines:
            with suppress(ValueError, TypeError):
                yield EarlyFault(*json.loads(line))


def replay_games(
    game: Game, moves: NDArray[np.int16], plies: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return a row for each game: its legal plies, whether it ended, its margin, its id."""
    results = np.empty((len(plies), 4), np.int64)
    kernels = jit.family_kernels(game.family_name, drivers.bind_boards)
    slots = np.ascontiguousarray(game.slots_of(moves), np.int16)
    kernels.replay(game.context, game.start().state, slots, np.asarray(plies, np.int32), results)
    return results


def rules_violations(
    game: Game,
    moves: NDArray[np.int16],
    plies: NDArray[np.int32],
    results: NDArray[np.int8],
    margins: NDArray[np.int32],
    terminations: NDArray[np.int8],
    ids: NDArray[np.uint64] | None = None,
) -> Iterator[tuple[int, str]]:
    """Yield every game that breaks the rules, and how."""
    replayed = replay_games(game, moves, plies)
    normal = terminations == Termination.NORMAL
    scores = np.where(margins > 0, WIN, np.where(margins == 0, DRAW, LOSS))
    faults = {
        "moves that are not legal": replayed[:, LEGAL_PLIES] != plies,
        "the table says termination normal, but the game is not over after its moves": normal
        & (replayed[:, HAS_ENDED] == 0),
        "the table says that the game was forfeited, but its moves play it to the end": ~normal
        & (replayed[:, HAS_ENDED] == 1),
    }
    columns: dict[str, tuple[NDArray[Any], NDArray[Any] | None]] = {
        "result": (np.where(normal, scores, results), results),
        "margin": (np.where(normal, replayed[:, MARGIN], margins), margins),
        "game_id": (replayed[:, GAME_ID].view(np.uint64), ids),
    }
    for name, (right, stored) in columns.items():
        if stored is not None:
            faults[name] = right != stored
    wrong = np.flatnonzero(np.logical_or.reduce(list(faults.values())))
    for row in wrong.tolist():
        name = next(text for text, rows in faults.items() if rows[row])
        if name not in columns:
            yield row, name
            continue
        right, stored = columns[name]
        assert stored is not None  # otherwise it was not compared
        yield row, difference_text(name, stored[row], right[row])


def difference_text(column: str, stored: object, replayed: object) -> str:
    """Return the difference between a stored value and the one of the game played again."""
    return (
        f"the table says {_value_text(column, stored)}, "
        f"playing the game again gives {_value_text(column, replayed)}"
    )


def _value_text(column: str, value: Any) -> str:
    if column == "result" and value in RESULT_TEXTS:
        return RESULT_TEXTS[int(value)]
    if column == "termination":
        return f"termination {Termination(int(value)).name.lower()}"
    return f"{column} {value}"


def check_rules(game: Game, records: Sequence[FinishedGame]) -> None:
    """Raise RulesViolation if the rules give another game for the moves of a record."""
    moves = np.array([move for each in records for move in each.moves], np.int16)
    plies = np.array([len(each.moves) for each in records], np.int32)
    violations = rules_violations(
        game, moves, plies,
        np.array([each.result for each in records], np.int8),
        np.array([each.margin for each in records], np.int32),
        np.array([each.termination for each in records], np.int8),
    )  # fmt: skip
    for row, text in violations:
        raise RulesViolation(f"replayed by clean rules, game {row + 1} of a block differs: {text}")


def ignore(_: EarlyFault) -> None:
    """Report nothing."""


class RefereeLoop:
    """Plays blocks of pairs by the referee, and replays each block by clean rules."""

    def __init__(self, schedule: Schedule, agent: Callable[[int], Agent]) -> None:
        """`agent` returns the agent at a place, and builds it first if need be."""
        self.schedule, self.agent = schedule, agent
        plan = schedule.plan
        self.controls = [time_control(plan, spec) for spec in schedule.specs]
        self.max_timeouts = {
            place: max_timeouts(plan, spec)
            for place, spec in enumerate(schedule.specs)
            if user_code_reason(spec)
        }
        self._board: Board | None = None
        self.report: Callable[[EarlyFault], object] = ignore  # gets faults as they happen
        # By place, whether games of the run have disqualified a bot since the task was sent.
        self.disqualified: Sequence[int] = [0] * len(schedule.specs)

    @property
    def board(self) -> Board:
        """The board of all games; its kernels are loaded with the first game."""
        if self._board is None:
            self._board = Board(self.schedule.game)
        return self._board

    def play(self, block: Block, task: Task) -> Games:
        """Return both games of every pair of the block.

        `ForfeitRule` decides forfeits when games enter the journal, in schedule order. A worker
        leaves out games only where that rule is certain to replace them: games of bots that
        earlier games disqualified, and games after `max_timeouts` timeouts in this block, which
        all count unless the opponent is disqualified, too.
        """
        game, pairs = self.schedule.game, self.schedule.pairs
        openings = self.schedule.openings.slots[pairs.opening_numbers(block)]
        seeds = [player_seeds(pairs, block, leg).tolist() for leg in (0, 1)]
        records: list[FinishedGame] = []
        timeouts = Counter[int]()
        out = {*(task.disqualified or ())}
        for i in range(block.size):
            opening = openings[i][openings[i] != NO_MOVE].tolist()
            for leg, places in enumerate(((block.a, block.b), (block.b, block.a))):
                absent = [at in out or bool(self.disqualified[at]) for at in places]
                if any(absent):
                    records.append(forfeit_record(game, absent.index(True), DISQUALIFIED))
                    continue
                cutoff = task.cutoffs.get((block.first + i, leg))
                record = self._play_game(places, opening, seeds[leg][i], cutoff)
                if not (how := record.termination).is_fair:
                    guilty = places[0 if record.result == LOSS else 1]
                    record = self._with_original_paths(guilty, record)
                    text = fault_text(how.name.lower(), record.trace)
                    self.report(EarlyFault(guilty, 2 * (block.first + i) + leg, text))
                    timeouts[guilty] += how is Termination.TIMEOUT
                    most = self.max_timeouts.get(guilty)
                    if task.disqualified is not None and timeouts[guilty] == most:
                        out.add(guilty)
                records.append(record)
        check_rules(game, records)
        return games_from_records(game, records, self.schedule.plan.keep_moves)

    def _with_original_paths(self, place: int, record: FinishedGame) -> FinishedGame:
        plan = self.schedule.plan
        return record._replace(trace=plan.with_original_paths(plan.names[place], record.trace))

    def _play_game(
        self, places: tuple[int, int], opening: list[int], seeds: list[int], cutoff: Cutoff | None
    ) -> FinishedGame:
        seats = (lambda: self.agent(places[0])), (lambda: self.agent(places[1]))
        controls = self.controls[places[0]], self.controls[places[1]]
        keep_info = self.schedule.plan.keep_search_info
        return play_game(
            self.board, seats, opening, (seeds[0], seeds[1]), cutoff, controls, keep_info
        )


def forfeit_record(game: Game, seat: int, why: Disqualification) -> FinishedGame:
    """Return a game that an agent forfeits unplayed."""
    clocks = AgentClock(NO_LIMITS[0]), AgentClock(NO_LIMITS[1])
    result, margin = (WIN if seat else LOSS), game.margin(game.start())
    return FinishedGame((), result, margin, why.termination, clocks, why.reason)


def games_from_records(game: Game, records: list[FinishedGame], keep_moves: bool) -> Games:
    """Return finished games as columns."""
    rows: dict[str, list[Any]] = {
        "game_id": [game_id(game, each.moves) for each in records],
        "result": [each.result for each in records],
        "margin": [each.margin for each in records],
        "plies": [len(each.moves) for each in records],
        "termination": [int(each.termination) for each in records],
    }
    for seat, name in enumerate(SEATS):
        clocks = [each.clocks[seat] for each in records]
        rows |= {
            f"{name}_nodes": [clock.nodes for clock in clocks],
            f"{name}_nanoseconds": [clock.nanoseconds for clock in clocks],
            f"{name}_longest": [clock.longest for clock in clocks],
            f"{name}_turn": [clock.longest_turn for clock in clocks],
            f"{name}_lag": [clock.lag for clock in clocks],
            f"{name}_moves": [clock.moves for clock in clocks],
        }
    columns = {name: np.array(rows[name], dtype) for name, dtype in RESULT_COLUMNS.items()}
    moves = np.array([move for each in records for move in each.moves], np.int16)
    traces = {row: each.trace for row, each in enumerate(records) if each.trace}
    info = {
        row: encode_search_info(each.search_info)
        for row, each in enumerate(records)
        if each.search_info
    }
    return Games(columns, moves if keep_moves else None, traces, info)


def cutoffs_of_games(games: Games, pairs: Iterable[int], first: int = 0) -> Cutoffs:
    """Return where stored games of these pairs were cut off, so that they are repeated at once.

    The games begin with those of pair `first`.
    """
    cutoffs = {}
    for pair, leg in ((pair, leg) for pair in pairs for leg in (0, 1)):
        row = 2 * (pair - first) + leg
        if games.termination[row] == Termination.TIMEOUT:
            seat, plies = 1 if games.result[row] else 0, int(games.plies[row])
            cutoffs[pair, leg] = Cutoff(plies or START, seat)
    return cutoffs
