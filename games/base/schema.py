"""Keys of tables: types, bounds, defaults, descriptions, synonyms."""

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from games.base.text import did_you_mean, format_value, quote

KeyType = Literal[
    "int",
    "float",
    "bool",
    "text",
    "texts",
    "numbers",
    "list",
    "size",
    "file",
    "path",
    "paths",
    "command",
    "weights",
    "table",
    "any",
]
# The values of a table by its keys: as a file or JSON holds them, or as the keys default.
KeyValues: TypeAlias = Mapping[str, Any]
# Where in a value a fault is (empty: all of it), with one line about it.
Fault = tuple[tuple[str | int, ...], str]

TYPE_DESCRIPTIONS: Mapping[KeyType, tuple[type | tuple[type, ...], str]] = {
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "bool": (bool, "true or false"),
    "text": (str, "text in quotes"),
    "texts": ((list, tuple), "a list in [ ]"),
    "numbers": ((list, tuple), "a list in [ ]"),
    "list": ((list, tuple), "a list in [ ]"),
    "size": (str, 'a size like "512MB"'),
    "file": (str, 'a file like "bots/mine.py"'),
    "path": (str, 'a path like "bots/mine"'),
    "paths": ((list, tuple), "a list of paths in [ ]"),
    "command": ((list, tuple), 'a list like ["node", "my_bot.js"]'),
    "weights": ((Mapping, str), 'a table or a file like "weights/mine.toml"'),
    "table": (Mapping, "a table"),
    "any": (object, "a value"),
}
SIZE = re.compile(r"([0-9]{1,9})\s*([kMG])i?B", re.IGNORECASE)
ITEM_TYPES: Mapping[KeyType, KeyType] = {
    "texts": "text",
    "numbers": "float",
    "paths": "text",
    "command": "text",
}


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table; the reader of files, help, docs and tuner all take it from here.

    `low` and `high` are values that it may have, `above` and `under` are not.
    """

    name: str
    type: KeyType
    words: str  # what it means, in one line
    default: Any = None  # a value, or a function from the game to one
    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf
    under: float = math.inf
    choices: tuple[object, ...] = ()  # all the values that it may have, if they are listed
    required: bool = False
    example: str = ""  # how it is written, for whoever has left it out
    keys: tuple["Key", ...] = ()  # of a table that is read with its file
    entry: str = ""  # what `path.py` without `:name` means in a file
    replaces: tuple[str, ...] = ()  # parts of a pack that are not needed when it is set
    beside: tuple[str, ...] = ()  # keys beside which its default does not hold

    def faults(self, value: object) -> Iterator[Fault]:
        """What is wrong with a value of this key."""
        if not self.fits(value):
            texts = [choice for choice in self.choices if isinstance(choice, str)]
            near = did_you_mean(value, texts) if isinstance(value, str) else ""
            yield (), f"{self.name} must be {self.allowed()}, got {format_value(value)}{near}"
        elif isinstance(value, list | tuple) and self.type in ITEM_TYPES:
            if self.type == "command" and not value:
                yield (), f"{self.name} must be {self.allowed()}, got an empty list"
            for place, item in enumerate(value):
                key = Key(f"item {place + 1} of {self.name}", ITEM_TYPES[self.type], self.words)
                yield from (((place,), message) for _, message in key.faults(item))

    def fits(self, value: object) -> bool:
        """Whether the key may have this value; the items of a list are not checked."""
        if self.choices:
            return any(type(value) is type(each) and value == each for each in self.choices)
        if isinstance(value, bool):
            return self.type in ("bool", "any")
        if not isinstance(value, TYPE_DESCRIPTIONS[self.type][0]):
            return False
        if self.type == "size":
            return isinstance(value, str) and parse_size(value) > 0
        if not isinstance(value, int | float) or self.type == "any":
            return True
        finite = self.type == "int" or abs(value) <= sys.float_info.max
        return finite and self.low <= value <= self.high and self.above < value < self.under

    def allowed(self) -> str:
        """What a value must be, such as `a whole number from 1 to 100`."""
        if self.choices:
            return join_choices(self.choices)
        bounds = {"from": self.low, "above": self.above, "to": self.high, "to under": self.under}
        words = [f"{word} {_number(b)}" for word, b in bounds.items() if math.isfinite(b)]
        return " ".join([TYPE_DESCRIPTIONS[self.type][1], *words])


def parse_size(text: str) -> int:
    """The bytes of a size such as 512MB; 0 if it is none."""
    found = SIZE.fullmatch(text.strip())
    return int(found[1]) << 10 * ("kmg".index(found[2].lower()) + 1) if found else 0


def _number(bound: float) -> str:
    return f"{int(bound):,}" if bound == int(bound) else f"{bound:g}"


def join_choices(choices: Sequence[object]) -> str:
    """Choices in words: `true or "proved"`."""
    words = [quote(each) if isinstance(each, str) else format_value(each) for each in choices]
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def default_values(keys: Sequence[Key]) -> dict[str, Any]:
    """The values of keys that are not written."""
    return {key.name: key.default for key in keys}
