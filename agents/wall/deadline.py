"""A bot's deadline: moved back by the time for which the machine did not let it run."""

import time
from collections.abc import Callable

from agents.wall import process_tree

MOST_WAITING = 10  # times its limit, for a bot that the machine does not let run
MORE_SECONDS = 5.0
NOTE_AGAIN = 50_000_000  # nanoseconds
BUSY = "the machine is too busy"
BILLION = 1_000_000_000


class Void(Exception):  # noqa: N818  # the glossary's word
    """A fault of ours or of the machine: the game does not count."""


class BotDeadline:
    """How long a bot's process waited for the machine in this game, and what that gives it."""

    def __init__(self, where: Callable[[], int]) -> None:
        """`where` finds the process, which is still loading; it is asked when first needed."""
        self.where = where
        self.process = self.before = self.noted = 0

    def new_game(self) -> None:
        """Note how long it had to wait so far; games of a moment share a note."""
        now = time.monotonic_ns()
        if self.process and now - self.noted < NOTE_AGAIN:
            return
        self.before, self.noted = self._waited_ever(), now

    def delayed(self, taken: int) -> int:
        """Of so many nanoseconds, those for which it was ready but did not run."""
        before, self.before = self.before, process_tree.run_delay(self.process)
        self.noted = time.monotonic_ns()
        return min(taken, max(0, self.before - before))

    def extended(self, seconds: float, since: int) -> int | None:
        """A later deadline for a bot that could not run; None if it could, Void in the end."""
        now = time.monotonic_ns()
        waited = min(max(0, self._waited_ever() - self.before), now - since)
        if now - since - waited >= int(seconds * BILLION):
            return None
        if now - since > int((MOST_WAITING * seconds + MORE_SECONDS) * BILLION):
            raise Void(f"could not run for {(now - since) / BILLION:.1f} s: {BUSY}")
        return since + int(seconds * BILLION) + waited

    def _waited_ever(self) -> int:
        """Nanoseconds for which it was ready to run but the machine was busy."""
        self.process = self.process or self.where()
        return process_tree.run_delay(self.process)
