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

LONGEST_LINE = 1 << 16
# Between a question and its answer: bytes, lines, and lines that are empty or data.
MOST_OUTPUT, MOST_LINES, MOST_IDLE_LINES = 1 << 20, 20_000, 1000
GRACE_SECONDS = 5.0
MOST_NOTES = 20
HANG_UP_SECONDS = 2.0
NO_CHOOSE = (
    "it has no function or class named choose, and so must read a line for each question from its "
    "input until that ends"
)
UNFLUSHED_TEXT = "its answer came only when its input ended"
FLUSHES = "does it flush its output?"


@dataclass(frozen=True, slots=True)
class Program:
    """The command by its full path; every argument that is a file can be read."""

    command: tuple[str, ...]
    readable: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""  # empty: the scratch directory
    cores: tuple[int, ...] = ()  # none: any
    loopback: bool = False  # whether its own processes talk to one another by TCP

    def start_fields(self, arguments: tuple[str, ...]) -> dict[str, object]:
        """The fields of a request to start it."""
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
    """An agent that is a program, reached by a conversation, started again after a fault."""

    def __init__(
        self,
        spec: AgentSpec,
        of: Game,
        conversation: Host,
        program: Program,
        bot: BotProcess,
        seconds: float,
        fresh: bool = False,
    ) -> None:
        """`seconds` is its limit for a move; `fresh`: each game has a process of its own."""
        self.spec, self.game, self.conversation = spec, of, conversation
        self.program, self.bot, self.seconds, self.fresh = program, bot, seconds, fresh
        self.arguments: tuple[str, ...] = ()
        self.plies: list[Ply] = []
        self.notes: list[str] = []
        self.said: dict[str, str] = {}  # `data name = value`, of the last question
        self.seed: int | None = None
        self.greeted = self.in_game = False
        self.unheard = False  # whether the process is that of an earlier game and was not heard yet
        self.tests_flushing = (
            False  # whether who does not answer is tried for an answer that it keeps
        )
        self._forget()

    def _forget(self) -> None:
        """The current process has not said anything yet."""
        self.lines: deque[bytes] = deque()  # that are whole, but not yet used
        self.rest, self.ended = b"", False
        self._begin_count()
        self.clock: Clock | None = None
        self.start_is_over = False  # whether the time to start has passed in this question
        self.since = time.monotonic_ns()
        self.move_seconds = self.seconds

    def _begin_count(self) -> None:
        """The next question: nothing has been written since."""
        self.received = self.line_count = self.idle_count = 0

    # ---------------------------------------------------------------- what every agent has

    def start(self, seed: int) -> None:
        """Begin a game; the bot hears of it with its first question, when its side is known."""
        if self.in_game:
            self.finish()
        if self.bot.alive and self.fresh:
            self.close()
        if self.bot.alive and self.bot.has_closed:
            self.bot.end()  # many programs end with a game
        self.plies, self.seed, self.unheard = [], bot_seed(seed), self.bot.alive
        self._greet()

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """The bot's move; it is not asked for a forced pass."""
        require_unfinished(self.game, position)
        legal = self.game.legal(position)
        if legal == (self.game.pass_move,):
            return Choice(legal[0])
        try:
            move = self._ask(position, legal, limit)
        except AgentFailure as failure:
            if failure.kind != "crashed" or not self.unheard:
                raise
            self.unheard = False  # it has ended with the last game, which is no fault
            move = self._ask(position, legal, limit)
        if move not in legal:
            self._fail("illegal", f"chose move {move}, which is not legal,", position)
        return Choice(move)

    def _ask(self, position: Position, legal: tuple[int, ...], limit: Limit | None) -> int:
        """Its answer; a game that it has not heard of is begun first."""
        self._greet()
        if not self.in_game:
            start = self.plies[0].before if self.plies else position
            self._run(self.conversation.new_game(position.mover, start, self.seed or 0), position)
            self.in_game = True
        self._begin_count()
        self.move_seconds, self.said = self.seconds, {}
        self.start_is_over = False
        question = Question(position, legal, tuple(self.plies), seconds=self.seconds, limit=limit)
        return self._run(self.conversation.choose(question), position)

    def played(self, move: int, before: Position, after: Position) -> None:
        """Note a move of either side, including the opening's."""
        self.plies.append(Ply(before, move, after))

    def finish(self) -> None:
        """End the game; a fault now costs the bot its process, but no game."""
        self.in_game = False
        try:
            if self.bot.alive:
                self._run(self.conversation.game_over(tuple(self.plies)))
        except (AgentFailure, Resignation):
            self._end()

    def close(self) -> None:
        """Close the process in a friendly way."""
        try:
            if self.bot.alive:
                self._run(self.conversation.bye())
        except (AgentFailure, Resignation):
            pass
        self._end()

    # -------------------------------------------------------------------- a conversation

    def _greet(self) -> None:
        if not self.bot.alive or not self.greeted:
            self.in_game = self.greeted = False
            self._run(self.conversation.greet())
            self.greeted = True

    def _run(self, steps: Steps[Result], position: Position | None = None) -> Result:
        """What the steps return; an error on the way is the bot's failure."""
        reply: Reply = None
        try:
            while True:
                reply = self._done(steps.send(reply))
        except StopIteration as stop:
            result: Result = stop.value
            return result
        except BotFault as fault:
            self._fail(fault.kind, fault.reason, position)
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

    def _fail(self, kind: str, reason: str, position: Position | None) -> NoReturn:
        """End the process, as its view of the game can no longer be trusted."""
        place = "" if position is None else self.game.text(position)
        self._end()
        raise AgentFailure(kind, self.bot.name, place, printable(reason)) from None

    def _end(self) -> None:
        self.greeted = self.in_game = False
        if self.bot.alive:
            self.bot.end()

    def _done(self, request: Request) -> Reply:
        """Do what a conversation asks for."""
        match request:
            case Note(text):
                self.notes = [*self.notes[1 - MOST_NOTES :], printable(text)]
                return None
            case Data(name, value):
                self.said = limit_data([*self.said.items(), (name, value)])
                return None
            case Restart(arguments):
                if self.bot.alive:
                    self.bot.end()
                self.arguments = arguments
                return None
        if not self.bot.alive:
            self.bot.begin(self.program.start_fields(self.arguments), self.program.cores)
            self._forget()
        match request:
            case Write():
                self.bot.send(request.text.encode(), self.bot.limits.start_seconds)
                if not getattr(request, "aside", False):
                    self.clock, self.since = None, time.monotonic_ns()
            case Read():
                return self._line(request)
            case Drop():
                self._drop()
        return None

    def _limit(self, clock: Clock) -> float:
        limits = {"start": self.bot.limits.start_seconds, "move": self.move_seconds}
        return limits.get(clock, GRACE_SECONDS)

    def _line(self, request: Read) -> str | NoLine:
        """The next line, within the time that its clock has left; what it calls data is noted."""
        while isinstance(line := self._any_line(request), str):
            said = parse_data_line(line)
            self.idle_count += said is not None or not line
            if self.idle_count > MOST_IDLE_LINES:
                self.bot.raise_fault("flooded", "wrote more lines than an answer may have")
            if said is None:
                return line
            self.said = limit_data([*self.said.items(), said])
        return line

    def _any_line(self, request: Read) -> str | NoLine:
        if self.clock not in (None, request.clock):
            self.since = time.monotonic_ns()
            self.start_is_over = self.clock == "start"
        self.clock = request.clock
        seconds = min(self._limit(request.clock), request.seconds or self._limit(request.clock))
        while not self.lines and not self.ended:
            content = self.bot.receive(seconds, self.since)
            if content is None:
                if NoLine.TIME_UP in request.allowed:
                    return NoLine.TIME_UP
                start = f" after the {self._limit('start'):g} s that it had to start"
                message = f"did not answer within {seconds:.3g} s{start * self.start_is_over}"
                self.bot.raise_fault("timeout", f"{message}{self._late()}")
            self._take(content)
        if not self.lines and not self.rest:
            if NoLine.ENDED in request.allowed and not self.unheard:
                return NoLine.ENDED
            self.bot.raise_crash()
        if self.lines:
            line = self.lines.popleft()
        else:
            line, self.rest = self.rest, b""
        return line.decode(errors="replace").lstrip("\ufeff").strip(" \t\r")

    def _late(self) -> str:
        """Return words if closing its input makes an answer come that it kept."""
        if self.tests_flushing and self.bot.close_input(HANG_UP_SECONDS):
            return f", {UNFLUSHED_TEXT}"
        return "" if self.bot.has_written_before else f" ({FLUSHES})"

    def _take(self, content: bytes) -> None:
        self.ended, self.unheard = not content, self.unheard and not content
        *whole, self.rest = (self.rest + content).split(b"\n")
        self.lines += whole
        self.received += len(content)
        self.line_count += len(whole)
        if (
            self.received > MOST_OUTPUT
            or self.line_count > MOST_LINES
            or len(self.rest) > LONGEST_LINE
        ):
            self.bot.raise_fault("flooded", "wrote more than an answer may have")

    def _drop(self) -> None:
        """Discard what arrived unasked."""
        while not self.ended and self.bot.has_written:
            self._take(self.bot.receive(0.0, time.monotonic_ns()) or b"")
        unasked = b"\n".join([*self.lines, self.rest]).strip()
        if unasked:
            self._done(Note(f"wrote unasked: {unasked.decode(errors='replace')}"))
        self.lines.clear()
        self.rest = b""


def reads_lines_in_python(spec: AgentSpec) -> bool:
    """Return whether a bot is a Python file, and there, that runs as a program without choose."""
    command = spec.options.get("command") or ("",)
    is_python = spec.kind == "lines" and str(command[-1]).endswith(".py")
    return is_python and os.path.isfile(command[-1])


def accepts_any_position(agent: Agent) -> bool:
    """Return whether it can be asked about a position without the game that led there."""
    if not isinstance(agent, GameFollower):
        return True
    return isinstance(agent, ProtocolAgent) and answers_any_position(agent.spec)
