"""Displays of progress: lines on the terminal, the file of `pitflip runs`, output of bots."""

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena.storage.results import PROGRESS, progress_lines
from games.base.errors import print_error, printable
from games.base.files import write_text
from games.base.progress import Progress, ProgressLine, ShowProgress

if TYPE_CHECKING:
    import rich.live

DRAW_SHARE = 0.02  # of the time that making lines may take
FILE_SECONDS = 1.0  # between two versions of the file
OUTPUT_SECONDS = 0.1  # between two looks at what bots write
FILE_SHARE = 0.01  # of the time that writing may take


class TerminalProgress(ProgressLine):
    """Shows progress of a run as several lines on a terminal, and else as plain lines."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(quiet)
        self.live: rich.live.Live | None = None
        self.next_lines = 0.0  # later after lines that took long to make
        if self.on_terminal:
            from rich.console import Console  # noqa: PLC0415  # only a terminal needs it
            from rich.live import Live  # noqa: PLC0415
            from rich.text import Text  # noqa: PLC0415

            self.text = Text
            self.due = self.start_time + self.seconds
            self.live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)

    def __enter__(self) -> "TerminalProgress":
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live:
            self.live.stop()

    def show(self, progress: Progress) -> None:
        """Show progress if it is due."""
        begun = time.thread_time()
        if time.monotonic() >= self.next_lines or progress.is_last:
            super().show(progress)
            self.next_lines = time.monotonic() + (time.thread_time() - begun) / DRAW_SHARE

    def draw(self, lines: Sequence[str]) -> None:
        """Write all lines to a terminal; elsewhere the first two."""
        if self.live:
            # As text, as names may look like markup of rich.
            with contextlib.suppress(OSError):
                self.live.update(self.text("\n".join(map(printable, lines))), refresh=True)
        else:
            super().draw(lines)


class ProgressFile:
    """Writes the latest progress into the directory of a run, also of a quiet run."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / PROGRESS
        self.begun = time.monotonic()
        self.due = self.begun + FILE_SECONDS
        self.broken = False

    def show(self, progress: Progress) -> None:
        """Write a new version if it is due; the journal reports a full disk."""
        begun = time.monotonic()
        if self.broken or begun < self.due:
            return
        lines = list(progress.lines(begun - self.begun))
        content = {"done": progress.done, "total": progress.total, "lines": lines}
        try:
            write_text(self.path, json.dumps(content) + "\n")
        except OSError:
            self.broken = True
        ended = time.monotonic()
        self.due = ended + max(FILE_SECONDS, (ended - begun) / FILE_SHARE)

    def remove(self) -> None:
        """Delete the file at the end of the run."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


@contextlib.contextmanager
def show_output(path: Path) -> Iterator[None]:
    """Print the lines that bots write into this file while the block runs."""
    done = threading.Event()
    path.touch()
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)

        def print_new() -> None:
            while line := file.readline():
                if not line.endswith(b"\n"):  # the rest is being written
                    file.seek(-len(line), os.SEEK_CUR)
                    return
                print_error(line.decode(errors="backslashreplace").rstrip("\n"))

        def repeat() -> None:
            while not done.wait(OUTPUT_SECONDS):
                print_new()

        thread = threading.Thread(target=repeat, name="output of bots", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            print_new()


class StoredProgress(Progress):
    """The latest progress in the file of a run that another process plays."""

    def __init__(self, directory: Path) -> None:
        super().__init__("\n".join(progress_lines(directory)))

    def lines(self, _: float) -> list[str]:
        """Return the stored lines."""
        return self.text.splitlines() or ["just begun, or analysing"]


@contextlib.contextmanager
def open_displays(
    quiet: bool, directory: Path | None, *more: ShowProgress
) -> Iterator[ShowProgress]:
    """Show progress on the terminal, in the directory's progress file, and in `more` displays."""
    file = None if directory is None else ProgressFile(directory)
    with TerminalProgress(quiet) as line:
        displays = [line.show, *([] if file is None else [file.show]), *more]

        def show(progress: Progress) -> None:
            for display in displays:
                display(progress)

        yield show
    if file is not None:
        file.remove()
