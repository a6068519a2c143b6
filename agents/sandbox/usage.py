"""The processes of a bot: their memory, time, files and output, and how they are ended."""

import errno
import fcntl
import math
import os
import re
import resource
import signal
import stat
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, suppress
from pathlib import Path

from agents.sandbox import syscalls
from agents.sandbox.messages import BotLimits
from games.base.errors import printable

# ------------------------------------------------------------------------------------ log

TAIL_BYTES = 4096
# The log of a bot may grow by this at once, and in each second.
BURST_BYTES, BYTES_PER_SECOND = 16 << 20, 1 << 20
KEPT_BYTES = 1 << 20  # of the output of a bot, in the file of a run
LONGEST_LINE = 4096


class OutputFile:
    """The file that keeps what bots write, each line with the name of its bot."""

    def __init__(self, path: str) -> None:
        """The first line creates the file, or is appended to that of a run that continues."""
        self.path = path
        self.left: dict[str, int] = {}  # bytes that a bot may still write, by its name

    def write(self, name: str, lines: Iterable[bytes]) -> None:
        """Append lines of a bot; a full disk cuts the file short, and results report it."""
        left = self.left.setdefault(name, KEPT_BYTES)
        if left <= 0:
            return
        texts = (line.decode(errors="backslashreplace").rstrip("\r") for line in lines)
        content = "".join(f"{name}: {printable(text)}\n" for text in texts).encode()
        if len(content) >= left:
            content = content[: content.rfind(b"\n", 0, left) + 1]
            content += f"{name}: (cut here: it wrote more than {KEPT_BYTES:,} bytes)\n".encode()
            left = 0
        self.left[name] = left - len(content)
        with suppress(OSError), open(self.path, "ab") as file:
            file.write(content)


class BotLog:
    """The log of a running bot, read without waiting."""

    def __init__(self, descriptor: int, name: str = "") -> None:
        self.descriptor, self.name = descriptor, name
        self.file: OutputFile | None = None  # gets its lines, too
        self.tail = self.partial_line = b""
        self.allowance, self.last_read = float(BURST_BYTES), time.monotonic()

    @property
    def is_too_long(self) -> bool:
        """Return whether the bot wrote more than it may."""
        return self.allowance < 0

    def take(self) -> bool:
        """Keep the end of the new output; return whether there may be more."""
        try:
            piece = os.read(self.descriptor, 1 << 16)
        except BlockingIOError:
            return True
        except OSError:
            return False
        now = time.monotonic()
        self.allowance += (now - self.last_read) * BYTES_PER_SECOND - len(piece)
        self.allowance, self.last_read = min(self.allowance, BURST_BYTES), now
        self.tail = (self.tail + piece)[-TAIL_BYTES:]
        self._write_lines(piece)
        return bool(piece)

    def _write_lines(self, piece: bytes) -> None:
        """Write the lines that a piece ends, and the last one when the bot has ended."""
        *lines, rest = (self.partial_line + piece).split(b"\n")
        if rest and (not piece or len(rest) > LONGEST_LINE):
            lines, rest = [*lines, rest], b""
        self.partial_line = rest
        if self.file is not None and lines:
            self.file.write(self.name, lines)

    def take_rest(self) -> None:
        """Keep the end of the output of a bot that has ended; its children may still write."""
        seen = None
        while self.tail is not seen and not self.is_too_long:
            seen = self.tail
            if not self.take():
                break
        self._write_lines(b"")


# -------------------------------------------------------------------------- process trees

MAX_SWEEPS = 1000  # over a tree that is ended but grows


