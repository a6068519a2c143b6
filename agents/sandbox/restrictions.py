"""Irrevocable restrictions of a process: a private root, Landlock, seccomp, limits."""

import ctypes
import errno
import fcntl
import os
import platform
import resource
import socket
import stat
import struct
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from agents.sandbox import syscalls
from agents.sandbox.messages import BotLimits
from agents.sandbox.syscalls import (
    BIND,
    NO_DEV,
    NO_EXEC,
    NO_SUID,
    READ_ONLY,
    mount,
    prctl,
    restrict_mounts,
    suppress_refusals,
    system_call,
    write_text,
)
from agents.sandbox.usage import MAX_FILES, SPARE_PROCESSES

# ------------------------------------------------------------------ namespaces and a root

# Mount, cgroup, uts, ipc, user, pid and net.
ALL_NAMESPACES = 0x7E02_0000
USER_ID = 1000  # of the user as a bot sees it: not root
# The scratch directory in the bot's root. Nothing else is mounted below it, because Landlock lets
# a bot write everywhere below it.
SCRATCH = "/pitflip"
UNUSED_ID = 0x7000_0000  # of no user, nor of a container, on any machine
MAX_PUBLIC_CHECKS = 5000  # files and directories that `is_public` looks at
READ_ONLY_IN_PROC = ("sys", "sysrq-trigger", "irq", "bus", "fs")
UP, SET_FLAGS = 0x1, 0x8914  # of a network interface
DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))
# Programs look for these when they start; the rest of /etc stays hidden.
SETTINGS = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "java*",
            "ssl/openssl.cnf", "pki/tls/openssl.cnf", "crypto-policies")  # fmt: skip


def prepare_forks(own_root: bool) -> None:
    """Compute before the forks what each of them needs."""
    system_directories()
    if not own_root:
        user_thread_count()
    if syscalls.is_known_machine():
        with suppress_refusals():
            filter_program(own_root, False, landlock_version())


@cache
def system_directories() -> tuple[str, ...]:
    """Return the paths of this machine's programs and libraries; called before the forks."""
    settings = [str(each) for name in SETTINGS for each in Path("/etc").glob(name)]
    folders = [f"/{name}" for name in ("usr", "bin", "sbin", "lib", "lib32", "lib64", "opt")]
    return tuple(path for path in (*folders, "/nix/store", *settings) if os.path.exists(path))


def map_unused_user(process: int, readable: Sequence[str]) -> None:
    """As root, let a process just cloned become a user that owns nothing.

    It keeps our user if the other one could not read its files, or if the kernel refuses.
    """
    if os.getuid() == 0 and all(map(is_public, readable)):
        with suppress_refusals():
            for name in ("uid_map", "gid_map"):
                text = f"0 0 1\n{USER_ID} {UNUSED_ID + process} 1\n"
                write_text(f"/proc/{process}/{name}", text)


@cache
def is_public(path: str) -> bool:
    """Return whether every user may read a file, or a directory and its first files."""
    waiting, count = [path], 0
    while waiting and count < MAX_PUBLIC_CHECKS:
        each = waiting.pop()
        with suppress_refusals():
            count += 1
            folder = os.path.isdir(each)
            needed = 0o005 if folder else 0o004
            if os.stat(each).st_mode & needed != needed:
                return False
            if folder and not os.path.islink(each):
                with os.scandir(each) as entries:  # bytecode may be private
                    waiting += (one.path for one in entries if one.name != "__pycache__")
    return True


