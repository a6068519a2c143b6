"""Agent, AgentSpec, Choice, Limit and the failures of agents."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, runtime_checkable

from agents.sandbox.sandbox import Sandbox
from games import Game, Position
from games.base.errors import UserError, printable
from games.base.schema import KeyValues

Weights = Mapping[str, tuple[float, ...]]
Options = KeyValues
FAILURES = (
    "illegal",  # a move that is not legal
    "unreadable",  # no move at all
    "timeout",
    "raised",  # an exception; the process continues
    "crashed",  # the process ended
    "memory",
    "flooded",  # too much output, too many files or processes
    "unloadable",
)
MOVE_SECONDS = 60.0
LIMITS = ("depth", "nodes", "seconds")


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit on one move; at least one field is set."""

    depth: int | None = None
    nodes: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.depth is None and self.nodes is None and self.seconds is None:
            raise SpecError("a limit sets depth, nodes or seconds; none is set")
        for name in LIMITS:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SpecError(f"{name} must be more than 0, got {value}")


@dataclass(frozen=True, slots=True, init=False)
class AgentSpec:
    """The frozen description of an agent; an absent option means the default of its kind."""

    kind: str
    options: Options

    def __init__(self, kind: str, options: Options | None = None, /, **named: object) -> None:
        given = {**(options or {}), **named}
        frozen = {name: _freeze(value) for name, value in given.items() if value not in (None, {})}
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "options", frozen)

    def replace(self, **named: object) -> "AgentSpec":
        """Return the spec with other values for some options; `None` removes an option."""
        return AgentSpec(self.kind, {**self.options, **named})

    def to_json(self) -> dict[str, object]:
        """Return the agent's table as it is written in a file, with sorted options."""
        return {"kind": self.kind, **to_plain_table(self.options)}

    @classmethod
    def from_json(cls, stored: KeyValues) -> "AgentSpec":
        """Return the spec of a table written by `to_json`."""
        return cls(stored["kind"], {key: stored[key] for key in stored if key != "kind"})


def _freeze(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _freeze(item) for key, item in value.items()}
    return tuple(map(_freeze, value)) if isinstance(value, list | tuple) else value


def to_plain_table(table: KeyValues) -> dict[str, object]:
    """Return the table with lists and dicts as they are written in a file, with sorted keys."""
    return {key: _plain(table[key]) for key in sorted(table)}


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return to_plain_table(value)
    return list(map(_plain, value)) if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True)
class Choice:
    """A move and its search results; `value` is from the mover's side.

    `depth` is in plies; 200 means a search to the end of the game.
    """

    move: int
    value: float | None = None
    depth: int = 0
    nodes: int = 0
    line: tuple[int, ...] = ()
    exact: bool = False


class SearchedMove(NamedTuple):
    """A move with its score in the units of the search kernels."""

    score: int
    nodes: int
    line: tuple[int, ...]


class Agent(Protocol):
    """An object that chooses moves; created from a spec for one game."""

    spec: AgentSpec

    def start(self, seed: int) -> None:
        """Begin a game: reset all state and derive all random choices from `seed`."""

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """Return a legal move, also for a forced pass; GameOver if there is none."""


@runtime_checkable
class GameFollower(Protocol):
    """An agent that must be notified of every move and of the end of a game."""

    def note_move(self, move: int, before: Position, after: Position) -> None:
        """Note a move of either side; opening moves come before the first question."""

    def finish(self) -> None:
        """Note that the game is over or was stopped."""


def limit_on_clock(spec: AgentSpec, limit: Limit, seconds: float) -> Limit:
    """Return the limit on a move of a search that should take `seconds` of its clock.

    `limit` is the agent's. If its options set no limit, it is a default, which the clock replaces.
    """
    if not any(name in spec.options for name in LIMITS):
        return Limit(seconds=seconds)
    return replace(limit, seconds=min(seconds, limit.seconds or seconds))


class SpecError(UserError, ValueError):
    """A spec that describes no agent; the message is one line and tells what would be valid."""


class GameOver(ValueError):  # noqa: N818  # a state of the game, not a fault of the code
    """A request for a move in a finished game."""


class Resignation(Exception):  # noqa: N818  # a way to end a game
    """A bot resigns: the game is lost, without a fault."""


class AgentFailure(UserError):  # noqa: N818  # the glossary's word: the agent's fault, a forfeit
    """A fault of an agent, which loses the game.

    `kind` is one of FAILURES. `trace` holds only lines of the bot's code or its output.
    """

    several_lines = True

    def __init__(self, kind: str, bot: str, position: str, message: str, trace: str = "") -> None:
        bot, message = printable(bot), printable(message)  # they may contain file names
        self.kind, self.bot, self.position = kind, bot, position
        self.message, self.trace = message, trace
        super().__init__(f"{bot} {self.description}")

    @property
    def description(self) -> str:
        """The fault without the name of the bot."""
        place = f" in '{self.position}'" if self.position else ""
        return f"{self.message}{place}" + (f"\n{self.trace}" if self.trace else "")

    def __reduce__(self) -> tuple[type["AgentFailure"], tuple[str, ...]]:
        """Pickle the failure with all its parts, to send it to another process."""
        return type(self), (self.kind, self.bot, self.position, self.message, self.trace)


def require_unfinished(game: Game, position: Position) -> None:
    """Raise GameOver if the game is over."""
    if game.over(position):
        raise GameOver(
            f"{game.name}: the game is over in '{game.text(position)}', there is no move"
        )


@dataclass(frozen=True, slots=True)
class HostSettings:
    """The settings that the caller provides for an agent, in addition to its spec."""

    sandbox: Sandbox
    move_seconds: float = MOVE_SECONDS  # the limit of one move
    cores: tuple[int, ...] = ()  # empty: any core
    search_info: bool = False  # whether search information is collected
    name: str = ""  # the agent's, in front of every line that its bot writes
