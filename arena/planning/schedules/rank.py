"""The order of all agents: a race in which neighbours meet until they are separated."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from arena.planning.rounds import IN, Meeting, Participants, Points, StandingRow, TournamentStanding
from arena.planning.schedules.fixed import all_matches
from arena.planning.schedules.race import (
    DELTA,
    ORDER_NOTE,
    add_results,
    error_text,
    indifference_key,
    meetings_for,
    no_openings_text,
    rounds_text,
)
from arena.planning.schedules.registry import ScheduleMethod
from arena.stats.racing import Flags, Race, rank_by_strength, start_race, transitive_closure
from games.base.schema import Key, KeyValues


@dataclass(frozen=True)
class Ranking:
    """The race for the order after some rounds."""

    names: Sequence[str]
    state: Race

    @cached_property
    def above(self) -> Flags:
        """The relation `above` with its indirect cases: [i, j] if i is above j."""
        return transitive_closure(self.state.above)

    @cached_property
    def cycle(self) -> bool:
        """True if an agent is above itself through others."""
        return bool(self.above.diagonal().any())

    @cached_property
    def order(self) -> list[int]:
        """All agents, the strongest first, each behind those that are shown to be above it."""
        left, order = rank_by_strength(self.state, range(len(self.names))), []
        while left:
            free = (i for i in left if not any(self.above[j, i] for j in left))
            order.append(next(free, left[0]))
            left.remove(order[-1])
        return order

    @cached_property
    def open_neighbours(self) -> list[tuple[int, int]]:
        """The undecided neighbours."""
        decided = self.above | self.state.alike
        return [(i, j) for i, j in pairwise(self.order) if not decided[i, j]]

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """All undecided neighbours."""
        return () if self.cycle else meetings_for(self.state, self.open_neighbours)

    def after_round(self, points: Sequence[Points]) -> "Ranking":
        """Return the race after the next round."""
        return replace(self, state=add_results(self.state, self.meetings, points))

    @property
    def standing(self) -> TournamentStanding:
        """The agents in order, with the evidence against the next one."""
        over, places = not self.meetings, self._places()
        rows = tuple(self._row(at, places, over) for at in range(len(self.order)))
        answer, rounds = self._answer(over), self.state.rounds
        return TournamentStanding("rank", rounds, over, rows, answer, (ORDER_NOTE,))

    def _places(self) -> list[int]:
        """Return a place for each agent in order; neighbours that are not separated share one."""
        places = [1]
        for at, (i, j) in enumerate(pairwise(self.order), 2):
            places.append(at if self.above[i, j] else places[-1])
        return places

    def _order_text(self) -> str:
        """Return the agents in order; those that share a place are joined by `=`."""
        groups = dict[int, list[str]]()
        for place, agent in zip(self._places(), self.order, strict=True):
            groups.setdefault(place, []).append(self.names[agent])
        text = ", ".join(" = ".join(group) for group in groups.values())
        level = f" (=: within {self.state.indifference:g} Elo of its neighbour)"
        return text + level * (len(groups) < len(self.order))

    def _row(self, at: int, places: Sequence[int], over: bool) -> StandingRow:
        agent, state = self.order[at], "ranked" if over and not self.cycle else IN
        if at + 1 == len(self.order):
            return StandingRow(agent, state, "", places[at])
        below = self.order[at + 1]
        name = self.names[below]
        counts = tuple(int(n) for n in self.state.counts[agent, below])
        if self.above[agent, below]:
            why = f"above {name}"
        elif self.state.alike[agent, below]:
            why = f"within {self.state.indifference:g} Elo of {name}"
        else:
            why, state = f"not separated from {name}", IN
        return StandingRow(agent, state, why, places[at], counts=counts)

    def _answer(self, over: bool) -> str:
        after, neighbours = rounds_text(self.state.rounds), len(self.order) - 1
        if not over:
            apart = neighbours - len(self.open_neighbours)
            return f"{apart} of {neighbours} neighbours are separated"
        if self.cycle:
            return f"no order after {after}: some are above one another (a cycle)"
        if self.open_neighbours:
            names = self.names
            pairs = ", ".join(f"{names[i]} and {names[j]}" for i, j in self.open_neighbours)
            return f"not decided between {pairs} after {after}: {no_openings_text(self.state)}"
        questions = len(self.names) * (len(self.names) - 1)
        return f"order: {self._order_text()}, {error_text(self.state, questions)}"


def start_ranking(values: KeyValues, participants: Participants) -> Ranking:
    """Return the race before its first round."""
    agents = len(participants.names)
    level = math.log(agents * (agents - 1) / values["delta"])
    state = start_race(agents, level, participants.max_pairs, values["indifference"])
    return Ranking(participants.names, state)


RANK = ScheduleMethod(
    keys=(
        Key("rank", "bool", "find the order of all agents", True, choices=(True,)),
        DELTA,
        indifference_key(10),
    ),
    examples=("{ rank = true }",),
    matches=all_matches,
    name_suffices=True,
    begin=start_ranking,
)
