"""Memory, processes, files and output of a bot's process tree."""

import math
import os
import re
import resource
import signal
import stat
import time
from contextlib import suppress
from pathlib import Path

KEPT_BYTES = 4096
# What a bot may write at once, and by the second.
BURST_BYTES, BYTES_PER_SECOND = 16 << 20, 1 << 20
RESIDENT = frozenset({"RssAnon", "RssShmem", "VmSwap", "HugetlbPages"})
OWN = frozenset(
    {"Private_Clean", "Private_Dirty", "Private_Hugetlb", "Shared_Hugetlb", "Swap", "Pss_Shmem"}
)
ALL_THREADS = 2  # in the number of a process's clock
TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
MAX_SWEEPS = 1000  # at a tree that is ended but grows
NAME = re.compile(r"pitflip-sandbox-([0-9]+)-.*")
MOST_FILES = 4096


class BotLog:
    """The log of a running bot."""

    def __init__(self, descriptor: int) -> None:
        """`descriptor` is where it can be read, without waiting."""
        self.descriptor = descriptor
        self.kept = b""
        self.allowance, self.since = float(BURST_BYTES), time.monotonic()

    @property
    def flooded(self) -> bool:
        """Return whether it is more than anyone could read."""
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
        self.allowance += (now - self.since) * BYTES_PER_SECOND - len(piece)
        self.allowance, self.since = min(self.allowance, BURST_BYTES), now
        self.kept = (self.kept + piece)[-KEPT_BYTES:]
        return bool(piece)

    def read_rest(self) -> None:
        """Keep the end of what a bot that has ended wrote; what it left may write for ever."""
        seen = None
        while self.kept is not seen and not self.flooded:
            seen = self.kept
            if not self.read():
                return


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


def thread_count(process: int) -> int:
    """Return how many threads a process has; 0 if it has ended."""
    with suppress(OSError):
        return len(os.listdir(f"/proc/{process}/task"))
    return 0


def resident_bytes(process: int) -> int:
    """Memory not backed by files, including what it shares with its parent."""
    return _sum_of_fields(f"/proc/{process}/status", RESIDENT) or 0


def spare_address_space(process: int) -> float:
    """Return how many bytes a process may still map; infinite without a limit (`ulimit -v`)."""
    try:
        most = resource.prlimit(process, resource.RLIMIT_AS)[0]
        mapped = int(Path(f"/proc/{process}/statm").read_text().split()[0]) * resource.getpagesize()
    except (AttributeError, OSError):  # macOS has neither
        return math.inf
    return math.inf if most == resource.RLIM_INFINITY else most - mapped


def own_bytes(process: int) -> int:
    """Memory of a process that no other shares, and its share of what is common to its tree.

    A process that hides it, as a program that may not be read does, is charged with all it has.
    """
    own = _sum_of_fields(f"/proc/{process}/smaps_rollup", OWN)
    return resident_bytes(process) if own is None else own


def _sum_of_fields(path: str, names: frozenset[str]) -> int | None:
    """Bytes of these fields together; None if the file cannot be read."""
    try:
        with open(path) as lines:
            parts = [line.partition(":") for line in lines]
    except OSError:
        return None
    return sum(int(rest.split()[0]) * 1024 for name, _, rest in parts if name in names)


def run_delay(tree: list[int]) -> int:
    """Nanoseconds for which a thread of these was ready but did not run: the longest of all.

    Threads that gave way of their own will do not count.
    """
    longest, own = 0, os.getpriority(os.PRIO_PROCESS, 0)
    for process in tree:
        with suppress(OSError, ValueError, IndexError):
            for thread in os.listdir(f"/proc/{process}/task"):
                text = Path(f"/proc/{process}/task/{thread}/schedstat").read_text()
                delay = int(text.split()[1])
                if delay > longest and os.getpriority(os.PRIO_PROCESS, int(thread)) <= own:
                    longest = delay
    return longest


def processor_time(process: int) -> int:
    """Nanoseconds for which all threads of a process have run; 0 if it has ended."""
    with suppress(OSError):
        return time.clock_gettime_ns(~process << 3 | ALL_THREADS)
    return 0


def tree_time(tree: list[int]) -> int:
    """Nanoseconds for which these processes have run, with those that they waited for."""
    total = 0
    for process in tree:
        total += processor_time(process)
        with suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[13]) + int(fields[14])) * TICK
    return total


