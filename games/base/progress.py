"""Progress of long work: the events, and the line on the terminal that shows them."""

import contextlib
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from games.base.errors import print_error, printable

FIRST_SECONDS = 2.0  # of work, before there is a line
LIVE_SECONDS, PLAIN_SECONDS = 0.2, 4.0  # between two lines: on a terminal, elsewhere
MOST_LINES = 2  # of an event, where there is one line for it


@dataclass(frozen=True)
class Progress:
    """How far work is. Every display gets these events, and shows some of them."""

    text: str = ""
    done: int = 0  # of `total` items, whatever they are
    total: int = 0  # 0: unknown
    is_last: bool = False  # displays show the last event even if they are not due

    def lines(self, seconds: float) -> Sequence[str]:
        """Return what to show `seconds` after the display began, the most important line first."""
        return [f"{self.text}, {seconds:.0f} s"]


ShowProgress = Callable[[Progress], None]


def ignore_progress(_: Progress) -> None:
    """Show nothing."""


@contextlib.contextmanager
def watch(show: ShowProgress, progress: Callable[[], Progress]) -> Iterator[None]:
    """Show progress again and again while the block runs."""
    done = threading.Event()

    def repeat() -> None:
        while not done.wait(min(LIVE_SECONDS, FIRST_SECONDS)):
            show(progress())

    thread = threading.Thread(target=repeat, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


class ProgressLine:
    """Shows progress in one line of the terminal, which is overwritten; else in plain lines."""

    def __init__(self, quiet: bool = False) -> None:
        """It goes to stderr, so that stdout has nothing but results."""
        self.quiet, self.on_terminal = quiet, not quiet and sys.stderr.isatty()
        self.seconds = LIVE_SECONDS if self.on_terminal else PLAIN_SECONDS
        self.begun = time.monotonic()
        self.due = self.begun + FIRST_SECONDS
        self.drawn = False  # whether there is a line on the terminal now
        self.lock = threading.Lock()

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.clear()

    def show(self, progress: Progress) -> None:
        """Show progress if the line is due."""
        with self.lock:
            now = time.monotonic()
            if not self.quiet and (now >= self.due or progress.is_last):
                self.due = now + self.seconds
                self.draw(progress.lines(max(now - self.begun, 1e-6)))

    def draw(self, lines: Sequence[str]) -> None:
        """Write lines now."""
        text = printable("  ".join(lines[:MOST_LINES]))
        if self.on_terminal:
            width = shutil.get_terminal_size().columns
            self._write(f"\r{text[: width - 1]}\x1b[K")
            self.drawn = True
        elif text:
            self._write(f"{text}\n")

    def clear(self) -> None:
        """Remove the line from the terminal, so that something else can be printed there."""
        with self.lock:
            if self.drawn:
                self._write("\r\x1b[K")
                self.drawn = False

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self.clear()
        print_error(text)

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            self.quiet = True  # the reader is gone, as in `2>&1 | head`
