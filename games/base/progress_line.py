"""The progress line of a command: on stderr after two seconds of work, then now and then."""

import contextlib
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from games.base.errors import print_error, printable

FIRST_SECONDS = 2.0  # of work, before there is a line
LIVE_SECONDS, PLAIN_SECONDS = 0.2, 4.0  # between two lines: on a terminal, elsewhere
MOST_LINES = 2  # of what is shown, where there is one line for it

Lines = Callable[[float], Sequence[str]]  # from the seconds since the beginning


class ProgressLine:
    """Shows how far work is: one line on a terminal, which is written anew; else plain lines."""

    def __init__(self, quiet: bool = False) -> None:
        """It goes to stderr, so that stdout has nothing but results."""
        self.quiet, self.on_terminal = quiet, not quiet and sys.stderr.isatty()
        self.seconds = LIVE_SECONDS if self.on_terminal else PLAIN_SECONDS
        self.begun = time.monotonic()
        self.due = self.begun + FIRST_SECONDS
        self.drawn = False  # whether there is a line on the terminal now
        self.lock = threading.Lock()

    def __enter__(self) -> "ProgressLine":
        """Take the line."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Give the line back."""
        self.clear()

    def show(self, lines: Lines) -> None:
        """Show `lines(seconds since the beginning)` if it is time to; the first one says most."""
        with self.lock:
            now = time.monotonic()
            if not self.quiet and now >= self.due:
                self.due = now + self.seconds
                self.draw(lines(now - self.begun))

    def draw(self, lines: Sequence[str]) -> None:
        """Write them now."""
        text = printable("  ".join(lines[:MOST_LINES]))
        if self.on_terminal:
            width = shutil.get_terminal_size().columns
            self._write(f"\r{text[: width - 1]}\x1b[K")
            self.drawn = True
        elif text:
            self._write(f"{text}\n")

    @contextlib.contextmanager
    def watch(self, lines: Lines) -> Iterator[None]:
        """Show the lines again and again while the block runs, which must not fork."""
        done = threading.Event()

        def repeat() -> None:
            while not done.wait(min(LIVE_SECONDS, FIRST_SECONDS)):
                self.show(lines)

        thread = threading.Thread(target=repeat, name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def clear(self) -> None:
        """Take the line from the terminal, so that something else can be printed there."""
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
            self.quiet = True  # nobody reads it any longer, as in `2>&1 | head`
