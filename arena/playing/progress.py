"""Progress of games: counted batch by batch, with what displays show of it."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.games import PAIR_POINTS
from arena.planning.rounds import OUT, StandingRow, TournamentStanding
from arena.planning.schedule import RoundTracker
from arena.stats.anytime import (
    AnytimeScore,
    anytime_estimate,
    anytime_estimate_these,
    start_anytime,
    update_anytime,
)
from arena.stats.estimate import Estimate, EstimateKind, no_estimate
from arena.stats.intervals import NO_GAMES, ONE_OPENING
from arena.stats.sprt import SprtState
from arena.stats.text import lower_end, upper_end
from games.base.errors import printable
from games.base.progress import Progress

SETTLING_SECONDS = 1.0  # of play before a time left is worth showing
STILL_SECONDS = 2.0  # without a finished game, before the line names the agents
AHEAD = 1 << 12  # pairs in which the next one to be played is searched
MOST_STANDINGS = 16
MOST_OUT = 6  # of agents that are out
LONGEST_NAME = 32
MOST_WORKERS = 6


@dataclass(frozen=True)
class GameProgress(Progress):
    """How far the games of a plan are; `done` and `total` count pairs."""

    names: Sequence[str] = ()  # of the agents
    played: int = 0  # pairs since the run was started or continued
    standings: Mapping[tuple[int, int], AnytimeScore] = field(default_factory=dict)  # by match
    sprt: SprtState | None = None
    speeds: Mapping[str, float] = field(default_factory=dict)  # games a second of named workers
    tournament: TournamentStanding | None = None  # of a schedule by rounds: more pairs may follow
    awaited: tuple[int, int] | None = None  # the agents of the next pair to be played
    rate: float | None = None  # games a second, once it has settled
    still: float = 0.0  # seconds since the last pair was counted

    def lines(self, seconds: float) -> Sequence[str]:
        """Return a line for the run; then the score of the match, or the standings of several."""
        if not self.played and self.done == self.total:
            return []  # nothing was left to play
        if self.tournament is not None:
            rows = tournament_so_far(self.tournament, self.names)
        elif len(self.standings) > 1:
            rows = standing_lines(self)
        else:
            rows = [match_line(match, self.names) for match in live_matches(self)]
        return [self._first_line(seconds), *rows, *worker_lines(self.speeds)]

    def _first_line(self, seconds: float) -> str:
        """Games done and per second, time left and the stop rule."""
        rate = 2 * self.played / seconds if self.rate is None else self.rate
        games = f"{2 * self.done:,} games"
        if self.tournament is None:
            games = f"{2 * self.done:,} of {2 * self.total:,} games"
        parts = [games, f"{rate:,.0f} games/s"]
        if self.speeds:
            parts.append(f"{len(self.speeds)} workers" if len(self.speeds) > 1 else "1 worker")
        if self.rate is not None and self.done < self.total and self.tournament is None:
            left = 2 * (self.total - self.done) / max(rate, 1e-9)
            parts.append(f"{left:,.0f} s left" if left < 600 else f"{left / 60:,.0f} min left")
        if (state := self.sprt) is not None:
            parts.append(f"LLR {state.llr:+.2f} in ({state.lower:.2f}, {state.upper:.2f})")
        if self.still >= STILL_SECONDS and self.awaited is not None:
            a, b = (printable(self.names[place], LONGEST_NAME) for place in self.awaited)
            parts.append(f"{a} v {b} for {self.still:.0f} s")
        return ", ".join(parts)


class GameRate:
    """How fast games come in; the time before the first ones, which compiles, is not counted."""

    def __init__(self) -> None:
        self.begun: float | None = None  # when the first games came
        self.already = 0  # pairs that came then

    def take(self, played: int) -> None:
        """Note how many pairs were played by now."""
        if self.begun is None and played:
            self.begun, self.already = time.monotonic(), played

    def games_per_second(self, played: int) -> float | None:
        """Return the rate; None until games have come in for long enough."""
        if self.begun is None or played <= self.already:
            return None
        seconds = time.monotonic() - self.begun
        return 2 * (played - self.already) / seconds if seconds >= SETTLING_SECONDS else None


class ProgressCounter:
    """Counts the pairs of a run in schedule order, with the standing of each match."""

    def __init__(self, course: RoundTracker, out: Collection[int] = ()) -> None:
        """`out` are the bots that are excluded by now."""
        self.course, self.out = course, out
        self.done = 0
        self.begun = 0  # pairs that were done before the run was started or continued
        self.standings: dict[tuple[int, int], AnytimeScore] = {}
        self.rate, self.changed = GameRate(), time.monotonic()

    @property
    def total(self) -> int:
        """The number of pairs that are known so far."""
        return self.course.total

    @property
    def left(self) -> int:
        """The number of pairs that are not finished."""
        return self.total - self.done

    def take(self, start: int, stop: int, points: NDArray[np.int8]) -> None:
        """Count pairs `start` to `stop` - 1."""
        pairings = self.course.drawn.pairings
        match, number = pairings.places(np.arange(start, stop))
        for place in np.unique(match):
            pair, own = pairings.matches[place], match == place
            if pair in pairings.fixed:
                own &= number < len(pairings.keys)  # later ones only repeat
            standing = self.standings.get(pair) or self._new_standing(pair)
            self.standings[pair] = update_anytime(standing, points[own] / PAIR_POINTS)
        self.done, self.changed = stop, time.monotonic()
        self.course.take(start, points)

    def _new_standing(self, pair: tuple[int, int]) -> AnytimeScore:
        """The standing of a match before its first pair."""
        pairings = self.course.drawn.pairings
        openings = len(pairings.keys)
        repeated = pairings.laid is None and pairings.pairs > openings
        return start_anytime(openings, again=pair not in pairings.fixed and repeated)

    def progress(self, sprt: SprtState | None, speeds: Mapping[str, float]) -> GameProgress:
        """Return the event for displays."""
        played, standing = self.done - self.begun, self.course.standing
        self.rate.take(played)
        return GameProgress(
            done=self.done,
            total=self.total,
            is_last=not self.left and (standing is None or standing.over),
            names=self.course.drawn.plan.names,
            played=played,
            standings=self.standings,
            sprt=sprt,
            speeds=speeds,
            tournament=standing,
            awaited=self._next_match(),
            rate=self.rate.games_per_second(played),
            still=time.monotonic() - self.changed,
        )

    def _next_match(self) -> tuple[int, int] | None:
        """Return the agents of the first pair that is to be played and is not counted."""
        pairings = self.course.drawn.pairings
        matches, _ = pairings.places(np.arange(self.done, min(self.done + AHEAD, self.total)))
        met = (pairings.matches[match] for match in dict.fromkeys(matches.tolist()))
        return next((each for each in met if not {*self.out} & {*each}), None)


class LiveMatch(NamedTuple):
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


class LiveAgent(NamedTuple):
    """An agent so far: its mean score over its matches, and which of them are settled."""

    agent: int
    games: int
    score: Estimate
    above: int  # matches that are settled in its favour
    below: int
    open: int


def live_matches(progress: GameProgress) -> list[LiveMatch]:
    """Every match that has begun."""
    return [_match(pair, standing) for pair, standing in progress.standings.items()]


def live_agents(progress: GameProgress, matches: Sequence[LiveMatch]) -> list[LiveAgent]:
    """Every agent that has played, the highest score first."""
    agents = sorted({agent for pair in progress.standings for agent in pair})
    rows = [_agent(agent, progress, matches) for agent in agents]
    return sorted(rows, key=lambda row: (-(row.score.value or 0.0), row.agent))


def settled_side(estimate: Estimate) -> int:
    """Return 1 if the interval is above an even score, -1 if it is below, 0 if it includes it."""
    low = 0.0 if estimate.low is None else estimate.low
    high = 1.0 if estimate.high is None else estimate.high
    if estimate.kind is EstimateKind.NONE or estimate.value is None:
        return 0
    return 1 if low > 0.5 else -1 if high < 0.5 else 0


def anytime_at_level(standing: AnytimeScore, level: float) -> Estimate:
    """Return the live estimate at another level, by the first pair on each opening."""
    return anytime_estimate(replace(standing, level=level, turns=None))


def _match(pair: tuple[int, int], standing: AnytimeScore) -> LiveMatch:
    these = anytime_estimate_these(standing)
    if standing.openings == 1 and these is not None:
        return LiveMatch(*pair, these, True)
    return LiveMatch(*pair, anytime_estimate(standing), False)


def _agent(agent: int, progress: GameProgress, matches: Sequence[LiveMatch]) -> LiveAgent:
    mine = {pair: standing for pair, standing in progress.standings.items() if agent in pair}
    sides = [settled_side(match.seen_by(agent)) for match in matches if agent in (match.a, match.b)]
    return LiveAgent(
        agent,
        2 * sum(standing.pairings for standing in mine.values()),
        _mean(agent, mine),
        sides.count(1),
        sides.count(-1),
        sides.count(0),
    )


def _mean(agent: int, mine: dict[tuple[int, int], AnytimeScore]) -> Estimate:
    """The mean of the scores of an agent's matches.

    Each match has its share of the error, so that all of them are true together (Bonferroni).
    """
    played = {pair: standing for pair, standing in mine.items() if standing.pairings}
    if not played:
        return no_estimate(NO_GAMES)
    level = next(iter(played.values())).level
    each = 1.0 - (1.0 - level) / len(played)
    seen = [
        LiveMatch(*pair, anytime_at_level(standing, each), False).seen_by(agent)
        for pair, standing in played.items()
    ]
    value = sum(estimate.value or 0.0 for estimate in seen) / len(seen)
    if any(estimate.kind is EstimateKind.NONE for estimate in seen):
        return no_estimate(ONE_OPENING, value, level)
    low = sum(0.0 if one.low is None else one.low for one in seen) / len(seen)
    high = sum(1.0 if one.high is None else one.high for one in seen) / len(seen)
    ends = low if low > 0.0 else None, high if high < 1.0 else None
    return Estimate(value, *ends, level, EstimateKind.ANYTIME)


def match_line(match: LiveMatch, names: Sequence[str]) -> str:
    """The score of a match in one line."""
    these = " from this opening" if match.these else ""
    score = anytime_interval_text(match.seen_by(match.leader))
    return f"{names[match.leader]} against {names[match.other]}: {score}{these}"


def tournament_so_far(standing: TournamentStanding, names: Sequence[str]) -> list[str]:
    """The round, which agents are still in, and why the latest are out."""
    inside = ", ".join(names[agent] for agent in standing.inside)
    lines = [f"after round {standing.rounds}: {standing.answer}", f"in: {inside}"]
    return [*lines, *out_lines(standing, names, MOST_OUT)]


def out_lines(standing: TournamentStanding, names: Sequence[str], most: int) -> list[str]:
    """A line for each of the latest agents that are out, with the reason."""
    gone = [row for row in standing.rows if row.state == OUT]
    lines = [f"  out: {names[row.agent]}{_when(row)}: {row.why}" for row in gone[:most]]
    more = len(gone) - most
    return [*lines, f"  and {more} more are out"] if more > 0 else lines


def _when(row: StandingRow) -> str:
    return "" if row.round is None else f" in round {row.round}"


def standing_lines(progress: GameProgress) -> list[str]:
    """The standings of a round robin: scores, and how many matches are settled either way.

    Only the first line is shown without a terminal.
    """
    names, rows = progress.names, live_agents(progress, live_matches(progress))
    shown = rows[:MOST_STANDINGS]
    cells = [
        (str(place), printable(names[row.agent], LONGEST_NAME), anytime_interval_text(row.score),
         f"{row.games:,}", str(row.above), str(row.below), str(row.open))
        for place, row in enumerate(shown, 1)
    ]  # fmt: skip
    head = ("", "agent", "score so far", "games", "above", "below", "open")
    width = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(wide) if place in (1, 2) else cell.rjust(wide)
            for place, (cell, wide) in enumerate(zip(row, width, strict=True))
        ).rstrip()
        for row in (head, *cells)
    ]
    leader = f"{cells[0][1]} leads: {cells[0][2]}"
    more = len(rows) - len(shown)
    return [leader, *lines, *([f"and {more} more"] if more > 0 else [])]


def worker_lines(speeds: Mapping[str, float]) -> list[str]:
    """Return the workers of a cluster with their speed, the slowest first."""
    slowest = sorted(speeds, key=lambda name: speeds[name])
    lines = [f"{name}: {speeds[name]:,.0f} games/s" for name in slowest[:MOST_WORKERS]]
    more = len(speeds) - MOST_WORKERS
    return [*lines, f"and {more} more"] if more > 0 else lines


def anytime_interval_text(estimate: Estimate) -> str:
    """Return a score with its anytime-valid interval."""
    if estimate.value is None:
        return "no games"
    if estimate.kind is EstimateKind.NONE:
        return f"{100 * estimate.value:.1f} % (no interval: {estimate.reason})"
    low, high = estimate.low or 0.0, 1.0 if estimate.high is None else estimate.high
    return f"{100 * estimate.value:.1f} % [{lower_end(low, 1)}, {upper_end(high, 1)}]"
