"""Requests that a protocol yields, and the base class of hosts.

A conversation is a generator that does no input or output. It yields requests and receives their
results: a line or a permitted `NoLine` for `Read`, a move for `Choose`, otherwise None. The caller
owns processes, deadlines and size limits. On a timeout, too much output or a crash the caller
closes the generator and records the fault. Only faults that need knowledge of the protocol are
raised here, as `BotFault` or `Resignation`.

A bot is started by the first request that needs it; `greet` runs once per process.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, NamedTuple, Protocol, TypeVar

from agents.core import Agent, Limit
from games import Game, Position
from games.base.schema import Key

# start: until ready to play; move: the limits of the question; grace: everything else.
Clock = Literal["start", "move", "grace"]
FaultKind = Literal["illegal", "unreadable", "timeout", "crashed", "unloadable"]


class NoLine(Enum):
    """The reason why no line came."""

    TIME_UP = "time up"
    ENDED = "ended"  # the bot closed its output


class Write(NamedTuple):
    """Send the text unchanged; the clock of the next `Read` restarts.

    An `aside`, such as the answer to a ping, does not restart the clock.
    """

    text: str
    aside: bool = False


class Read(NamedTuple):
    """Wait for the next line, stripped; it may be empty.

    The clock continues from read to read until its name changes or a `Write` restarts it. A missing
    line is a fault of the bot unless its `NoLine` is `allowed`.
    """

    clock: Clock
    allowed: tuple[NoLine, ...] = ()
    seconds: float | None = None  # a shorter limit since the start of the clock


class Drop(NamedTuple):
    """Discard and note all unsolicited output, even part of a line."""


SEAT = "{seat}"  # in a command: replaced by the arguments of a `Restart`


class Restart(NamedTuple):
    """Start a new process with these arguments in place of `{seat}`, or at the end of the command.

    The process has not been greeted.
    """

    arguments: tuple[str, ...] = ()


class Note(NamedTuple):
    """Unusual behaviour that is tolerated; the bot's log and `pitflip check` show it."""

    text: str


class Data(NamedTuple):
    """Information about a move, as in a line `data name = value`."""

    name: str
    value: str


class Choose(NamedTuple):
    """Request a move of our agent, which plays as the bot of another host.

    `meanwhile` receives the lines that arrive while the agent thinks and returns immediate answers;
    without it they are read later. `game` is set if it is not the game of the conversation.
    """

    position: Position
    limit: Limit | None = None
    meanwhile: Callable[[str], str] | None = None
    game: Game | None = None


Request = Write | Read | Drop | Restart | Note | Data | Choose
Reply = str | NoLine | int | None
Result = TypeVar("Result")
Steps = Generator[Request, Reply, Result]


class BotFault(Exception):  # noqa: N818  # the bot's fault, not our code's
    """The bot forfeits the game; `kind` is the termination and `reason` one printable line."""

    def __init__(self, kind: FaultKind, reason: str) -> None:
        self.kind, self.reason = kind, reason
        super().__init__(reason)


class Ply(NamedTuple):
    """A move with the positions before and after it."""

    before: Position
    move: int
    after: Position


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a bot: a position with the time limits; None means no such limit."""

    position: Position
    legal: tuple[int, ...]
    plies: Sequence[Ply] = ()  # the whole game so far, including the opening
    seconds: float | None = None  # the time left for this move by all limits
    turn_seconds: float | None = None  # the time left for this move and its extra turns
    game_seconds: float | None = None
    limit: Limit | None = None

    @property
    def ply(self) -> int:
        """The number of earlier moves."""
        return len(self.plies)


class Host:
    """The conversation with one bot, across its processes and games.

    By default, a bot receives nothing but questions.
    """

    def greet(self) -> Steps[None]:
        """Open a new process."""
        yield from ()

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Begin a game from `start`; the bot is the first (0) or second (1) player."""
        yield from ()

    def choose(self, question: Question) -> Steps[int]:
        """Return the bot's legal move, after sending the moves since its last one."""
        raise NotImplementedError

    def game_over(self, plies: Sequence[Ply]) -> Steps[None]:
        """End the game, which may be incomplete."""
        yield from ()

    def bye(self) -> Steps[None]:
        """Ask the process to end."""
        yield from ()


class ProtocolModule(Protocol):
    """The contents of a module in the table of protocols."""

    OPTIONS: tuple[Key, ...]  # of bots with this protocol, in addition to those of all bots
    SERVE_OPTIONS: tuple[Key, ...]  # optional: of our agents when they are the bots

    @staticmethod
    def conversation(game: Game, options: Mapping[str, object]) -> Host:
        """Host a bot; SpecError if the protocol does not cover this game."""

    @staticmethod
    def serve(game: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
        """Play the bot: answer a host with the moves that `Choose` returns."""


def read(clock: Clock) -> Steps[str]:
    """Return the next line."""
    line = yield Read(clock)
    assert isinstance(line, str)
    return line


def read_line(clock: Clock) -> Steps[str]:
    """Return the next line that is not empty."""
    while not (line := (yield from read(clock))):
        pass
    return line


def read_first_line(new: bool) -> Steps[str]:
    """Return the line of a move; a `new` process has the time limit of a start for it."""
    line: Reply = ""
    while new and line == "":
        line = yield Read("start", allowed=(NoLine.TIME_UP,))
    return line if isinstance(line, str) and line else (yield from read_line("move"))


def choose_move(
    position: Position, limit: Limit | None = None, game: Game | None = None
) -> Steps[int]:
    """Request a move of our agent and return it."""
    move = yield Choose(position, limit, game=game)
    assert isinstance(move, int)
    return move
