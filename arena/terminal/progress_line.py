"""The progress line."""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena.playing.play import Tick
from arena.stats.anytime import AnytimeScore, anytime_estimate, anytime_estimate_these
from arena.stats.estimate import Estimate, EstimateKind, no_estimate
from arena.stats.intervals import NO_GAMES, ONE_OPENING
from arena.stats.text import lower_end, upper_end
from arena.storage.results import ProgressFileSink
from arena.terminal.tables import live_lines
from games.base.errors import printable
from games.base.progress_line import Lines, ProgressLine

if TYPE_CHECKING:
    import rich.live

SETTLING_SECONDS = 1.0  # of play before a time left is worth saying
STILL_SECONDS = 2.0  # without a finished game, before the line says who plays
MOST_STANDINGS = 16
LONGEST_NAME = 32
SHARE = 0.02  # of the time may be spent on showing it
MOST_WORKERS = 6


class GameRate:
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


def live_matches(tick: Tick) -> list[LiveMatch]:
    """Every match that has begun."""
    return [_match(pair, standing) for pair, standing in tick.standings.items()]


def live_agents(tick: Tick, matches: Sequence[LiveMatch]) -> list[LiveAgent]:
    """Every agent that has played, the highest score first."""
    agents = sorted({agent for pair in tick.standings for agent in pair})
    rows = [_agent(agent, tick, matches) for agent in agents]
    return sorted(rows, key=lambda row: (-(row.score.value or 0.0), row.agent))


def settled_side(estimate: Estimate) -> int:
    """1 if the interval lies above an even score, -1 below it, 0 if it includes it."""
    low = 0.0 if estimate.low is None else estimate.low
    high = 1.0 if estimate.high is None else estimate.high
    if estimate.kind is EstimateKind.NONE or estimate.value is None:
        return 0
    return 1 if low > 0.5 else -1 if high < 0.5 else 0


def anytime_at_level(standing: AnytimeScore, level: float) -> Estimate:
    """The live estimate at a level of its own, by the first pairing on each opening."""
    return anytime_estimate(replace(standing, level=level, turns=None))


def _match(pair: tuple[int, int], standing: AnytimeScore) -> LiveMatch:
    these = anytime_estimate_these(standing)
    if standing.openings == 1 and these is not None:
        return LiveMatch(*pair, these, True)
    return LiveMatch(*pair, anytime_estimate(standing), False)


def _agent(agent: int, tick: Tick, matches: Sequence[LiveMatch]) -> LiveAgent:
    mine = {pair: standing for pair, standing in tick.standings.items() if agent in pair}
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


