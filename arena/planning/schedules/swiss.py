"""A Swiss tournament: in each round agents of about equal points meet; a format, not a proof."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from arena.planning.rounds import Meeting, Participants, Points, StandingRow, TournamentStanding
from arena.planning.schedules.race import QUARTERS, all_matches, named, rounds_text
from games.base.schema import Fault, Key, KeyValues

KEYS = (
    Key("swiss", "int", "how many rounds (log2 of the agents, rounded up)", None, low=1),
    Key("pairings", "int", "how many pairings two agents play when they meet", 1, low=1, high=1000),
)
WORD = True
EXAMPLES = ('"swiss"',)
NOTE = (
    "a format for fun: who comes first is not shown to be the best; for that: "
    "schedule = { best = 1 }"
)
BYE = "a round without an opponent counts as won in the answer, not in the table of games"
GAMES = 2  # of a pair
MOST_TRIES = 10_000  # of pairings without a rematch, before rematches are allowed
matches = all_matches


def faults(values: KeyValues, names: Sequence[str]) -> Iterator[Fault]:
    """More rounds than opponents."""
    most = len(names) - 1
    if len(names) > 1 and (values["swiss"] or 1) > most:
        message = f"swiss must be from 1 to {most} rounds, got {values['swiss']}"
        yield ("swiss",), f"{message}: {len(names)} agents have no more opponents"


@dataclass(frozen=True)
class Swiss:
    """The tournament after some rounds; `quarters` are the points of each agent, four to one."""

    names: Sequence[str]
    last: int  # rounds
    size: int  # pairings of a meeting
    quarters: tuple[int, ...]
    rounds: int = 0
    met: frozenset[tuple[int, int]] = frozenset()
    rested: tuple[int, ...] = ()  # who had no opponent, round by round
    opponents: tuple[tuple[int, ...], ...] = field(default=())

    @cached_property
    def order(self) -> list[int]:
        """All agents by points; of equals who met the stronger ones, then as in the file."""
        agents = range(len(self.names))
        return sorted(agents, key=lambda each: (*self._rank(each), each))

    def _rank(self, agent: int) -> tuple[int, int]:
        """Points, then those of the opponents: equals share a place."""
        return -self.quarters[agent], -self._buchholz(agent)

    def _leaders(self) -> str:
        """Return the first, and which others have as many points."""
        first, *others = (
            agent for agent in self.order if self.quarters[agent] == self.quarters[self.order[0]]
        )
        equal = [agent for agent in others if self._rank(agent) == self._rank(first)]
        behind = [agent for agent in others if agent not in equal]
        text = " and ".join(self.names[agent] for agent in (first, *equal))
        if behind:
            text += f" (before {named(self.names, behind)}, whose opponents have fewer points)"
        return text

    def _buchholz(self, agent: int) -> int:
        """The points of all whom an agent met."""
        met = self.opponents[agent] if self.opponents else ()
        return sum(self.quarters[other] for other in met)

    @cached_property
    def resting(self) -> int | None:
        """Return the agent without an opponent in the next round: the"""
        if len(self.names) % 2 == 0:
            return None
        return next(each for each in reversed(self.order) if each not in self.rested)

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """Agents of about equal points that have not met."""
        if self.rounds == self.last:
            return ()
        playing = [agent for agent in self.order if agent != self.resting]
        pairs = _pair_up(playing, self.met, [MOST_TRIES])
        if pairs is None:
            pairs = list(zip(playing[0::2], playing[1::2], strict=True))
        opening = self.rounds * self.size
        return tuple(Meeting(min(pair), max(pair), self.size, opening) for pair in pairs)

    def after(self, points: Sequence[Points]) -> "Swiss":
        """Return the tournament after the next round; an agent without opponent gets all points."""
        quarters = list(self.quarters)
        opponents = [list(met) for met in self.opponents or ((),) * len(self.names)]
        for meeting, own in zip(self.meetings, points, strict=True):
            quarters[meeting.a] += int(own.sum())
            quarters[meeting.b] += QUARTERS * meeting.pairings - int(own.sum())
            opponents[meeting.a].append(meeting.b)
            opponents[meeting.b].append(meeting.a)
        rested = self.rested
        if self.resting is not None:
            quarters[self.resting] += QUARTERS * self.size
            rested = (*rested, self.resting)
        return replace(
            self,
            quarters=tuple(quarters),
            rounds=self.rounds + 1,
            met=self.met | {(each.a, each.b) for each in self.meetings},
            rested=rested,
            opponents=tuple(map(tuple, opponents)),
        )

    @property
    def standing(self) -> TournamentStanding:
        """All agents by points."""
        over = self.rounds == self.last
        word = "finished" if over else "in"
        rows: list[StandingRow] = []
        for at, agent in enumerate(self.order):
            points = GAMES * self.quarters[agent] / QUARTERS
            why = f"{points:g} of {GAMES * self.rounds * self.size} points"
            tied = at > 0 and self._rank(agent) == self._rank(self.order[at - 1])
            rows.append(StandingRow(agent, word, why, rows[-1].place if tied else at + 1))
        lead = f"{self._leaders()} with {rows[0].why} after {rounds_text(self.rounds)}"
        answer = f"first: {lead}" if over else f"leading: {lead}"
        notes = (NOTE, BYE) if self.rested else (NOTE,)
        return TournamentStanding("swiss", self.rounds, over, tuple(rows), answer, notes, False)


def _pair_up(
    agents: Sequence[int], met: frozenset[tuple[int, int]], tries: list[int]
) -> list[tuple[int, int]] | None:
    """All agents in pairs, the first with the next that it has not met; None if there is no way."""
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


def begin(values: KeyValues, entrants: Participants) -> Swiss:
    """The tournament before its first round."""
    agents = len(entrants.names)
    rounds = values["swiss"] or max(1, math.ceil(math.log2(agents)))
    size = min(values["pairings"], entrants.limit)
    return Swiss(entrants.names, min(rounds, agents - 1), size, (0,) * agents)
