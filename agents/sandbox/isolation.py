"""Isolation levels: find the strongest, start a confined process."""

import errno
import os
import resource
import select
import signal
import socket
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

from agents.sandbox import restrictions, syscalls
from agents.sandbox.messages import BotLimits, Start, close_descriptors
from agents.sandbox.syscalls import SHORTAGE_ERRNOS, write_text
from agents.sandbox.usage import GroupParent

UNSTARTED = 127  # the exit status of a process that could not be started
STATUS = 5  # the descriptor on which a child reports what the machine lacks
CONTROL = 6  # the descriptor on which the first process of a namespace gets STOP or RESUME
STOP, RESUME = b"s", b"r"  # all other processes of the namespace
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
# By level, strongest first: its measures. A level needs the first of them, and has those of the
# others that work.
LEVELS: Mapping[str, tuple[str, ...]] = {
    "namespaces": ("namespaces", "landlock", "seccomp", "limits", "cgroup"),
    "landlock": ("landlock", "seccomp", "limits", "cgroup"),
    "limits": ("limits", "cgroup"),
    "none": (),
}
MEASURES = LEVELS["namespaces"]
# One of these is what `isolation = "required"` accepts.
SUFFICIENT_MEASURES = ({"namespaces"}, {"landlock", "seccomp"})
HELD_BACK: Sequence[tuple[Set[str], str]] = (
    ({"namespaces"}, "no files but their own, no network, no other processes"),
    (
        {"landlock", "seccomp"},
        "no files but their own, no network, no sockets, modes and owners of others, "
        "no signals to others",
    ),
    ({"landlock"}, "no files but their own, but the network, modes and owners of files"),
    (set(), "files and network are open to them"),
)
# The errors of a trial that a measure holds back.
REFUSAL_ERRNOS = (
    errno.EPERM, errno.EACCES, errno.ENOENT, errno.ECONNREFUSED, errno.ENETUNREACH,
    errno.EADDRNOTAVAIL, errno.EMFILE, errno.EAGAIN, errno.ENOMEM,
)  # fmt: skip
# The machine lacks something, as far as a limit of namespaces does not look the same.
TRIAL_SHORTAGES = SHORTAGE_ERRNOS - {errno.ENOSPC, errno.EUSERS}
TRIAL_SECONDS = 10.0  # of a measure; it takes a few milliseconds

Work = Callable[[], int]
# A confinement, the descriptors of the process by their numbers there, and its work.
Child = tuple[Start, Mapping[int, int], Work]
# Forks a confined process; the last argument is the descriptor of its control group or -1.
StartChild = Callable[[Start, Mapping[int, int], Work, int], int]


def fork_child(
    load: Callable[[], Child],
    own_root: bool = False,
    status: int = -1,
    sibling: bool = False,
    group: int = -1,
) -> int:
    """Fork a confined process that ends with the result of its work; return its process id.

    `load` returns in the child what it is. The descriptors are all that it has open. Until the
    bot's code or program runs, it reports on `status`, and later on STATUS, if the machine lacks
    something. In a namespace its first process reads CONTROL. A sibling is a child of our parent;
    `group` is the descriptor of its control group.
    """
    restrictions.prepare_forks(own_root)
    parent, owner = (os.getppid() if sibling else os.getpid()), (os.getuid(), os.getgid())
    pid = syscalls.fork(restrictions.ALL_NAMESPACES if own_root else 0, sibling, group)
    if pid == 0:
        begun = False
        try:
            start, descriptors, work = load()
            keep_descriptors(descriptors)
            status = STATUS
            if STATUS in descriptors:
                os.set_inheritable(STATUS, False)
            os.environ.clear()
            os.environ.update(environment(start))
            if own_root:
                _enter_namespaces(owner, start, CONTROL in descriptors)
            elif syscalls.LINUX:
                syscalls.die_with_parent(parent)
                syscalls.prctl("subreaper", syscalls.SUBREAPER, 1)  # its daemons stay below it
                _allow_inspection()
            os.setpgid(0, 0)
            apply_restrictions(start)
            begun = True
            exit_process(work())
        except BaseException as error:  # a fork must never return into our code
            if begun:
                exit_process(1, f"was interrupted: {error}")
            report_shortage(error, status)
            exit_process(UNSTARTED, f"cannot be started: {error}")
        finally:  # an error whose text cannot be made
            os._exit(UNSTARTED)
    return pid


def exit_process(code: int, message: str = "") -> NoReturn:
    """End this process at once, leaving a message in its log."""
    with suppress(BaseException):
        if message:
            os.write(2, message.encode(errors="backslashreplace"))
    os._exit(code & 0xFF)