def enter_own_root(owner: tuple[int, int], readable: Sequence[str], scratch_bytes: int) -> None:
    """Give a process just cloned a root with these paths, read-only, and a scratch directory.

    `owner` are user and group of its parent. OSError if a path would show the scratch directories
    of other bots.
    """
    stage = tempfile.gettempdir()
    for path in readable:
        if Path(stage).is_relative_to(os.path.normpath(path)):
            message = f"readable must not be {path}, which holds the bot's scratch directory"
            raise OSError(errno.EINVAL, f"{message}; name a directory below it")
    os.umask(0o022)
    for name, number in zip(("uid_map", "gid_map"), owner, strict=True):
        if not Path(f"/proc/self/{name}").read_text().strip():  # else `map_unused_user` wrote it
            if name == "gid_map":
                write_text("/proc/self/setgroups", "deny")
            write_text(f"/proc/self/{name}", f"{USER_ID} {number} 1")
    sources, devices = _open_paths([*system_directories(), *readable]), _open_paths(DEVICES)
    mount("none", "/", "", syscalls.RECURSIVE | syscalls.PRIVATE)
    mount("tmpfs", stage, "tmpfs", NO_SUID | NO_DEV, "size=1m,mode=755")
    for path in (SCRATCH, "/proc", "/dev"):
        os.makedirs(stage + path)
    for path in devices:
        write_text(stage + path, "")
    for path, place in sources.items():
        _bind_mount(stage + path, place)
    for path in ("/tmp", "/dev/shm"):
        if not os.path.exists(stage + path):  # else it holds a readable path
            os.symlink(SCRATCH, stage + path)
    restrict_mounts(stage, READ_ONLY | NO_SUID | NO_DEV)
    for path, place in devices.items():
        _bind_mount(stage + path, place)
        restrict_mounts(stage + path, READ_ONLY | NO_SUID | NO_EXEC)
    _mount_proc(f"{stage}/proc")
    options = f"size={scratch_bytes},nr_inodes={MAX_FILES},mode=700,uid={USER_ID},gid={USER_ID}"
    mount("tmpfs", stage + SCRATCH, "tmpfs", NO_SUID | NO_DEV, options)
    syscalls.change_root(stage)
    os.chdir(SCRATCH)


def _open_paths(paths: Sequence[str]) -> dict[str, int]:
    """Open the paths that exist; each link counts as its own path and as its target.

    They are opened before the mounts, which hide paths but no descriptors.
    """
    found: dict[str, int] = {}
    for path in sorted({*map(os.path.normpath, paths), *map(os.path.realpath, paths)}):
        if any(path.startswith(f"{above}/") or path == above for above in found):
            continue  # the mount of the directory above shows it
        with suppress_refusals():
            found[path] = os.open(path, os.O_PATH)
    return found


def _bind_mount(target: str, place: int) -> None:
    """Mount the file or directory of a descriptor, with all mounts below it; close it."""
    source = f"/proc/self/fd/{place}"
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        write_text(target, "")
    mount(source, target, "", BIND | syscalls.RECURSIVE)
    os.close(place)


def _mount_proc(target: str) -> None:
    with suppress_refusals():  # a container may hide parts of its /proc; then there is none
        mount("proc", target, "proc", NO_SUID | NO_DEV | NO_EXEC)
    for name in READ_ONLY_IN_PROC:
        if os.path.exists(path := f"{target}/{name}"):
            mount(path, path, "", BIND | syscalls.RECURSIVE)
            restrict_mounts(path, READ_ONLY | NO_SUID | NO_DEV | NO_EXEC)


def enable_loopback() -> None:
    """Let processes of this network namespace talk to one another."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", UP)
        fcntl.ioctl(any_socket, SET_FLAGS, request)


# ------------------------------------------------------------------------------- Landlock

VERSION = 1  # the flag that asks for the version of Landlock
PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIRECTORY = 1, 2, 4, 8
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15  # truncate, device ioctl
READING = EXECUTE | READ_FILE | READ_DIRECTORY
# By version: how many rights of the file system there are.
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
TCP, SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals


def landlock_version() -> int:
    """Return the kernel's version of Landlock; OSError if it has none."""
    return system_call("landlock_create_ruleset", 0, 0, VERSION)


def restrict_files(readable: Sequence[str], writable: Sequence[str], tcp: bool = False) -> None:
    """Allow only these files and directories, no signals to others, TCP only if `tcp`."""
    known = landlock_version()
    rights = (1 << RIGHTS[min(known, 5)]) - 1
    fields = [rights, TCP if known >= 4 and not tcp else 0, SCOPES if known >= 6 else 0]
    attributes = struct.pack("<QQQ", *fields)[: 8 if known < 4 else 16 if known < 6 else 24]
    rules = system_call("landlock_create_ruleset", ctypes.c_char_p(attributes), len(attributes), 0)
    try:
        for allowed, paths in ((READING, readable), (rights, writable)):
            for place in _open_paths(paths).values():
                _allow_path(rules, place, allowed & rights)
        prctl("no new privileges", syscalls.NO_NEW_PRIVILEGES, 1)
        system_call("landlock_restrict_self", rules, 0)
    finally:
        os.close(rules)


