"""Progress of games: the events, and the lines that displays make of them."""

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
from arena.stats.estimate import Estimate, EstimateKind, no_estimate, shared_level
from arena.stats.intervals import NO_GAMES, ONE_OPENING
from arena.stats.stopping import StopState, WidthState
from arena.stats.text import lower_end, stop_state_text, upper_end
from games.base.errors import printable
from games.base.progress import Progress

SETTLING_SECONDS = 1.0  # of play before the rate and the time left are shown
IDLE_SECONDS = 2.0  # without a finished game before the line names the next agents
LOOKAHEAD = 1 << 12  # pairs among which the next one to be played is searched
MOST_STANDINGS = 16
MOST_OUT = 6  # lines for agents that are out
LONGEST_NAME = 32
MOST_WORKERS = 6


@dataclass(frozen=True)
class GameProgress(Progress):
    """How far the games of a plan are; `done` and `total` count pairs."""

    names: Sequence[str] = ()  # of the agents
    pairs_played: int = 0  # since the run was started or continued
    standings: Mapping[tuple[int, int], AnytimeScore] = field(default_factory=dict)  # by match
    stop: StopState | None = None  # of the stop rule
    speeds: Mapping[str, float] = field(default_factory=dict)  # games per second of named workers
    tournament: TournamentStanding | None = None  # of a schedule by rounds: more pairs may follow
    next_match: tuple[int, int] | None = None  # the agents of the next pair to be played
    rate: float | None = None  # games per second, once it has settled
    idle_seconds: float = 0.0  # since the last pair was counted
    unplayed: int = 0  # remaining pairs that disqualified bots forfeit unplayed

    def lines(self, seconds: float) -> Sequence[str]:
        """Return a line for the run; then the score of the match, or the standings of several."""
        if not self.pairs_played and self.done == self.total:
            return []  # nothing was left to play
        if self.tournament is not None:
            rows = tournament_lines(self.tournament, self.names)
        elif len(self.standings) > 1:
            rows = standing_lines(self)
        else:
            rows = [match_line(match, self.names) for match in live_matches(self)]
        return [self._first_line(seconds), *rows, *worker_lines(self.speeds)]

    def _first_line(self, seconds: float) -> str:
        rate = 2 * self.pairs_played / seconds if self.rate is None else self.rate
        games = f"{2 * self.done:,} games"
        if self.tournament is None:
            games = f"{2 * self.done:,} of {2 * self.total:,} games"
        parts = [games, f"{rate:,.0f} games/s"]
        if self.speeds:
            parts.append(f"{len(self.speeds)} workers" if len(self.speeds) > 1 else "1 worker")
        if self.rate is not None and self.done < self.total and self.tournament is None:
            left = 2 * self._pairs_left() / max(rate, 1e-9)
            parts.append(f"{left:,.0f} s left" if left < 600 else f"{left / 60:,.0f} min left")
        if self.stop is not None and (text := stop_state_text(self.stop)):
            parts.append(text)
        if self.idle_seconds >= IDLE_SECONDS and self.next_match is not None:
            a, b = (printable(self.names[place], LONGEST_NAME) for place in self.next_match)
            parts.append(f"{a} v {b} for {self.idle_seconds:.0f} s")
        return ", ".join(parts)

    def _pairs_left(self) -> float:
        left = self.total - self.done - self.unplayed
        needed = self.stop.needed if isinstance(self.stop, WidthState) else None
        return left if needed is None else min(left, max(needed - self.done, 0.0))


class GameRate:
    """How fast games are played; the time before the first ones, which compiles, is not counted."""

    def __init__(self) -> None:
        self.begun: float | None = None  # when the first games came
        self.first_pairs = 0  # pairs that came then

    def update(self, played: int) -> None:
        """Note how many pairs were played by now."""
        if self.begun is None and played:
            self.begun, self.first_pairs = time.monotonic(), played

    def games_per_second(self, played: int) -> float | None:
        """Return the rate; None until games have come in for long enough."""
        if self.begun is None or played <= self.first_pairs:
            return None
        seconds = time.monotonic() - self.begun
        return 2 * (played - self.first_pairs) / seconds if seconds >= SETTLING_SECONDS else None


