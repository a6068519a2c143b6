"""Logs of a run and of its bots."""

import contextlib
import logging
import multiprocessing
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import cast

from multiprocessing_logging import (  # type: ignore[import-untyped]  # it ships no types
    MultiProcessingHandler,
)

from agents.fault_text import fault_text
from arena.planning.games import LOSS, GameParts, Termination
from games.base.errors import printable
from games.base.files import make_subdirectory, open_append, write_text

BOT_LOGS = "bots"
MAX_CHARACTERS = 64 << 10  # characters
PLAIN = re.compile(r"[^A-Za-z0-9_-]+")
PATIENCE_SECONDS = 1.0
FORMAT = "%(asctime)s %(processName)s %(levelname)s %(name)s: %(message)s"


def write_bot_logs(
    directory: Path, parts: GameParts, names: Sequence[str], excluded: Mapping[int, int]
) -> None:
    """Write `bots/<place>-<name>.log` for every agent that has forfeited a game.

    Of games forfeited unplayed only the first is there; `excluded` has it by the agent's place.
    """
    logs, lengths = defaultdict[int, list[str]](list), Counter[int]()
    said = defaultdict[int, set[str]](set)
    for guilty, head, text, trace in _faults(parts, names, excluded):
        if lengths[guilty] <= MAX_CHARACTERS:
            entry = head if trace in said[guilty] else f"{head}: {text}\n{trace}"
            logs[guilty].append(entry)
            said[guilty].add(trace)
            lengths[guilty] += len(entry) + 1
    for place, entries in logs.items():
        path = directory / BOT_LOGS / f"{place + 1}-{PLAIN.sub('_', names[place])}.log"
        make_subdirectory(path.parent)
        whole = "\n".join([*entries, ""])
        cut = "" if len(whole) <= MAX_CHARACTERS else "\n(cut here: there are more faults)\n"
        write_text(path, whole[:MAX_CHARACTERS] + cut)


def _faults(
    parts: GameParts, names: Sequence[str], excluded: Mapping[int, int]
) -> Iterator[tuple[int, str, str, str]]:
    """The agent that lost a game by its fault, which game it was, why, and what is kept of it."""
    begin, told = 0, set[int]()
    for games in parts():
        for row in sorted(games.traces):
            seats = int(games.first[row]), int(games.second[row])
            guilty = seats[0 if games.result[row] == LOSS else 1]
            if begin + row >= excluded.get(guilty, begin + row + 1):
                if guilty in told:
                    continue
                told.add(guilty)
            how, trace = Termination(int(games.termination[row])), games.traces[row]
            other = names[seats[1] if guilty == seats[0] else seats[0]]
            text = fault_text(how.name.lower(), trace)
            head = f"game {begin + row}, against {other}: {how.name.lower()}"
            yield guilty, head, text, trace
        begin += len(games)


class MultilineFormatter(logging.Formatter):
    """The form of a record: no line but its first begins where records begin."""

    def format(self, record: logging.LogRecord) -> str:
        """The record's lines, control characters escaped."""
        return "\n    ".join(map(printable, super().format(record).split("\n")))


class TolerantFileHandler(logging.FileHandler):
    """A log file that a full disk cuts short without stopping the run."""

    def _open(self) -> TextIOWrapper:
        return cast("TextIOWrapper", open_append(Path(self.baseFilename)))

    def emit(self, record: logging.LogRecord | None) -> None:
        """Write a record; none only wakes whoever waits for the next."""
        if record is not None:
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's own name
        """Ignore it: the full disk is reported where results are written."""


class RunLog(logging.Handler):
    """The log of one run; forked workers inherit it and need no initializer."""

    def __init__(self, path: Path) -> None:
        """Begin the file, or continue it; nothing is logged before the run is entered."""
        super().__init__()
        # On Python 3.14 another way is the default, and asking which one would settle it.
        if multiprocessing.get_start_method(allow_none=True) is None:
            multiprocessing.set_start_method("fork")
        self.file = TolerantFileHandler(path)
        self.file.setFormatter(MultilineFormatter(FORMAT))
        self.queues: list[MultiProcessingHandler] = [
            self._queue()
        ]  # the latest last; the others lost a worker
        self.level_before = logging.getLogger().level

    def _queue(self) -> MultiProcessingHandler:
        return MultiProcessingHandler("run log", self.file)

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record to the process that owns the file."""
        self.queues[-1].emit(record)

    def renew(self) -> None:
        """Open a new queue: a worker killed while writing may have left the old one locked."""
        _drain(self.queues[-1], 0.0)
        self.queues.append(self._queue())

    def __enter__(self) -> "RunLog":
        """Log to the file from now on."""
        root = logging.getLogger()
        root.setLevel(logging.INFO)
        root.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Write what is still queued and restore the root logger."""
        root = logging.getLogger()
        root.removeHandler(self)
        root.setLevel(self.level_before)
        _wake(self.queues[-1])
        for queue in reversed(self.queues):
            _drain(queue, PATIENCE_SECONDS)
        with contextlib.suppress(OSError):
            self.file.close()


def renew_logs() -> None:
    """Give every open log a new queue after a worker died."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, RunLog):
            handler.renew()


def _wake(queue: MultiProcessingHandler) -> None:
    """Send the end, else it is noticed a fifth of a second later, when no record has come.

    A worker that died may have left the queue locked: then nobody waits for this to be sent.
    """
    queue._is_closed = True
    queue.queue.cancel_join_thread()
    with contextlib.suppress(ValueError):  # it was closed when its file could not be written
        queue.queue.put(None)


def _drain(queue: MultiProcessingHandler, seconds: float) -> None:
    """Wait for queued records, but not 5 s as `close` does: a dead worker's record never comes."""
    queue._is_closed = True
    queue._receive_thread.join(seconds)
