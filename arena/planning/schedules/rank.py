"""The order of all agents: a race in which neighbours meet until they are told apart."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from arena.planning.rounds import IN, Meeting, Participants, Points, StandingRow, TournamentStanding
from arena.planning.schedules.best import ORDER
from arena.planning.schedules.race import (
    DELTA,
    add_results,
    all_matches,
    error_text,
    exhausted_text,
    indifference,
    meetings_for,
    no_problems,
    rounds_text,
)
from arena.stats.racing import Flags, Race, by_strength, race, transitive_closure
from games.base.schema import Key, KeyValues

KEYS = (
    Key("rank", "bool", "all agents are put in order", True, choices=(True,)),
    DELTA,
    indifference(10),
)
WORD = True
EXAMPLES = ("{ rank = true }",)
faults, matches = no_problems, all_matches


@dataclass(frozen=True)
class Ranking:
    """The race for the order after some rounds."""

    names: Sequence[str]
    state: Race

    @cached_property
    def above(self) -> Flags:
        """Return which agents are above which, also through others."""
        return transitive_closure(self.state.above)

    @cached_property
    def cycle(self) -> bool:
        """Return whether an agent is above itself through others."""
        return bool(self.above.diagonal().any())

    @cached_property
    def order(self) -> list[int]:
        """All agents, the strongest first, and nobody before one that is shown to be above."""
        left, order = by_strength(self.state, range(len(self.names))), []
        while left:
            free = (i for i in left if not any(self.above[j, i] for j in left))
            order.append(next(free, left[0]))
            left.remove(order[-1])
        return order

    @cached_property
    def undecided(self) -> list[tuple[int, int]]:
        """Return the undecided neighbours."""
        pairs = zip(self.order, self.order[1:], strict=False)
        said = self.above | self.state.alike
        return [(i, j) for i, j in pairs if not said[i, j]]

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """All undecided neighbours."""
        return () if self.cycle else meetings_for(self.state, self.undecided)

    def after(self, points: Sequence[Points]) -> "Ranking":
        """The race after the next round."""
        return replace(self, state=add_results(self.state, self.meetings, points))

    @property
    def standing(self) -> TournamentStanding:
        """The order, and which neighbours are told apart."""
        over, places = not self.meetings, self._places()
        rows = tuple(self._row(at, places, over) for at in range(len(self.order)))
        return TournamentStanding(
            "rank", self.state.rounds, over, rows, self._answer(over), (ORDER,)
        )

    def _places(self) -> list[int]:
        """A place for each agent in order; neighbours that are not told apart share one."""
        places = [1]
        for at, (i, j) in enumerate(zip(self.order, self.order[1:], strict=False), 2):
            places.append(at if self.above[i, j] else places[-1])
        return places

    def _order_text(self) -> str:
        """Return the agents in order; those that share a place are joined by `=`."""
        places, groups = self._places(), dict[int, list[str]]()
        for place, agent in zip(places, self.order, strict=True):
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
            why, state = f"not told apart from {name}", IN
        return StandingRow(agent, state, why, places[at], None, None, counts)

    def _answer(self, over: bool) -> str:
        after = rounds_text(self.state.rounds)
        told = len(self.order) - 1 - len(self.undecided)
        if not over:
            return f"{told} of {len(self.order) - 1} neighbours are told apart"
        if self.cycle:
            return f"no order after {after}: some are above one another (a cycle)"
        order = self._order_text()
        if self.undecided:
            pairs = ", ".join(f"{self.names[i]} and {self.names[j]}" for i, j in self.undecided)
            return f"not decided between {pairs} after {after}: {exhausted_text(self.state)}"
        questions = len(self.names) * (len(self.names) - 1)
        return f"order: {order}, {error_text(self.state, questions)}"


def begin(values: KeyValues, entrants: Participants) -> Ranking:
    """The race before its first round."""
    agents = len(entrants.names)
    level = math.log(agents * (agents - 1) / values["delta"])
    return Ranking(entrants.names, race(agents, level, entrants.limit, values["indifference"]))