class ProgressCounter:
    """Counts the pairs of a run in schedule order, with the standing of each match."""

    def __init__(self, rounds: RoundTracker, disqualified: Collection[int] = ()) -> None:
        """`disqualified` are the bots that are disqualified by now; it may grow."""
        self.rounds, self.disqualified = rounds, disqualified
        self.done = 0
        self.done_before = 0  # pairs that were done before the run was started or continued
        self.forfeited = 0  # pairs that were forfeited unplayed since then
        self.standings: dict[tuple[int, int], AnytimeScore] = {}
        self.rate, self.changed = GameRate(), time.monotonic()
        self._matches = np.array(rounds.schedule.pairs.matches).reshape(-1, 2)
        self._counts = np.zeros(len(self._matches), np.int64)  # pairs done of each match

    @property
    def total(self) -> int:
        """The number of pairs that are known so far."""
        return self.rounds.total

    @property
    def remaining(self) -> int:
        """The number of pairs that are not done."""
        return self.total - self.done

    def add(self, start: int, stop: int, points: NDArray[np.int8]) -> None:
        """Count pairs `start` to `stop` - 1."""
        pairs = self.rounds.schedule.pairs
        match, number = pairs.locate(np.arange(start, stop))
        for place in np.unique(match):
            agents, own = pairs.matches[place], match == place
            self._counts[place] += own.sum()
            if agents in pairs.deterministic:
                own &= number < len(pairs.opening_keys)  # later ones are duplicates
            standing = self.standings.get(agents) or self._new_standing(agents)
            self.standings[agents] = update_anytime(standing, points[own] / PAIR_POINTS)
        self.forfeited += int(self._forfeit_mask()[match].sum())
        self.done, self.changed = stop, time.monotonic()
        self.rounds.add_points(start, points)

    def start(self) -> None:
        """Note that the pairs so far were done before the run was started or continued."""
        self.done_before, self.forfeited = self.done, 0

    def _new_standing(self, match: tuple[int, int]) -> AnytimeScore:
        """Return the standing of a match before its first pair."""
        pairs = self.rounds.schedule.pairs
        openings = len(pairs.opening_keys)
        repeats = pairs.round_blocks is None and pairs.pairs_per_match > openings
        return start_anytime(openings, again=match not in pairs.deterministic and repeats)

    def _forfeit_mask(self) -> NDArray[np.bool_]:
        """Return which matches have a disqualified bot."""
        return np.asarray(np.isin(self._matches, [*self.disqualified]).any(axis=1))

    def _count_unplayed(self) -> int:
        """Return how many of the remaining pairs will be forfeited unplayed."""
        pairs = self.rounds.schedule.pairs
        if pairs.round_blocks is not None:
            return 0  # results decide the next pairs
        return int((pairs.pairs_per_match - self._counts)[self._forfeit_mask()].sum())

    def progress(self, stop: StopState | None, speeds: Mapping[str, float]) -> GameProgress:
        """Return the event for displays."""
        done, standing = self.done - self.done_before, self.rounds.standing
        played = done - self.forfeited
        self.rate.update(played)
        return GameProgress(
            done=self.done,
            total=self.total,
            is_last=not self.remaining and (standing is None or standing.is_over),
            names=self.rounds.schedule.plan.names,
            pairs_played=done,
            standings=self.standings,
            stop=stop,
            speeds=speeds,
            tournament=standing,
            next_match=self._next_match(),
            rate=self.rate.games_per_second(played),
            idle_seconds=time.monotonic() - self.changed,
            unplayed=self._count_unplayed(),
        )

    def _next_match(self) -> tuple[int, int] | None:
        """Return the agents of the first pair that is to be played and is not counted."""
        pairs = self.rounds.schedule.pairs
        ids = np.arange(self.done, min(self.done + LOOKAHEAD, self.total))
        matches = (pairs.matches[match] for match in dict.fromkeys(pairs.locate(ids)[0].tolist()))
        return next((each for each in matches if not {*self.disqualified} & {*each}), None)


class LiveMatch(NamedTuple):
    """Two agents so far: the score of `a` against `b`."""

    a: int
    b: int
    score: Estimate
    is_of_openings: bool  # whether the score is that of exactly these openings

    @property
    def leader(self) -> int:
        """The agent with the higher score; `a` of equals."""
        score = self.score.value
        return self.b if score is not None and score < 0.5 else self.a

    @property
    def other(self) -> int:
        """The agent that does not lead."""
        return self.a + self.b - self.leader

    def score_of(self, agent: int) -> Estimate:
        """Return the score of one of the two."""
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
    """An agent so far: its mean score over its matches, and how many of them are significant."""

    agent: int
    games: int
    score: Estimate
    above: int  # matches that it wins significantly
    below: int
    open: int


def live_matches(progress: GameProgress) -> list[LiveMatch]:
    """Return every match that has begun."""
    return [_live_match(pair, standing) for pair, standing in progress.standings.items()]


def _live_match(pair: tuple[int, int], standing: AnytimeScore) -> LiveMatch:
    these = anytime_estimate_these(standing)
    if standing.openings == 1 and these is not None:
        return LiveMatch(*pair, these, True)
    return LiveMatch(*pair, anytime_estimate(standing), False)


