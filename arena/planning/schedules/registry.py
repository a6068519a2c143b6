"""The table of schedules: which agents meet."""

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from arena.planning.rounds import Participants, RoundsSpec, Tournament
from games.base.schema import Key, KeyValues, Problem
from games.base.text import did_you_mean, join_names, quote

# The name of a schedule, which is also its first key -> its `ScheduleMethod`.
SCHEDULES: Mapping[str, str] = {
    "round_robin": "arena.planning.schedules.fixed:ROUND_ROBIN",
    "gauntlet": "arena.planning.schedules.fixed:GAUNTLET",
    "match": "arena.planning.schedules.fixed:MATCH",
    "best": "arena.planning.schedules.best:BEST",
    "rank": "arena.planning.schedules.rank:RANK",
    "place": "arena.planning.schedules.place:PLACE",
    "swiss": "arena.planning.schedules.swiss:SWISS",
    "scale": "arena.planning.schedules.scale:SCALE",
}
Matches = tuple[tuple[int, int], ...]  # pairs of agents, by their places


@dataclass(frozen=True, kw_only=True)
class ScheduleMethod:
    """A schedule: its keys, and the matches that follow from their values and the agents' names."""

    keys: Sequence[Key]  # the first one has the schedule's name
    examples: Sequence[str]
    # Returns the matches, in the order in which their pairs are numbered. Of a schedule by rounds
    # they are those that may be played.
    matches: Callable[[KeyValues, Sequence[str]], Matches]
    # Yields values that do not fit the agents of the file.
    problems: Callable[[KeyValues, Sequence[str]], Iterable[Problem]] = lambda _, __: ()
    name_suffices: bool = False  # whether a file may write the name alone
    # Returns the tournament before its first round; None: every match plays all its pairs.
    begin: Callable[[KeyValues, Participants], Tournament] | None = None
    # Returns the values as a plan stores them.
    plan_values: Callable[[KeyValues], KeyValues] = dict
    # Returns the number of pairs of a schedule by rounds; None if results decide it.
    pair_total: Callable[[KeyValues, Participants], int | None] = lambda _, __: None


def schedule_method(name: str) -> ScheduleMethod:
    """Return the entry of `SCHEDULES`."""
    module, _, attribute = SCHEDULES[name].partition(":")
    method: ScheduleMethod = getattr(importlib.import_module(module), attribute)
    return method


def rounds_choice(name: str, values: KeyValues) -> RoundsSpec | None:
    """Return the rounds of a schedule; None if every match plays all its pairs."""
    method = schedule_method(name)
    return None if method.begin is None else RoundsSpec(name, method.plan_values(values))


def start_tournament(rounds: RoundsSpec, participants: Participants) -> Tournament:
    """Return the tournament before its first round."""
    begin = schedule_method(rounds.method).begin
    assert begin is not None  # otherwise the plan has no rounds
    return begin(rounds.values, participants)


def pair_total(rounds: RoundsSpec, participants: Participants) -> int | None:
    """Return how many pairs a schedule by rounds plays; None if results decide it."""
    return schedule_method(rounds.method).pair_total(rounds.values, participants)


def unknown_agent_message(name: str, names: Iterable[str]) -> str:
    """Return the message that an agent does not exist, with the names of those that do."""
    known = list(names)
    there = f"there is no agent {quote(name)} (there are {join_names(known)})"
    return f"{there}{did_you_mean(name, known)}"
