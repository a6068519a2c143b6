"""Isolation levels: find the strongest, start a restricted process."""

import errno
import logging
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

from agents.sandbox import namespaces, restrictions, syscalls
from agents.sandbox.messages import BotLimits, close_descriptors
from agents.sandbox.syscalls import write

UNSTARTED = 127  # the exit status of what could not be started
STATUS = 5  # the descriptor on which a child reports what the machine lacks
CONTROL = 6  # the descriptor on which the first process of a namespace is told to
STOP, RESUME = b"s", b"r"  # all others
# What the machine lacks, never the fault of a bot that is being started.
LACKS = {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EUSERS}
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
# The level, strongest first -> what it is made of; the first of each must work.
WALLS: Mapping[str, tuple[str, ...]] = {
    "namespaces": ("namespaces", "landlock", "seccomp", "limits"),
    "landlock": ("landlock", "seccomp", "limits"),
    "limits": ("limits",),
    "none": (),
}
# One of these is what `isolation = "required"` accepts.
SUFFICIENT = ({"namespaces"}, {"landlock", "seccomp"})
MEASURES = WALLS["namespaces"]
# What an attempt that is stopped is told.
REFUSAL_ERRNOS = (
    errno.EPERM, errno.EACCES, errno.ENOENT, errno.ECONNREFUSED, errno.ENETUNREACH,
    errno.EADDRNOTAVAIL, errno.EMFILE, errno.EAGAIN, errno.ENOMEM,
)  # fmt: skip
TRIAL_LIMITS = BotLimits(memory=256 << 20)
TRIAL_SECONDS = 10.0  # of a measure; it takes a few milliseconds


@dataclass(frozen=True, slots=True)
class Restrictions:
    """The confinement of one bot."""

    measures: frozenset[str]  # which of the ladder
    scratch: str  # a directory of its own; within an own root it is another
    readable: tuple[str, ...]
    limits: BotLimits
    cores: tuple[int, ...]
    environment: Mapping[str, str]
    grown: bool  # whether it is this process that goes on, not another program
    cwd: str = ""  # which it may read; empty: scratch
    loopback: bool = False  # its own processes may talk to one another by TCP


# What a process is confined to, its descriptors by the numbers it knows them by, and what it does.
Child = tuple[Restrictions, Mapping[int, int], Callable[[], int]]


def begin(confinement: Restrictions, descriptors: Mapping[int, int], run: Callable[[], int]) -> int:
    """Fork a confined process that ends with what `run` returns; its process id.

    `descriptors` are all that it has open, by the numbers that it knows them by. Until the bot's
    own code or program runs, STATUS is open: it gets a line if the machine lacks something. In a
    namespace CONTROL is read by its first process.
    """
    if "namespaces" not in confinement.measures:
        return fork_restricted(False, lambda: (confinement, descriptors, run))
    reads, writes = os.pipe()

    def load() -> Child:
        os.read(reads, 1)  # until it is mapped
        return confinement, descriptors, run

    try:
        process = fork_restricted(True, load)
        namespaces.map_unused_user(process, confinement.readable)
        os.write(writes, b"x")
        return process
    finally:
        close_descriptors([reads, writes])


def fork_restricted(own_root: bool, load: Callable[[], Child], sibling: bool = False) -> int:
    """Fork a process that finds out by `load` what it is; a sibling is our parent's child."""
    if own_root:
        namespaces.system_directories()
    parent, owner = (os.getppid() if sibling else os.getpid()), (os.getuid(), os.getgid())
    pid = syscalls.fork(namespaces.ALL if own_root else 0, sibling)
    if pid == 0:
        begun = False
        try:
            confinement, descriptors, run = load()
            _keep_all_or_none(descriptors)
            if STATUS in descriptors:
                os.set_inheritable(STATUS, False)
            os.environ.clear()
            os.environ.update(environment(confinement))
            if own_root:
                _first_process(owner, confinement, CONTROL in descriptors)
            else:
                _child_of(parent)
                syscalls.allow_inspection()
            os.setpgid(0, 0)
            apply_restrictions(confinement)
            begun = True
            exit_process(run())
        except BaseException as error:  # nothing of ours may go on in a fork
            report_lack(error)
            if begun:
                exit_process(1, f"was interrupted: {error}")
            exit_process(UNSTARTED, f"cannot be started: {error}")
        finally:  # an error that has no words
            os._exit(UNSTARTED)
    return pid


def exit_process(code: int, words: str = "") -> NoReturn:
    """End this process at once, leaving a message in its log."""
    with suppress(BaseException):
        if words:
            os.write(2, words.encode(errors="backslashreplace"))
    os._exit(code & 0xFF)


def _keep_all_or_none(descriptors: Mapping[int, int]) -> None:
    """Have these descriptors; without room for all of them tell the spawner, and end."""
    try:
        keep_descriptors(descriptors)
    except OSError as error:  # such as EBADF for a number beyond the limit
        if STATUS in descriptors:
            os.write(descriptors[STATUS], f"no room for descriptors: {error}".encode())
        os._exit(UNSTARTED)


