"""Play one game, move by move."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from agents.core import (
    FAILURES,
    Agent,
    AgentFailure,
    Choice,
    GameFollower,
    Resignation,
    limit_on_clock,
)
from agents.search.compiled_agent import CompiledAgent, choose_fast
from agents.search_info import SearchInfo, info_from_choice, info_from_data
from arena.planning.games import DRAW, LOSS, WIN, MoveInfo, Termination
from arena.planning.tasks import Cutoff
from arena.playing.clock import BILLION, AgentClock, TimeControl
from games import Game, Position
from games.base.errors import printable
from games.board import Board
from games.kernels.splitmix import STRIDE, mixed

WITHIN = re.compile(r"within [\d.e+-]+ s")  # in the message of a late answer
# Given the nanoseconds of a move, returns those in which the agent was ready but did not run.
LagReader = Callable[[int], int]
# Returns the slot of the agent's move, its nodes, and a reader of its lag.
Asker = Callable[[Board, AgentClock], tuple[int, int, LagReader]]
# Returns the search information of the move that the agent just chose in this position.
InfoReader = Callable[[Position, int], SearchInfo | None]
MAX_PLIES = 20_000
FAULTS = {kind: Termination[kind.upper()] for kind in FAILURES}
MAX_REASON = 4096  # characters of the reason of a forfeit
LAG_CHECK_NS = 1_000_000  # the lag of shorter moves is not read
START = -1  # in place of a ply: while the agent is built and starts a game
# Returns the agent of a seat; building it may be its first failure.
AgentFactory = Callable[[], Agent]
Controls = tuple[TimeControl, TimeControl]
NO_LIMITS = TimeControl(60.0), TimeControl(60.0)


def no_delay(_: int) -> int:
    """Return no lag: agents of this process do not wait for a core."""
    return 0


def make_asker(agent: Any, game: Game) -> Asker:
    """Return the function that asks this agent for a move."""
    if isinstance(agent, CompiledAgent):
        return make_compiled_asker(agent, game)
    if hasattr(getattr(agent, "bot", None), "delay_within") and hasattr(agent, "answer"):
        return make_sandbox_asker(agent)
    return make_agent_asker(agent, game)


def make_info_reader(agent: Any, game: Game) -> InfoReader:
    """Return the function that reads the agent's search information, outside its clock."""
    if isinstance(agent, CompiledAgent):
        return lambda position, move: info_from_choice(
            game, position, agent.add_line(position, agent.last_choice(move))
        )
    if hasattr(agent, "search_info"):
        info_reader: InfoReader = agent.search_info
        return info_reader
    if hasattr(agent, "data"):
        return lambda position, move: info_from_data(agent.data)
    return lambda position, move: None


def make_compiled_asker(agent: CompiledAgent, game: Game) -> Asker:
    """Return the function that asks an agent of this process; a search keeps to both limits."""

    def ask(board: Board, clock: AgentClock) -> tuple[int, int, LagReader]:
        choice, read_lag = choose_on_clock(agent, board, clock)
        return game.slots_of(choice.move), choice.nodes, read_lag

    return ask


def choose_on_clock(agent: Any, board: Board, clock: AgentClock) -> tuple[Choice, LagReader]:
    """Return the choice of an agent of this process, which loses on time as bots do."""
    seconds = clock.search_seconds()
    if seconds is None:
        return choose_fast(agent, board.position), no_delay
    own = getattr(agent, "limit", None)
    limit = None if own is None else limit_on_clock(agent.spec, own, seconds)
    begun = time.thread_time_ns()
    choice = choose_fast(agent, board.position, limit)
    used = time.thread_time_ns() - begun
    if used > clock.seconds_left() * BILLION:
        place = board.game.text(board.position)
        message = f"did not answer within {clock.seconds_left():.3g} s"
        raise AgentFailure("timeout", agent.spec.kind, place, message)
    return choice, lambda taken: max(0, taken - used)