def live_agents(progress: GameProgress, matches: Sequence[LiveMatch]) -> list[LiveAgent]:
    """Return every agent that has played, the highest score first."""
    agents = sorted({agent for pair in progress.standings for agent in pair})
    rows = [_live_agent(agent, progress, matches) for agent in agents]
    return sorted(rows, key=lambda row: (-(row.score.value or 0.0), row.agent))


def _live_agent(agent: int, progress: GameProgress, matches: Sequence[LiveMatch]) -> LiveAgent:
    own = {pair: standing for pair, standing in progress.standings.items() if agent in pair}
    sides = [significant_side(each.score_of(agent)) for each in matches if agent in each[:2]]
    games = 2 * sum(standing.pairs for standing in own.values())
    score = _mean_score(agent, own)
    return LiveAgent(agent, games, score, sides.count(1), sides.count(-1), sides.count(0))


def significant_side(estimate: Estimate) -> int:
    """Return 1 if the interval is above an even score, -1 if it is below, 0 if it includes it."""
    low = 0.0 if estimate.low is None else estimate.low
    high = 1.0 if estimate.high is None else estimate.high
    if estimate.kind is EstimateKind.NONE or estimate.value is None:
        return 0
    return 1 if low > 0.5 else -1 if high < 0.5 else 0


def anytime_at_level(standing: AnytimeScore, level: float) -> Estimate:
    """Return the live estimate at another level, by the first pair on each opening."""
    return anytime_estimate(replace(standing, level=level, repeats=None))


def _mean_score(agent: int, standings: dict[tuple[int, int], AnytimeScore]) -> Estimate:
    """Return the mean of the scores of an agent's matches.

    Each match gets an equal share of the error, so that all intervals hold together (Bonferroni).
    """
    played = {pair: standing for pair, standing in standings.items() if standing.pairs}
    if not played:
        return no_estimate(NO_GAMES)
    level = next(iter(played.values())).level
    each = shared_level(level, len(played))
    scores = [
        LiveMatch(*pair, anytime_at_level(standing, each), False).score_of(agent)
        for pair, standing in played.items()
    ]
    value = sum(estimate.value or 0.0 for estimate in scores) / len(scores)
    if any(estimate.kind is EstimateKind.NONE for estimate in scores):
        return no_estimate(ONE_OPENING, value, level)
    low = sum(0.0 if one.low is None else one.low for one in scores) / len(scores)
    high = sum(1.0 if one.high is None else one.high for one in scores) / len(scores)
    ends = low if low > 0.0 else None, high if high < 1.0 else None
    return Estimate(value, *ends, level, EstimateKind.ANYTIME)


def match_line(match: LiveMatch, names: Sequence[str]) -> str:
    """Return the score of a match in one line."""
    these = " from this opening" if match.is_of_openings else ""
    score = anytime_interval_text(match.score_of(match.leader))
    return f"{names[match.leader]} against {names[match.other]}: {score}{these}"


def tournament_lines(standing: TournamentStanding, names: Sequence[str]) -> list[str]:
    """Return the round, the remaining agents, and why the latest others are out."""
    remaining = ", ".join(names[agent] for agent in standing.remaining)
    lines = [f"after round {standing.rounds}: {standing.answer}", f"in: {remaining}"]
    return [*lines, *out_lines(standing, names, MOST_OUT)]


def out_lines(standing: TournamentStanding, names: Sequence[str], most: int) -> list[str]:
    """Return a line for each of the latest agents that are out, with the reason."""
    rows = [row for row in standing.rows if row.state == OUT]
    lines = [f"  out: {names[row.agent]}{_round_text(row)}: {row.why}" for row in rows[:most]]
    more = len(rows) - most
    return [*lines, f"  and {more} more are out"] if more > 0 else lines


def _round_text(row: StandingRow) -> str:
    return "" if row.round is None else f" in round {row.round}"


def standing_lines(progress: GameProgress) -> list[str]:
    """Return the standings of a round robin: scores, and how many matches are significant.

    Without a terminal only the first line is shown.
    """
    names, rows = progress.names, live_agents(progress, live_matches(progress))
    shown = rows[:MOST_STANDINGS]
    cells = [
        (str(place), printable(names[row.agent], LONGEST_NAME), anytime_interval_text(row.score),
         f"{row.games:,}", str(row.above), str(row.below), str(row.open))
        for place, row in enumerate(shown, 1)
    ]  # fmt: skip
    head = ("", "agent", "score so far", "games", "above", "below", "open")
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if place in (1, 2) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
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
        reason = estimate.reason if ":" in estimate.reason else f"no interval: {estimate.reason}"
        return f"{100 * estimate.value:.1f} % ({reason})"
    low, high = estimate.low or 0.0, 1.0 if estimate.high is None else estimate.high
    return f"{100 * estimate.value:.1f} % [{lower_end(low, 1)}, {upper_end(high, 1)}]"
