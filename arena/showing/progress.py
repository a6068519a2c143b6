"""Where a run stands while it is played: pace, standings, matches, all true at every look."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from arena.playing.tournament import Tick
from arena.stats.estimate import Estimate, EstimateKind, nothing
from arena.stats.intervals import NO_GAMES, ONE_OPENING
from arena.stats.watching import Standing, live_estimate, live_estimate_of_these

SETTLING_SECONDS = 1.0  # of play before a time left is worth saying


class Pace:
    """How fast games come in; what compiles before the first ones is not counted."""

    def __init__(self) -> None:
        """The clock starts with the first games."""
        self.begun: float | None = None
        self.already = 0

    def take(self, played: int) -> None:
        """Note how many pairings were played by now."""
        if self.begun is None and played:
            self.begun, self.already = time.monotonic(), played

    def settled(self, played: int) -> bool:
        """Whether games have come in for long enough to say what is left."""
        if self.begun is None or played <= self.already:
            return False
        return time.monotonic() - self.begun >= SETTLING_SECONDS

    def rate(self, played: int, seconds: float) -> float:
        """Games a second; `seconds` have passed since the run was started."""
        if self.begun is None or not self.settled(played):
            return 2 * played / seconds
        return 2 * (played - self.already) / (time.monotonic() - self.begun)


class MatchNow(NamedTuple):
    """Two agents so far: the score of `a` against `b`."""

    a: int
    b: int
    score: Estimate
    these: bool  # whether the score is that of exactly these openings

    @property
    def leader(self) -> int:
        """The agent with the higher score; `a` of equals."""
        score = self.score.value
        return self.b if score is not None and score < 0.5 else self.a

    @property
    def other(self) -> int:
        """The agent that does not lead."""
        return self.a + self.b - self.leader

    def seen_by(self, agent: int) -> Estimate:
        """The score of one of the two."""
        if agent == self.a or self.score.value is None:
            return self.score
        low, high = self.score.low, self.score.high
        return replace(
            self.score,
            value=1.0 - self.score.value,
            low=None if high is None else 1.0 - high,
            high=None if low is None else 1.0 - low,
        )


class AgentNow(NamedTuple):
    """An agent so far: its mean score over its matches, and which of them are settled."""

    agent: int
    games: int
    score: Estimate
    above: int  # matches that are settled in its favour
    below: int
    open: int


def matches_now(tick: Tick) -> list[MatchNow]:
    """Every match that has begun."""
    return [_match(pair, standing) for pair, standing in tick.standings.items()]


def agents_now(tick: Tick, matches: Sequence[MatchNow]) -> list[AgentNow]:
    """Every agent that has played, the highest score first."""
    agents = sorted({agent for pair in tick.standings for agent in pair})
    rows = [_agent(agent, tick, matches) for agent in agents]
    return sorted(rows, key=lambda row: (-(row.score.value or 0.0), row.agent))


def sides_of(estimate: Estimate) -> int:
    """1 if the interval lies above an even score, -1 below it, 0 if it includes it."""
    low = 0.0 if estimate.low is None else estimate.low
    high = 1.0 if estimate.high is None else estimate.high
    if estimate.kind is EstimateKind.NONE or estimate.value is None:
        return 0
    return 1 if low > 0.5 else -1 if high < 0.5 else 0


def at_level(standing: Standing, level: float) -> Estimate:
    """The live estimate at a level of its own, by the first pairing on each opening."""
    return live_estimate(replace(standing, level=level, turns=None))


def _match(pair: tuple[int, int], standing: Standing) -> MatchNow:
    these = live_estimate_of_these(standing)
    if standing.openings == 1 and these is not None:
        return MatchNow(*pair, these, True)
    return MatchNow(*pair, live_estimate(standing), False)


def _agent(agent: int, tick: Tick, matches: Sequence[MatchNow]) -> AgentNow:
    mine = {pair: standing for pair, standing in tick.standings.items() if agent in pair}
    sides = [sides_of(match.seen_by(agent)) for match in matches if agent in (match.a, match.b)]
    return AgentNow(
        agent,
        2 * sum(standing.pairings for standing in mine.values()),
        _mean(agent, mine),
        sides.count(1),
        sides.count(-1),
        sides.count(0),
    )


def _mean(agent: int, mine: dict[tuple[int, int], Standing]) -> Estimate:
    """The mean of the scores of an agent's matches.

    Each match has its share of the error, so that all of them are true together (Bonferroni).
    """
    played = {pair: standing for pair, standing in mine.items() if standing.pairings}
    if not played:
        return nothing(NO_GAMES)
    level = next(iter(played.values())).level
    each = 1.0 - (1.0 - level) / len(played)
    seen = [
        MatchNow(*pair, at_level(standing, each), False).seen_by(agent)
        for pair, standing in played.items()
    ]
    value = sum(estimate.value or 0.0 for estimate in seen) / len(seen)
    if any(estimate.kind is EstimateKind.NONE for estimate in seen):
        return nothing(ONE_OPENING, value, level)
    low = sum(0.0 if one.low is None else one.low for one in seen) / len(seen)
    high = sum(1.0 if one.high is None else one.high for one in seen) / len(seen)
    ends = low if low > 0.0 else None, high if high < 1.0 else None
    return Estimate(value, *ends, level, EstimateKind.ANYTIME)
