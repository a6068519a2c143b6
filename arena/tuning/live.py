"""The live line of a study: the best so far as recommended, never the luckiest trial."""

import sys
import time
from collections.abc import Sequence
from typing import Any

from arena.stats.words import signed
from arena.tuning.recommendation import Live, Recommendation
from arena.tuning.trials import Trial

PLAIN_SECONDS, LIVE_SECONDS = 5.0, 0.5
FIT_SHARE = 0.02  # of the time may go into fits for this line


class TuningProgress:
    """One line, live on a terminal and now and then elsewhere; nothing at all when quiet."""

    def __init__(self, live: Live, total: int, games: int, quiet: bool) -> None:
        """`total` trials of `games` games are wanted."""
        self.live, self.total, self.games, self.quiet = live, total, games, quiet
        self.begun = self.last = time.monotonic()
        self.fit_seconds = 0.0
        self.best: Recommendation | None = None
        self.before = 0
        self.line: Any = None
        if not quiet and sys.stderr.isatty():
            from rich.console import Console  # noqa: PLC0415  # only a terminal needs it
            from rich.live import Live as Line  # noqa: PLC0415

            self.line = Line(console=Console(stderr=True), auto_refresh=False, transient=True)

    def __enter__(self) -> "TuningProgress":
        """Take the line."""
        if self.line:
            self.line.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Give the line back."""
        if self.line:
            self.line.stop()

    def show(self, trials: Sequence[Trial]) -> None:
        """Show where the study stands, if it is time to."""
        now = time.monotonic()
        due = LIVE_SECONDS if self.line else PLAIN_SECONDS
        if self.quiet or now - self.last < due:
            return
        if self.fit_seconds <= FIT_SHARE * (now - self.begun):
            self.best = self.live.recommendation(trials)
            self.fit_seconds += time.monotonic() - now
        self.last = time.monotonic()
        text = self.text(trials, self.last - self.begun)
        if self.line:
            self.line.update(text, refresh=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def text(self, trials: Sequence[Trial], seconds: float) -> str:
        """Trials done, games per second, time left, the recommendation with its interval."""
        new = len(trials) - self.before
        words = [f"{len(trials)} of {self.total} trials"]
        if new > 0 and seconds > 0.0:
            left = seconds / new * (self.total - len(trials))
            words += [f"{new * self.games / seconds:,.0f} games/s", f"{left:,.0f} s left"]
        if self.best is not None:
            words.append(recommended_text(self.best))
        return ", ".join(words)


def recommended_text(found: Recommendation) -> str:
    """The recommendation in one phrase: weights, gain over the seed's, interval."""
    if found.flat:
        return f"best so far: the seed weights ({found.flat})"
    weights = ", ".join(f"{name} = {value:g}" for name, value in found.weights.items())
    gain, low, high = (signed(number) for number in found.gain_elo)
    return f"best so far: {weights}: {gain} [{low}, {high}] Elo over {found.over}"
