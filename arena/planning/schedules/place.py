"""The place of a newcomer among agents whose order is known: a race by halving."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from arena.planning.rounds import (
    IN,
    OUT,
    Meeting,
    Participants,
    Points,
    StandingRow,
    TournamentStanding,
)
from arena.planning.schedules.race import (
    DELTA,
    add_results,
    error_text,
    indifference_key,
    meetings_for,
    no_openings_text,
    rounds_text,
    score_text,
)
from arena.planning.schedules.registry import Matches, ScheduleMethod, unknown_agent_message
from arena.stats.racing import Race, start_race
from games.base.schema import Key, KeyValues, Problem

NOT_TESTED = "the order of the others was given, not tested"


def place_problems(values: KeyValues, names: Sequence[str]) -> Iterator[Problem]:
    """Yield a newcomer that the file does not define."""
    if values["place"] not in names:
        yield ("place",), unknown_agent_message(values["place"], names)


def place_matches(values: KeyValues, names: Sequence[str]) -> Matches:
    """Return the matches of the newcomer against each of the others."""
    one = names.index(values["place"])
    others = (other for other in range(len(names)) if other != one)
    return tuple((min(one, other), max(one, other)) for other in others)


@dataclass(frozen=True)
class PlacementRace:
    """The race after some rounds.

    The newcomer is below the first `low` agents of `order` and above all from `high` on.
    """

    names: Sequence[str]
    newcomer: int
    order: Sequence[int]
    state: Race
    low: int
    high: int
    level_with: int | None = None  # an agent within the margin of the newcomer

    @property
    def pivot(self) -> int:
        """The agent in the middle of the possible places."""
        return self.order[(self.low + self.high) // 2]

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """The newcomer against the agent in the middle of the possible places."""
        if self.low == self.high or self.level_with is not None:
            return ()
        return meetings_for(self.state, [(self.newcomer, self.pivot)])

    def after_round(self, points: Sequence[Points]) -> "PlacementRace":
        """Return the race after the next round."""
        state = add_results(self.state, self.meetings, points)
        pivot, one, middle = self.pivot, self.newcomer, (self.low + self.high) // 2
        if state.above[one, pivot]:
            return replace(self, state=state, high=middle)
        if state.above[pivot, one]:
            return replace(self, state=state, low=middle + 1)
        return replace(self, state=state, level_with=pivot if state.alike[one, pivot] else None)

    @property
    def standing(self) -> TournamentStanding:
        """The newcomer's place, then the others with their scores against it."""
        over, place = not self.meetings, self._place()
        state = "placed" if over and place else IN
        rows = [StandingRow(self.newcomer, state, "the newcomer", place)]
        for at, other in enumerate(self.order):
            counts = tuple(int(n) for n in self.state.counts[self.newcomer, other])
            side = self._side(at)
            score = score_text(self.names[self.newcomer], counts) if sum(counts) else "not met"
            why, state = f"{score}; {side}", IN if side == "open" else OUT
            rows.append(StandingRow(other, state, why, self._place_of(at), counts=counts))
        answer, rounds = self._answer(over), self.state.rounds
        return TournamentStanding("place", rounds, over, tuple(rows), answer, (NOT_TESTED,))

    def _place(self) -> int | None:
        """Return the newcomer's place, that of the agent it is level with; None: undecided."""
        if self.level_with is not None:
            return list(self.order).index(self.level_with) + 1
        return self.low + 1 if self.low == self.high else None

    def _place_of(self, at: int) -> int | None:
        """Return the place of one of the others; None: undecided."""
        place = self._place()
        if place is not None:
            return at + 1 if at < place - 1 or self._side(at) == "level" else at + 2
        return at + 1 if at < self.low else at + 2 if at >= self.high else None

    def _side(self, at: int) -> str:
        level = None if self.level_with is None else list(self.order).index(self.level_with)
        if at == level:
            return "level"
        if at < (self.low if level is None else level):
            return "above the newcomer"
        if at >= (self.high if level is None else level):
            return "below the newcomer"
        return "open"

    def _answer(self, over: bool) -> str:
        name, agents = self.names[self.newcomer], len(self.order) + 1
        places = f"place {self.low + 1} to {self.high + 1} of {agents}"
        if not over:
            return f"{name}: {places}"
        error = error_text(self.state, comparison_count(len(self.order)))
        if self.level_with is not None:
            within = f"within {self.state.indifference:g} Elo"
            return f"{name}: level with {self.names[self.level_with]} ({within}), {error}"
        if self.low < self.high:
            after = rounds_text(self.state.rounds)
            left = f"not decided against {self.names[self.pivot]} after {after}"
            return f"{name}: {places}, {left}: {no_openings_text(self.state)}"
        return f"{name}: place {self.low + 1} of {agents}{self._between()}, {error}"

    def _between(self) -> str:
        above = f"below {self.names[self.order[self.low - 1]]}" if self.low else ""
        below = f"above {self.names[self.order[self.low]]}" if self.low < len(self.order) else ""
        return f", {' and '.join(filter(None, [above, below]))}" if above or below else ""


def start_placement(values: KeyValues, participants: Participants) -> PlacementRace:
    """Return the race before its first round."""
    names = participants.names
    newcomer = names.index(values["place"])
    others = [names.index(name) for name in values.get("order", ())]
    order = others or [place for place in range(len(names)) if place != newcomer]
    level = math.log(comparison_count(len(order)) / values["delta"])
    state = start_race(len(names), level, participants.max_pairs, values["indifference"])
    return PlacementRace(names, newcomer, order, state, 0, len(order))


def comparison_count(others: int) -> int:
    """Return how many comparisons with other agents a newcomer needs at most."""
    return max(1, math.ceil(math.log2(others + 1)))


PLACE = ScheduleMethod(
    keys=(Key("place", "text", "the newcomer"), DELTA, indifference_key(10)),
    examples=('{ place = "a" }',),
    matches=place_matches,
    problems=place_problems,
    begin=start_placement,
    plan_values=lambda values: {"place": values["place"], "order": (), **values},
)
