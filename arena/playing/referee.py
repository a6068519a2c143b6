"""Play one game, move by move."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from agents.core import FAILURES, Agent, AgentFailure, GameFollower, Limit, Resignation
from agents.search.compiled_agent import CompiledAgent, decided
from agents.search_info import SearchInfo, info_from_choice, info_from_data
from arena.planning.games import DRAW, LOSS, WIN, MoveInfo, Termination
from arena.planning.tasks import Cutoff
from arena.playing.clock import AgentClock, TimeControl
from games import Game, Position
from games.base.errors import printable
from games.board import Board
from games.kernels.splitmix import STRIDE, mixed

# Nanoseconds for which the agent was ready but did not run, of so many that its move took.
LagReader = Callable[[int], int]
# Returns the slot of the agent's move, its nodes, and a reader of its lag.
Ask = Callable[[Board, AgentClock], tuple[int, int, LagReader]]
# Returns the search information of the move that the agent just chose in this position.
Think = Callable[[Position, int], SearchInfo | None]
LONGEST = 20_000
FAULTS = {kind: Termination[kind.upper()] for kind in FAILURES}
MOST_REASON = 4096  # characters of why a game was forfeited, all lines together
LAG_CHECK_NS = 1_000_000  # nanoseconds; the lag of shorter moves is not read
START = -1  # in place of a ply: the agent is built and starts a game
# Returns the agent of a seat; building it may be its first failure.
Seat = Callable[[], Agent]
Controls = tuple[TimeControl, TimeControl]
NO_LIMITS = TimeControl(60.0), TimeControl(60.0)


def no_delay(_: int) -> int:
    """Return no lag: agents of this process do not wait for a core."""
    return 0


def make_asker(agent: Any, of: Game) -> Ask:
    """Return the function that asks this agent."""
    if isinstance(agent, CompiledAgent):
        return ask_compiled(agent, of)
    if hasattr(getattr(agent, "bot", None), "delayed") and hasattr(agent, "answer"):
        return ask_sandboxed(agent)
    return ask_agent(agent, of)


def make_info_reader(agent: Any, of: Game) -> Think:
    """Return the function that reads the agent's search information, outside its clock."""
    if isinstance(agent, CompiledAgent):
        return lambda position, move: info_from_choice(
            of, position, agent.explained(position, agent.last(move))
        )
    if hasattr(agent, "thought"):
        thought: Think = agent.thought
        return thought
    if hasattr(agent, "said"):
        return lambda position, move: info_from_data(agent.said)
    return lambda position, move: None


def ask_compiled(agent: CompiledAgent, of: Game) -> Ask:
    """Return the function that asks an agent of this process; searches keep to both limits."""

    def ask(board: Board, clock: AgentClock) -> tuple[int, int, LagReader]:
        limit = None
        if agent.limit is not None and (seconds := clock.think()) is not None:
            limit = replace(agent.limit, seconds=min(seconds, agent.limit.seconds or seconds))
        choice = decided(agent, board.position, limit)
        return of.slots_of(choice.move), choice.nodes, no_delay

    return ask


def ask_sandboxed(agent: Any) -> Ask:
    """Return the function that asks an agent in the sandbox, on the board itself."""
    delayed, answer = agent.bot.delayed, agent.answer

    def ask(board: Board, clock: AgentClock) -> tuple[int, int, LagReader]:
        slot, nodes, _ = answer(board, clock.rest(), clock.think())
        return slot, nodes, delayed

    return ask


def ask_agent(agent: Agent, of: Game) -> Ask:
    """Return the function that asks any other agent; a program gets the time of its clock."""
    bot: Any = getattr(agent, "bot", None)
    delayed = getattr(bot, "delayed", no_delay)
    program: Any = agent if hasattr(agent, "conversation") else None

    def ask(board: Board, clock: AgentClock) -> tuple[int, int, LagReader]:
        seconds, limit = clock.think(), None
        if program is not None:
            program.seconds = clock.rest()
        elif seconds is not None:
            limit = Limit(seconds=seconds)
        choice = decided(agent, board.position, limit)
        return of.slots_of(choice.move), choice.nodes, delayed

    return ask


class PlayedGame(NamedTuple):
    """A finished game; pairs are the first and the second player's."""

    moves: tuple[int, ...]
    result: int
    margin: int
    termination: Termination
    clocks: tuple[AgentClock, AgentClock]
    trace: str
    thoughts: tuple[MoveInfo, ...] = ()


def game_id(of: Game, moves: Sequence[int]) -> int:
    """Return the hash of a game's moves, the same as in the compiled loop."""
    word = STRIDE
    with np.errstate(over="ignore"):  # words wrap around on purpose
        for slot in of.slots_of(moves):
            word = (word ^ np.uint64(slot + 2)) * STRIDE
        return int(mixed(word))


def play_game(
    board: Board,
    seats: tuple[Seat, Seat],
    opening: Sequence[int],
    seeds: tuple[int, int],
    verdict: Cutoff | None = None,
    controls: Controls = NO_LIMITS,
    thoughtful: bool = False,
) -> PlayedGame:
    """Play one game; an agent's fault ends it as a forfeit, explained in `trace`.

    `opening` is in slots; `thoughtful` also asks what agents thought of their moves.
    """
    table = _Game(board, verdict, controls, thoughtful)
    try:
        for seat in (0, 1):
            table.begin(seat, seats[seat], seeds[seat])
        for slot in opening:
            table.place(int(slot))
        table.play()
    except _Forfeit as fault:
        return table.forfeited(fault)
    finally:
        table.leave()
    return table.finished()


