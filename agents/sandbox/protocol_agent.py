"""An agent that is a program, driven by a protocol."""

import os
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from agents.core import (
    Agent,
    AgentFailure,
    AgentSpec,
    Choice,
    GameFollower,
    Limit,
    Resignation,
    require_unfinished,
)
from agents.protocols import answers_any_position
from agents.protocols.conversation import (
    SEAT,
    BotFault,
    Clock,
    Data,
    Drop,
    Host,
    NoLine,
    Note,
    Ply,
    Question,
    Read,
    Reply,
    Request,
    Restart,
    Result,
    Steps,
    Write,
)
from agents.sandbox.transports import BotProcess, bot_seed
from agents.search_info import limit_data, parse_data_line
from games import Game, Position
from games.base.errors import printable

MAX_LINE_BYTES = 1 << 16
# Between a question and its answer: bytes, lines, and lines that are empty or data.
MAX_OUTPUT_BYTES, MAX_LINES, MAX_IDLE_LINES = 1 << 20, 20_000, 1000
GRACE_SECONDS = 5.0
MAX_NOTES = 20
CLOSED_INPUT_SECONDS = 2.0
NO_CHOOSE = (
    "it has no function or class named choose, so it must be a program that reads a line for each "
    "question until its input ends"
)
UNFLUSHED_TEXT = "its answer came only when its input ended"
FLUSH_HINT = "does it flush its output?"


@dataclass(frozen=True, slots=True)
class Program:
    """The command of a bot by its full path; it may read every argument that is a file."""

    command: tuple[str, ...]
    readable: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""  # empty: the scratch directory
    cores: tuple[int, ...] = ()  # none: any
    loopback: bool = False  # whether its processes may talk to one another by TCP

    def start_fields(self, arguments: tuple[str, ...]) -> dict[str, object]:
        """Return the fields of a request to start it."""
        words = (*self.command, *arguments)
        if arguments and any(SEAT in word for word in self.command):
            words = tuple(word.replace(SEAT, " ".join(arguments)) for word in self.command)
        files = (word for word in words if os.path.isabs(word) and os.path.exists(word))
        return {
            "command": words,
            "readable": tuple(dict.fromkeys([*files, *self.readable])),
            "environment": dict(self.environment),
            "cwd": self.cwd,
            "loopback": self.loopback,
        }


