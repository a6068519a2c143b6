"""How to play: workers, signals, and which executor does a job."""

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

from agents.sandbox.sandbox import Sandbox
from arena.playing.executor import Executor, InProcessExecutor, Item, Job, Result
from arena.playing.process_pool import ProcessExecutor

if TYPE_CHECKING:
    from arena.playing.cluster.connection import Cluster
    from arena.storage.game_cache import GameCache

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Turns the first signal into KeyboardInterrupt; later ones change nothing."""

    def __init__(self) -> None:
        self.arrived = self.patient = self.finished = False

    def arrive(self, _signal: int, _frame: FrameType | None) -> None:
        """Handle a signal."""
        if not self.arrived and not self.finished:
            self.arrived = True
            if not self.patient:
                raise KeyboardInterrupt

    def look(self) -> None:
        """Raise KeyboardInterrupt if a signal arrived while it had to wait."""
        if self.arrived:
            raise KeyboardInterrupt

    def finish(self) -> None:
        """Ignore signals from now on: everything is written, and the process is about to end."""
        self.finished = True

    @contextlib.contextmanager
    def wait_for_look(self) -> Iterator[None]:
        """Make signals wait for the next `look`, so that batches are stored completely."""
        self.patient = True
        try:
            yield
        finally:
            self.patient = False

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Handle the signals in place of Python; one that is ignored, as by nohup, stays so."""
        handlers = {each: signal.getsignal(each) for each in SIGNALS}
        for each, handler in handlers.items():
            if handler != signal.SIG_IGN:
                signal.signal(each, self.arrive)
        try:
            yield
        finally:
            # After a signal the process is about to end, and a second Ctrl-C must do no harm; so it
            # is once everything is written, if this process runs only the command.
            ours = handlers[signal.SIGINT] == signal.SIG_DFL
            if not self.arrived and not (self.finished and ours):
                for each, handler in handlers.items():
                    signal.signal(each, handler)


class PlayOptions(NamedTuple):
    """How jobs are done: the workers, and what may interrupt them."""

    workers: int  # processes; 0: work is done in this one
    interrupts: Interrupts
    cluster: "Cluster | None" = None  # in place of processes
    wall: Sandbox | None = None  # None: each job opens its own
    known: "GameCache | None" = None  # games that need not be played
    pinned: bool = True  # whether a worker keeps to a core with its bots, where there are enough

    @property
    def at_once(self) -> int:
        """The number of items that are worked on at a time."""
        return max(1, self.workers)

    def open_executor(
        self, job: Job[Item, Result], poll: Callable[[], None], *, alone: bool = False
    ) -> Executor[Item, Result]:
        """Start workers for a job; `alone`: one worker, one item at a time."""
        if self.cluster is not None:
            from arena.playing.cluster.dask_executor import DaskExecutor  # noqa: PLC0415  # it loads Dask

            assert job.package is not None
            return DaskExecutor(self.cluster, job.package(), alone, poll)
        if not self.workers:
            return InProcessExecutor(job.work)
        return ProcessExecutor(job.work, 1 if alone else self.workers)
