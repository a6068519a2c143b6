"""Agent, AgentSpec, Choice, Limit and the failures of agents."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from agents.sandbox.sandbox import Sandbox
from games import Game, Position
from games.base.errors import UserError, printable
from games.base.schema import KeyValues

Weights = Mapping[str, tuple[float, ...]]
Options = KeyValues  # options by name
FAILURES = (
    "illegal",  # a move that is not legal
    "unreadable",  # no move at all
    "timeout",
    "raised",  # an exception; the process lives
    "crashed",  # the process ended
    "memory",
    "flooded",  # more output, files or processes than it may have
    "unloadable",
)
MOVE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Limit:
    """How long an agent may think about one move; at least one is set."""

    depth: int | None = None
    nodes: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse a limit that sets nothing, or leaves nothing to search with."""
        if self.depth is None and self.nodes is None and self.seconds is None:
            raise SpecError("a limit sets depth, nodes or seconds; none is set")
        for name in ("depth", "nodes", "seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SpecError(f"{name} must be more than 0, got {value}")


@dataclass(frozen=True, slots=True, init=False)
class AgentSpec:
    """The frozen recipe an agent is built from; an absent option means the kind's default."""

    kind: str
    options: Options

    def __init__(self, kind: str, options: Options | None = None, /, **named: object) -> None:
        """Options as a mapping or by name; `None` and `{}` count as absent, lists become tuples."""
        both = {**(options or {}), **named}
        set_ = {name: _frozen(value) for name, value in both.items() if value not in (None, {})}
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "options", set_)

    def replace(self, **named: object) -> "AgentSpec":
        """The spec with other values for some options; `None` takes one out."""
        return AgentSpec(self.kind, {**self.options, **named})

    def to_json(self) -> dict[str, object]:
        """The agent's table as a file holds it, its options sorted."""
        return {"kind": self.kind, **to_plain_table(self.options)}

    @classmethod
    def from_json(cls, stored: KeyValues) -> "AgentSpec":
        """The spec that `to_json` wrote."""
        return cls(stored["kind"], {key: stored[key] for key in stored if key != "kind"})


def _frozen(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _frozen(each) for key, each in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def to_plain_table(table: KeyValues) -> dict[str, object]:
    """The table as a file holds it: lists and dicts, their keys sorted."""
    return {key: _plain(table[key]) for key in sorted(table)}


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return to_plain_table(value)
    return list(map(_plain, value)) if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True)
class Choice:
    """A move and what the agent knows about it; `value` is from the mover's side.

    `depth` is in plies; 200, more than any search looks ahead, means to the end of the game.
    """

    move: int
    value: float | None = None
    depth: int = 0
    nodes: int = 0
    line: tuple[int, ...] = ()
    exact: bool = False


class SearchedMove(NamedTuple):
    """A move as a search values it, by the score of the kernels."""

    score: int
    nodes: int
    line: tuple[int, ...]


class Agent(Protocol):
    """An object that chooses moves; built from a spec for one game."""

    spec: AgentSpec

    def start(self, seed: int) -> None:
        """Begin a game: forget the last one, draw all chance from `seed`."""

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """A legal move, also in a forced pass; GameOver if there is none."""


@runtime_checkable
class GameFollower(Protocol):
    """An agent that must hear of every move, its own too, and of the end of a game."""

    def played(self, move: int, before: Position, after: Position) -> None:
        """Note a move of either side; those of an opening come before the first question."""

    def finish(self) -> None:
        """The game is over, or was cut off."""


class SpecError(UserError, ValueError):
    """No agent can be built from a spec: one line that says what would be right."""


class GameOver(ValueError):  # noqa: N818  # a state of the game, not a fault of the code
    """An agent was asked for a move in a finished game."""


class Resignation(Exception):  # noqa: N818  # a way to end a game
    """A bot gives the game up: lost, and no fault."""


class AgentFailure(UserError):  # noqa: N818  # the glossary's word: the agent's fault, a forfeit
    """The agent's own fault: it loses. Says which bot, which position and what it did."""

    several_lines = True

    def __init__(self, kind: str, bot: str, position: str, message: str, trace: str = "") -> None:
        """`kind` is one of FAILURES; `trace` only shows the bot's code, or what it wrote."""
        bot, message = printable(bot), printable(message)  # they may hold the names of files
        self.kind, self.bot, self.position = kind, bot, position
        self.message, self.trace = message, trace
        super().__init__(f"{bot} {self.description}")

    @property
    def description(self) -> str:
        """What happened, without the name of the bot."""
        place = f" in '{self.position}'" if self.position else ""
        return f"{self.message}{place}" + (f"\n{self.trace}" if self.trace else "")

    def __reduce__(self) -> tuple[type["AgentFailure"], tuple[str, ...]]:
        """Failures cross process boundaries with all their parts."""
        return type(self), (self.kind, self.bot, self.position, self.message, self.trace)


def require_unfinished(of: Game, position: Position) -> None:
    """Raise GameOver when there is no move to choose."""
    if of.over(position):
        raise GameOver(f"{of.name}: the game is over in '{of.text(position)}', there is no move")


@dataclass(frozen=True, slots=True)
class HostSettings:
    """What the caller provides for an agent; the kind's own options are in its spec."""

    wall: Sandbox
    seconds: float = MOVE_SECONDS  # at most, for one move
    cores: tuple[int, ...] = ()  # none: any
    thoughts: bool = False  # whether it is asked what it thought of its moves
