"""The log of a run and those of its bots."""

import contextlib
import logging
import multiprocessing
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any, cast

from multiprocessing_logging import (  # type: ignore[import-untyped]  # it ships no types
    install_mp_handler,
)

from agents.fault_text import fault_text
from arena.planning.games import LOSS, GameParts, Termination
from games.base.errors import printable
from games.base.files import make_subdirectory, open_append, write_text

BOT_LOGS = "bots"
BOT_OUTPUT = "output.log"  # the output of bots, each line with the name of its agent
MAX_CHARACTERS = 64 << 10
PLAIN = re.compile(r"[^A-Za-z0-9_-]+")
FORMAT = "%(asctime)s %(processName)s %(levelname)s %(name)s: %(message)s"


def write_bot_logs(
    directory: Path, parts: GameParts, names: Sequence[str], disqualified: Mapping[int, int]
) -> None:
    """Write `bots/<place>-<name>.log` for every agent that has forfeited a game.

    `disqualified` has an agent's first unplayed game; of those only the first is in the log.
    """
    logs, lengths = defaultdict[int, list[str]](list), Counter[int]()
    traces = defaultdict[int, set[str]](set)  # that are in the log
    for guilty, head, text, trace in _iter_faults(parts, names, disqualified):
        if lengths[guilty] <= MAX_CHARACTERS:
            entry = head if trace in traces[guilty] else f"{head}: {text}\n{trace}"
            logs[guilty].append(entry)
            traces[guilty].add(trace)
            lengths[guilty] += len(entry) + 1
    for place, entries in logs.items():
        path = directory / BOT_LOGS / f"{place + 1}-{PLAIN.sub('_', names[place])}.log"
        make_subdirectory(path.parent)
        whole = "\n".join([*entries, ""])
        cut = "" if len(whole) <= MAX_CHARACTERS else "\n(cut here: there are more faults)\n"
        write_text(path, whole[:MAX_CHARACTERS] + cut)


def _iter_faults(
    parts: GameParts, names: Sequence[str], disqualified: Mapping[int, int]
) -> Iterator[tuple[int, str, str, str]]:
    """Yield the guilty agent, the game, the fault in one line, and its trace."""
    first, has_unplayed = 0, set[int]()
    for games in parts():
        for row in sorted(games.traces):
            seats = int(games.first[row]), int(games.second[row])
            guilty = seats[0 if games.result[row] == LOSS else 1]
            if first + row >= disqualified.get(guilty, first + row + 1):
                if guilty in has_unplayed:
                    continue
                has_unplayed.add(guilty)
            how, trace = Termination(int(games.termination[row])), games.traces[row]
            other = names[seats[1] if guilty == seats[0] else seats[0]]
            text = fault_text(how.name.lower(), trace)
            head = f"game {first + row}, against {other}: {how.name.lower()}"
            yield guilty, head, text, trace
        first += len(games)


class MultilineFormatter(logging.Formatter):
    """Indents all lines of a record but the first, and escapes control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record."""
        return "\n    ".join(map(printable, super().format(record).split("\n")))


class TolerantFileHandler(logging.FileHandler):
    """A log file that a full disk cuts short without stopping the run."""

    def _open(self) -> TextIOWrapper:
        return cast("TextIOWrapper", open_append(Path(self.baseFilename)))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's own name
        """Ignore it: the full disk is reported when results are written."""


@contextlib.contextmanager
def open_run_log(path: Path) -> Iterator[None]:
    """Log to a file, also from forked workers; on exit the root logger is as before."""
    # On Python 3.14 the default is another method, which multiprocessing-logging refuses.
    if multiprocessing.get_start_method(allow_none=True) is None:
        multiprocessing.set_start_method("fork")
    root, own = logging.getLogger(), logging.Logger("run log")
    file = TolerantFileHandler(path)
    file.setFormatter(MultilineFormatter(FORMAT))
    own.addHandler(file)
    install_mp_handler(own)  # of this handler alone: others on the root logger stay as they are
    handler: Any = own.handlers[0]  # the one that multiprocessing-logging has put there
    level = root.level
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        with contextlib.suppress(OSError):
            handler.close()  # waits for pending records, at most 5 s
        # A worker killed while it sends a record keeps the queue's lock: do not wait at exit.
        handler.queue.cancel_join_thread()