class _Forfeit(Exception):  # noqa: N818  # the glossary's word
    def __init__(self, seat: int, termination: Termination, trace: str) -> None:
        super().__init__(trace)
        self.seat, self.termination, self.trace = seat, termination, trace


class _Game:
    """A game under way: the board, the moves so far, their cost."""

    def __init__(
        self, board: Board, verdict: Cutoff | None, controls: Controls, thoughtful: bool
    ) -> None:
        self.board, self.of, self.verdict = board, board.game, verdict
        self.clocks = AgentClock(controls[0]), AgentClock(controls[1])
        self.asks: list[Ask] = []
        self.thinks: list[Think] = []
        self.thoughtful = thoughtful
        self.thoughts: list[MoveInfo] = []
        self.followers: list[GameFollower] = []
        self.slots: list[int] = []
        board.begin()

    def begin(self, seat: int, agent_of: Seat, seed: int) -> None:
        """Seat an agent and have it start a game."""
        with self._forfeit_on_failure(seat, START):
            agent = agent_of()
            agent.start(seed)
        self.asks.append(make_asker(agent, self.of))
        if self.thoughtful:
            self.thinks.append(make_info_reader(agent, self.of))
        self.followers += [agent] if isinstance(agent, GameFollower) else []

    def leave(self) -> None:
        """Tell agents that follow the game that it is over."""
        for follower in self.followers:
            follower.finish()

    def place(self, slot: int) -> None:
        """Play a slot, or a forced pass."""
        if not self.followers:
            self.board.play(slot)
        else:
            before = self.board.position
            self.board.play(slot)
            move, after = self.of.moves_of(slot), self.board.position
            for follower in self.followers:
                follower.played(move, before, after)
        self.slots.append(slot)

    def play(self) -> None:
        """Ask the mover for its move until the game is over; forced passes are played at once."""
        board = self.board
        while board.move_count >= 0 and len(self.slots) < LONGEST:
            seat = board.mover
            self.place(self._ask_mover(seat) if board.move_count else board.slots[0])
            if board.mover != seat:
                self.clocks[seat].end_turn()

    def _ask_mover(self, seat: int) -> int:
        clock = self.clocks[seat]
        begun = time.perf_counter_ns()
        lag = 0
        try:
            with self._forfeit_on_failure(seat, len(self.slots)):
                slot, nodes, delayed = self.asks[seat](self.board, clock)
            taken = time.perf_counter_ns() - begun
            lag = delayed(taken) if taken > LAG_CHECK_NS else 0
        finally:
            own = clock.charge(time.perf_counter_ns() - begun, lag)
        clock.nodes += nodes
        clock.chosen += 1
        if self.thoughtful:
            self._note(seat, slot, own)
        return slot

    def _note(self, seat: int, slot: int, nanoseconds: int) -> None:
        """Store the search information of the move that was just chosen."""
        move = self.of.moves_of(slot)
        if thought := self.thinks[seat](self.board.position, move):
            self.thoughts.append(MoveInfo(len(self.slots) + 1, seat, nanoseconds, thought))

    @contextmanager
    def _forfeit_on_failure(self, seat: int, ply: int) -> Iterator[None]:
        """Turn a failure of the agent into a forfeit."""
        if self.verdict == (ply, seat):
            raise _Forfeit(seat, Termination.TIMEOUT, "did not answer and was cut off")
        try:
            yield
        except AgentFailure as fault:
            raise _Forfeit(seat, FAULTS[fault.kind], truncate_message(fault.description)) from None
        except Resignation:
            raise _Forfeit(seat, Termination.RESIGNED, "") from None

    def finished(self) -> PlayedGame:
        """Return the record of a game that ended by the rules; a far too long one is a draw."""
        margin = self.of.margin(self.board.position)
        if len(self.slots) >= LONGEST:
            return self._record(DRAW, margin, Termination.TOO_LONG, "")
        result = WIN if margin > 0 else DRAW if margin == 0 else LOSS
        return self._record(result, margin, Termination.NORMAL, "")

    def forfeited(self, fault: _Forfeit) -> PlayedGame:
        """Return the record of a game that one side forfeited."""
        result = LOSS if fault.seat == 0 else WIN
        margin = self.of.margin(self.board.position)
        return self._record(result, margin, fault.termination, fault.trace)

    def _record(self, result: int, margin: int, how: Termination, trace: str) -> PlayedGame:
        moves = tuple(self.of.moves_of(self.slots).tolist()) if self.slots else ()
        thoughts = tuple(self.thoughts)
        return PlayedGame(moves, result, margin, how, self.clocks, trace, thoughts)


def truncate_message(text: str) -> str:
    """Return a bot's message with printable lines and a limited length."""
    lines = (printable(line) for line in text[: 2 * MOST_REASON].splitlines())
    whole = "\n".join(lines)
    return whole if len(whole) <= MOST_REASON else f"{whole[: MOST_REASON - 3]}..."
