"""The live line while games are played; plain lines where there is no terminal."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from arena.playing.tournament import Tick
from arena.showing.tournament_lines import live_lines
from arena.stats.estimate import Estimate
from arena.stats.watching import Standing, live_estimate, live_estimate_of_these

if TYPE_CHECKING:
    import rich.live

PLAIN_SECONDS = 5.0
LIVE_SECONDS = 0.2
MOST_STANDINGS = 6
MOST_WORKERS = 6


class LiveLine:
    """Shows lines of text, not too often; nothing at all when quiet."""

    def __init__(self, quiet: bool) -> None:
        """It goes to stderr, so that stdout has nothing but tables."""
        self.quiet = quiet
        self.live: rich.live.Live | None = None
        self.begun = self.last = time.monotonic()
        if not quiet and sys.stderr.isatty():
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

    def __exit__(self, *_: object) -> None:
        """Give the line back."""
        if self.live:
            self.live.stop()

    def show(self, lines: Callable[[float], Sequence[str]], last: bool = False) -> None:
        """Show `lines(seconds since the beginning)` if it is time to, or for the `last` time.

        The first line is the most important; only a terminal shows them all.
        """
        now = time.monotonic()
        due = LIVE_SECONDS if self.live else PLAIN_SECONDS
        if self.quiet or (now - self.last < due and not last):
            return
        shown = lines(max(now - self.begun, 1e-6))
        self.last = time.monotonic()
        try:
            self._print(shown)
        except OSError:
            self.quiet = True  # nobody reads it any longer, as in `2>&1 | head`

    def _print(self, lines: Sequence[str]) -> None:
        if self.live:
            # As text: names may look like rich's own markup.
            self.live.update(self.text("\n".join(lines)), refresh=True)
        elif lines:
            print("  ".join(lines[:2]), file=sys.stderr, flush=True)


def run_shown(line: LiveLine, names: Sequence[str]) -> Callable[[Tick], None]:
    """A function that shows the progress of a run on the line."""
    return lambda tick: line.show(
        lambda seconds: run_lines(tick, names, seconds),
        last=tick.done == tick.total and (tick.tournament is None or tick.tournament.over),
    )


def run_lines(tick: Tick, names: Sequence[str], seconds: float) -> list[str]:
    """Games done and per second, time left and the stop rule; then the score of each match."""
    if not tick.played and tick.done:
        return []  # nothing was left to play
    rate = 2 * tick.played / seconds
    open_end = tick.tournament is not None
    played = (
        f"{2 * tick.done:,} games" if open_end else f"{2 * tick.done:,} of {2 * tick.total:,} games"
    )
    words = [played, f"{rate:,.0f} games/s"]
    if tick.speeds:
        words.append(f"{len(tick.speeds)} workers" if len(tick.speeds) > 1 else "1 worker")
    if tick.played and tick.done < tick.total and seconds > 1.0 and not open_end:
        left = 2 * (tick.total - tick.done) / max(rate, 1e-9)
        words.append(f"{left:,.0f} s left" if left < 600 else f"{left / 60:,.0f} min left")
    if tick.sprt is not None:
        state = tick.sprt
        words.append(f"LLR {state.llr:+.2f} in ({state.lower:.2f}, {state.upper:.2f})")
    standings = [
        f"{names[a]} v {names[b]}: {_score(seen)}"
        for (a, b), seen in list(tick.standings.items())[:MOST_STANDINGS]
    ]
    if tick.tournament is not None:
        standings = live_lines(tick.tournament, names)
    return [", ".join(words), *standings, *worker_lines(tick.speeds)]


def worker_lines(speeds: Mapping[str, float]) -> list[str]:
    """The workers of a cluster and their speed, the slowest first: who waits looks for those."""
    slowest = sorted(speeds, key=lambda name: speeds[name])
    lines = [f"{name}: {speeds[name]:,.0f} games/s" for name in slowest[:MOST_WORKERS]]
    more = len(speeds) - MOST_WORKERS
    return [*lines, f"and {more} more"] if more > 0 else lines


def _score(standing: Standing) -> str:
    """A score in an interval that holds however often one looks, for the first question known."""
    these = live_estimate_of_these(standing)
    if standing.openings == 1 and these is not None:
        return f"{_interval(these)} from this opening"
    return _interval(live_estimate(standing))


def _interval(estimate: Estimate) -> str:
    if estimate.value is None:
        return "no games"
    low, high = estimate.low or 0.0, 1.0 if estimate.high is None else estimate.high
    return f"{100 * estimate.value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
