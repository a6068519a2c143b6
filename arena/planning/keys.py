"""The keys that a table of a file may have, as the entries of our tables declare them."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from games.names import did_you_mean, listed, quoted, shown

KeyType = Literal["int", "float", "bool", "text", "texts", "table", "tables", "any"]
# Where in a value a fault is (empty: all of it), and one line about it.
Fault = tuple[tuple[str | int, ...], str]

TYPES: dict[KeyType, tuple[type | tuple[type, ...], str]] = {
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "bool": (bool, "true or false"),
    "text": (str, "text in quotes"),
    "texts": (list, "a list in [ ]"),
    "table": (dict, "a table"),
    "tables": (list, "a list in [ ]"),
    "any": (object, "a value"),
}


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table: the type of its value, its bounds, and what it means in one line.

    `choices`, if any, are all the values that it may have.
    """

    name: str
    type: KeyType
    words: str
    default: Any = None
    required: bool = False
    choices: tuple[Any, ...] = ()
    at_least: float = -math.inf
    more_than: float = -math.inf
    at_most: float = math.inf
    less_than: float = math.inf
    example: str = ""  # how it is written, for who has left it out

    def faults(self, value: Any) -> Iterator[Fault]:
        """What is wrong with a value of this key."""
        if must := self._must(value):
            near = did_you_mean(value, self._texts()) if isinstance(value, str) else ""
            yield (), f"{self.name} must be {must}, got {shown(value)}{near}"
        elif self.type == "texts":
            for place, item in enumerate(value):
                if not isinstance(item, str):
                    message = f"item {place + 1} of {self.name} must be text in quotes"
                    yield (place,), f"{message}, got {shown(item)}"

    def _must(self, value: Any) -> str:
        """What the value must be and is not; empty if it is."""
        python, words = TYPES[self.type]
        if self.choices:
            fits = any(type(value) is type(each) and value == each for each in self.choices)
            return "" if fits else either(self.choices)
        wrong = isinstance(value, bool) and self.type in ("int", "float")
        if wrong or not isinstance(value, python):
            return words
        if not isinstance(value, int | float) or isinstance(value, bool):
            return ""
        if isinstance(value, float) and not math.isfinite(value):
            return "a finite number"
        bounds = {
            f"at least {plain(self.at_least)}": value >= self.at_least,
            f"more than {plain(self.more_than)}": value > self.more_than,
            f"at most {plain(self.at_most)}": value <= self.at_most,
            f"less than {plain(self.less_than)}": value < self.less_than,
        }
        return next((words for words, holds in bounds.items() if not holds), "")

    def _texts(self) -> list[str]:
        return [choice for choice in self.choices if isinstance(choice, str)]


def plain(bound: float) -> str:
    """A bound as people write it."""
    whole = math.isfinite(bound) and bound == int(bound)
    return f"{int(bound):,}" if whole else str(bound)


def either(choices: Sequence[Any]) -> str:
    """Choices in words: `true or "proved"`."""
    words = [quoted(each) if isinstance(each, str) else shown(each) for each in choices]
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def defaults(keys: Sequence[Key]) -> dict[str, Any]:
    """The values that keys have where nothing is written."""
    return {key.name: key.default for key in keys}


def no_agent(name: str, names: Iterable[str]) -> str:
    """That an agent does not exist, and which do."""
    known = list(names)
    there = f"there is no agent {quoted(name)} (there are {listed(known)})"
    return f"{there}{did_you_mean(name, known)}"