def time_run(process: int) -> int | None:
    """Nanoseconds for which a process of one thread has run; None if unknown."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[0])
    return None


def end_tree(process: int) -> None:
    """End a process and all below it; they are stopped first, so that none can fork away."""
    stop_tree(process)
    for each in reversed(descendants(process)):
        send_signal(each, signal.SIGKILL)


def stop_tree(process: int) -> None:
    """Stop a process and all below it, until two looks in a row see no change."""
    quiet = 0
    for _ in range(MAX_SWEEPS):
        tree = descendants(process)
        for each in tree:
            send_signal(each, signal.SIGSTOP)
        quiet = quiet + 1 if descendants(process) == tree else 0
        if quiet == 2:
            break


def resume_tree(process: int) -> None:
    """Let a process and all below it go on."""
    for each in descendants(process):
        send_signal(each, signal.SIGCONT)


def send_signal(process: int, number: signal.Signals) -> None:
    """Send a signal to a process that may have ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


def remove_directory(directory: Path) -> None:
    """Remove a directory and its contents, whatever a bot put there; links are not followed."""
    with suppress(OSError):
        os.chmod(directory, 0o700, follow_symlinks=False)
    with suppress(OSError):
        top = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        while sum(_remove_entry(top, name) for name in os.listdir(top)):
            pass
        os.close(top)
        directory.rmdir()


def _remove_entry(top: int, name: str) -> bool:
    """Remove a file, or a directory after what is in it has moved up: bots nest thousands."""
    with suppress(OSError):
        os.unlink(name, dir_fd=top)
        return True
    with suppress(OSError):
        os.chmod(name, 0o700, dir_fd=top)
    with suppress(OSError):
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
        for inner in os.listdir(below):
            with suppress(OSError):  # a directory is moved only by who may write in it
                os.chmod(inner, 0o700, dir_fd=below)
            new = f"{os.urandom(8).hex()}"
            os.rename(inner, new, src_dir_fd=below, dst_dir_fd=top)
        os.close(below)
        os.rmdir(name, dir_fd=top)
        return True
    return False


def directory_bytes(directory: Path, most: int) -> int:
    """Return what lies in a directory, counted until it is more than `most`.

    More than MOST_FILES files and directories are too much, whatever their size.
    """
    total = entries = 0
    waiting = [_open_directory(str(directory))]
    try:
        while waiting and total <= most and entries <= MOST_FILES:
            place = waiting.pop()
            if place is None:
                continue
            try:
                for entry in os.scandir(place):
                    entries += 1
                    with suppress(OSError):
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(_open_directory(entry.name, place))
                    if entries > MOST_FILES:
                        break
            finally:
                os.close(place)
    finally:
        for place in waiting:
            if place is not None:
                os.close(place)
    return most + 1 if entries > MOST_FILES else total


def _open_directory(name: str, above: int | None = None) -> int | None:
    """Open a directory, even if its owner may not read it; None if it is gone."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(PermissionError, FileNotFoundError):
        return os.open(name, flags, dir_fd=above)
    with suppress(OSError):
        os.chmod(name, 0o700, dir_fd=above)
        return os.open(name, flags, dir_fd=above)
    return None


def mounted_bytes(directory: str) -> int:
    """Return how much of the file system mounted at a directory is in use; 0 if unknown."""
    with suppress(OSError):
        use = os.statvfs(directory)
        return (use.f_blocks - use.f_bfree) * use.f_frsize
    return 0


def unlinked_bytes(process: int, device: int) -> int:
    """Return the size of a process's open files on a device that have no name any more."""
    total = 0
    with suppress(OSError):
        for each in os.listdir(f"/proc/{process}/fd"):
            with suppress(OSError):
                file = os.stat(f"/proc/{process}/fd/{each}")
                if file.st_nlink == 0 and file.st_dev == device and stat.S_ISREG(file.st_mode):
                    total += file.st_blocks * 512
    return total


def remove_leftovers(base: Path) -> None:
    """Remove what killed spawners left behind."""
    with suppress(OSError):
        for each in base.iterdir():
            found = NAME.fullmatch(each.name)
            if found and not Path(f"/proc/{found[1]}").exists():
                remove_directory(each)
