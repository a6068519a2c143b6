"""What a bot writes to its standard error: the end is kept, and too much of it is a fault."""

import os
import time

KEPT_BYTES = 4096
# What a bot may write at once, and by the second.
ALLOWANCE, BYTES_A_SECOND = 16 << 20, 1 << 20


class BotLog:
    """The log of a running bot."""

    def __init__(self, descriptor: int) -> None:
        """`descriptor` is where it can be read, without waiting."""
        self.descriptor = descriptor
        self.kept = b""
        self.allowance, self.since = float(ALLOWANCE), time.monotonic()

    @property
    def flooded(self) -> bool:
        """Whether it is more than anyone could read."""
        return self.allowance < 0

    def read(self) -> bool:
        """Keep the end of what was written; whether there may be more."""
        try:
            piece = os.read(self.descriptor, 1 << 16)
        except BlockingIOError:
            return True
        except OSError:
            return False
        now = time.monotonic()
        self.allowance += (now - self.since) * BYTES_A_SECOND - len(piece)
        self.allowance, self.since = min(self.allowance, ALLOWANCE), now
        self.kept = (self.kept + piece)[-KEPT_BYTES:]
        return bool(piece)

    def read_rest(self) -> None:
        """Keep the end of what a bot that has ended wrote; what it left may write for ever."""
        seen = None
        while self.kept is not seen and not self.flooded:
            seen = self.kept
            if not self.read():
                return
