"""What a kind of agents may declare: its options, what it needs, what may differ or run in it."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agents.core import Agent, AgentSpec, Settings
from games import Game

OptionType = Literal["int", "float", "bool", "text", "file", "weights", "table"]
Reason = Callable[[Settings], str | None]  # from the options that a spec sets

# `varies` of a kind whose code is not ours and may do anything.
UNKNOWN = "what it answers is known only when it is asked"

PYTHON: Mapping[OptionType, type | tuple[type, ...]] = {
    "int": int,
    "float": (int, float),
    "bool": bool,
    "text": str,
    "file": str,
    "weights": Mapping,
    "table": Mapping,
}
WORDS: Mapping[OptionType, str] = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "text": "text in quotes",
    "file": 'a file like "bots/mine.py"',
    "weights": 'a table or a file like "weights/mine.toml"',
    "table": "a table",
}


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that a spec may set: read by the reader of files, the help, docs and the tuner."""

    name: str
    type: OptionType
    words: str  # one line: what it does
    default: Any = None  # a value, or a function from the game to one
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    required: bool = False
    entry: str = ""  # what `path.py` without `:name` means in a file
    replaces: tuple[str, ...] = ()  # parts of a pack that are not needed when it is set

    def fits(self, value: object) -> bool:
        """Whether the option may have this value."""
        if isinstance(value, bool) or not isinstance(value, PYTHON[self.type]):
            return isinstance(value, bool) and self.type == "bool"
        if isinstance(value, int | float):
            return math.isfinite(value) and self.low <= value <= self.high
        return not self.choices or value in self.choices

    def allowed(self) -> str:
        """What a value must be, such as `a whole number from 1 to 100`."""
        if self.choices:
            return "one of " + ", ".join(f'"{choice}"' for choice in self.choices)
        low = f" from {_number(self.low)}" if self.low > -math.inf else ""
        high = f" to {_number(self.high)}" if self.high < math.inf else ""
        return WORDS[self.type] + low + high


def _number(bound: float) -> str:
    return f"{int(bound):,}" if bound == int(bound) else f"{bound:g}"


def none(_: Settings) -> str | None:
    """What a kind answers that declares nothing: it never varies, and runs our code only."""
    return None


@dataclass(frozen=True, slots=True)
class Kind:
    """What stands behind the name of a kind; all but `build` may be left out."""

    build: Callable[[AgentSpec, Game], Agent]
    options: tuple[Option, ...] = ()
    needs: tuple[str, ...] = ()  # parts of a game's pack without which it cannot play
    varies: Reason = none  # why it may answer one position in two ways
    users_code: Reason = none  # what of a user's runs in it

    def option(self, name: str) -> Option | None:
        """The option of this name, if the kind has it."""
        return next((each for each in self.options if each.name == name), None)

    def missing(self, options: Collection[str], of: Game) -> list[str]:
        """The parts of the game's pack that agents with these options need and it does not have."""
        replaced = {part for each in self.options if each.name in options for part in each.replaces}
        return [part for part in self.needs if part not in replaced and not of.has(part)]


def settings(options: tuple[Option, ...], spec: AgentSpec, of: Game) -> Settings:
    """Every option with its value, the default for this game where the spec sets none."""
    defaults = {
        each.name: each.default(of) if callable(each.default) else each.default for each in options
    }
    return {**defaults, **spec.options}