def make_sandbox_asker(agent: Any) -> Asker:
    """Return the function that asks an agent in the sandbox, on the board itself."""
    delay_within, answer = agent.bot.delay_within, agent.answer

    def ask(board: Board, clock: AgentClock) -> tuple[int, int, LagReader]:
        slot, nodes, _ = answer(board, clock.seconds_left(), clock.search_seconds())
        return slot, nodes, delay_within

    return ask


def make_agent_asker(agent: Agent, game: Game) -> Asker:
    """Return the function that asks any other agent; a program gets the time of its clock."""
    bot: Any = getattr(agent, "bot", None)
    delay_within = getattr(bot, "delay_within", no_delay)
    program: Any = agent if hasattr(agent, "conversation") else None

    def ask(board: Board, clock: AgentClock) -> tuple[int, int, LagReader]:
        if program is None:
            choice, read_lag = choose_on_clock(agent, board, clock)
        else:
            program.seconds = clock.seconds_left()
            choice, read_lag = choose_fast(agent, board.position), delay_within
        return game.slots_of(choice.move), choice.nodes, read_lag

    return ask


class FinishedGame(NamedTuple):
    """A finished game; pairs of values are the first and the second player's."""

    moves: tuple[int, ...]
    result: int
    margin: int
    termination: Termination
    clocks: tuple[AgentClock, AgentClock]
    trace: str
    search_info: tuple[MoveInfo, ...] = ()


def game_id(game: Game, moves: Sequence[int]) -> int:
    """Return the hash of a game's moves, the same as in the compiled loop."""
    word = STRIDE
    with np.errstate(over="ignore"):  # words wrap around on purpose
        for slot in game.slots_of(moves):
            word = (word ^ np.uint64(slot + 2)) * STRIDE
        return int(mixed(word))


def play_game(
    board: Board,
    seats: tuple[AgentFactory, AgentFactory],
    opening: Sequence[int],
    seeds: tuple[int, int],
    cutoff: Cutoff | None = None,
    controls: Controls = NO_LIMITS,
    keep_search_info: bool = False,
) -> FinishedGame:
    """Play one game; an agent's fault ends it as a forfeit, explained in `trace`.

    `opening` is in slots.
    """
    game = _Game(board, cutoff, controls, keep_search_info)
    try:
        for seat in (0, 1):
            game.start_agent(seat, seats[seat], seeds[seat])
        for slot in opening:
            game.play_slot(int(slot))
        game.play()
    except _Forfeit as forfeit:
        return game.record_forfeit(forfeit)
    finally:
        game.finish()
    return game.record_end()


class _Forfeit(Exception):  # noqa: N818  # an event, not an error of the code
    def __init__(self, seat: int, termination: Termination, trace: str) -> None:
        super().__init__(trace)
        self.seat, self.termination, self.trace = seat, termination, trace