def report_shortage(error: BaseException, status: int = STATUS) -> None:
    """Tell the spawner if the machine lacks something, while this process runs only our code."""
    if isinstance(error, MemoryError):
        error = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
    if isinstance(error, OSError) and error.errno in SHORTAGE_ERRNOS:
        with suppress(OSError):
            os.write(status, str(error).encode(errors="backslashreplace"))


def _allow_inspection() -> None:
    """Let processes of this user see in /proc how much this one uses."""
    syscalls.prctl("dumpable", syscalls.DUMPABLE, 1)


def _enter_namespaces(owner: tuple[int, int], start: Start, control: bool) -> None:
    """Make the root and return in a second process; the first one serves as init."""
    # The namespace hides the parent's process id: the death signal alone must do.
    _allow_inspection()
    syscalls.prctl("death signal", syscalls.DEATH_SIGNAL, signal.SIGKILL)
    restrictions.enter_own_root(owner, start.readable, start.limits.memory)
    if start.loopback:
        restrictions.enable_loopback()
    syscalls.drop_capabilities(restrictions.USER_ID)
    _allow_inspection()  # again: the change of users has undone both
    syscalls.prctl("death signal", syscalls.DEATH_SIGNAL, signal.SIGKILL)
    second = os.fork()
    if second == 0:
        if control:
            os.close(CONTROL)
        return
    keep_descriptors({CONTROL: CONTROL} if control else {})
    syscalls.prctl("dumpable", syscalls.DUMPABLE, 0)
    _run_init(second, control)


def _run_init(second: int, control: bool) -> NoReturn:
    """Reap the processes of the namespace, and stop and resume them, until the second one ends.

    Only this process can signal them all at once, so that none of them escapes by a fork. When the
    spawner is gone this process ends, and all others with it.
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
            orders = os.read(descriptor, 4096)
            if descriptor == CONTROL:
                if not orders:
                    os._exit(UNSTARTED)
                with suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGSTOP if orders[-1:] == STOP else signal.SIGCONT)


def keep_descriptors(descriptors: Mapping[int, int]) -> None:
    """Have exactly these descriptors open, under these numbers."""
    high = 3 + max([*descriptors, *descriptors.values()], default=0)
    moved = {}
    try:
        for at, (number, descriptor) in enumerate(descriptors.items()):
            moved[number] = os.dup2(descriptor, high + at, inheritable=False)
        for number, descriptor in moved.items():
            os.dup2(descriptor, number, inheritable=True)
    except OSError as error:  # EBADF for a number beyond the limit
        raise OSError(errno.EMFILE, f"no room for descriptors: {error}") from error
    most, last = resource.getrlimit(resource.RLIMIT_NOFILE)[1], -1
    for number in [*sorted(descriptors), min(most, 1 << 20)]:
        if last + 1 < number:  # Python takes the empty range from 0 for all descriptors
            os.closerange(last + 1, number)
        last = number


def environment(start: Start) -> dict[str, str]:
    """Return a bot's environment. Nothing of ours is in it that changes how Python or C print."""
    scratch = restrictions.SCRATCH if start.has_own_root else start.scratch
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": scratch,
        "TMPDIR": scratch,
        **dict.fromkeys(THREADS, "1"),
        **start.environment,
    }


def apply_restrictions(start: Start) -> None:
    """Reset signals, then restrict this process: the last restrictions forbid to set the first."""
    measures = start.measures
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with suppress(OSError, ValueError):  # a few belong to the C library
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o077)
    if start.cores and hasattr(os, "sched_setaffinity"):
        with suppress(OSError):
            os.sched_setaffinity(0, start.cores)
    own_root, network = start.has_own_root, start.loopback and start.has_own_root
    if start.cwd or not own_root:
        os.chdir(start.cwd or start.scratch)
    if "limits" in measures:
        restrictions.limit_resources(start.limits, not start.command, own_root)
    if {"landlock", "seccomp"} & measures and not own_root:
        syscalls.drop_capabilities()
    if "landlock" in measures:
        restrictions.restrict_files(*path_rules(start), tcp=network)
    if "seccomp" in measures:
        restrictions.filter_system_calls(own_root, inet=network)


def path_rules(start: Start) -> tuple[list[str], list[str]]:
    """Return the paths that a bot may read, and those that it may write."""
    devices = restrictions.DEVICES
    if start.has_own_root:
        return ["/"], [restrictions.SCRATCH, *devices]
    system = [*restrictions.system_directories(), "/proc/self", *devices]
    return [*system, *start.readable], [start.scratch, "/dev/null"]


# ------------------------------------------------------------------------ levels and trials