def _allow_path(rules: int, place: int, rights: int) -> None:
    """Add a rule for the file or directory of a descriptor; close it."""
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= FILE_RIGHTS
        rule = struct.pack("<Qi", rights, place)
        system_call("landlock_add_rule", rules, PATH_BENEATH, ctypes.c_char_p(rule), 0)
    finally:
        os.close(place)


# -------------------------------------------------------------------------------- seccomp

SET_MODE_FILTER = 1
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
X32 = 0x4000_0000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN, AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
ALLOW, KILL, REFUSE = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in the data that a filter reads
LAST_KNOWN_CALL = 469  # C libraries expect "no such call" for newer ones, not "not allowed"
# A bot's process is a child of another one of that bot, or of ours.
REFUSED_CLONES = ALL_NAMESPACES | 0x80 | syscalls.SIBLING  # 0x80: a time namespace
CORE_SCHEDULING = 62
REFUSED_PRCTLS = (syscalls.DEATH_SIGNAL, syscalls.DUMPABLE, syscalls.SUBREAPER, CORE_SCHEDULING)
UNIX, INET, INET6 = 1, 2, 10  # address families
SOCKET_TYPE, STREAM, PACKETS = 0xF, 1, 5
# Input of a terminal, and the process that gets the signals of a descriptor.
TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP = 0x5412, 0x541C, 0x8901, 0x8902
SET_OWNER, SET_OWNER_TOO = 8, 15
SET_LEASE, NOTIFY = 1024, 1026  # others wait 45 s when they open a file with a lease
BUFFER_SIZES = (7, 8, 32, 33)  # of sockets: no limit of a process counts what they hold
ACCESS_MODE, TRUNCATE = 0b11, 0o1000

Instruction = tuple[int, int, int, int]  # code, jumps if true and false, operand


def filter_system_calls(own_root: bool, inet: bool = False) -> None:
    """Install the filter; OSError on a machine whose system calls are unknown.

    `own_root` is for a process that sees only its own files and processes, `inet` for one in a
    network namespace.
    """
    if not syscalls.is_known_machine():
        raise OSError(errno.ENOSYS, "seccomp: no table of system calls for this machine")
    version = 0
    with suppress_refusals():
        version = landlock_version()
    install_filter(filter_program(own_root, inet, version))


