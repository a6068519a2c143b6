"""The watchdog: it ends a worker that has waited too long for somebody's code."""

import contextlib
import ctypes
import multiprocessing
import os
import signal
import time
from multiprocessing.sharedctypes import RawArray
from typing import NamedTuple

from arena.keeping.run_log import renew_logs
from arena.planning.tasks import CutOff

ROWS = 256
LEGS = (0, 1)
WHOLE = 2  # in place of a leg: one compiled call plays several pairings


class Waiting(NamedTuple):
    """One worker's row: what it waits for, since when (0: it does not wait).

    `ply` and `seat` say who was asked; for a WHOLE call `ply` is its number of pairings.
    """

    process: int
    pairing: int
    leg: int
    ply: int
    seat: int
    since: int  # monotonic nanoseconds


COLUMNS = len(Waiting._fields)
Rows = ctypes.Array[ctypes.c_longlong]  # of all workers, in shared memory


def new_watch() -> Rows:
    """Rows that processes forked from here will share."""
    rows: Rows = RawArray("q", ROWS * COLUMNS)
    return rows


def note(rows: Rows, waiting: Waiting | tuple[int, int, int, int, int, int]) -> None:
    """Write this process's row; the time comes last, so that it never belongs to an old row."""
    number = multiprocessing.current_process()._identity  # counts the children of one parent
    at = (number[-1] if number else 0) % ROWS * COLUMNS
    rows[at : at + COLUMNS] = list(waiting)


class Watchdog:
    """Cuts off who does not answer in time, and remembers the verdicts."""

    def __init__(self, rows: Rows, move_seconds: float) -> None:
        """`rows` are shared with the workers."""
        self.rows = rows
        self.limit = int(move_seconds * 1e9)
        self.verdicts: dict[tuple[int, int], CutOff] = {}
        self.excused: dict[int, list[CutOff | None]] = {}

    def look(self) -> None:
        """End every worker that has waited longer than the limit."""
        now = time.monotonic_ns()
        for at in range(0, ROWS * COLUMNS, COLUMNS):
            if self.rows[at + COLUMNS - 1]:
                waiting = Waiting(*self.rows[at : at + COLUMNS])
                if waiting.since and now - waiting.since > self.limit:
                    self.cut_off(waiting)
                    self.rows[at + COLUMNS - 1] = 0

    def cut_off(self, waiting: Waiting) -> None:
        """Note a verdict and end the worker; the games of a WHOLE call are then refereed."""
        verdict = CutOff(waiting.ply, waiting.seat)
        pairings = waiting.ply if waiting.leg == WHOLE else 1
        for pairing in range(waiting.pairing, waiting.pairing + pairings):
            self.verdicts[pairing, waiting.leg] = verdict
        kill(waiting.process)

    def within(self, start: int, stop: int) -> dict[tuple[int, int], CutOff]:
        """The verdicts on pairings `start` to `stop` - 1."""
        return {key: each for key, each in self.verdicts.items() if start <= key[0] < stop}

    def excuses(self, pairing: int) -> bool:
        """Whether we ended the pairing's worker since the last call."""
        known = [self.verdicts.get((pairing, leg)) for leg in (*LEGS, WHOLE)]
        fresh = known != self.excused.get(pairing, [None, None, None])
        self.excused[pairing] = known
        return fresh

    def mend(self) -> None:
        """Repair the rows and the log after a worker died: it may have held the queue's lock."""
        for at in range(len(self.rows)):
            self.rows[at] = 0
        renew_logs()


def kill(process: int) -> None:
    """End a process that may have ended already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