def report_lack(error: BaseException) -> None:
    """Tell the spawner that the machine lacks something, while this process runs only our code."""
    if isinstance(error, MemoryError):
        error = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
    if isinstance(error, OSError) and error.errno in LACKS:
        with suppress(OSError):
            os.write(STATUS, str(error).encode(errors="backslashreplace"))


def _child_of(parent: int) -> None:
    if syscalls.LINUX:
        syscalls.die_with_parent(parent)


def _first_process(owner: tuple[int, int], confinement: Restrictions, control: bool) -> None:
    """Make the root; go on in a second process, so that signals to itself mean what they say."""
    # It sees no parent in its own numbering: the death signal alone must do.
    syscalls.allow_inspection()
    syscalls.prctl("death signal", syscalls.DEATH_SIGNAL, signal.SIGKILL)
    namespaces.enter_own_root(owner, confinement.readable, confinement.limits.memory)
    if confinement.loopback:
        namespaces.enable_loopback()
    syscalls.drop_capabilities(namespaces.USER_ID)
    syscalls.allow_inspection()  # again: another user has neither
    syscalls.prctl("death signal", syscalls.DEATH_SIGNAL, signal.SIGKILL)
    second = os.fork()
    if second == 0:
        if control:
            os.close(CONTROL)
        return
    keep_descriptors({CONTROL: CONTROL} if control else {})
    syscalls.prctl("dumpable", syscalls.DUMPABLE, 0)
    _watch(second, control)


def _watch(second: int, control: bool) -> NoReturn:
    """Reap every process of the namespace; stop and resume them until the second one ends.

    Only this process can stop them all at once, so that none forks away. When the spawner is
    gone this process ends, and all others with it.
    """
    ended, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    poll = select.poll()
    for each in (ended, CONTROL)[: 1 + control]:
        poll.register(each, select.POLLIN)
    while True:
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == second:
                    code = os.waitstatus_to_exitcode(found[1])
                    os._exit(code if code >= 0 else 128 - code)
        for descriptor, _ in poll.poll():
            said = os.read(descriptor, 4096)
            if descriptor == CONTROL:
                if not said:
                    os._exit(UNSTARTED)
                with suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGSTOP if said[-1:] == STOP else signal.SIGCONT)


def keep_descriptors(descriptors: Mapping[int, int]) -> None:
    """Have exactly these descriptors open, under these numbers."""
    high = 3 + max([*descriptors, *descriptors.values()], default=0)
    moved = {}
    for at, (number, descriptor) in enumerate(descriptors.items()):
        moved[number] = os.dup2(descriptor, high + at, inheritable=False)
    for number, descriptor in moved.items():
        os.dup2(descriptor, number, inheritable=True)
    most, last = resource.getrlimit(resource.RLIMIT_NOFILE)[1], -1
    for number in [*sorted(descriptors), min(most, 1 << 20)]:
        if last + 1 < number:  # Python takes the empty range from 0 for everything
            os.closerange(last + 1, number)
        last = number


def environment(confinement: Restrictions) -> dict[str, str]:
    """Made from nothing: what changes how Python or C libraries write must not come through."""
    scratch = namespaces.SCRATCH if "namespaces" in confinement.measures else confinement.scratch
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": scratch,
        "TMPDIR": scratch,
        **dict.fromkeys(THREADS, "1"),
        **confinement.environment,
    }


def apply_restrictions(confinement: Restrictions) -> None:
    """Signals, limits, then the walls: the last ones forbid what the first ones do."""
    measures = confinement.measures
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with suppress(OSError, ValueError):  # a few belong to the C library
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o077)
    if confinement.cores and hasattr(os, "sched_setaffinity"):
        with suppress(OSError):
            os.sched_setaffinity(0, confinement.cores)
    own_root = "namespaces" in measures
    if confinement.cwd or not own_root:
        os.chdir(confinement.cwd or confinement.scratch)
    if "limits" in measures:
        restrictions.limit_resources(confinement.limits, confinement.grown, own_root)
    if {"landlock", "seccomp"} & measures and not own_root:
        syscalls.drop_capabilities()
    if "landlock" in measures:
        restrictions.restrict_files(*allowed_paths(confinement), tcp=own_network(confinement))
    if "seccomp" in measures:
        restrictions.filter_system_calls(own_root, inet=own_network(confinement))


def own_network(confinement: Restrictions) -> bool:
    """Return whether it has a network of its own and needs one."""
    return confinement.loopback and "namespaces" in confinement.measures


def allowed_paths(confinement: Restrictions) -> tuple[list[str], list[str]]:
    """What may be read, and what may be written."""
    devices = [f"/dev/{name}" for name in namespaces.DEVICES]
    if "namespaces" in confinement.measures:
        return ["/"], [namespaces.SCRATCH, *devices]
    system = [*namespaces.system_directories(), "/proc/self", *devices]
    return [*system, *confinement.readable], [confinement.scratch, "/dev/null"]


