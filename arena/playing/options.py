"""How to play: workers, signals, and the executor for a job."""

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
    """Turns the first signal into KeyboardInterrupt and ignores later ones."""

    def __init__(self) -> None:
        self.arrived = self.is_deferred = self.is_finished = False

    def handle(self, _signal: int, _frame: FrameType | None) -> None:
        """Handle a signal."""
        if not self.arrived and not self.is_finished:
            self.arrived = True
            if not self.is_deferred:
                raise KeyboardInterrupt

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has arrived."""
        if self.arrived:
            raise KeyboardInterrupt

    def finish(self) -> None:
        """Ignore signals from now on: everything is written, and the process is about to end."""
        self.is_finished = True

    @contextlib.contextmanager
    def defer(self) -> Iterator[None]:
        """Make signals wait for the next `check`, so that batches are stored completely."""
        self.is_deferred = True
        try:
            yield
        finally:
            self.is_deferred = False

    @contextlib.contextmanager
    def handle_signals(self) -> Iterator[None]:
        """Handle signals in place of Python; signals that are ignored (nohup) stay ignored."""
        handlers = {each: signal.getsignal(each) for each in SIGNALS}
        for each, handler in handlers.items():
            if handler != signal.SIG_IGN:
                signal.signal(each, self.handle)
        try:
            yield
        finally:
            # A second Ctrl-C must do no harm while the process ends: after a signal, and after
            # everything is written if this process runs only the command.
            is_command = handlers[signal.SIGINT] == signal.SIG_DFL
            if not self.arrived and not (self.is_finished and is_command):
                for each, handler in handlers.items():
                    signal.signal(each, handler)


class PlayOptions(NamedTuple):
    """How jobs are done. No option changes a result."""

    workers: int  # processes; 0: this process does the work
    interrupts: Interrupts
    cluster: "Cluster | None" = None  # in place of processes
    sandbox: Sandbox | None = None  # None: each job opens its own
    cache: "GameCache | None" = None  # games that need not be played
    pin_cores: bool = True  # whether a worker and its bots keep to a core, if there are enough

    @property
    def items_at_once(self) -> int:
        """The number of items that are worked on at a time."""
        return max(1, self.workers)

    def open_executor(
        self, job: Job[Item, Result], poll: Callable[[], None], *, alone: bool = False
    ) -> Executor[Item, Result]:
        """Start workers for a job; `alone`: one worker, one item at a time."""
        if self.cluster is not None:
            from arena.playing.cluster.dask_executor import DaskExecutor  # noqa: PLC0415  # slow

            assert job.package is not None
            return DaskExecutor(self.cluster, job.package(), alone, poll)
        if not self.workers:
            return InProcessExecutor(job.work)
        return ProcessExecutor(job.work, 1 if alone else self.workers)