def children(process: int) -> list[int]:
    """Return the children of a process; none if it has ended."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            text = Path(f"/proc/{process}/task/{thread}/children").read_text()
            found += map(int, text.split())
    return found


def descendants(process: int, most: int = 1 << 16) -> list[int]:
    """Return a process and all below it, parents first; about `most`, as a tree may grow fast."""
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


def end_tree(process: int) -> None:
    """End a process, its group and all below it; first stop them, so that none forks away."""
    signal_group(process, signal.SIGKILL)
    stop_tree(process)
    for each in reversed(descendants(process)):
        send_signal(each, signal.SIGKILL)


def stop_tree(process: int) -> None:
    """Stop a process, its group and all below it, until two sweeps find no other processes.

    The kernel stops all of a group at once, even a bomb of forks. Outside of it, each is stopped
    before its children are listed, as a stopped process cannot fork.
    """
    signal_group(process, signal.SIGSTOP)
    seen: set[int] = set()
    quiet = 0  # sweeps; those that end meanwhile make no difference
    for _ in range(MAX_SWEEPS):
        tree = [process]
        for each in tree:
            send_signal(each, signal.SIGSTOP)
            tree += children(each)
        quiet = quiet + 1 if seen.issuperset(tree) else 0
        seen.update(tree)
        if quiet == 2:
            break


def signal_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to all processes of a group, if this process leads one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def resume_tree(process: int) -> None:
    """Let a process, its group and all below it go on."""
    signal_group(process, signal.SIGCONT)
    for each in descendants(process):
        send_signal(each, signal.SIGCONT)


def send_signal(process: int, number: signal.Signals) -> None:
    """Send a signal to a process that may have ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


def fork_guarded(socket: int) -> int:
    """Return in a child, with a descriptor that ends when this process does.

    This process goes on without the socket. When the child ends, even by SIGKILL, it ends all
    processes that the child has left behind, and then itself; SIGUSR1 ends the child, too.
    """
    gone, alive = os.pipe()
    if not syscalls.LINUX:  # no process can adopt those of another
        return gone
    syscalls.prctl("subreaper", syscalls.SUBREAPER, 1)
    child = os.fork()
    if child == 0:
        os.close(alive)
        return gone
    for each in (socket, gone):
        os.close(each)
    signal.signal(signal.SIGUSR1, lambda *_: send_signal(child, signal.SIGKILL))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for _ in range(MAX_SWEEPS):
        if not reap_orphans():
            break
        time.sleep(0.001)
    os._exit(code & 0xFF)


def reap_orphans(keep: frozenset[int] = frozenset()) -> int:
    """End and reap the children of this process but those to keep; return how many there were."""
    orphans = [each for each in children(os.getpid()) if each not in keep]
    for each in orphans:
        with suppress(ChildProcessError):
            if not os.waitpid(each, os.WNOHANG)[0]:  # it has not ended yet
                end_tree(each)
                os.waitpid(each, os.WNOHANG)
    return len(orphans)


# -------------------------------------------------------------------------- control groups

CONTROLLERS = ("memory", "pids")
OWN_GROUP, MOUNTS = "/proc/self/cgroup", "/proc/self/mountinfo"
# Beyond a bot's limit: the spawner ends it before the kernel refuses it a process, so that the
# fault has its name.
SPARE_PROCESSES = 256
REMOVAL_SECONDS = 2.0


class ControlGroup:
    """The control group (cgroup v2) of one bot's processes; the kernel enforces its limits."""

    def __init__(self, path: Path, limits: BotLimits) -> None:
        """Make it; OSError if the kernel refuses the group or one of its limits."""
        self.path = path
        path.mkdir()
        try:
            settings = {
                "memory.max": limits.memory,
                "memory.swap.max": 0,
                "memory.oom.group": 1,
                "pids.max": limits.processes + SPARE_PROCESSES,
            }
            for name, value in settings.items():
                if name.partition(".")[0] in CONTROLLERS:
                    self._write(name, value)
            self.descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            path.rmdir()
            raise

    def processes(self) -> list[int]:
        """Return all processes in it."""
        return [int(each) for each in (self.path / "cgroup.procs").read_text().split()]

    def freeze(self, stop: bool) -> None:
        """Stop all processes, or let them go on."""
        self._write("cgroup.freeze", int(stop))

    def kill(self) -> None:
        """End all processes."""
        self._write("cgroup.kill", 1)

    def ran_out_of_memory(self) -> bool:
        """Return whether the kernel ended a process because all of them had too much memory."""
        with suppress(OSError):
            events = (self.path / "memory.events").read_text().split()
            return int(events[events.index("oom_kill") + 1]) > 0
        return False

    def close(self) -> None:
        """End its processes and remove it."""
        os.close(self.descriptor)
        remove_group(self.path)

    def _write(self, name: str, value: int) -> None:
        syscalls.write_text(str(self.path / name), str(value))


