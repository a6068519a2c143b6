"""A run shown in the browser while it is played."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from arena.concluding.checks import Check
from arena.planning.plan import Plan
from arena.playing.tournament import Tick
from arena.showing.live_page import LivePage, Parts
from arena.showing.live_server import LiveServer
from arena.showing.progress import Pace
from games.terminal import say

WATCHED_SECONDS = 1.0
UNWATCHED_SECONDS = 5.0  # a state must be there when somebody comes
SHARE = 0.02  # of a core's time may be spent on making the parts of a state


class LiveView:
    """Makes states for the page, not too often, and ends it with the report."""

    def __init__(self, page: LivePage, server: LiveServer) -> None:
        """The run begins."""
        self.page, self.server = page, server
        self.begun = time.monotonic()
        self.next = self.parts_next = self.begun
        self.parts: Parts = {}
        self.pace = Pace()
        self.line = "no games were played"

    def show(self, tick: Tick) -> None:
        """Show a state if it is time to."""
        self.pace.take(tick.played)
        self.line = f"{2 * tick.done:,} of {2 * tick.total:,} games"
        now = time.monotonic()
        wait = 0.0 if self.server.followers or not self.server.state else UNWATCHED_SECONDS
        over = tick.done == tick.total
        if now < self.next + wait and not over:
            return
        self.next = now + WATCHED_SECONDS
        begun = time.thread_time()
        if now >= self.parts_next or over:
            self.parts = self.page.parts(tick)
        line = self.page.line(tick, max(now - self.begun, 1e-6), self.pace)
        self.server.publish({**self.parts, **line})
        if now >= self.parts_next:
            # The line is made for every look: what takes long must not let it stand still.
            self.parts_next = now + (time.thread_time() - begun) / SHARE

    def finish(self, report: Path) -> None:
        """End with the page of the run."""
        page = report.read_text() if report.exists() else None
        self.server.end("finished", f"Finished: {self.line}.", page)


@contextlib.contextmanager
def live_view(experiment: str, plan: Plan, checks: Sequence[Check]) -> Iterator[LiveView]:
    """The view of a run on a page of its own; it says where, and when it is stopped."""
    page = LivePage(experiment, plan, checks)
    with LiveServer(page.document()) as server:
        say(f"live: {server.address}")
        view = LiveView(page, server)
        try:
            yield view
        except BaseException:
            server.end("stopped", f"Stopped after {view.line}; the same command goes on.")
            raise
