"""The race for the best agents: each of them must be above each of the others.

It assumes an order: an agent above another one is above all agents below that one.
"""

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
    Tournament,
    TournamentStanding,
)
from arena.planning.schedules.fixed import all_matches
from arena.planning.schedules.race import (
    DELTA,
    ORDER_NOTE,
    add_results,
    agent_names,
    error_text,
    indifference_key,
    loser_row,
    meetings_for,
    no_openings_text,
    rounds_text,
)
from arena.planning.schedules.registry import ScheduleMethod
from arena.stats.racing import Flags, Race, rank_by_strength, start_race, transitive_closure
from games.base.schema import Key, KeyValues, Problem


@dataclass(frozen=True)
class BestRace:
    """The race for the best one after some rounds."""

    names: Sequence[str]
    state: Race
    rows_out: tuple[StandingRow, ...] = ()  # the beaten agents, the latest first

    @cached_property
    def remaining(self) -> list[int]:
        """The remaining agents, the strongest first."""
        out = {row.agent for row in self.rows_out}
        return rank_by_strength(self.state, (i for i in range(len(self.names)) if i not in out))

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """The leader against the stronger half of the others, every second round against all.

        Against the stronger half alone, an agent with an unlucky start might never play again.
        """
        if len(self.remaining) < 2 or self._all_equal():
            return ()
        leader, *others = self.remaining
        half = others[: math.ceil(len(others) / 2)] if self.state.rounds % 2 == 0 else others
        meetings = meetings_for(self.state, ((leader, other) for other in half))
        return meetings or meetings_for(self.state, ((leader, other) for other in others))

    def _all_equal(self) -> bool:
        """Return whether no remaining agent differs from the leader by more than the margin."""
        leader, *others = self.remaining
        return all(self.state.alike[leader, other] for other in others)

    def after_round(self, points: Sequence[Points]) -> "BestRace":
        """Return the race after the next round."""
        state = add_results(self.state, self.meetings, points)
        rows = []
        for agent in sorted(self.remaining):
            above = [by for by in range(len(self.names)) if state.above[by, agent]]
            if above:
                rows.append(
                    loser_row(state, self.names, agent, strongest_proof(state, above, agent))
                )
        return replace(self, state=state, rows_out=(*rows, *self.rows_out))

    @property
    def standing(self) -> TournamentStanding:
        """The remaining agents, then the others with the reason for which they are out."""
        over = not self.meetings
        rows = [StandingRow(agent, IN, "") for agent in self.remaining]
        if over and len(rows) == 1:
            why = "no agent is above it, it is above those that it met"
            rows = [StandingRow(self.remaining[0], "best", why, 1)]
        answer, rounds = self._answer(over), self.state.rounds
        return TournamentStanding("best", rounds, over, (*rows, *self.rows_out), answer)

    def _answer(self, over: bool) -> str:
        if not over:
            return f"{len(self.remaining)} of {len(self.names)} are still in"
        after = rounds_text(self.state.rounds)
        if not self.remaining:
            return f"no best after {after}: each agent is beaten by another one (a cycle)"
        if len(self.remaining) == 1:
            error = error_text(self.state, len(self.names) - 1)
            return f"best: {self.names[self.remaining[0]]}, {error}"
        left = f"not decided between {agent_names(self.names, self.remaining)} after {after}"
        if self._all_equal():
            within = f"{self.state.indifference:g} Elo of {self.names[self.remaining[0]]}"
            return f"{left}: all are within {within}"
        return f"{left}: {no_openings_text(self.state)}"


def strongest_proof(state: Race, above: Sequence[int], agent: int) -> int:
    """Return which of the agents above an agent is above it with the strongest evidence."""
    return max(above, key=lambda each: (state.log_capital[each, agent], -each))


def start_best_one(values: KeyValues, participants: Participants) -> BestRace:
    """Return the race for the best one before its first round."""
    agents = len(participants.names)
    level = math.log((agents - 1) / values["delta"])
    state = start_race(agents, level, participants.max_pairs, values["indifference"])
    return BestRace(participants.names, state)


