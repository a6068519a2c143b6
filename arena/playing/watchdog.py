"""Cutting off code that does not answer: the parent ends the worker that has waited too long."""

import contextlib
import multiprocessing
import os
import signal
import time
from multiprocessing.sharedctypes import RawArray
from typing import Any, NamedTuple

from arena.keeping.run_log import renew_logs
from arena.planning.tasks import CutOff

ROWS = 256
LEGS = (0, 1)
WHOLE = 2  # in place of a leg: a compiled call is waited for, over several pairings


class Waiting(NamedTuple):
    """One worker's row: what it waits for, and since when (0: for nothing).

    `ply` and `seat` say who was asked; of a whole call, `ply` is how many pairings it plays.
    """

    process: int
    pairing: int
    leg: int
    ply: int
    seat: int
    since: int  # monotonic nanoseconds


COLUMNS = len(Waiting._fields)


def new_watch() -> Any:
    """Rows shared with processes that are forked later."""
    return RawArray("q", ROWS * COLUMNS)


def note(rows: Any, waiting: Waiting | tuple[int, int, int, int, int, int]) -> None:
    """Write this process's row; the time goes last, so that it never stands beside old words."""
    number = multiprocessing.current_process()._identity  # counts the children of one parent
    at = (number[-1] if number else 0) % ROWS * COLUMNS
    rows[at : at + COLUMNS] = waiting


class Watchdog:
    """Looks at who is being waited for; remembers whom it has cut off."""

    def __init__(self, rows: Any, move_seconds: float) -> None:
        """`rows` are shared with the workers."""
        self.rows = rows
        self.limit = int(move_seconds * 1e9)
        self.verdicts: dict[tuple[int, int], CutOff] = {}
        self.excused: dict[int, list[CutOff | None]] = {}

    def look(self) -> None:
        """End every worker that has been waiting past the limit."""
        now = time.monotonic_ns()
        for at in range(0, ROWS * COLUMNS, COLUMNS):
            if self.rows[at + COLUMNS - 1]:
                waiting = Waiting(*self.rows[at : at + COLUMNS])
                if waiting.since and now - waiting.since > self.limit:
                    self.cut_off(waiting)
                    self.rows[at + COLUMNS - 1] = 0

    def cut_off(self, waiting: Waiting) -> None:
        """Note a verdict and end the worker: a whole call is to be played move by move instead."""
        verdict = CutOff(waiting.ply, waiting.seat)
        pairings = waiting.ply if waiting.leg == WHOLE else 1
        for pairing in range(waiting.pairing, waiting.pairing + pairings):
            self.verdicts[pairing, waiting.leg] = verdict
        kill(waiting.process)

    def within(self, start: int, stop: int) -> dict[tuple[int, int], CutOff]:
        """The verdicts on pairings `start` to `stop` - 1."""
        return {key: each for key, each in self.verdicts.items() if start <= key[0] < stop}

    def excuses(self, pairing: int) -> bool:
        """Whether a pairing's worker was ended by us since this was last asked."""
        known = [self.verdicts.get((pairing, leg)) for leg in (*LEGS, WHOLE)]
        fresh = known != self.excused.get(pairing, [None, None, None])
        self.excused[pairing] = known
        return fresh

    def mend(self) -> None:
        """After a worker's death: nobody is waited for, and the log queue may be locked."""
        for at in range(len(self.rows)):
            self.rows[at] = 0
        renew_logs()


def kill(process: int) -> None:
    """End a process that may have ended already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
