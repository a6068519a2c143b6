"""Cutting off bots that do not answer: the parent ends the worker that has waited too long."""

import contextlib
import os
import signal
import time
from typing import Any

from arena import logs
from arena.referee import Verdict
from arena.worker import WATCH_COLUMNS, WATCH_ROWS, Task


class Watch:
    """Looks at who is being waited for; remembers whom it has cut off."""

    def __init__(self, rows: Any, move_seconds: float) -> None:
        """`rows` are shared with the workers."""
        self.rows = rows
        self.limit = int(move_seconds * 1e9)
        self.verdicts: dict[tuple[int, int], Verdict] = {}
        self.excused: dict[int, list[Verdict | None]] = {}

    def look(self) -> None:
        """End every worker whose bot has been thinking past the limit."""
        now = time.monotonic_ns()
        for row in range(0, WATCH_ROWS * WATCH_COLUMNS, WATCH_COLUMNS):
            process, pairing, leg, ply, seat, asked = self.rows[row : row + WATCH_COLUMNS]
            if asked and now - asked > self.limit:
                self.verdicts[pairing, leg] = Verdict(ply, seat)
                self.rows[row + WATCH_COLUMNS - 1] = 0
                kill(process)

    def excuses(self, task: Task) -> bool:
        """Whether a pairing's worker was ended by us since this was last asked."""
        known = [self.verdicts.get((task.start, leg)) for leg in (0, 1)]
        fresh = known != self.excused.get(task.start, [None, None])
        self.excused[task.start] = known
        return fresh

    def mend(self) -> None:
        """After a worker's death: nobody is waited for, and the log queue may be locked."""
        for at in range(len(self.rows)):
            self.rows[at] = 0
        logs.reinstall()


def kill(process: int) -> None:
    """End a process that may have ended already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
