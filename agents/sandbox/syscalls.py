"""Linux system calls that Python lacks, for x86-64 and aarch64."""

import csv
import ctypes
import errno
import os
import platform
import re
import signal
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

MACHINES = ("x86_64", "aarch64")
LINUX = sys.platform == "linux"
SIBLING, SET_CHILD_ID, CLEAR_CHILD_ID, INTO_CGROUP = 0x8000, 0x0100_0000, 0x0020_0000, 1 << 33
GET_ID_ADDRESS = 40
BIND, REMOUNT, RECURSIVE, PRIVATE, READ_ONLY = 0x1000, 0x20, 0x4000, 0x40000, 0x1
NO_SUID, NO_DEV, NO_EXEC = 0x2, 0x4, 0x8
DETACH, MOUNT_NAMESPACE = 2, 0x0002_0000
AT_WORKING_DIRECTORY, AT_RECURSIVE = (1 << 64) - 100, 0x8000
DEATH_SIGNAL, DUMPABLE, BOUNDING_DROP, SUBREAPER, NO_NEW_PRIVILEGES = 1, 4, 24, 36, 38
LAST_CAPABILITY = 63
CAPABILITY_VERSION = 0x2008_0522


@cache
def call_table(machine: str) -> dict[str, tuple[int, str]]:
    """Return the numbers of a machine's system calls, and the bots that may make each of them.

    A call allowed to no bot is refused, or restricted by an argument. Empty: an unknown machine.
    """
    with open(Path(__file__).with_name("system_calls.csv"), encoding="ascii") as lines:
        rows = [*csv.DictReader(lines)]
    return {row["name"]: (int(row[machine]), row["allowed"]) for row in rows if row.get(machine)}


def is_known_machine() -> bool:
    """Return whether the table has the numbers of this machine's system calls."""
    return LINUX and bool(call_table(platform.machine()))


def call_number(name: str) -> int | None:
    """Return the number of a system call; None if this machine has no such call."""
    return call_table(platform.machine()).get(name, (None, ""))[0]


@cache
def libc() -> Any:
    """Return the C library. Calls keep the interpreter's lock: the child of a fork needs it."""
    return ctypes.PyDLL(None, use_errno=True)