def remove_group(path: Path) -> None:
    """End the processes of a group and of those below it, and remove them all."""
    for each in (*path.glob("*/"), path):
        with suppress(OSError):
            syscalls.write_text(str(each / "cgroup.kill"), "1")
        deadline = time.monotonic() + REMOVAL_SECONDS
        while each.exists() and time.monotonic() < deadline:
            with suppress(OSError):  # its processes take a moment to end
                each.rmdir()
                break
            time.sleep(0.001)


class GroupParent:
    """The directory that holds the control groups of a spawner's bots."""

    def __init__(self) -> None:
        self.path: Path | None = None

    def make(self, name: str, limits: BotLimits) -> ControlGroup:
        """Return a new group; OSError if no control group is delegated to this user."""
        if self.path is None:
            self.path = self._find()
            lock_directory(self.path)
        return ControlGroup(self.path / name, limits)

    def close(self) -> None:
        """Remove it with all its groups."""
        if self.path is not None:
            remove_group(self.path)

    def _find(self) -> Path:
        """Try our own group and those above it; first without moving our processes."""
        candidates, reason = own_groups(), "cgroup v2 is not mounted"
        for each in candidates:
            remove_leftovers(each, remove_group)
        for move in (False, True):
            for each in candidates:
                try:
                    return self._make_parent(each, move)
                except OSError as error:
                    reason = str(error)
        raise OSError(errno.ENOENT, f"no control group is delegated to this user: {reason}")

    @staticmethod
    def _make_parent(above: Path, move: bool) -> Path:
        path = above / f"pitflip-sandbox-{os.getpid()}-groups"
        path.mkdir()
        try:
            wanted = " ".join(f"+{each}" for each in CONTROLLERS)
            if not set(CONTROLLERS) <= {*(above / "cgroup.subtree_control").read_text().split()}:
                if move:
                    move_processes(above)
                syscalls.write_text(str(above / "cgroup.subtree_control"), wanted)
            syscalls.write_text(str(path / "cgroup.subtree_control"), wanted)
        except OSError:
            path.rmdir()
            raise
        return path


def own_groups() -> list[Path]:
    """Return the control group of this process and those above it, as far as they are mounted."""
    found: list[Path] = []
    with suppress(OSError):
        for line in Path(MOUNTS).read_text().splitlines():
            before, _, after = line.partition(" - ")
            if after.startswith("cgroup2 "):
                mount = Path(before.split()[4])
                own = Path(OWN_GROUP).read_text().rpartition("0::/")[2].strip()
                found = [each for each in (mount / own, *(mount / own).parents)
                         if each.is_relative_to(mount) and each.exists()]  # fmt: skip
    return found


def move_processes(group: Path) -> None:
    """Move the processes of a group into one below it: only such a group may have controllers.

    OSError if they are not all of one tree, as those of a run are.
    """
    processes = [int(each) for each in (group / "cgroup.procs").read_text().split()]
    if not set(processes) <= set(descendants(min(processes, default=0))):
        raise OSError(errno.EBUSY, f"{group} has processes of others")
    below = group / "pitflip"
    below.mkdir(exist_ok=True)
    for each in processes:
        syscalls.write_text(str(below / "cgroup.procs"), str(each))


# --------------------------------------------------------------------------------- memory

RESIDENT_FIELDS = frozenset({"RssAnon", "RssShmem", "VmSwap", "HugetlbPages", "VmPTE"})
SHARE_FIELDS = frozenset({"Pss_Anon", "Pss_Shmem", "SwapPss", "Private_Hugetlb", "Shared_Hugetlb"})
FREE_DESCRIPTORS = 100  # of a bot; a socket beyond these is charged with what it may hold
SOCKET_BYTES = 2 * 212_992  # the kernel's default; a filter refuses to set another size


