"""What a person sees while games are played: one live line on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Sequence
from typing import Any

from arena.playing.tournament import Tick
from arena.stats.anytime import ConfidenceSequence, anytime_estimate

PLAIN_SECONDS = 5.0
LIVE_SECONDS = 0.2
MOST_STANDINGS = 6


class Progress:
    """Shows ticks, not too often; nothing at all when quiet."""

    def __init__(self, names: Sequence[str], quiet: bool) -> None:
        """Progress goes to stderr, so that tables alone go to stdout."""
        self.names, self.quiet = names, quiet
        self.live: Any = None
        self.begun = self.last = time.monotonic()
        if not quiet and sys.stderr.isatty():
            from rich.console import Console  # noqa: PLC0415  # only a terminal needs it
            from rich.live import Live  # noqa: PLC0415
            from rich.text import Text  # noqa: PLC0415

            self.text = Text
            self.live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)

    def __enter__(self) -> "Progress":
        """Take the line."""
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Give the line back."""
        if self.live:
            self.live.stop()

    def show(self, tick: Tick) -> None:
        """Show where the run stands, if it is time to."""
        now = time.monotonic()
        due = LIVE_SECONDS if self.live else PLAIN_SECONDS
        if self.quiet or (now - self.last < due and tick.done < tick.total):
            return
        self.last = now
        try:
            self._print(tick, now)
        except OSError:
            self.quiet = True  # nobody reads it any more: `2>&1 | head`

    def _print(self, tick: Tick, now: float) -> None:
        line = self._line(tick, max(now - self.begun, 1e-6))
        if self.live:
            # As text: names may look like rich's own markup.
            lines = "\n".join([line, *self._standings(tick)])
            self.live.update(self.text(lines), refresh=True)
        elif tick.played or tick.done == 0:
            print("  ".join([line, *self._standings(tick)[:1]]), file=sys.stderr, flush=True)

    def _line(self, tick: Tick, seconds: float) -> str:
        """Games done and per second, time left, the stop rule."""
        rate = 2 * tick.played / seconds
        words = [f"{2 * tick.done:,} of {2 * tick.total:,} games", f"{rate:,.0f} games/s"]
        if tick.played and tick.done < tick.total and seconds > 1.0:
            left = 2 * (tick.total - tick.done) / max(rate, 1e-9)
            words.append(f"{left:,.0f} s left" if left < 600 else f"{left / 60:,.0f} min left")
        if tick.sprt is not None:
            state = tick.sprt
            words.append(f"LLR {state.llr:+.2f} in ({state.lower:.2f}, {state.upper:.2f})")
        return ", ".join(words)

    def _standings(self, tick: Tick) -> list[str]:
        """The score of each match with its interval, as far as it has been played."""
        return [
            f"{self.names[a]} v {self.names[b]}: {_score(seen)}"
            for (a, b), seen in list(tick.standings.items())[:MOST_STANDINGS]
        ]


def _score(seen: ConfidenceSequence) -> str:
    """A share in an interval that stays true however often one looks."""
    found = anytime_estimate(seen)
    if found.value is None:
        return "no games"
    low, high = found.low or 0.0, 1.0 if found.high is None else found.high
    return f"{100 * found.value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