class ProtocolAgent:
    """An agent that is a program, asked in a conversation, started again after a fault."""

    def __init__(
        self,
        spec: AgentSpec,
        of: Game,
        conversation: Host,
        program: Program,
        bot: BotProcess,
        seconds: float,
        restarts_each_game: bool = False,
    ) -> None:
        """`seconds` is its limit for a move."""
        self.spec, self.game, self.conversation = spec, of, conversation
        self.program, self.bot, self.seconds = program, bot, seconds
        self.restarts_each_game = restarts_each_game
        self.arguments: tuple[str, ...] = ()
        self.plies: list[Ply] = []
        self.notes: list[str] = []
        self.data: dict[str, str] = {}  # `data name = value`, of the last question
        self.seed: int | None = None
        self.greeted = self.in_game = False
        # True if its process played the game before and has written nothing since.
        self.silent_since_last_game = False
        self.tests_flushing = False  # whether a late bot's input is closed: it may not flush
        self._reset_output()

    def _reset_output(self) -> None:
        """Forget the output of an earlier process."""
        self.lines: deque[bytes] = deque()  # whole lines that are not yet used
        self.rest, self.ended = b"", False
        self._reset_counts()
        self.clock: Clock | None = None
        self.start_time_is_over = False  # in this question
        self.since = time.monotonic_ns()
        self.move_seconds = self.seconds

    def _reset_counts(self) -> None:
        self.received = self.line_count = self.idle_count = 0

    def start(self, seed: int) -> None:
        """Begin a game; the bot learns of it with its first question, when its side is known."""
        if self.in_game:
            self.finish()
        if self.bot.alive and self.restarts_each_game:
            self.close()
        if self.bot.alive and self.bot.is_at_end:
            self.bot.end()  # many programs end with a game
        self.plies, self.seed, self.silent_since_last_game = [], bot_seed(seed), self.bot.alive
        self._greet()

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """Return the bot's move; a forced pass needs no question."""
        require_unfinished(self.game, position)
        legal = self.game.legal(position)
        if legal == (self.game.pass_move,):
            return Choice(legal[0])
        try:
            move = self._ask(position, legal, limit)
        except AgentFailure as failure:
            if failure.kind != "crashed" or not self.silent_since_last_game:
                raise
            self.silent_since_last_game = False  # it ended with the last game: no fault
            move = self._ask(position, legal, limit)
        if move not in legal:
            self._raise_failure("illegal", f"chose move {move}, which is not legal,", position)
        return Choice(move)

    def _ask(self, position: Position, legal: tuple[int, ...], limit: Limit | None) -> int:
        """Return its answer; begin a new game first."""
        self._greet()
        if not self.in_game:
            start = self.plies[0].before if self.plies else position
            self._run(self.conversation.new_game(position.mover, start, self.seed or 0), position)
            self.in_game = True
        self._reset_counts()
        self.move_seconds, self.data = self.seconds, {}
        self.start_time_is_over = False
        question = Question(position, legal, tuple(self.plies), seconds=self.seconds, limit=limit)
        return self._run(self.conversation.choose(question), position)

    def note_move(self, move: int, before: Position, after: Position) -> None:
        """Note a move of either side, including the opening's."""
        self.plies.append(Ply(before, move, after))

    def finish(self) -> None:
        """End the game; after a fault the process ends, but the result stays."""
        self.in_game = False
        try:
            if self.bot.alive:
                self._run(self.conversation.game_over(tuple(self.plies)))
        except (AgentFailure, Resignation):
            self._end()

    def close(self) -> None:
        """Ask the process to end, and end it."""
        try:
            if self.bot.alive:
                self._run(self.conversation.bye())
        except (AgentFailure, Resignation):
            pass
        self._end()

    def _greet(self) -> None:
        if not self.bot.alive or not self.greeted:
            self.in_game = self.greeted = False
            self._run(self.conversation.greet())
            self.greeted = True

    def _run(self, steps: Steps[Result], position: Position | None = None) -> Result:
        """Return the result of the steps; an error on the way is the bot's failure."""
        reply: Reply = None
        try:
            while True:
                reply = self._perform(steps.send(reply))
        except StopIteration as stop:
            result: Result = stop.value
            return result
        except BotFault as fault:
            self._raise_failure(fault.kind, fault.reason, position)
        except AgentFailure as failure:
            steps.close()
            early = not self.greeted and failure.kind in ("crashed", "timeout")
            kind = "unloadable" if early else failure.kind
            self._end()
            place = "" if position is None else self.game.text(position)
            message = failure.message
            if kind == "unloadable" and reads_lines_in_python(self.spec):
                message = f"{message}; {NO_CHOOSE}"
            raise AgentFailure(kind, self.bot.name, place, message, failure.trace) from None
        finally:
            if self.bot.alive:
                self.bot.end_turn()

    def _raise_failure(self, kind: str, reason: str, position: Position | None) -> NoReturn:
        """End the process: its view of the game may be wrong now."""
        place = "" if position is None else self.game.text(position)
        self._end()
        raise AgentFailure(kind, self.bot.name, place, printable(reason)) from None

    def _end(self) -> None:
        self.greeted = self.in_game = False
        if self.bot.alive:
            self.bot.end()

    def _perform(self, request: Request) -> Reply:
        """Do what a conversation requests."""
        match request:
            case Note(text):
                self.notes = [*self.notes[1 - MAX_NOTES :], printable(text)]
                return None
            case Data(name, value):
                self.data = limit_data([*self.data.items(), (name, value)])
                return None
            case Restart(arguments):
                if self.bot.alive:
                    self.bot.end()
                self.arguments = arguments
                return None
        if not self.bot.alive:
            self.bot.start(self.program.start_fields(self.arguments), self.program.cores)
            self._reset_output()
        match request:
            case Write():
                self.bot.send(request.text.encode(), self.bot.limits.start_seconds)
                if not getattr(request, "aside", False):
                    self.clock, self.since = None, time.monotonic_ns()
            case Read():
                return self._next_line(request)
            case Drop():
                self._discard_output()
        return None

    def _limit(self, clock: Clock) -> float:
        limits = {"start": self.bot.limits.start_seconds, "move": self.move_seconds}
        return limits.get(clock, GRACE_SECONDS)

    def _next_line(self, request: Read) -> str | NoLine:
        """Return the next line that is no data, within the time that its clock has left."""
        while isinstance(line := self._next_raw_line(request), str):
            data = parse_data_line(line)
            self.idle_count += data is not None or not line
            if self.idle_count > MAX_IDLE_LINES:
                self.bot.raise_fault("flooded", "wrote more lines than an answer may have")
            if data is None:
                return line
            self.data = limit_data([*self.data.items(), data])
        return line

    def _next_raw_line(self, request: Read) -> str | NoLine:
        if self.clock not in (None, request.clock):
            self.since = time.monotonic_ns()
            self.start_time_is_over = self.clock == "start"
        self.clock = request.clock
        seconds = min(self._limit(request.clock), request.seconds or self._limit(request.clock))
        while not self.lines and not self.ended:
            content = self.bot.receive(seconds, self.since)
            if content is None:
                if NoLine.TIME_UP in request.allowed:
                    return NoLine.TIME_UP
                start = f" after the {self._limit('start'):g} s that it had to start"
                message = f"did not answer within {seconds:.3g} s{start * self.start_time_is_over}"
                self.bot.raise_fault("timeout", f"{message}{self._late_answer_text()}")
            self._add_output(content)
        if not self.lines and not self.rest:
            if NoLine.ENDED in request.allowed and not self.silent_since_last_game:
                return NoLine.ENDED
            self.bot.raise_crash()
        if self.lines:
            line = self.lines.popleft()
        else:
            line, self.rest = self.rest, b""
        return line.decode(errors="replace").lstrip("\ufeff").strip(" \t\r")

    def _late_answer_text(self) -> str:
        """Return a hint if it may not have flushed its answer."""
        if self.tests_flushing and self.bot.close_input(CLOSED_INPUT_SECONDS):
            return f", {UNFLUSHED_TEXT}"
        return "" if self.bot.ever_wrote else f" ({FLUSH_HINT})"

    def _add_output(self, content: bytes) -> None:
        self.ended = not content
        self.silent_since_last_game &= self.ended
        *whole, self.rest = (self.rest + content).split(b"\n")
        self.lines += whole
        self.received += len(content)
        self.line_count += len(whole)
        if (
            self.received > MAX_OUTPUT_BYTES
            or self.line_count > MAX_LINES
            or len(self.rest) > MAX_LINE_BYTES
        ):
            self.bot.raise_fault("flooded", "wrote more than an answer may have")

    def _discard_output(self) -> None:
        """Discard output that came without a question."""
        while not self.ended and self.bot.has_output:
            self._add_output(self.bot.receive(0.0, time.monotonic_ns()) or b"")
        unasked = b"\n".join([*self.lines, self.rest]).strip()
        if unasked:
            self._perform(Note(f"wrote unasked: {unasked.decode(errors='replace')}"))
        self.lines.clear()
        self.rest = b""


def reads_lines_in_python(spec: AgentSpec) -> bool:
    """Return whether a bot is a Python file, and there, that runs as a program without choose."""
    command = spec.options.get("command") or ("",)
    is_python = spec.kind == "lines" and str(command[-1]).endswith(".py")
    return is_python and os.path.isfile(command[-1])


def accepts_any_position(agent: Agent) -> bool:
    """Return whether it can choose in a position without the game that led there."""
    if not isinstance(agent, GameFollower):
        return True
    return isinstance(agent, ProtocolAgent) and answers_any_position(agent.spec)
