"""A protocol as its host sees it: generators that ask for lines and do no input or output.

A conversation yields requests and is sent what they bring: a `Read` brings a line or a permitted
silence, a `Choose` a move, everything else None. Whoever runs it owns processes, deadlines and
caps: when time, output or the bot's life is over, it closes the generator and records the fault
itself. What only the protocol can see is raised as a `BotFault` or a `Resignation`.

A bot is started by the first request that needs it; `greet` is run once for each process.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, NamedTuple, Protocol, TypeVar

from agents.core import Agent, Limit
from games import Game, Position
from games.base.schema import Key

# start: until it is ready to play; move: the limits of the question; grace: housekeeping.
Clock = Literal["start", "move", "grace"]
FaultKind = Literal["illegal", "unreadable", "timeout", "crashed", "unloadable"]


class NoLine(Enum):
    """Why no line came."""

    TIME_UP = "time up"
    ENDED = "ended"  # the bot closed its output


class Write(NamedTuple):
    """Send this text as it is, line ends included; the clock of the next `Read` begins anew.

    An `aside`, such as the answer to a ping, leaves the clock that runs as it is.
    """

    text: str
    aside: bool = False


class Read(NamedTuple):
    """The next line, without its end and the blanks around it; it may be empty.

    The clock goes on from read to read until its name changes or a `Write` begins it anew. A
    silence that is not `allowed` is the bot's fault.
    """

    clock: Clock
    allowed: tuple[NoLine, ...] = ()
    seconds: float | None = None  # since the clock began, if it would give longer


class Drop(NamedTuple):
    """Discard and note what has arrived unasked, even half a line."""


SEAT = "{seat}"  # in a command: the place of the arguments of a `Restart`


class Restart(NamedTuple):
    """A fresh process, with these arguments in place of `{seat}` in its command, else after it.

    It has not been greeted.
    """

    arguments: tuple[str, ...] = ()


class Note(NamedTuple):
    """Something odd that is tolerated: for the bot's log and `agents.check`."""

    text: str


class Data(NamedTuple):
    """What the bot says of its move, as `data name = value` does, in the words of its protocol."""

    name: str
    value: str


class Choose(NamedTuple):
    """A move of our own agent, when it is the bot.

    `meanwhile` gets the lines that arrive while it thinks, and returns what is answered at once,
    or nothing; without it they are read later. `of` is the game, if it is another than was begun.
    """

    position: Position
    limit: Limit | None = None
    meanwhile: Callable[[str], str] | None = None
    of: Game | None = None


Request = Write | Read | Drop | Restart | Note | Data | Choose
Reply = str | NoLine | int | None
Result = TypeVar("Result")
Steps = Generator[Request, Reply, Result]


class BotFault(Exception):  # noqa: N818  # the bot's fault, not our code's
    """The bot forfeits the game; `kind` is the termination."""

    def __init__(self, kind: FaultKind, reason: str) -> None:
        """`reason` is one line without control characters."""
        self.kind, self.reason = kind, reason
        super().__init__(reason)


class Ply(NamedTuple):
    """A move that was played, and the positions around it."""

    before: Position
    move: int
    after: Position


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a bot: a position with the time to think; None means no such limit."""

    position: Position
    legal: tuple[int, ...]
    plies: Sequence[Ply] = ()  # the whole game so far, the opening included
    seconds: float | None = None  # what is left of all limits for this move
    turn_seconds: float | None = None  # what is left for this move and the extra turns after it
    game_seconds: float | None = None
    limit: Limit | None = None

    @property
    def ply(self) -> int:
        """How many moves were played before this one."""
        return len(self.plies)


class Host(Protocol):
    """The conversation with one bot, across its processes and games."""

    def greet(self) -> Steps[None]:
        """Open a new process."""

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Begin a game from `start`, in which the bot is the first (0) or second (1) player."""

    def choose(self, question: Question) -> Steps[int]:
        """The bot's legal move, after it has heard what was played since its last one."""

    def game_over(self, plies: Sequence[Ply]) -> Steps[None]:
        """End the game as it stands; it may have been cut off."""

    def bye(self) -> Steps[None]:
        """Close the process in a friendly way."""


class ProtocolModule(Protocol):
    """What a module in the table of protocols has."""

    OPTIONS: tuple[Key, ...]  # of agents that are reached by it, beside those of every bot
    SERVE_OPTIONS: tuple[Key, ...]  # of our agents when they are the bots; may be left out

    @staticmethod
    def conversation(of: Game, options: Mapping[str, object]) -> Host:
        """Host a bot; SpecError if the protocol does not cover this game."""

    @staticmethod
    def serve(of: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
        """Play the bot: answer a host with the moves that `Choose` returns."""


def read(clock: Clock) -> Steps[str]:
    """The next line."""
    line = yield Read(clock)
    assert isinstance(line, str)
    return line


def read_line(clock: Clock) -> Steps[str]:
    """The next line that is not empty."""
    while not (line := (yield from read(clock))):
        pass
    return line


def read_first_line(new: bool) -> Steps[str]:
    """As `line_of` for a move; a `new` process, not greeted yet, may take the time of a start."""
    line: Reply = ""
    while new and line == "":
        line = yield Read("start", allowed=(NoLine.TIME_UP,))
    return line if isinstance(line, str) and line else (yield from read_line("move"))


def choose_move(
    position: Position, limit: Limit | None = None, of: Game | None = None
) -> Steps[int]:
    """The move of our own agent."""
    move = yield Choose(position, limit, of=of)
    assert isinstance(move, int)
    return move
