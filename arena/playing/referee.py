"""One game between any two agents, played move by move: its referee."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from agents import Agent, AgentFailure, Follower, Resigned
from agents.compiled import decided
from agents.core import FAILURES
from arena.planning.records import DRAW, LOSS, WIN, Termination
from arena.planning.tasks import CutOff
from games import Game, Position
from games.kernels.splitmix import STRIDE, mixed

LONGEST = 20_000
FAULTS = {kind: Termination[kind.upper()] for kind in FAILURES}

START = -1  # in place of a ply: the agent is built and starts a game

# Returns the agent of a seat; building it may be its first failure.
Seat = Callable[[], Agent]


class PlayedGame(NamedTuple):
    """A finished game; pairs are the first and the second player's."""

    moves: tuple[int, ...]
    result: int
    margin: int
    termination: Termination
    nodes: tuple[int, int]
    nanoseconds: tuple[int, int]
    chosen: tuple[int, int]
    trace: str


def game_id(of: Game, moves: Sequence[int]) -> int:
    """The hash of a game's moves, the same as in the compiled loop."""
    word = STRIDE
    with np.errstate(over="ignore"):  # words wrap around on purpose
        for slot in of.slots_of(moves):
            word = (word ^ np.uint64(slot + 2)) * STRIDE
        return int(mixed(word))


def play_game(
    of: Game,
    seats: tuple[Seat, Seat],
    opening: Sequence[int],
    seeds: tuple[int, int],
    verdict: CutOff | None = None,
) -> PlayedGame:
    """Play one game; an agent's fault ends it as a forfeit, explained in `trace`."""
    table = _Table(of, verdict)
    try:
        for seat in (0, 1):
            table.begin(seat, seats[seat], seeds[seat])
        for move in opening:
            table.place(move)
        while not of.over(table.position) and len(table.moves) < LONGEST:
            table.next_move()
    except _Forfeit as fault:
        return table.forfeited(fault)
    finally:
        table.leave()
    return table.finished()


class _Forfeit(Exception):  # noqa: N818  # the glossary's word
    def __init__(self, seat: int, termination: Termination, trace: str) -> None:
        super().__init__(trace)
        self.seat, self.termination, self.trace = seat, termination, trace


class _Table:
    """A game under way: the position, the moves so far, their cost."""

    def __init__(self, of: Game, verdict: CutOff | None) -> None:
        self.of, self.verdict = of, verdict
        self.agents: list[Agent] = []
        self.followers: list[Follower] = []
        self.position: Position = of.start()
        self.moves: list[int] = []
        self.nodes, self.nanoseconds, self.chosen = [0, 0], [0, 0], [0, 0]

    def begin(self, seat: int, agent_of: Seat, seed: int) -> None:
        """Seat an agent and have it start a game."""
        with self._waiting_for(seat, START):
            agent = agent_of()
            agent.start(seed)
        self.agents.append(agent)
        self.followers += [agent] if isinstance(agent, Follower) else []

    def leave(self) -> None:
        """Tell who follows the game that it is over."""
        for follower in self.followers:
            follower.finish()

    def place(self, move: int) -> None:
        """Play a move."""
        before, self.position = self.position, self.of.play(self.position, move)
        self.moves.append(move)
        for follower in self.followers:
            follower.played(move, before, self.position)

    def next_move(self) -> None:
        """Ask the mover for a move; a forced pass is played without asking."""
        legal = self.of.legal(self.position)
        if legal == (self.of.pass_move,):
            self.place(legal[0])
        else:
            self.place(self._choice(self.position.mover))

    def _choice(self, seat: int) -> int:
        agent = self.agents[seat]
        begun = time.perf_counter_ns()
        try:
            with self._waiting_for(seat, len(self.moves)):
                choice = decided(agent, self.position)
        finally:
            self.nanoseconds[seat] += time.perf_counter_ns() - begun
        self.nodes[seat] += choice.nodes
        self.chosen[seat] += 1
        return choice.move

    @contextlib.contextmanager
    def _waiting_for(self, seat: int, ply: int) -> Iterator[None]:
        """A failure of the agent becomes a forfeit."""
        if self.verdict == (ply, seat):
            raise _Forfeit(seat, Termination.TIMEOUT, "did not answer and was cut off")
        try:
            yield
        except AgentFailure as fault:
            raise _Forfeit(seat, FAULTS[fault.kind], str(fault)) from None
        except Resigned:
            raise _Forfeit(seat, Termination.RESIGNED, "") from None

    def finished(self) -> PlayedGame:
        """The record of a game that ended by the rules; one that is far too long is a draw."""
        margin = self.of.margin(self.position)
        if len(self.moves) >= LONGEST:
            return self._record(DRAW, margin, Termination.TOO_LONG, "")
        result = WIN if margin > 0 else DRAW if margin == 0 else LOSS
        return self._record(result, margin, Termination.NORMAL, "")

    def forfeited(self, fault: _Forfeit) -> PlayedGame:
        """The record of a game that one side forfeited."""
        result = LOSS if fault.seat == 0 else WIN
        margin = self.of.margin(self.position)
        return self._record(result, margin, fault.termination, fault.trace)

    def _record(self, result: int, margin: int, how: Termination, trace: str) -> PlayedGame:
        return PlayedGame(
            tuple(self.moves),
            result,
            margin,
            how,
            (self.nodes[0], self.nodes[1]),
            (self.nanoseconds[0], self.nanoseconds[1]),
            (self.chosen[0], self.chosen[1]),
            trace,
        )