def resident_bytes(process: int) -> int:
    """Return the memory that no file backs, shared memory too, and the page tables."""
    return sum(_memory_fields(process, RESIDENT_FIELDS)[1].values())


def own_bytes(process: int) -> int:
    """Return the memory that no file backs, where shared memory counts in equal parts.

    All memory of a process counts that hides it, as a program that may not be read does.
    """
    thread, fields = _memory_fields(process, RESIDENT_FIELDS)
    shares = _fields(f"/proc/{thread}/smaps_rollup", SHARE_FIELDS)
    if "Pss_Anon" not in shares:
        return sum(fields.values())
    return sum(shares.values()) + fields.get("VmPTE", 0)


def _memory_fields(process: int, names: frozenset[str]) -> tuple[int, dict[str, int]]:
    """Return a thread and its fields: a first thread that ended before others has none."""
    fields = _fields(f"/proc/{process}/status", names)
    if not fields:
        with suppress(OSError):
            for thread in map(int, os.listdir(f"/proc/{process}/task")):
                if fields := _fields(f"/proc/{thread}/status", names):
                    return thread, fields
    return process, fields


def _fields(path: str, names: frozenset[str]) -> dict[str, int]:
    """Return these fields in bytes; none if the file cannot be read."""
    with suppress(OSError), open(path) as lines:
        parts = [line.partition(":") for line in lines]
        return {name: int(rest.split()[0]) * 1024 for name, _, rest in parts if name in names}
    return {}


def socket_bytes(tree: list[int]) -> int:
    """Return the most that the sockets of processes may hold, if they have many descriptors."""
    descriptors: list[str] = []
    for process in tree:
        with suppress(OSError):
            folder = f"/proc/{process}/fd"
            descriptors += [f"{folder}/{each}" for each in os.listdir(folder)]
    count = 0
    for each in descriptors if len(descriptors) > FREE_DESCRIPTORS else []:
        with suppress(OSError):
            count += os.readlink(each).startswith("socket:")
    return max(0, count - FREE_DESCRIPTORS) * SOCKET_BYTES


def spare_address_space(process: int) -> float:
    """Return how many bytes a process may still map; infinite without a limit (`ulimit -v`)."""
    try:
        most = resource.prlimit(process, resource.RLIMIT_AS)[0]
        mapped = int(Path(f"/proc/{process}/statm").read_text().split()[0]) * resource.getpagesize()
    except (AttributeError, OSError):  # macOS has neither
        return math.inf
    return math.inf if most == resource.RLIM_INFINITY else most - mapped


# ------------------------------------------------------------------------- processor time

ALL_THREADS = 2  # in the number of a process's clock
TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def longest_run_delay(tree: list[int]) -> int:
    """Return the longest time, in nanoseconds, for which a thread was ready but did not run.

    Threads that have lowered their priority do not count.
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


def runnable_count(tree: list[int]) -> int:
    """Return how many threads run or wait for a core."""
    count = 0
    for process in tree:
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{process}/task"):
                text = Path(f"/proc/{process}/task/{thread}/stat").read_text()
                count += text.rpartition(")")[2].split()[:1] == ["R"]
    return count


def processor_time(process: int) -> int:
    """Return for how many nanoseconds all threads of a process have run; 0 if it has ended."""
    with suppress(OSError):
        return time.clock_gettime_ns(~process << 3 | ALL_THREADS)
    return 0


def tree_time(tree: list[int]) -> int:
    """Return for how many nanoseconds processes have run, with children that they waited for."""
    total = 0
    for process in tree:
        total += processor_time(process)
        with suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[13]) + int(fields[14])) * TICK
    return total


def run_time(process: int) -> int | None:
    """Return for how many nanoseconds the first thread has run; None if unknown."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[0])
    return None


# ---------------------------------------------------------------------------------- files

MAX_FILES, MAX_DEPTH = 4096, 32
DIRECTORY_NAME = re.compile(r"pitflip-sandbox-([0-9]+)-.*")
OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_directory(directory: Path) -> None:
    """Remove a directory and its contents, whatever a bot put there; links are not followed."""
    if (top := open_directory(str(directory))) is not None:
        with suppress(OSError):
            while sum(_remove_entry(top, name) for name in os.listdir(top)):
                pass
            directory.rmdir()
        os.close(top)


