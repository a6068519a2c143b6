"""Ctrl-C and SIGTERM: raised once, and only between batches while games are played."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Turns the first signal into KeyboardInterrupt; those that follow change nothing."""

    def __init__(self) -> None:
        """No signal has arrived yet."""
        self.arrived = self.patient = False

    def arrive(self, _signal: int, _frame: FrameType | None) -> None:
        """Take a signal."""
        first, self.arrived = not self.arrived, True
        if first and not self.patient:
            raise KeyboardInterrupt

    def look(self) -> None:
        """Raise what arrived while it had to wait."""
        if self.arrived:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def wait_for_look(self) -> Iterator[None]:
        """Let signals wait for the next `look`: batches are kept whole."""
        self.patient = True
        try:
            yield
        finally:
            self.patient = False

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Take signals in place of Python; a signal that is ignored, as by nohup, stays so."""
        before = {each: signal.getsignal(each) for each in SIGNALS}
        for each, handler in before.items():
            if handler != signal.SIG_IGN:
                signal.signal(each, self.arrive)
        try:
            yield
        finally:
            # Once told to stop we are about to end, and a second Ctrl-C must do no harm.
            if not self.arrived:
                for each, handler in before.items():
                    signal.signal(each, handler)
