"""Play blocks of games by the referee and replay them by clean rules."""

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
from agents.registry import users_code
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
from arena.planning.schedule import Block, DrawnPlan
from arena.planning.tasks import Cutoff, Cutoffs, Disqualification, Task
from arena.playing.clock import AgentClock, time_control
from arena.playing.compiled_loop import player_seeds
from arena.playing.fault_counts import most_timeouts
from arena.playing.referee import NO_LIMITS, START, PlayedGame, game_id, play_game
from games import Game
from games.board import Board
from games.kernels import boards, jit
from games.kernels.boards import ENDED, GAME_ID, LEGAL_PLIES, MARGIN

RESULT_TEXTS = {
    WIN: "a win of the first agent",
    DRAW: "a draw",
    LOSS: "a loss of the first agent",
}
SEATS = ("first", "second")
MOST_BYTES = 4096  # that a pipe takes at once, also from several writers
LONGEST_TEXT = 900
EXCLUDED = Disqualification(Termination.UNLOADABLE, "is excluded")


class RulesViolation(RuntimeError):  # noqa: N818  # what a game is, not an error of the code
    """The rules give another game for these moves: our fault, not an agent's."""


class EarlyFault(NamedTuple):
    """A fault of an agent in a game of the run, in one line."""

    place: int
    game: int
    text: str


class EarlyFaults:
    """A pipe by which forked workers report the first fault of each agent before its pair ends."""

    def __init__(self) -> None:
        """Open the pipe; if it is full, reports are dropped: the batches have the faults too."""
        self.reads, self.writes = os.pipe()
        os.set_blocking(self.reads, False)
        os.set_blocking(self.writes, False)
        self.sent: set[int] = set()
        self.rest = b""
        for end in (self.reads, self.writes):
            weakref.finalize(self, os.close, end)

    def send(self, fault: EarlyFault) -> None:
        """Report a fault, if it is the first of its agent here."""
        if fault.place not in self.sent:
            self.sent.add(fault.place)
            line = json.dumps(fault._replace(text=fault.text[:LONGEST_TEXT]), ensure_ascii=False)
            with suppress(OSError):
                os.write(self.writes, line.encode()[: MOST_BYTES - 1] + b"\n")

    def receive(self) -> Iterator[EarlyFault]:
        """Yield the faults that were reported since the last call."""
        with suppress(OSError):
            self.rest += os.read(self.reads, 1 << 16)
        *lines, self.rest = self.rest.split(b"\n")
        for line in lines:
            with suppress(ValueError, TypeError):
                yield EarlyFault(*json.loads(line))


def replay_games(of: Game, moves: NDArray[np.int16], plies: NDArray[np.int32]) -> NDArray[np.int64]:
    """A row for each game: how many plies were legal, whether it ended, its margin, its id."""
    results = np.empty((len(plies), 4), np.int64)
    kernels = jit.bound(of.family_name, boards.of_family)
    slots = np.ascontiguousarray(of.slots_of(moves), np.int16)
    kernels.replay(of.context, of.start().state, slots, np.asarray(plies, np.int32), results)
    return results


def find_rules_violation(
    of: Game,
    moves: NDArray[np.int16],
    plies: NDArray[np.int32],
    results: NDArray[np.int8],
    margins: NDArray[np.int32],
    terminations: NDArray[np.int8],
    ids: NDArray[np.uint64] | None = None,
) -> tuple[int, str] | None:
    """The first game that breaks the rules, and how; None if none does."""
    broken = unclean_games(of, moves, plies, results, margins, terminations, ids)
    return next(iter(broken), None)


def unclean_games(
    of: Game,
    moves: NDArray[np.int16],
    plies: NDArray[np.int32],
    results: NDArray[np.int8],
    margins: NDArray[np.int32],
    terminations: NDArray[np.int8],
    ids: NDArray[np.uint64] | None = None,
) -> Iterator[tuple[int, str]]:
    """Every game that breaks the rules, and how."""
    found = replay_games(of, moves, plies)
    normal = terminations == Termination.NORMAL
    scored = np.where(margins > 0, WIN, np.where(margins == 0, DRAW, LOSS))
    faults = {
        "moves that are not legal": found[:, LEGAL_PLIES] != plies,
        "the table says termination normal, but the game is not over after its moves": normal
        & (found[:, ENDED] == 0),
        "the table says that the game was forfeited, but its moves play it to the end": ~normal
        & (found[:, ENDED] == 1),
    }
    pairs: dict[str, tuple[NDArray[Any], NDArray[Any] | None]] = {
        "result": (np.where(normal, scored, results), results),
        "margin": (np.where(normal, found[:, MARGIN], margins), margins),
        "game_id": (found[:, GAME_ID].view(np.uint64), ids),
    }
    for name, (right, stored) in pairs.items():
        if stored is not None:
            faults[name] = right != stored
    wrong = np.flatnonzero(np.logical_or.reduce(list(faults.values())))
    for row in wrong.tolist():
        name = next(words for words, rows in faults.items() if rows[row])
        if name not in pairs:
            yield row, name
            continue
        right, stored = pairs[name]
        assert stored is not None  # else it was not compared
        yield row, contradiction(name, stored[row], right[row])


def contradiction(column: str, stored: object, replayed: object) -> str:
    """Return the difference between a stored value and the one that playing again gives."""
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