class LiveLine(ProgressLine):
    """The progress line of games: several lines on a terminal, and a file of them."""

    def __init__(self, quiet: bool, directory: Path | None = None) -> None:
        """In the directory a file has the same lines, even when quiet: `arena.status` reads it."""
        super().__init__(quiet)
        self.file = None if directory is None else ProgressFileSink(directory)
        self.live: rich.live.Live | None = None
        self.due = self.begun + self.seconds
        self.rested = 0.0  # when the next lines may be made, for the last ones took long
        if self.on_terminal:
            from rich.console import Console  # noqa: PLC0415  # only a terminal needs it
            from rich.live import Live  # noqa: PLC0415
            from rich.text import Text  # noqa: PLC0415

            self.text = Text
            self.live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)

    def __enter__(self) -> "LiveLine":
        """Take the line."""
        if self.live:
            self.live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Give the line back."""
        if self.file and kind is None:
            self.file.remove()
        if self.live:
            self.live.stop()

    def show(self, lines: Lines, last: bool = False) -> None:
        """Show the lines if it is time to, or for the `last` time."""
        now = time.monotonic()
        here = not self.quiet and (last or now >= self.due)
        there = self.file is not None and self.file.due
        if not (here or there) or (now < self.rested and not last):
            return
        begun = time.thread_time()
        shown = lines(max(now - self.begun, 1e-6))
        self.rested = now + (time.thread_time() - begun) / SHARE
        if self.file is not None and there:
            self.file.write(shown)
        if here:
            self.due = time.monotonic() + self.seconds
            self.draw(shown)

    def draw(self, lines: Sequence[str]) -> None:
        """Write them now; a terminal has room for all."""
        if self.live:
            # As text: names may look like rich's own markup.
            with contextlib.suppress(OSError):
                self.live.update(self.text("\n".join(map(printable, lines))), refresh=True)
        else:
            super().draw(lines)


def run_progress(line: LiveLine, names: Sequence[str]) -> Callable[[Tick], None]:
    """A function that shows the progress of a run on the line."""
    pace, done, since = GameRate(), -1, time.monotonic()

    def show(tick: Tick) -> None:
        nonlocal done, since
        now = time.monotonic()
        if tick.done != done:
            done, since = tick.done, now
        pace.take(tick.played)
        over = tick.done == tick.total and (tick.tournament is None or tick.tournament.over)
        line.show(lambda seconds: run_lines(tick, names, seconds, pace, now - since), last=over)

    return show


def run_lines(
    tick: Tick, names: Sequence[str], seconds: float, pace: GameRate, still: float = 0.0
) -> list[str]:
    """The first line; then the score of the match, or the standings where there are several.

    For `still` seconds no game has been counted.
    """
    if not tick.played and tick.done == tick.total:
        return []  # nothing was left to play
    if tick.tournament is not None:
        rows = live_lines(tick.tournament, names)
    elif len(tick.standings) > 1:
        rows = standing_lines(tick, names)
    else:
        rows = [
            f"{names[match.leader]} against {names[match.other]}: "
            f"{anytime_interval_text(match.seen_by(match.leader))}"
            f"{' from this opening' if match.these else ''}"
            for match in live_matches(tick)
        ]
    first = first_line(tick, seconds, pace)
    if still >= STILL_SECONDS and tick.awaited is not None:
        a, b = (printable(names[place], LONGEST_NAME) for place in tick.awaited)
        first += f", {a} v {b} for {still:.0f} s"
    return [first, *rows, *worker_lines(tick.speeds)]


def first_line(tick: Tick, seconds: float, pace: GameRate) -> str:
    """Games done and per second, time left and the stop rule."""
    rate = pace.rate(tick.played, seconds)
    open_end = tick.tournament is not None
    played = (
        f"{2 * tick.done:,} games" if open_end else f"{2 * tick.done:,} of {2 * tick.total:,} games"
    )
    words = [played, f"{rate:,.0f} games/s"]
    if tick.speeds:
        words.append(f"{len(tick.speeds)} workers" if len(tick.speeds) > 1 else "1 worker")
    if pace.settled(tick.played) and tick.done < tick.total and not open_end:
        left = 2 * (tick.total - tick.done) / max(rate, 1e-9)
        words.append(f"{left:,.0f} s left" if left < 600 else f"{left / 60:,.0f} min left")
    if tick.sprt is not None:
        state = tick.sprt
        words.append(f"LLR {state.llr:+.2f} in ({state.lower:.2f}, {state.upper:.2f})")
    return ", ".join(words)


def standing_lines(tick: Tick, names: Sequence[str]) -> list[str]:
    """The standings of a round robin: scores, and how many matches are settled either way.

    The first line alone is said where there is no terminal.
    """
    rows = live_agents(tick, live_matches(tick))
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
    """The workers of a cluster and their speed, the slowest first: who waits looks for those."""
    slowest = sorted(speeds, key=lambda name: speeds[name])
    lines = [f"{name}: {speeds[name]:,.0f} games/s" for name in slowest[:MOST_WORKERS]]
    more = len(speeds) - MOST_WORKERS
    return [*lines, f"and {more} more"] if more > 0 else lines


def anytime_interval_text(estimate: Estimate) -> str:
    """A score in an interval that holds however often one looks."""
    if estimate.value is None:
        return "no games"
    if estimate.kind is EstimateKind.NONE:
        return f"{100 * estimate.value:.1f} % (no interval: {estimate.reason})"
    low, high = estimate.low or 0.0, 1.0 if estimate.high is None else estimate.high
    return f"{100 * estimate.value:.1f} % [{lower_end(low, 1)}, {upper_end(high, 1)}]"
