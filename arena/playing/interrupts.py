"""Ctrl-C and SIGTERM: raised once, between batches if games are being played."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Turns the first signal into KeyboardInterrupt; later ones change nothing."""

    def __init__(self) -> None:
        """No signal has arrived yet."""
        self.arrived = self.patient = False

    def arrive(self, _signal: int, _frame: FrameType | None) -> None:
        """Handle a signal."""
        first, self.arrived = not self.arrived, True
        if first and not self.patient:
            raise KeyboardInterrupt

    def look(self) -> None:
        """Raise KeyboardInterrupt if a signal arrived while it had to wait."""
        if self.arrived:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def wait_for_look(self) -> Iterator[None]:
        """Make signals wait for the next `look`, so that batches are kept whole."""
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
            # After a signal we are about to end, and a second Ctrl-C must do no harm.
            if not self.arrived:
                for each, handler in handlers.items():
                    signal.signal(each, handler)
