"""The race for the best agent: whoever is beaten by somebody is out.

It assumes no order. The best agent is lost only if one of the tests of the others against it errs,
so each of them may err with delta / (agents - 1).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from arena.planning.rounds import IN, Entrants, Meeting, Points, Row, TournamentStanding
from arena.planning.schedules.race_parts import (
    counted,
    named,
    out_of,
    out_row,
    round_of,
    surely,
    used_up,
)
from arena.stats.racing import Race, by_strength, race
from games.keys import KeyValues


@dataclass(frozen=True)
class BestOne:
    """The race after some rounds; `out` are those that are beaten, the latest first."""

    names: Sequence[str]
    state: Race
    out: tuple[Row, ...] = ()

    @cached_property
    def inside(self) -> list[int]:
        """Who is still in, the strongest first."""
        gone = {row.agent for row in self.out}
        return by_strength(self.state, (i for i in range(len(self.names)) if i not in gone))

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """The leader against the stronger half of the others; every second round against all.

        The stronger half alone could leave the best, unlucky at first, waiting for ever.
        """
        if len(self.inside) < 2 or self._equals():
            return ()
        leader, *others = self.inside
        half = others[: math.ceil(len(others) / 2)] if self.state.rounds % 2 == 0 else others
        meet = round_of(self.state, ((leader, other) for other in half))
        return meet or round_of(self.state, ((leader, other) for other in others))

    def _equals(self) -> bool:
        """Whether nobody who is left differs from the leader by more than is asked for."""
        leader, *others = self.inside
        return all(self.state.alike[leader, other] for other in others)

    def after(self, points: Sequence[Points]) -> "BestOne":
        """The race after the next round: whoever is beaten by anybody goes out."""
        state = counted(self.state, self.meetings, points)
        rows = []
        for agent in sorted(self.inside):
            above = [by for by in range(len(self.names)) if state.above[by, agent]]
            if above:
                by = max(above, key=lambda each: (state.earned[each, agent], -each))
                rows.append(out_row(state, self.names, agent, by))
        return replace(self, state=state, out=(*rows, *self.out))

    @property
    def standing(self) -> TournamentStanding:
        """Who is in, and why the others are out."""
        over = not self.meetings
        rows = [Row(agent, IN, "", None) for agent in self.inside]
        if over and len(rows) == 1:
            rows = [Row(self.inside[0], "best", "nobody is above it, it is above whom it met", 1)]
        return TournamentStanding(
            "best", self.state.rounds, over, (*rows, *self.out), self._answer(over)
        )

    def _answer(self, over: bool) -> str:
        if not over:
            return f"{len(self.inside)} of {len(self.names)} are still in"
        after = out_of(self.state.rounds)
        if not self.inside:
            return f"no best after {after}: everybody is beaten by somebody (a cycle)"
        if len(self.inside) == 1:
            sure = surely(self.state, len(self.names) - 1)
            return f"best: {self.names[self.inside[0]]}, {sure}"
        left = f"not decided between {named(self.names, self.inside)} after {after}"
        if self._equals():
            within = f"{self.state.indifference:g} Elo of {self.names[self.inside[0]]}"
            return f"{left}: all are within {within}"
        return f"{left}: {used_up(self.state)}"


def best_one(values: KeyValues, entrants: Entrants) -> BestOne:
    """The race before its first round."""
    agents = len(entrants.names)
    level = math.log((agents - 1) / values["delta"])
    return BestOne(entrants.names, race(agents, level, entrants.limit, values["indifference"]))
