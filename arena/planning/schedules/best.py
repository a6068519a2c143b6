"""The race for the best few: each agent inside must be above each agent outside.

It assumes an order: an agent above another one is above all agents below that one.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from arena.planning.rounds import (
    IN,
    Meeting,
    Participants,
    Points,
    StandingRow,
    Tournament,
    TournamentStanding,
)
from arena.planning.schedules.race import (
    DELTA,
    add_results,
    all_matches,
    eliminated_row,
    error_text,
    exhausted_text,
    indifference,
    meetings_for,
    named,
    rounds_text,
)
from arena.stats.racing import Flags, Race, by_strength, race, transitive_closure
from games.base.schema import Fault, Key, KeyValues

ORDER = "what is above one is taken to be above all below it"
KEYS = (Key("best", "int", "how many of the best are looked for", 1, low=1), DELTA, indifference(0))
WORD = True
EXAMPLES = ("{ best = 1 }",)
matches = all_matches


@dataclass(frozen=True)
class BestRace:
    """The race after some rounds; `out` are those that are beaten, the latest first."""

    names: Sequence[str]
    state: Race
    out: tuple[StandingRow, ...] = ()

    @cached_property
    def inside(self) -> list[int]:
        """The remaining agents, the strongest first."""
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
        meet = meetings_for(self.state, ((leader, other) for other in half))
        return meet or meetings_for(self.state, ((leader, other) for other in others))

    def _equals(self) -> bool:
        """Return whether no remaining agent differs from the leader by more than the margin."""
        leader, *others = self.inside
        return all(self.state.alike[leader, other] for other in others)

    def after(self, points: Sequence[Points]) -> "BestRace":
        """Return the race after the next round; beaten agents go out."""
        state = add_results(self.state, self.meetings, points)
        rows = []
        for agent in sorted(self.inside):
            above = [by for by in range(len(self.names)) if state.above[by, agent]]
            if above:
                by = max(above, key=lambda each: (state.earned[each, agent], -each))
                rows.append(eliminated_row(state, self.names, agent, by))
        return replace(self, state=state, out=(*rows, *self.out))

    @property
    def standing(self) -> TournamentStanding:
        """Return the remaining agents, and why the others are out."""
        over = not self.meetings
        rows = [StandingRow(agent, IN, "", None) for agent in self.inside]
        if over and len(rows) == 1:
            rows = [
                StandingRow(
                    self.inside[0], "best", "nobody is above it, it is above whom it met", 1
                )
            ]
        return TournamentStanding(
            "best", self.state.rounds, over, (*rows, *self.out), self._answer(over)
        )

    def _answer(self, over: bool) -> str:
        if not over:
            return f"{len(self.inside)} of {len(self.names)} are still in"
        after = rounds_text(self.state.rounds)
        if not self.inside:
            return f"no best after {after}: everybody is beaten by somebody (a cycle)"
        if len(self.inside) == 1:
            sure = error_text(self.state, len(self.names) - 1)
            return f"best: {self.names[self.inside[0]]}, {sure}"
        left = f"not decided between {named(self.names, self.inside)} after {after}"
        if self._equals():
            within = f"{self.state.indifference:g} Elo of {self.names[self.inside[0]]}"
            return f"{left}: all are within {within}"
        return f"{left}: {exhausted_text(self.state)}"


def best_one(values: KeyValues, entrants: Participants) -> BestRace:
    """The race before its first round."""
    agents = len(entrants.names)
    level = math.log((agents - 1) / values["delta"])
    return BestRace(entrants.names, race(agents, level, entrants.limit, values["indifference"]))


@dataclass(frozen=True)
class TopRace:
    """The race for the `best` after some rounds."""

    names: Sequence[str]
    best: int
    state: Race

    @cached_property
    def above(self) -> Flags:
        """Return which agents are above which, also through others."""
        return transitive_closure(self.state.above)

    @cached_property
    def order(self) -> list[int]:
        """All agents, the strongest first."""
        return by_strength(self.state, range(len(self.names)))

    @cached_property
    def open_pairs(self) -> list[tuple[int, int]]:
        """Pairs of one inside and one outside of which nothing is said yet."""
        inside, outside = self.order[: self.best], self.order[self.best :]
        alike = self.state.alike
        return [(i, o) for i in inside for o in outside if not (self.above[i, o] or alike[i, o])]

    @cached_property
    def cycle(self) -> bool:
        """Return whether an agent outside is above one inside, and below."""
        inside, outside = self.order[: self.best], self.order[self.best :]
        return any(self.above[i, o] and self.above[o, i] for i in inside for o in outside)

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """The weakest open one inside against the stronger half outside, and the mirror of it."""
        if not self.open_pairs or self.cycle:
            return ()
        inside = [i for i in self.order if any(i == pair[0] for pair in self.open_pairs)]
        outside = [o for o in self.order if any(o == pair[1] for pair in self.open_pairs)]
        weakest, strongest = inside[-1], outside[0]
        upper = outside[: math.ceil(len(outside) / 2)]
        lower = inside[len(inside) // 2 :]
        pairs = [(weakest, other) for other in upper] + [(other, strongest) for other in lower]
        meet = meetings_for(self.state, [pair for pair in pairs if pair in self.open_pairs])
        return meet or meetings_for(self.state, self.open_pairs)

    def after(self, points: Sequence[Points]) -> "TopRace":
        """The race after the next round."""
        return replace(self, state=add_results(self.state, self.meetings, points))

    @property
    def standing(self) -> TournamentStanding:
        """Return which agents are among the best, which are not, and which are undecided."""
        over = not self.meetings
        whole = over and not self.cycle and not self.open_pairs
        rows = [self._row(place, agent, whole) for place, agent in enumerate(self.order)]
        kept = [row for row in rows if row.state != "out"]
        gone = [row for row in rows if row.state == "out"]
        answer, rounds = self._answer(over), self.state.rounds
        return TournamentStanding("best", rounds, over, (*kept, *gone), answer, (ORDER,))

    def _row(self, place: int, agent: int, whole: bool) -> StandingRow:
        if place < self.best:
            below = [o for o in self.order[self.best :] if self.above[agent, o]]
            why = f"above {named(self.names, below)}" if below else ""
            return StandingRow(agent, "best" if whole else IN, why)
        inside = self.order[: self.best]
        direct = [i for i in inside if self.state.above[i, agent]]
        if all(self.above[i, agent] for i in inside) and not self.cycle:
            if direct:
                by = max(direct, key=lambda each: (self.state.earned[each, agent], -each))
                return eliminated_row(self.state, self.names, agent, by)
            return StandingRow(agent, "out", f"below {named(self.names, inside)} by way of others")
        return (
            StandingRow(agent, "out", f"within {self.state.indifference:g} Elo")
            if whole
            else StandingRow(agent, IN, "")
        )

    def _answer(self, over: bool) -> str:
        inside = named(self.names, sorted(self.order[: self.best]))
        after = rounds_text(self.state.rounds)
        if not over:
            return f"{len(self.open_pairs)} pairs decide about the best {self.best}"
        if self.cycle:
            return f"no best {self.best} after {after}: some are above one another (a cycle)"
        if self.open_pairs:
            agents = sorted({agent for pair in self.open_pairs for agent in pair})
            who = named(self.names, agents)
            return f"not decided between {who} after {after}: {exhausted_text(self.state)}"
        questions = len(self.names) * (len(self.names) - 1)
        return f"best {self.best}: {inside}, {error_text(self.state, questions)}"


def best_several(values: KeyValues, entrants: Participants) -> TopRace:
    """The race before its first round."""
    agents = len(entrants.names)
    level = math.log(agents * (agents - 1) / values["delta"])
    state = race(agents, level, entrants.limit, values["indifference"])
    return TopRace(entrants.names, values["best"], state)


def faults(values: KeyValues, names: Sequence[str]) -> Iterator[Fault]:
    """As many as there are agents, or more."""
    if len(names) > 1 and values["best"] >= len(names):
        most = len(names) - 1
        allowed = "1" if most == 1 else f"from 1 to {most}"
        yield ("best",), f"best must be {allowed} of {len(names)} agents, got {values['best']}"


def begin(values: KeyValues, entrants: Participants) -> Tournament:
    """The race before its first round."""
    if values["best"] == 1:
        return best_one(values, entrants)
    return best_several(values, entrants)