@dataclass(frozen=True)
class TopRace:
    """The race for the `best` agents after some rounds."""

    names: Sequence[str]
    best: int
    state: Race

    @cached_property
    def above(self) -> Flags:
        """The relation `above` with its indirect cases: [i, j] if i is above j."""
        return transitive_closure(self.state.above)

    @cached_property
    def order(self) -> list[int]:
        """All agents, the strongest first."""
        return rank_by_strength(self.state, range(len(self.names)))

    @cached_property
    def open_pairs(self) -> list[tuple[int, int]]:
        """The undecided pairs of one of the best and one of the others."""
        best, others = self.order[: self.best], self.order[self.best :]
        alike = self.state.alike
        return [(i, o) for i in best for o in others if not (self.above[i, o] or alike[i, o])]

    @cached_property
    def cycle(self) -> bool:
        """True if one of the others is both above and below one of the best."""
        best, others = self.order[: self.best], self.order[self.best :]
        return any(self.above[i, o] and self.above[o, i] for i in best for o in others)

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """The weakest of the best against the stronger half of the others, and the mirror of it."""
        if not self.open_pairs or self.cycle:
            return ()
        best = [i for i in self.order if any(i == pair[0] for pair in self.open_pairs)]
        others = [o for o in self.order if any(o == pair[1] for pair in self.open_pairs)]
        weakest, strongest = best[-1], others[0]
        upper = others[: math.ceil(len(others) / 2)]
        lower = best[len(best) // 2 :]
        pairs = [(weakest, other) for other in upper] + [(other, strongest) for other in lower]
        meetings = meetings_for(self.state, [pair for pair in pairs if pair in self.open_pairs])
        return meetings or meetings_for(self.state, self.open_pairs)

    def after_round(self, points: Sequence[Points]) -> "TopRace":
        """Return the race after the next round."""
        return replace(self, state=add_results(self.state, self.meetings, points))

    @property
    def standing(self) -> TournamentStanding:
        """The best agents, the undecided ones and those that are out."""
        over = not self.meetings
        decided = over and not self.cycle and not self.open_pairs
        rows = [self._row(place, agent, decided) for place, agent in enumerate(self.order)]
        rows.sort(key=lambda row: row.state == OUT)
        answer, rounds = self._answer(over), self.state.rounds
        return TournamentStanding("best", rounds, over, tuple(rows), answer, (ORDER_NOTE,))

    def _row(self, place: int, agent: int, decided: bool) -> StandingRow:
        if place < self.best:
            below = [o for o in self.order[self.best :] if self.above[agent, o]]
            why = f"above {agent_names(self.names, below)}" if below else ""
            return StandingRow(agent, "best" if decided else IN, why)
        best = self.order[: self.best]
        direct = [i for i in best if self.state.above[i, agent]]
        if all(self.above[i, agent] for i in best) and not self.cycle:
            if direct:
                by = strongest_proof(self.state, direct, agent)
                return loser_row(self.state, self.names, agent, by)
            why = f"below {agent_names(self.names, best)} by way of others"
            return StandingRow(agent, OUT, why)
        if decided:
            return StandingRow(agent, OUT, f"within {self.state.indifference:g} Elo")
        return StandingRow(agent, IN, "")

    def _answer(self, over: bool) -> str:
        after = rounds_text(self.state.rounds)
        if not over:
            return f"{len(self.open_pairs)} pairs decide about the best {self.best}"
        if self.cycle:
            return f"no best {self.best} after {after}: some are above one another (a cycle)"
        if self.open_pairs:
            agents = sorted({agent for pair in self.open_pairs for agent in pair})
            names = agent_names(self.names, agents)
            return f"not decided between {names} after {after}: {no_openings_text(self.state)}"
        questions = len(self.names) * (len(self.names) - 1)
        best = agent_names(self.names, sorted(self.order[: self.best]))
        return f"best {self.best}: {best}, {error_text(self.state, questions)}"


def start_best_several(values: KeyValues, participants: Participants) -> TopRace:
    """Return the race for the best agents before its first round."""
    agents = len(participants.names)
    level = math.log(agents * (agents - 1) / values["delta"])
    state = start_race(agents, level, participants.max_pairs, values["indifference"])
    return TopRace(participants.names, values["best"], state)


def best_problems(values: KeyValues, names: Sequence[str]) -> Iterator[Problem]:
    """Yield a number of best agents that leaves no others."""
    if len(names) > 1 and values["best"] >= len(names):
        most = len(names) - 1
        allowed = "1" if most == 1 else f"from 1 to {most}"
        yield ("best",), f"best must be {allowed} of {len(names)} agents, got {values['best']}"


def start_best(values: KeyValues, participants: Participants) -> Tournament:
    """Return the race before its first round."""
    start = start_best_one if values["best"] == 1 else start_best_several
    return start(values, participants)


BEST = ScheduleMethod(
    keys=(
        Key("best", "int", "how many of the best to find", 1, low=1),
        DELTA,
        indifference_key(0),
    ),
    examples=("{ best = 1 }",),
    matches=all_matches,
    problems=best_problems,
    name_suffices=True,
    begin=start_best,
)