class IsolationLevel(NamedTuple):
    """The level that works here, the measures found, and why the others fail."""

    name: str
    measures: frozenset[str]
    problems: Mapping[str, str]  # by measure, with the errno
    landlock: int = 0  # its version, which decides what it holds back

    @property
    def measure_names(self) -> str:
        """The measures found, strongest first, such as "Landlock 6, seccomp, limits"."""
        names = {"landlock": f"Landlock {self.landlock}"}
        return ", ".join(names.get(each, each) for each in MEASURES if each in self.measures)

    @property
    def description(self) -> str:
        """Description of what the measures found hold back."""
        needed_held = ((needed, held) for needed, held in HELD_BACK if needed <= self.measures)
        held = next(held for _, held in needed_held)
        if "limits" not in self.measures:
            return f"{held}, no limits: run only code that you trust"
        return f"{held}; memory, processes and time are limited"

    @property
    def is_sufficient(self) -> bool:
        """Return whether it separates a bot from our files, network and processes."""
        return any(needed <= self.measures for needed in SUFFICIENT_MEASURES)

    def refusal_text(self) -> str:
        """Return why `isolation = "required"` is impossible here."""
        reasons = "; ".join(f"{name}: {why}" for name, why in self.problems.items())
        return f'isolation = "required" cannot be had: the level here is "{self.name}" ({reasons})'


def find_level(
    scratch: Path, start_child: StartChild, strongest: str = "", groups: GroupParent | None = None
) -> IsolationLevel:
    """Return the strongest level of this machine, but none stronger than `strongest`.

    `scratch` is a directory of ours; `groups` makes control groups. OSError if the machine lacks
    something now, which says nothing about its levels.
    """
    problems = dict.fromkeys(MEASURES, "not used")
    for each in LEVELS.get(strongest, MEASURES):
        problems[each] = measure_problem(each, scratch, start_child, groups)
    problems = {each: problem for each, problem in problems.items() if problem}
    name = next(
        name for name, measures in LEVELS.items() if not measures or measures[0] not in problems
    )
    found = frozenset(LEVELS[name]) - frozenset(problems)
    version = restrictions.landlock_version() if "landlock" in found else 0
    return IsolationLevel(name, found, problems, version)


def measure_problem(
    measure: str, scratch: Path, start_child: StartChild, groups: GroupParent | None = None
) -> str:
    """Return why a measure does not work here; empty if it does."""
    own, outside = scratch / f"try-{measure}", scratch / f"outside-{measure}"
    own.mkdir(exist_ok=True)
    write_text(str(outside), "not for bots")
    with socket.socket() as listener, ExitStack() as stack:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        attempt = partial(try_to_escape, measure, outside, listener.getsockname()[1])
        limits = BotLimits(memory=256 << 20)
        start = Start(0, (), limits=limits, measures=frozenset({measure}), scratch=str(own))
        try:
            group = -1
            if measure == "cgroup":
                if groups is None:
                    return "not looked for"
                group = stack.enter_context(closing(groups.make("trial", limits))).descriptor
            return _trial_problem(start_child, start, attempt, group)
        except OSError as error:  # as where the kernel refuses a clone with namespaces
            if error.errno in TRIAL_SHORTAGES:
                raise
            return str(error)


def _trial_problem(start_child: StartChild, start: Start, attempt: Work, group: int) -> str:
    """Run an attempt in a confined child; return what it reports if it fails or never ends."""
    null, (log, writing), (status, report) = os.open(os.devnull, os.O_RDWR), os.pipe(), os.pipe()
    with open(log, "rb") as output, open(status, "rb") as lacks:
        try:
            descriptors = {0: null, 1: writing, 2: writing, STATUS: report}
            process = start_child(start, descriptors, attempt, group)
        finally:
            close_descriptors([null, writing, report])
        ends = select.select([output], [], [], TRIAL_SECONDS)[0]
        if not ends:
            os.kill(process, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if not ends:
            return f"the trial did not end within {TRIAL_SECONDS:g} s"
        if shortage := lacks.read().decode(errors="replace"):
            raise OSError(errno.ENOMEM, shortage)
        if code == 0:
            return ""
        answer = output.read(4096).decode(errors="replace")
        return answer.removeprefix("cannot be started: ") or f"the trial ended with {code}"


def try_to_escape(measure: str, outside: Path, port: int) -> int:
    """In the child: try what the measure must hold back, and what it must allow."""
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
    if measure == "cgroup" and "/trial" not in Path("/proc/self/cgroup").read_text():
        exit_process(UNSTARTED, "the child is in another control group")
    for what, attempt in attempts.get(measure, {}).items():
        try:
            attempt()
        except OSError as error:
            if error.errno not in REFUSAL_ERRNOS:
                exit_process(UNSTARTED, f"{what}: {error}")
        else:
            exit_process(UNSTARTED, f"{what} of others can be reached")
    write_text("scratch-of-the-trial", "ours")
    return 0


def _connect(port: int) -> None:
    with socket.socket() as own:  # by a plain call: nothing more can be imported here
        own.settimeout(2)
        own.connect(("127.0.0.1", port))
