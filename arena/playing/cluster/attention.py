"""A clock that runs only while somebody listens to the cluster: only then is silence heard."""

import time
from types import TracebackType

# A longer wait was none: this process itself was stopped, or had no processor.
LONGEST_SECONDS = 1.0


class Attention:
    """The seconds in which the cluster was listened to, entered again and again.

    Whoever is busy elsewhere for a minute, with games to count or a machine to share, has not
    heard anybody in it, and must not take all others for gone.
    """

    def __init__(self) -> None:
        """Nobody has listened yet."""
        self.seconds = 0.0
        self._since = 0.0

    def __enter__(self) -> None:
        """Begin to listen."""
        self._since = time.monotonic()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Count what was listened."""
        self.seconds += min(time.monotonic() - self._since, LONGEST_SECONDS)
