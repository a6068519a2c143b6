"""The processes of a bot as /proc shows them, with the memory that is theirs alone."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

COUNTED = ("Private_Clean:", "Private_Dirty:", "Private_Hugetlb:", "Swap:")
LOOKS = 1000  # at a tree that is ended but grows


def children(process: int) -> list[int]:
    """The children of a process; none if it has ended."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            listed = Path(f"/proc/{process}/task/{thread}/children").read_text()
            found += map(int, listed.split())
    return found


def descendants(process: int, most: int = 1 << 16) -> list[int]:
    """A process and all below it, parents before children; no more than about `most`.

    A tree may grow faster than it can be walked.
    """
    tree = [process]
    for each in tree:
        tree += children(each)
        if len(tree) > most:
            break
    return tree


def threads(process: int) -> int:
    """How many threads a process has; 0 if it has ended."""
    with suppress(OSError):
        return len(os.listdir(f"/proc/{process}/task"))
    return 0


def resident_bytes(process: int) -> int:
    """Memory not backed by files, including what it shares with its parent."""
    return sum(_fields(f"/proc/{process}/status", ("RssAnon:", "RssShmem:", "VmSwap:")))


def own_bytes(process: int) -> int:
    """Memory of a process that no other shares, and its share of what is common to its tree."""
    path = f"/proc/{process}/smaps_rollup"
    return sum(_fields(path, COUNTED)) + sum(_fields(path, ("Pss_Shmem:",)))


def _fields(path: str, names: tuple[str, ...]) -> Iterator[int]:
    with suppress(OSError), open(path) as lines:
        for line in lines:
            name, _, rest = line.partition(" ")
            if name in names:
                yield int(rest.split()[0]) * 1024


def run_delay(process: int) -> int:
    """Nanoseconds for which its threads were ready but not running: the longest; 0 if unknown."""
    longest = 0
    with suppress(OSError, ValueError, IndexError):
        for thread in os.listdir(f"/proc/{process}/task"):
            text = Path(f"/proc/{process}/task/{thread}/schedstat").read_text()
            longest = max(longest, int(text.split()[1]))
    return longest


def time_run(process: int) -> int | None:
    """Nanoseconds for which a process of one thread has run; None if unknown."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[0])
    return None


def end(process: int) -> None:
    """End a process and all below it; they are stopped first, so that none can fork away."""
    quiet = 0
    for _ in range(LOOKS):
        tree = descendants(process)
        for each in tree:
            send(each, signal.SIGSTOP)
        quiet = quiet + 1 if descendants(process) == tree else 0
        if quiet == 2:  # looks without a change
            break
    for each in reversed(descendants(process)):
        send(each, signal.SIGKILL)


def send(process: int, number: signal.Signals) -> None:
    """Send a signal to a process that may have ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)
