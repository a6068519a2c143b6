"""A Swiss tournament: in each round agents of about equal points meet. It proves no order."""

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
    TournamentStanding,
)
from arena.planning.schedules.fixed import all_matches
from arena.planning.schedules.race import QUARTERS, agent_names, rounds_text
from arena.planning.schedules.registry import ScheduleMethod
from games.base.schema import Key, KeyValues, Problem

NOTE = (
    "a format for fun: the first one is not shown to be the best; for that: schedule = { best = 1 }"
)
BYE_NOTE = "a round without an opponent counts as won in the answer, not in the table of games"
GAMES = 2  # of a pair
MAX_TRIES = 10_000  # combinations without a rematch that are tried before rematches are allowed


def swiss_problems(values: KeyValues, names: Sequence[str]) -> Iterator[Problem]:
    """Yield more rounds than opponents."""
    most = len(names) - 1
    if len(names) > 1 and (values["swiss"] or 1) > most:
        message = f"swiss must be from 1 to {most} rounds, got {values['swiss']}"
        yield ("swiss",), f"{message}: {len(names)} agents have no more opponents"


@dataclass(frozen=True)
class Swiss:
    """The tournament after some rounds."""

    names: Sequence[str]
    total_rounds: int
    pairs_per_meeting: int
    quarters: tuple[int, ...]  # the points of each agent, four to one
    rounds: int = 0
    earlier_meetings: frozenset[tuple[int, int]] = frozenset()
    byes: tuple[int, ...] = ()  # the agent without an opponent in each round, if there was one
    opponents: tuple[tuple[int, ...], ...] = ()

    @property
    def pairs(self) -> int:
        """The number of pairs of all rounds, whatever the results."""
        return self.total_rounds * (len(self.names) // 2) * self.pairs_per_meeting

    @cached_property
    def order(self) -> list[int]:
        """All agents by points; of equals those with stronger opponents, then as in the file."""
        return sorted(range(len(self.names)), key=lambda agent: (*self._rank(agent), agent))

    def _rank(self, agent: int) -> tuple[int, int]:
        """Return the key of the order; agents with equal keys share a place."""
        opponents = self.opponents[agent] if self.opponents else ()
        buchholz = sum(self.quarters[other] for other in opponents)
        return -self.quarters[agent], -buchholz

    def _leaders(self) -> str:
        """Return the agents on the first place, and the others with as many points."""
        first, *others = (
            agent for agent in self.order if self.quarters[agent] == self.quarters[self.order[0]]
        )
        equal = [agent for agent in others if self._rank(agent) == self._rank(first)]
        behind = [agent for agent in others if agent not in equal]
        text = " and ".join(self.names[agent] for agent in (first, *equal))
        if behind:
            names = agent_names(self.names, behind)
            text += f" (before {names}, whose opponents have fewer points)"
        return text

    @cached_property
    def next_bye(self) -> int | None:
        """The agent without an opponent in the next round: the last one that had none before."""
        if len(self.names) % 2 == 0:
            return None
        return next(each for each in reversed(self.order) if each not in self.byes)

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """Agents of about equal points that have not met."""
        if self.rounds == self.total_rounds:
            return ()
        agents = [agent for agent in self.order if agent != self.next_bye]
        pairs = _pair_up(agents, self.earlier_meetings, [MAX_TRIES])
        if pairs is None:
            pairs = list(zip(agents[0::2], agents[1::2], strict=True))
        size = self.pairs_per_meeting
        return tuple(Meeting(min(pair), max(pair), size, self.rounds * size) for pair in pairs)

    def after_round(self, points: Sequence[Points]) -> "Swiss":
        """Return the tournament after the next round; an agent without opponent gets all points."""
        quarters = list(self.quarters)
        opponents = [list(each) for each in self.opponents or ((),) * len(self.names)]
        for meeting, own in zip(self.meetings, points, strict=True):
            quarters[meeting.a] += int(own.sum())
            quarters[meeting.b] += QUARTERS * meeting.pairs - int(own.sum())
            opponents[meeting.a].append(meeting.b)
            opponents[meeting.b].append(meeting.a)
        byes = self.byes
        if self.next_bye is not None:
            quarters[self.next_bye] += QUARTERS * self.pairs_per_meeting
            byes = (*byes, self.next_bye)
        return replace(
            self,
            quarters=tuple(quarters),
            rounds=self.rounds + 1,
            earlier_meetings=self.earlier_meetings | {(each.a, each.b) for each in self.meetings},
            byes=byes,
            opponents=tuple(map(tuple, opponents)),
        )

    @property
    def standing(self) -> TournamentStanding:
        """All agents by points."""
        over = self.rounds == self.total_rounds
        state = "finished" if over else IN
        rows: list[StandingRow] = []
        for at, agent in enumerate(self.order):
            points = GAMES * self.quarters[agent] / QUARTERS
            why = f"{points:g} of {GAMES * self.rounds * self.pairs_per_meeting} points"
            tied = at > 0 and self._rank(agent) == self._rank(self.order[at - 1])
            rows.append(StandingRow(agent, state, why, rows[-1].place if tied else at + 1))
        lead = f"{self._leaders()} with {rows[0].why} after {rounds_text(self.rounds)}"
        answer = f"first: {lead}" if over else f"leading: {lead}"
        notes = (NOTE, BYE_NOTE) if self.byes else (NOTE,)
        return TournamentStanding("swiss", self.rounds, over, tuple(rows), answer, notes, False)


def _pair_up(
    agents: Sequence[int], met: frozenset[tuple[int, int]], tries: list[int]
) -> list[tuple[int, int]] | None:
    """Return all agents in pairs, the first with the next that it has not met; None: no way."""
    if not agents:
        return []
    first, *others = agents
    for other in others:
        tries[0] -= 1
        if tries[0] < 0:
            return None
        if (min(first, other), max(first, other)) in met:
            continue
        rest = _pair_up([each for each in others if each != other], met, tries)
        if rest is not None:
            return [(first, other), *rest]
    return None


def start_swiss(values: KeyValues, participants: Participants) -> Swiss:
    """Return the tournament before its first round."""
    agents = len(participants.names)
    rounds = values["swiss"] or max(1, math.ceil(math.log2(agents)))
    size = min(values["pairings"], participants.max_pairs)
    return Swiss(participants.names, min(rounds, agents - 1), size, (0,) * agents)


SWISS = ScheduleMethod(
    keys=(
        Key(
            "swiss",
            "int",
            "the number of rounds (default: log2 of the agents, rounded up)",
            None,
            low=1,
        ),
        Key("pairs", "int", "pairs of two agents that meet", 1, low=1, high=1000),
    ),
    examples=('"swiss"',),
    matches=all_matches,
    problems=swiss_problems,
    name_suffices=True,
    begin=start_swiss,
    # The name "pairings" is part of the digest of a plan.
    plan_values=lambda values: {"swiss": values["swiss"], "pairings": values["pairs"]},
    pair_total=lambda values, participants: start_swiss(values, participants).pairs,
)
