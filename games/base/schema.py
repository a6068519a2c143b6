"""Keys of tables, and the one reader of tables: types, bounds, defaults, removed keys.

Experiment files, agents, options of agent kinds and headers of weight files declare their keys
as `Key`. `read_table` reads them and reports every problem.
"""

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

from games.base.removed import REMOVED_KEYS
from games.base.text import did_you_mean, format_value, join_names, quote, synonym_of

KeyType = Literal[
    "int",
    "float",
    "bool",
    "text",
    "texts",
    "numbers",
    "list",
    "plies",
    "time",
    "size",
    "file",
    "path",
    "paths",
    "command",
    "weights",
    "table",
    "any",
]
Place = tuple[str | int, ...]  # keys and list indices from the top of a file
# The values of a table by key: from a file, from JSON, or defaults.
KeyValues: TypeAlias = Mapping[str, Any]
# A place inside a value (empty: the value itself) and a message.
Problem = tuple[Place, str]
Report = Callable[[Place, str], object]  # called with the place and the message of a problem

TYPE_DESCRIPTIONS: Mapping[KeyType, tuple[type | tuple[type, ...], str]] = {
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "bool": (bool, "true or false"),
    "text": (str, "text in quotes"),
    "texts": ((list, tuple), "a list in [ ]"),
    "numbers": ((list, tuple), "a list in [ ]"),
    "list": ((list, tuple), "a list in [ ]"),
    "plies": ((int, list, tuple), "a whole number or two of them, such as 6 or [4, 10],"),
    "time": (str, 'seconds in quotes, such as "60" or "60+0.5" with 0.5 more for every move'),
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


GAME_TIME = re.compile(r"([0-9]{1,5}(?:\.[0-9]{1,6})?)(?:\+([0-9]{1,4}(?:\.[0-9]{1,6})?))?")
MOST_GAME_SECONDS, MOST_INCREMENT = 86_400.0, 3600.0
NEAR = 0.6  # minimal similarity of two words, from 0 to 1, for a suggestion
MOST_UNKNOWN = 20  # unknown keys of a table that are reported individually


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table, used by the reader, the help, the reference page and the tuner.

    A value may equal `low` and `high`, but not `above` and `below`.
    """

    name: str
    type: KeyType
    description: str  # in one line
    default: Any = None  # a value, or a function of the game
    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf
    below: float = math.inf
    choices: tuple[object, ...] = ()  # all allowed values; empty: no list
    required: bool = False
    example: str = ""  # appended to the message that the key is missing
    keys: tuple["Key", ...] = ()  # of a table
    default_function: str = ""  # the default of `:name` in `path.py:name`
    replaces: tuple[str, ...] = ()  # parts of a game that are not needed when this key is set
    default_unless: tuple[str, ...] = ()  # keys that cancel its default

    def problems(self, value: object) -> Iterator[Problem]:
        """Yield the problems of a value for this key."""
        if not self.accepts(value):
            texts = [choice for choice in self.choices if isinstance(choice, str)]
            near = did_you_mean(value, texts)
            yield (
                (),
                f"{self.name} must be {self.describe_allowed()}, got {format_value(value)}{near}",
            )
        elif isinstance(value, list | tuple) and self.type in ITEM_TYPES:
            if self.type == "command" and not value:
                yield (), f"{self.name} must be {self.describe_allowed()}, got an empty list"
            for place, item in enumerate(value):
                key = Key(
                    f"item {place + 1} of {self.name}", ITEM_TYPES[self.type], self.description
                )
                yield from (((place,), message) for _, message in key.problems(item))

    def accepts(self, value: object) -> bool:
        """Return whether the key accepts this value; items of lists are not checked."""
        if self.choices:
            return any(type(value) is type(each) and value == each for each in self.choices)
        if isinstance(value, bool):
            return self.type in ("bool", "any")
        if not isinstance(value, TYPE_DESCRIPTIONS[self.type][0]):
            return False
        if self.type in PARSERS:
            return bool(PARSERS[self.type](value))
        if self.type == "plies" and isinstance(value, list | tuple):
            return self._fits_span(value)
        return self.type == "any" or not isinstance(value, int | float) or self._fits_number(value)

    def _fits_number(self, value: float) -> bool:
        finite = self.type == "int" or abs(value) <= sys.float_info.max
        return finite and self.low <= value <= self.high and self.above < value < self.below

    def _fits_span(self, value: Sequence[object]) -> bool:
        whole = [each for each in value if type(each) is int]
        return len(whole) == len(value) == 2 and max(1, self.low) <= whole[0] <= whole[1] <= (
            self.high
        )

    def describe_allowed(self) -> str:
        """Describe the allowed values, such as `a whole number from 1 to 100`."""
        if self.choices:
            return join_choices(self.choices)
        bounds = {"from": self.low, "above": self.above, "to": self.high, "to under": self.below}
        words = [f"{word} {_number(b)}" for word, b in bounds.items() if math.isfinite(b)]
        return " ".join([TYPE_DESCRIPTIONS[self.type][1], *words])


def parse_game_time(text: str) -> tuple[float, float] | None:
    """Return seconds and increment of a time such as 60+0.5; None if it is invalid."""
    found = GAME_TIME.fullmatch(text.strip())
    if not found:
        return None
    seconds, increment = float(found[1]), float(found[2] or 0.0)
    fits = 0 < seconds <= MOST_GAME_SECONDS and increment <= MOST_INCREMENT
    return (seconds, increment) if fits else None


def parse_size(text: str) -> int:
    """Return the bytes of a size such as 512MB; 0 if it is invalid."""
    found = SIZE.fullmatch(text.strip())
    return int(found[1]) << 10 * ("kmg".index(found[2].lower()) + 1) if found else 0


PARSERS: Mapping[KeyType, Callable[[Any], object]] = {"size": parse_size, "time": parse_game_time}


def _number(bound: float) -> str:
    return f"{int(bound):,}" if bound == int(bound) else f"{bound:g}"


def join_choices(choices: Sequence[object]) -> str:
    """Return the choices as text: `true or "proved"`."""
    words = [quote(each) if isinstance(each, str) else format_value(each) for each in choices]
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def default_values(keys: Sequence[Key]) -> dict[str, Any]:
    """Return the default values of keys."""
    return {key.name: key.default for key in keys}


GAME_TIME_KEY = Key(
    "game_time", "time", 'seconds for all moves of a game; "60+0.5" adds 0.5 after every move'
)


def no_hint(_: str) -> str:
    """Return no hint about an unknown key."""
    return ""


def read_table(
    written: Mapping[str, object],
    place: Place,
    keys: Sequence[Key],
    report: Report,
    hint: Callable[[str], str] = no_hint,
) -> dict[str, Any]:
    """Return the values of all keys, with defaults for missing ones; omit invalid values.

    The value of a key with `keys` is the dictionary of its table. `hint` names the table to which
    an unknown key belongs.
    """
    names = [key.name for key in keys]
    unknown = [name for name in written if name not in names]
    likely, there = set(), f" (there are {join_names(names)})" if names else " (there are none)"
    for name in unknown[:MOST_UNKNOWN]:  # a table with more has the wrong place, not typing errors
        message, near = unknown_key_message(name, names, written, hint)
        report((*place, name), message + ("" if near else there))
        likely.add(near)
        there = there if near else ""  # list the keys once per table
    if len(unknown) > MOST_UNKNOWN:
        message = f"{len(unknown) - MOST_UNKNOWN:,} more unknown keys"
        report((*place, unknown[MOST_UNKNOWN]), message)
    values: dict[str, Any] = {}
    for key in keys:
        if key.name in written:
            values |= _read_key(key, written[key.name], (*place, key.name), report, hint)
        elif not key.required:
            values[key.name] = key.default
        elif key.name not in likely:  # do not report a misspelled key as missing, too
            report((*place, key.name), f"{key.name} is missing{key.example}")
    return values


def _read_key(
    key: Key, value: Any, place: Place, report: Report, hint: Callable[[str], str]
) -> dict[str, Any]:
    """Return the key with its value, or nothing if the value is invalid."""
    problems = list(key.problems(value))
    for inside, message in problems:
        report((*place, *inside), message)
    if problems:
        return {}
    if key.keys:
        return {key.name: read_table(value, place, key.keys, report, hint)}
    if key.type == "float":
        value = float(value)
    is_list = key.type in ITEM_TYPES or (key.type == "plies" and not isinstance(value, int))
    return {key.name: tuple(value) if is_list else value}


def table_problems(written: Mapping[str, object], keys: Sequence[Key]) -> list[Problem]:
    """Return every problem of a table, with its place in the table."""
    problems: list[Problem] = []
    read_table(written, (), keys, lambda place, message: problems.append((place, message)))
    return problems


def unknown_key_message(
    key: str,
    names: Sequence[str],
    written: Iterable[str] = (),
    hint: Callable[[str], str] = no_hint,
) -> tuple[str, str | None]:
    """Return the message about an unknown key, and the likely intended key, if any.

    `written` are the keys that the table has.
    """
    message = f"unknown key {quote(key)}"
    likely = synonym_of(key, names)
    instead = hint(key) or REMOVED_KEYS.get(key.lower(), "")
    if not likely and instead:
        return f"{message}; {instead}", key
    free = [name for name in names if name not in written]
    if likely := likely or _closest(key, free) or _closest(key, names):
        return f'{message}; did you mean "{likely}"?', likely
    return message, None


def _closest(word: str, names: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(word, list(names), 1, NEAR)), None)