def install_filter(instructions: Sequence[Instruction]) -> None:
    """Have the kernel run a filter at every system call of this process and its children."""
    program = b"".join(struct.pack("<HBBI", *each) for each in instructions)
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("<H6xQ", len(program) // 8, ctypes.addressof(code))
    prctl("no new privileges", syscalls.NO_NEW_PRIVILEGES, 1)
    system_call("seccomp", SET_MODE_FILTER, 0, ctypes.c_char_p(header))


def filter_program(own_root: bool, inet: bool, landlock: int) -> list[Instruction]:
    """Return the filter: it allows usual calls, some of them by an argument, and no other call."""
    signals_stay, truncation_stays = own_root or landlock >= 6, own_root or landlock >= 3
    uses = {"always": True, "own root": own_root, "own signals": signals_stay,
            "own truncation": truncation_stays}  # fmt: skip
    allowed = frozenset(use for use, applies in uses.items() if applies)
    descriptor_owners = () if signals_stay else (SET_OWNER, SET_OWNER_TOO)
    socket_owners = () if signals_stay else (FIOSETOWN, SIOCSPGRP)
    truncates = [(ANY_BIT, 0, 2, TRUNCATE), (AND, 0, 0, ACCESS_MODE), (EQUAL, 1, 0, 0)]
    # By call: the argument that the test reads.
    tests: dict[str, tuple[int, list[Instruction]]] = {
        "clone": (0, [(ANY_BIT, 1, 0, REFUSED_CLONES)]),
        "prctl": (0, _none_of(*REFUSED_PRCTLS)),  # else we could not watch it
        "setsockopt": (2, _none_of(*BUFFER_SIZES)),
        "prlimit64": (0, _one_of(0)),
        "setpriority": (0, [(EQUAL, 0, 3, 0), _load(1), (EQUAL, 0, 1, 0)]),
        "fcntl": (1, _none_of(SET_LEASE, NOTIFY, *descriptor_owners)),
        "ioctl": (1, _none_of(TIOCSTI, TIOCLINUX, *socket_owners)),
        # The rest is only for bots to whom the table does not allow it.
        "kill": (0, _one_of(os.getpid())),
        "tgkill": (0, _one_of(os.getpid())),
        # A pair of stream sockets is connected for good; datagrams could go elsewhere.
        "socketpair": (1, [(AND, 0, 0, SOCKET_TYPE), *_one_of(STREAM, PACKETS)]),
        # A bot could truncate files that it may only read.
        "open": (1, truncates),
        "openat": (2, truncates),
    }
    if own_root:  # there are no sockets of others
        tests["socket"] = 0, _one_of(UNIX, INET, INET6) if inet else _one_of(UNIX)
    machine = platform.machine()
    table = syscalls.call_table(machine)
    program: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, ARCHITECTURES[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
    ]
    if machine == "x86_64":
        program += [(AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL)]
    for name, (argument, test) in tests.items():
        number, use = table.get(name, (-1, "always"))
        if use not in allowed:
            program += _allow_if(number, argument, test)
    program += _allow_calls(machine, allowed)
    # C libraries fall back to older calls, whose arguments the filter can read.
    for name in ("clone3", "openat2"):
        program += _answer(table[name][0], REFUSE | errno.ENOSYS)
    program += [(AT_LEAST, 0, 1, LAST_KNOWN_CALL + 1), (RETURN, 0, 0, REFUSE | errno.ENOSYS)]
    return [*program, (RETURN, 0, 0, REFUSE | errno.EPERM)]


@cache
def _allow_calls(machine: str, uses: frozenset[str]) -> list[Instruction]:
    """Return the rules of calls that are allowed with any arguments."""
    table = syscalls.call_table(machine).values()
    return [rule for number, use in table if use in uses for rule in _answer(number, ALLOW)]


def _load(argument: int) -> Instruction:
    return (LOAD, 0, 0, ARGUMENTS + 8 * argument)


def _answer(number: int, action: int) -> list[Instruction]:
    return [(EQUAL, 0, 1, number), (RETURN, 0, 0, action)]


def _one_of(*values: int) -> list[Instruction]:
    last = len(values) - 1
    return [(EQUAL, last - at, int(at == last), value) for at, value in enumerate(values)]


def _none_of(*values: int) -> list[Instruction]:
    return [(EQUAL, len(values) - at, 0, value) for at, value in enumerate(values)]


def _allow_if(number: int, argument: int, test: list[Instruction]) -> list[Instruction]:
    """Return a rule for a call: the test reaches its end to allow it, or jumps one further."""
    return [
        (EQUAL, 0, len(test) + 3, number),
        _load(argument),
        *test,
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE | errno.EPERM),
    ]


# --------------------------------------------------------------------------------- limits

OPEN_FILES = 256
SHARED_SPARE_PROCESSES = 1024  # of a user who has other processes than those of one bot
ZERO_LIMITS = ("RLIMIT_CORE", "RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO")


def limit_resources(limits: BotLimits, is_fork: bool, own_user: bool) -> None:
    """Set soft and hard limits.

    The memory of a fork counts from here on. The kernel counts the processes of a user: without an
    `own_user` the limit only ends a bomb of forks before the machine does, and none binds root.
    """
    wanted = {
        "RLIMIT_DATA": limits.memory + (writable_memory() if is_fork else 0),
        "RLIMIT_FSIZE": limits.memory,
        "RLIMIT_NOFILE": OPEN_FILES,
        **dict.fromkeys(ZERO_LIMITS, 0),
    }
    others = 0 if own_user else user_thread_count() + SHARED_SPARE_PROCESSES
    wanted["RLIMIT_NPROC"] = limits.processes + SPARE_PROCESSES + others
    for name, value in wanted.items():
        if hasattr(resource, name):
            with suppress(OSError, ValueError):  # some systems refuse some of them
                resource.setrlimit(getattr(resource, name), (value, value))
    with suppress_refusals():  # a machine without memory ends bots first
        write_text("/proc/self/oom_score_adj", "1000")


@cache
def user_thread_count() -> int:
    """Return how many threads all processes of this user have; called before the forks."""
    count = 0
    for each in Path("/proc").glob("[0-9]*"):
        with suppress_refusals():
            if each.stat().st_uid == os.getuid():
                count += len(os.listdir(each / "task"))
    return count


def writable_memory() -> int:
    """Return how many bytes of writable memory this process has mapped."""
    with suppress_refusals():
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmData"):
                return int(line.split()[1]) * 1024
    return 0
