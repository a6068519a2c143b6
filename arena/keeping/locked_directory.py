"""The lock of a directory: one run at a time writes there."""

import errno
import fcntl
import os
import time
from pathlib import Path

from games.terminal import Unfinished
from games.whole_files import NO_LINK

LOCK = "lock"
LOCK_SECONDS = 1.0


class DirectoryError(Unfinished):
    """The directory cannot be used; one line says why and what to do."""


def locked(directory: Path) -> int:
    """The directory's lock, held until it is closed; a DirectoryError if another run holds it."""
    try:
        str(directory).encode()
        directory.mkdir(parents=True, exist_ok=True)
        lock = os.open(directory / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | NO_LINK)
    except (OSError, UnicodeEncodeError) as error:
        why = getattr(error, "strerror", "its name is not UTF-8")
        where = f"{directory}: results cannot be written here ({why})"
        raise DirectoryError(f"{where}; choose another place with --results DIR") from None
    # The workers of a killed run may hold it for a moment longer.
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except OSError as error:
            if time.monotonic() > until or error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN):
                os.close(lock)
                raise DirectoryError(
                    f"{directory}: another run is writing here; wait for it, or use --results DIR"
                ) from None
            time.sleep(0.05)
