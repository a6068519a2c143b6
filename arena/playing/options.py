"""How to play, and signals."""

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
IMPORTS = "<frozen importlib."  # where the frames of an import are from
AGAIN_SECONDS = 0.02  # after which we look whether the import is done
IMPORT_SECONDS = 5.0  # no longer: a file of a user's may hang


class Interrupts:
    """Turns the first signal into KeyboardInterrupt; later ones change nothing."""

    def __init__(self) -> None:
        """No signal has arrived yet."""
        self.arrived = self.patient = self.finished = False
        self.import_until = 0.0

    def arrive(self, _signal: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if not self.arrived and not self.finished:
            self.arrived = True
            self.import_until = time.monotonic() + IMPORT_SECONDS
            self._stop(_signal, frame)

    def _stop(self, _signal: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, after the import if there is one.

        Raised inside it, it would leave a lock behind that others then wait for.
        """
        if self.patient or self.finished:
            return
        if importing(frame) and time.monotonic() < self.import_until:
            signal.signal(signal.SIGALRM, self._stop)
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
            return
        sys.unraisablehook = unheard
        raise KeyboardInterrupt

    def look(self) -> None:
        """Raise KeyboardInterrupt if a signal arrived while it had to wait."""
        if self.arrived:
            raise KeyboardInterrupt

    def finish(self) -> None:
        """From now on signals change nothing: all is written, and the process is about to end."""
        self.finished = True

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
        handlers, hook = {each: signal.getsignal(each) for each in SIGNALS}, sys.unraisablehook
        for each, handler in handlers.items():
            if handler != signal.SIG_IGN:
                signal.signal(each, self.arrive)
        try:
            yield
        finally:
            # After a signal we are about to end, and a second Ctrl-C must do no harm; so are we
            # once all is written, if the process is a command's own.
            ours = handlers[signal.SIGINT] == signal.SIG_DFL
            if not ours:
                sys.unraisablehook = hook
            if not self.arrived and not (self.finished and ours):
                for each, handler in handlers.items():
                    signal.signal(each, handler)


def unheard(_: object) -> None:
    """Ignore what an object complains of when it goes: a library's, stopped while it was made."""


def importing(frame: FrameType | None) -> bool:
    """Whether a module is being loaded where a signal arrived."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(IMPORTS):
            return True
        frame = frame.f_back
    return False
