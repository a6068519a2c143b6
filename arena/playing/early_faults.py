"""Faults of bots that workers report at once, before the games of their pairing are finished."""

import json
import os
import weakref
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

MOST_BYTES = 4096  # what a pipe takes whole, also from several writers
LONGEST_TEXT = 900


class EarlyFault(NamedTuple):
    """What an agent did wrong in a game of the run, in one line."""

    place: int
    game: int
    text: str


class EarlyFaults:
    """A pipe that forked workers inherit; only the first fault of each agent goes through it."""

    def __init__(self) -> None:
        """Open the pipe; a full one drops what is written, for batches bring it, too."""
        self.reads, self.writes = os.pipe()
        os.set_blocking(self.reads, False)
        os.set_blocking(self.writes, False)
        self.sent: set[int] = set()
        self.rest = b""
        for end in (self.reads, self.writes):
            weakref.finalize(self, os.close, end)

    def send(self, fault: EarlyFault) -> None:
        """Report a fault, if it is the first of its agent here."""
        if fault.place not in self.sent:
            self.sent.add(fault.place)
            line = json.dumps(fault._replace(text=fault.text[:LONGEST_TEXT]), ensure_ascii=False)
            with suppress(OSError):
                os.write(self.writes, line.encode()[: MOST_BYTES - 1] + b"\n")

    def receive(self) -> Iterator[EarlyFault]:
        """The faults that were reported since the last call."""
        with suppress(OSError):
            self.rest += os.read(self.reads, 1 << 16)
        *lines, self.rest = self.rest.split(b"\n")
        for line in lines:
            with suppress(ValueError, TypeError):
                yield EarlyFault(*json.loads(line))