def _remove_entry(top: int, name: str) -> bool:
    """Remove a file, or a directory after moving its contents up: bots nest thousands."""
    with suppress(OSError):
        os.unlink(name, dir_fd=top)
        return True
    if (below := open_directory(name, top)) is None:
        return False
    try:
        for inner in os.listdir(below):
            if (place := open_directory(inner, below)) is not None:
                os.close(place)  # its mode allows to move it now
            new = os.urandom(8).hex()
            os.rename(inner, new, src_dir_fd=below, dst_dir_fd=top)
        os.rmdir(name, dir_fd=top)
    except OSError:
        return False
    finally:
        os.close(below)
    return True


def directory_bytes(directory: Path, most: int) -> int:
    """Return the size of a directory's contents, counted until it is more than `most`.

    More than MAX_FILES files and directories, or MAX_DEPTH levels, are too many, whatever their
    size.
    """
    total = 0.0
    with closing(_entry_sizes(open_directory(str(directory)))) as sizes:
        for count, size in enumerate(sizes):
            total += size
            if total > most or count >= MAX_FILES:
                return most + 1
    return int(total)


def _entry_sizes(place: int | None, depth: int = 0) -> Generator[float, None, None]:
    """Yield the sizes of all below an open directory, infinity below MAX_DEPTH; close it."""
    if place is None:
        return
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                size = 0
                with suppress(OSError):  # it is gone
                    size = entry.stat(follow_symlinks=False).st_blocks * 512
                yield size if depth < MAX_DEPTH else math.inf
                if entry.is_dir(follow_symlinks=False):
                    yield from _entry_sizes(open_directory(entry.name, place), depth + 1)
    finally:
        os.close(place)


def open_directory(name: str, above: int | None = None) -> int | None:
    """Open a directory and make it ours to change; None if there is none of this name.

    Its mode changes by a descriptor: a bot may put a link in its place at any time.
    """
    with suppress(OSError):
        if not syscalls.LINUX:
            return os.open(name, OPEN_DIRECTORY, dir_fd=above)
        place = os.open(name, os.O_PATH | OPEN_DIRECTORY, dir_fd=above)
        try:
            if os.stat(place).st_mode & 0o700 != 0o700:
                os.chmod(f"/proc/self/fd/{place}", 0o700)
            return os.open(".", OPEN_DIRECTORY, dir_fd=place)
        finally:
            os.close(place)
    return None


def mount_bytes(directory: str) -> int:
    """Return how much of the file system mounted at a directory is in use; 0 if unknown."""
    with suppress(OSError):
        use = os.statvfs(directory)
        return (use.f_blocks - use.f_bfree) * use.f_frsize
    return 0


def nameless_bytes(process: int, device: int) -> int:
    """Return the size of a process's open files on a device that have no name any more."""
    total = 0
    with suppress(OSError):
        for each in os.listdir(f"/proc/{process}/fd"):
            with suppress(OSError):
                file = os.stat(f"/proc/{process}/fd/{each}")
                if file.st_nlink == 0 and file.st_dev == device and stat.S_ISREG(file.st_mode):
                    total += file.st_blocks * 512
    return total


def lock_directory(directory: Path) -> int | None:
    """Lock a directory; return a descriptor that holds the lock, None if another process does."""
    try:
        place = os.open(directory, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(place)
        return None
    return place


def remove_leftovers(base: Path, remove: Callable[[Path], None] = remove_directory) -> None:
    """Remove the directories of spawners that were killed.

    Where containers share a directory, a spawner may be in another container and have a process id
    that does not exist here, but it holds a lock.
    """
    with suppress(OSError):
        for each in base.iterdir():
            found = DIRECTORY_NAME.fullmatch(each.name)
            if not found or Path(f"/proc/{found[1]}").exists():
                continue
            if (lock := lock_directory(each)) is not None:
                remove(each)
                os.close(lock)
