"""Schedules: who plays whom, a file for each way."""

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, cast

from games.keys import Fault, Key, KeyValues
from games.names import did_you_mean, listed, quoted

# The key that asks for a schedule -> the module that knows it.
SCHEDULES: Mapping[str, str] = {
    "round_robin": "arena.planning.schedules.round_robin",
    "gauntlet": "arena.planning.schedules.gauntlet",
    "match": "arena.planning.schedules.match",
}
Matches = tuple[tuple[int, int], ...]  # the places of two agents each


class Schedule(Protocol):
    """What the module of a schedule defines."""

    KEYS: Sequence[Key]  # the first has the schedule's name
    WORD: bool  # whether the plain name may be written, for the keys' defaults
    EXAMPLES: Sequence[str]

    def faults(self, values: KeyValues, names: Sequence[str]) -> Iterator[Fault]:
        """What does not fit the agents of the file."""

    def matches(self, values: KeyValues, names: Sequence[str]) -> Matches:
        """Who meets whom, in the order in which their pairings are numbered."""


def schedule(name: str) -> Schedule:
    """The module behind a name in `SCHEDULES`."""
    return cast(Schedule, importlib.import_module(SCHEDULES[name]))


def no_agent(name: str, names: Iterable[str]) -> str:
    """The message that an agent does not exist, with those that do."""
    known = list(names)
    there = f"there is no agent {quoted(name)} (there are {listed(known)})"
    return f"{there}{did_you_mean(name, known)}"
