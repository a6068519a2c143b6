"""Progress events of long work, and the line on the terminal that shows them."""

import contextlib
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from games.base.errors import announce_output, before_output, print_error, printable

FIRST_SECONDS = 2.0  # of work before the first line
LIVE_SECONDS, PLAIN_SECONDS = 0.2, 4.0  # between updates: on a terminal, elsewhere
MOST_LINES = 2  # lines of an event that are joined to one line on the terminal


@dataclass(frozen=True)
class Progress:
    """One progress event; every display receives all events and shows some of them."""

    text: str = ""
    done: int = 0  # of `total` items
    total: int = 0  # 0: unknown
    is_last: bool = False  # displays show the last event even if they are not due

    def lines(self, seconds: float) -> Sequence[str]:
        """Return the lines to show after `seconds` of work, the most important first."""
        return [f"{self.text}, {seconds:.0f} s"]


ShowProgress = Callable[[Progress], None]


def ignore_progress(_: Progress) -> None:
    """Show nothing."""


@contextlib.contextmanager
def watch(show: ShowProgress, progress: Callable[[], Progress]) -> Iterator[None]:
    """Show progress regularly while the block runs."""
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


@contextlib.contextmanager
def show_silence(name: str, quiet: bool = False) -> Iterator[None]:
    """Show that a command is still working when it has printed nothing for some seconds."""
    line = ProgressLine(quiet)
    line.shows_silence = True
    before_output.append(line.wait_again)
    try:
        with line, watch(line.show, lambda: Progress(f"{name}: working")):
            yield
    finally:
        before_output.remove(line.wait_again)


class ProgressLine:
    """Shows progress on stderr: one overwritten line on a terminal, otherwise plain lines."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet, self.on_terminal = quiet, not quiet and sys.stderr.isatty()
        self.seconds = LIVE_SECONDS if self.on_terminal else PLAIN_SECONDS
        self.start_time = time.monotonic()
        self.due = self.start_time + FIRST_SECONDS
        self.is_drawn = False  # whether the terminal shows a line now
        self.shows_silence = False  # other lines postpone this one
        self.lock = threading.Lock()

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.clear()

    def show(self, progress: Progress) -> None:
        """Show progress if the next update is due."""
        with self.lock:
            now = time.monotonic()
            if not self.quiet and (now >= self.due or progress.is_last):
                self.due = now + self.seconds
                if not self.shows_silence:
                    announce_output()
                self.draw(progress.lines(max(now - self.start_time, 1e-6)))

    def draw(self, lines: Sequence[str]) -> None:
        """Write lines now."""
        text = printable("  ".join(lines[:MOST_LINES]))
        if self.on_terminal:
            width = shutil.get_terminal_size().columns
            self._write(f"\r{text[: width - 1]}\x1b[K")
            self.is_drawn = True
        elif text:
            self._write(f"{text}\n")

    def clear(self) -> None:
        """Erase the line, so that other text can be printed."""
        with self.lock:
            if self.is_drawn:
                self._write("\r\x1b[K")
                self.is_drawn = False

    def wait_again(self) -> None:
        """Erase the line; show the next one only after other lines have had time to appear."""
        self.clear()
        self.due = time.monotonic() + FIRST_SECONDS + self.seconds

    def print_line(self, text: str) -> None:
        """Print a line that remains."""
        self.clear()
        print_error(text)

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            self.quiet = True  # the reader has exited, as in `2>&1 | head`