def reset_interpreter() -> None:
    """Clear our handlers, hooks and arguments from a bot that runs on in a fork."""
    import atexit  # noqa: PLC0415  # only in a bot
    import random  # noqa: PLC0415

    atexit._clear()
    logging.getLogger().handlers.clear()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.argv = ["bot"]
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout, sys.stderr = (
        os.fdopen(each, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        for each in (1, 2)
    )
    random.seed(0)


class IsolationLevel(NamedTuple):
    """The level that works here, the measures that it was found to have, and why others fail."""

    name: str
    measures: frozenset[str]
    problems: Mapping[str, str]  # by measure, in words with the errno
    landlock: int = 0  # the version of Landlock, which decides what it holds back

    @property
    def found(self) -> str:
        """The measures, strongest first, such as "Landlock 6, seccomp, limits"."""
        named = {"landlock": f"Landlock {self.landlock}"}
        return ", ".join(named.get(each, each) for each in MEASURES if each in self.measures)

    @property
    def words(self) -> str:
        """What is held back from bots by the measures that were found."""
        has = self.measures.__contains__
        if has("namespaces"):
            held = "no files but their own, no network, no other processes"
        elif has("landlock") and has("seccomp"):
            held = (
                "no files but their own, no network, no sockets, modes and owners of others, "
                "no signals to others"
            )
        elif has("landlock"):
            held = "no files but their own, but the network, modes and owners of files"
        else:
            held = "files and network are open to them"
        if not has("limits"):
            return f"{held}, no limits: run only code that you trust"
        return f"{held}; memory, processes and time are limited"

    @property
    def is_sufficient(self) -> bool:
        """Return whether it separates a bot from our files, network and processes."""
        return any(needed <= self.measures for needed in SUFFICIENT)

    def refusal(self) -> str:
        """Why `isolation = "required"` is impossible here."""
        reasons = "; ".join(f"{name}: {why}" for name, why in self.problems.items())
        return f'isolation = "required" cannot be had: the level here is "{self.name}" ({reasons})'


def find_level(scratch: Path, weakest: str = "") -> IsolationLevel:
    """The strongest rung that this machine has; `scratch` is a directory of ours.

    `weakest` names a level that must do instead: for tests of machines that have no better one.
    """
    allowed = WALLS.get(weakest, MEASURES)
    problems = {
        each: problem
        for each in MEASURES
        if (problem := measure_problem(each, scratch) if each in allowed else "not to be used")
    }
    for name, made_of in WALLS.items():
        if not made_of or made_of[0] not in problems:
            measures = frozenset(made_of) - frozenset(problems)
            version = restrictions.landlock_version() if "landlock" in measures else 0
            return IsolationLevel(name, measures, problems, version)
    raise AssertionError("the last rung needs nothing")


def measure_problem(measure: str, scratch: Path) -> str:
    """Return why a measure does not work here; empty if it does."""
    own, outside = scratch / f"try-{measure}", scratch / f"outside-{measure}"
    own.mkdir(exist_ok=True)
    write(str(outside), "not for bots")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        restricted = Restrictions(
            frozenset({measure}), str(own), (), TRIAL_LIMITS, (), {}, grown=True
        )
        return _trial_problem(restricted, lambda: _attempt(measure, outside, port))


def _trial_problem(restricted: Restrictions, attempt: Callable[[], int]) -> str:
    """Run an attempt in a restricted child; what it says if it fails, or never ends."""
    null, (reading, writing) = os.open(os.devnull, os.O_RDWR), os.pipe()
    try:
        process = begin(restricted, {0: null, 1: writing, 2: writing}, attempt)
    except OSError as error:  # as where the kernel refuses a clone with namespaces
        close_descriptors([null, writing, reading])
        return str(error)
    close_descriptors([null, writing])
    ends = select.select([reading], [], [], TRIAL_SECONDS)[0]
    answer = os.read(reading, 4096).decode(errors="replace") if ends else ""
    if not ends:
        os.kill(process, signal.SIGKILL)
    os.close(reading)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if not ends:
        return f"the trial did not end within {TRIAL_SECONDS:g} s"
    if code == 0:
        return ""
    return answer.removeprefix("cannot be started: ") or f"the trial ended with {code}"


def _attempt(measure: str, outside: Path, port: int) -> int:
    """In the child: what the measure must stop, and what it must allow."""
    attempts: Mapping[str, Mapping[str, Callable[[], object]]] = {
        "namespaces": {"files": outside.read_text, "network": lambda: _connect(port)},
        "landlock": {"files": outside.read_text},
        "seccomp": {
            "network": lambda: _connect(port),
            "modes of files": lambda: outside.chmod(0o600),
            "sockets": lambda: socket.socket(socket.AF_UNIX),
            "priorities": lambda: os.setpriority(os.PRIO_USER, 0, os.getpriority(0, 0)),
        },
    }
    for what, attempt in attempts.get(measure, {}).items():
        try:
            attempt()
        except OSError as error:
            if error.errno not in REFUSAL_ERRNOS:
                exit_process(UNSTARTED, f"{what}: {error}")
        else:
            exit_process(UNSTARTED, f"{what} of others stay within reach")
    write("scratch-of-the-trial", "ours")
    return 0


def _connect(port: int) -> None:
    with socket.socket() as own:  # by a plain call: nothing more can be imported here
        own.settimeout(2)
        own.connect(("127.0.0.1", port))
