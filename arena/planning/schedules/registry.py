"""Schedules: which agents meet, a module for each."""

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, cast, runtime_checkable

from arena.planning.rounds import Participants, RoundsSpec, Tournament
from games.base.schema import Fault, Key, KeyValues
from games.base.text import did_you_mean, listed, quote

# The key that asks for a schedule -> the module that knows it.
SCHEDULES: Mapping[str, str] = {
    "round_robin": "arena.planning.schedules.round_robin",
    "gauntlet": "arena.planning.schedules.gauntlet",
    "match": "arena.planning.schedules.match",
    "best": "arena.planning.schedules.best",
    "rank": "arena.planning.schedules.rank",
    "place": "arena.planning.schedules.place",
    "swiss": "arena.planning.schedules.swiss",
}
Matches = tuple[tuple[int, int], ...]  # the places of two agents each


class Schedule(Protocol):
    """A schedule's module; one that goes by rounds is a `RoundsSchedule`."""

    KEYS: Sequence[Key]  # the first has the schedule's name
    WORD: bool  # whether the plain name may be written, for the keys' defaults
    EXAMPLES: Sequence[str]

    def faults(self, values: KeyValues, names: Sequence[str]) -> Iterator[Fault]:
        """Yield what does not fit the agents of the file."""

    def matches(self, values: KeyValues, names: Sequence[str]) -> Matches:
        """Return the matches, in the order in which their pairs are numbered."""


@runtime_checkable
class RoundsSchedule(Schedule, Protocol):
    """A schedule by rounds: of its `matches`, results decide which are played."""

    def begin(self, values: KeyValues, entrants: Participants) -> Tournament:
        """The tournament before its first round."""


def schedule(name: str) -> Schedule:
    """The module behind a name in `SCHEDULES`."""
    return cast(Schedule, importlib.import_module(SCHEDULES[name]))


def rounds_choice(name: str, values: KeyValues) -> RoundsSpec | None:
    """The rounds of a schedule; None if all its matches play all pairs."""
    return RoundsSpec(name, values) if isinstance(schedule(name), RoundsSchedule) else None


def start_tournament(rounds: RoundsSpec, entrants: Participants) -> Tournament:
    """The tournament before its first round."""
    module = schedule(rounds.way)
    assert isinstance(module, RoundsSchedule)  # else the plan would have no rounds
    return module.begin(rounds.values, entrants)


def unknown_agent_message(name: str, names: Iterable[str]) -> str:
    """The message that an agent does not exist, with those that do."""
    known = list(names)
    there = f"there is no agent {quote(name)} (there are {listed(known)})"
    return f"{there}{did_you_mean(name, known)}"