class _Game:
    """A game in progress: the board, the moves so far and their cost."""

    def __init__(
        self, board: Board, cutoff: Cutoff | None, controls: Controls, keep_search_info: bool
    ) -> None:
        self.board, self.game, self.cutoff = board, board.game, cutoff
        self.clocks = AgentClock(controls[0]), AgentClock(controls[1])
        self.askers: list[Asker] = []
        self.info_readers: list[InfoReader] = []
        self.keep_search_info = keep_search_info
        self.search_info: list[MoveInfo] = []
        self.followers: list[GameFollower] = []
        self.slots: list[int] = []
        board.reset()

    def start_agent(self, seat: int, make_agent: AgentFactory, seed: int) -> None:
        """Build the agent of a seat and have it start a game."""
        with self._forfeit_on_failure(seat, START):
            agent = make_agent()
            agent.start(seed)
        self.askers.append(make_asker(agent, self.game))
        if self.keep_search_info:
            self.info_readers.append(make_info_reader(agent, self.game))
        self.followers += [agent] if isinstance(agent, GameFollower) else []

    def finish(self) -> None:
        """Notify agents that follow the game of its end."""
        for follower in self.followers:
            follower.finish()

    def play_slot(self, slot: int) -> None:
        """Play a move or a forced pass."""
        if not self.followers:
            self.board.play(slot)
        else:
            before = self.board.position
            self.board.play(slot)
            move, after = self.game.moves_of(slot), self.board.position
            for follower in self.followers:
                follower.note_move(move, before, after)
        self.slots.append(slot)

    def play(self) -> None:
        """Ask the mover for its move until the game is over; forced passes are played at once."""
        board = self.board
        while board.move_count >= 0 and len(self.slots) < MAX_PLIES:
            seat = board.mover
            self.play_slot(self._ask_mover(seat) if board.move_count else board.slots[0])
            if board.mover != seat:
                self.clocks[seat].end_turn()

    def _ask_mover(self, seat: int) -> int:
        clock = self.clocks[seat]
        begun = time.perf_counter_ns()
        lag = 0
        try:
            with self._forfeit_on_failure(seat, len(self.slots)):
                slot, nodes, read_lag = self.askers[seat](self.board, clock)
            taken = time.perf_counter_ns() - begun
            lag = read_lag(taken) if taken > LAG_CHECK_NS else 0
        finally:
            own = clock.charge(time.perf_counter_ns() - begun, lag)
        clock.nodes += nodes
        clock.moves += 1
        if self.keep_search_info:
            self._note_info(seat, slot, own)
        return slot

    def _note_info(self, seat: int, slot: int, nanoseconds: int) -> None:
        move = self.game.moves_of(slot)
        if info := self.info_readers[seat](self.board.position, move):
            self.search_info.append(MoveInfo(len(self.slots) + 1, seat, nanoseconds, info))

    @contextmanager
    def _forfeit_on_failure(self, seat: int, ply: int) -> Iterator[None]:
        if self.cutoff == (ply, seat):
            raise _Forfeit(seat, Termination.TIMEOUT, "did not answer and was cut off")
        try:
            yield
        except AgentFailure as failure:
            text = failure.description
            if failure.kind == "timeout":
                clock = self.clocks[seat].seconds_left_text()
                text = WITHIN.sub(rf"\g<0>{clock}", text, count=1)
            raise _Forfeit(seat, FAULTS[failure.kind], truncate_message(text)) from None
        except Resignation:
            raise _Forfeit(seat, Termination.RESIGNED, "") from None

    def record_end(self) -> FinishedGame:
        """Return the record of a game that ended by the rules; one that is too long is a draw."""
        margin = self.game.margin(self.board.position)
        if len(self.slots) >= MAX_PLIES:
            return self._record(DRAW, margin, Termination.TOO_LONG, "")
        result = WIN if margin > 0 else DRAW if margin == 0 else LOSS
        return self._record(result, margin, Termination.NORMAL, "")

    def record_forfeit(self, forfeit: _Forfeit) -> FinishedGame:
        """Return the record of a game that one side forfeited."""
        result = LOSS if forfeit.seat == 0 else WIN
        margin = self.game.margin(self.board.position)
        return self._record(result, margin, forfeit.termination, forfeit.trace)

    def _record(self, result: int, margin: int, how: Termination, trace: str) -> FinishedGame:
        moves = tuple(self.game.moves_of(self.slots).tolist()) if self.slots else ()
        return FinishedGame(moves, result, margin, how, self.clocks, trace, tuple(self.search_info))


def truncate_message(text: str) -> str:
    """Return a bot's message with printable lines and a limited length."""
    lines = (printable(line) for line in text[: 2 * MAX_REASON].splitlines())
    whole = "\n".join(lines)
    return whole if len(whole) <= MAX_REASON else f"{whole[: MAX_REASON - 3]}..."