def check_rules(of: Game, games: Sequence[PlayedGame]) -> None:
    """Raise RulesViolation if a game is not what the rules make of its moves."""
    moves = np.array([move for game in games for move in game.moves], np.int16)
    plies = np.array([len(game.moves) for game in games], np.int32)
    fault = find_rules_violation(
        of, moves, plies,
        np.array([game.result for game in games], np.int8),
        np.array([game.margin for game in games], np.int32),
        np.array([game.termination for game in games], np.int8),
    )  # fmt: skip
    if fault is not None:
        row, words = fault
        raise RulesViolation(f"replayed by clean rules, game {row + 1} of a block differs: {words}")


def ignore(_: EarlyFault) -> None:
    """Report nothing."""


class RefereeLoop:
    """Plays blocks of pairings by the referee, and replays each by clean rules."""

    def __init__(self, drawn: DrawnPlan, agent: Callable[[int], Agent]) -> None:
        """`agent` returns the agent at a place, built if need be."""
        self.drawn, self.agent = drawn, agent
        self.controls = [time_control(drawn.plan, spec) for spec in drawn.specs]
        self.most_timeouts = {
            place: most_timeouts(drawn, place)
            for place, spec in enumerate(drawn.specs)
            if users_code(spec)
        }
        self._board: Board | None = None
        self.report: Callable[[EarlyFault], object] = ignore  # gets faults as they happen
        # By place, whether earlier games of the run have excluded a bot since the task was sent.
        self.excluded: Sequence[int] = [0] * len(drawn.specs)

    @property
    def board(self) -> Board:
        """The board of all games; its kernels are loaded with the first."""
        if self._board is None:
            self._board = Board(self.drawn.of)
        return self._board

    def play(self, block: Block, task: Task) -> Games:
        """Play both games of every pairing of the block.

        A run decides forfeits when games enter its journal, in schedule order. Here games are left
        out only where that rule is certain to replace them: games of bots that earlier games
        excluded, and games after `max_timeouts` timeouts in this block, which all count unless the
        opponent is excluded, too.
        """
        of, pairings = self.drawn.of, self.drawn.pairings
        openings = self.drawn.openings.slots[pairings.openings(block)]
        seeds = [player_seeds(pairings, block, leg).tolist() for leg in (0, 1)]
        games: list[PlayedGame] = []
        timeouts = Counter[int]()
        out = {*(task.out or ())}
        for i in range(block.size):
            opening = openings[i][openings[i] != NO_MOVE].tolist()
            for leg, places in enumerate(((block.a, block.b), (block.b, block.a))):
                gone = [at in out or bool(self.excluded[at]) for at in places]
                if any(gone):
                    games.append(forfeit_record(of, gone.index(True), EXCLUDED))
                    continue
                verdict = task.verdicts.get((block.first + i, leg))
                game = self._game(places, opening, seeds[leg][i], verdict)
                if not (how := game.termination).fair:
                    guilty = places[0 if game.result == LOSS else 1]
                    game = self._with_written_paths(guilty, game)
                    text = fault_text(how.name.lower(), game.trace)
                    self.report(EarlyFault(guilty, 2 * (block.first + i) + leg, text))
                    timeouts[guilty] += how is Termination.TIMEOUT
                    if task.out is not None and timeouts[guilty] == self.most_timeouts.get(guilty):
                        out.add(guilty)
                games.append(game)
        check_rules(of, games)
        return games_from_records(of, games, self.drawn.plan.keep_moves)

    def _with_written_paths(self, place: int, game: PlayedGame) -> PlayedGame:
        plan = self.drawn.plan
        return game._replace(trace=plan.with_written_paths(plan.names[place], game.trace))

    def _game(
        self, places: tuple[int, int], opening: list[int], seeds: list[int],
        verdict: Cutoff | None,
    ) -> PlayedGame:  # fmt: skip
        seats = (lambda: self.agent(places[0])), (lambda: self.agent(places[1]))
        controls = self.controls[places[0]], self.controls[places[1]]
        thoughtful = self.drawn.plan.thoughts
        return play_game(self.board, seats, opening, (seeds[0], seeds[1]), verdict, controls,
                         thoughtful)  # fmt: skip


def forfeit_record(of: Game, seat: int, why: Disqualification) -> PlayedGame:
    """A game that an agent forfeits without being asked."""
    clocks = AgentClock(NO_LIMITS[0]), AgentClock(NO_LIMITS[1])
    result, margin = (WIN if seat else LOSS), of.margin(of.start())
    return PlayedGame((), result, margin, why.termination, clocks, why.reason)


def games_from_records(of: Game, games: list[PlayedGame], keep_moves: bool) -> Games:
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
    columns = {name: np.array(rows[name], kind) for name, kind in RESULT_COLUMNS.items()}
    moves = np.array([move for game in games for move in game.moves], np.int16)
    traces = {row: game.trace for row, game in enumerate(games) if game.trace}
    thoughts = {row: encode_search_info(g.thoughts) for row, g in enumerate(games) if g.thoughts}
    return Games(columns, moves if keep_moves else None, traces, thoughts)


def stored_cutoffs(games: Games, pairings: Iterable[int], first: int = 0) -> Cutoffs:
    """The verdicts on stored games that were cut off; with them the games are repeated at once.

    The games begin with those of the pairing `first`.
    """
    verdicts = {}
    for pairing, leg in ((pairing, leg) for pairing in pairings for leg in (0, 1)):
        row = 2 * (pairing - first) + leg
        if games.termination[row] == Termination.TIMEOUT:
            seat, plies = 1 if games.result[row] else 0, int(games.plies[row])
            verdicts[pairing, leg] = Cutoff(plies or START, seat)
    return verdicts
