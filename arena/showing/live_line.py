"""The live line while games are played; plain lines where there is no terminal."""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena.keeping.progress_file import ProgressFile
from arena.playing.tournament import Tick
from arena.showing.progress import Pace, agents_now, matches_now
from arena.showing.tournament_lines import live_lines
from arena.stats.estimate import Estimate, EstimateKind
from games.progress_line import Lines, ProgressLine
from games.terminal import printable

if TYPE_CHECKING:
    import rich.live

STILL_SECONDS = 2.0  # without a finished game, before the line says who plays
MOST_STANDINGS = 16
LONGEST_NAME = 32
SHARE = 0.02  # of the time may be spent on showing it
MOST_WORKERS = 6


class LiveLine(ProgressLine):
    """The progress line of games: several lines on a terminal, and a file of them."""

    def __init__(self, quiet: bool, directory: Path | None = None) -> None:
        """In the directory a file has the same lines, even when quiet: `arena.status` reads it."""
        super().__init__(quiet)
        self.file = None if directory is None else ProgressFile(directory)
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


def run_shown(line: LiveLine, names: Sequence[str]) -> Callable[[Tick], None]:
    """A function that shows the progress of a run on the line."""
    pace, done, since = Pace(), -1, time.monotonic()

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
    tick: Tick, names: Sequence[str], seconds: float, pace: Pace, still: float = 0.0
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
            f"{interval_text(match.seen_by(match.leader))}"
            f"{' from this opening' if match.these else ''}"
            for match in matches_now(tick)
        ]
    first = first_line(tick, seconds, pace)
    if still >= STILL_SECONDS and tick.awaited is not None:
        a, b = (printable(names[place], LONGEST_NAME) for place in tick.awaited)
        first += f", {a} v {b} for {still:.0f} s"
    return [first, *rows, *worker_lines(tick.speeds)]


def first_line(tick: Tick, seconds: float, pace: Pace) -> str:
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
    rows = agents_now(tick, matches_now(tick))
    shown = rows[:MOST_STANDINGS]
    cells = [
        (str(place), printable(names[row.agent], LONGEST_NAME), interval_text(row.score),
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


def interval_text(estimate: Estimate) -> str:
    """A score in an interval that holds however often one looks."""
    if estimate.value is None:
        return "no games"
    if estimate.kind is EstimateKind.NONE:
        return f"{100 * estimate.value:.1f} % (no interval: {estimate.reason})"
    low, high = estimate.low or 0.0, 1.0 if estimate.high is None else estimate.high
    return f"{100 * estimate.value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