def check_result(what: str, result: int) -> int:
    """Return the result of a call; raise its OSError if it is -1."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def system_call(name: str, *arguments: Any) -> int:
    """Make a system call; missing arguments are 0. OSError ENOSYS on an unknown machine."""
    number = call_number(name) if is_known_machine() else None
    if number is None:
        raise OSError(errno.ENOSYS, f"{name}: no number of it for {platform.machine()}")
    padded = [
        ctypes.c_ulong(each) if isinstance(each, int) else each
        for each in (*arguments, *[0] * (6 - len(arguments)))
    ]
    return check_result(name, libc().syscall(ctypes.c_long(number), *padded))


def prctl(what: str, option: int, argument: int = 0) -> None:
    """Set an attribute of this process."""
    none = ctypes.c_ulong(0)
    check_result(what, libc().prctl(option, ctypes.c_ulong(argument), none, none, none))


def fork(namespaces: int = 0, sibling: bool = False, group: int = -1) -> int:
    """Fork; return the child's process id, and 0 in the child.

    The child is in these new namespaces and in the control group of a descriptor. A sibling is a
    child of this process's parent.
    """
    if not namespaces and not sibling and group < 0:
        return os.fork()
    if (threads := len(os.listdir("/proc/self/task"))) > 1:  # a lock of theirs would stay locked
        raise OSError(errno.EBUSY, f"new namespaces: this process has {threads} threads")
    # As the C library does: the child finds its thread id where the library keeps it.
    place = ctypes.c_void_p()
    kept = libc().prctl(GET_ID_ADDRESS, ctypes.byref(place), None, None, None) == 0
    flags = namespaces | (SIBLING if sibling else 0)
    flags |= SET_CHILD_ID | CLEAR_CHILD_ID if kept else 0
    api, pid = ctypes.pythonapi, -1
    api.PyOS_BeforeFork()
    try:
        pid = _clone(flags, place.value or 0, group)
    finally:
        (api.PyOS_AfterFork_Parent if pid else api.PyOS_AfterFork_Child)()
    return pid


def _clone(flags: int, id_address: int, group: int) -> int:
    if group < 0:
        last = (id_address, 0) if platform.machine() == "x86_64" else (0, id_address)
        return system_call("clone", flags | signal.SIGCHLD, 0, 0, *last)
    # Into its group at once: to move a process later takes the kernel 10 ms.
    ends_with = 0 if flags & SIBLING else signal.SIGCHLD
    fields = flags | INTO_CGROUP, 0, id_address, 0, ends_with, 0, 0, 0, 0, 0, group
    request = struct.pack("<11Q", *fields)
    return system_call("clone3", ctypes.c_char_p(request), len(request))


# The machine lacks something: never the fault of a bot that is being started.
SHORTAGE_ERRNOS = {
    errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EUSERS,
}  # fmt: skip


@contextmanager
def suppress_refusals() -> Iterator[None]:
    """Ignore what the kernel refuses, but not that the machine lacks something."""
    try:
        yield
    except OSError as error:
        if error.errno in SHORTAGE_ERRNOS:
            raise


def write_text(path: str, text: str) -> None:
    """Write a few bytes into a file of the kernel's, or a new one."""
    place = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.write(place, text.encode())
    finally:
        os.close(place)


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system, or bind a part of one to another place."""
    arguments = (source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags))
    check_result(f"mount {target}", libc().mount(*arguments, options.encode()))


def restrict_mounts(target: str, flags: int) -> None:
    """Add flags such as READ_ONLY to a mount and to all mounts below it."""
    attributes = struct.pack("<QQQQ", flags, 0, 0, 0)
    try:
        system_call("mount_setattr", AT_WORKING_DIRECTORY, ctypes.c_char_p(target.encode()),
                    AT_RECURSIVE, ctypes.c_char_p(attributes), len(attributes))  # fmt: skip
    except OSError as error:
        if error.errno != errno.ENOSYS:  # kernels before 5.12
            raise
        for each in mounts_below(target):
            kept = os.statvfs(each).f_flag & (NO_SUID | NO_DEV | NO_EXEC)
            mount("none", each, "", BIND | REMOUNT | kept | flags)


def mounts_below(target: str) -> list[str]:
    """Return the mount points at and below a directory, without those that its mount hides."""
    tree, found = dict[str, str](), {}
    with open("/proc/self/mountinfo") as lines:
        rows = [line.split()[:5] for line in lines]
    for number, *_, name in rows:
        place = re.sub(r"\\([0-7]{3})", lambda each: chr(int(each[1], 8)), name)
        found[number] = place
        if place == target:  # the last one is the mount on top
            tree = {number: place}
    for number, parent, *_ in rows:
        if parent in tree:
            tree[number] = found[number]
    return [*tree.values()]


def change_root(directory: str) -> None:
    """Make a mounted directory the root of this mount namespace, and unmount the old root."""
    os.chdir(directory)
    system_call("pivot_root", ctypes.c_char_p(b"."), ctypes.c_char_p(b"."))
    check_result("umount of the old root", libc().umount2(b".", DETACH))
    os.chdir("/")


def drop_capabilities(user: int | None = None) -> None:
    """Drop all capabilities of this process and of programs it executes; become a user."""
    for capability in range(LAST_CAPABILITY + 1):
        try:
            prctl("capability bounding set", BOUNDING_DROP, capability)
        except OSError:
            break  # the kernel has no more, or this process has none
    if user is not None:
        with suppress(OSError):  # where the groups may not be changed there is only our own
            os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    system_call("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))


def die_with_parent(parent: int) -> None:
    """End this process when its parent ends; at once if it already has another parent."""
    prctl("death signal", DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
