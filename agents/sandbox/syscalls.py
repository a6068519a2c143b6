"""Linux system calls that Python lacks, for x86-64 and aarch64."""

import ctypes
import errno
import os
import platform
import signal
import sys
from functools import cache
from typing import Any

CLONE, PIVOT_ROOT, CAPSET = 56, 155, 126  # numbers of x86-64
NEW_NAMESPACES = {
    "mount": 0x0002_0000,
    "cgroup": 0x0200_0000,
    "uts": 0x0400_0000,
    "ipc": 0x0800_0000,
    "user": 0x1000_0000,
    "pid": 0x2000_0000,
    "net": 0x4000_0000,
}
BIND, REMOUNT, RECURSIVE, PRIVATE, READ_ONLY = 0x1000, 0x20, 0x4000, 0x40000, 0x1
NO_SUID, NO_DEV, NO_EXEC = 0x2, 0x4, 0x8
DETACH = 2
DEATH_SIGNAL, DUMPABLE, BOUNDING_DROP, SUBREAPER, NO_NEW_PRIVILEGES = 1, 4, 24, 36, 38
LAST_CAPABILITY = 63
CAPABILITY_VERSION = 0x2008_0522


def is_supported() -> bool:
    """Whether this machine has the system call numbers used here."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


@cache
def libc() -> Any:
    """The C library; it keeps the interpreter's lock, for the child of a fork has one thread."""
    return ctypes.PyDLL(None, use_errno=True)


def check_result(what: str, result: int) -> int:
    """The result of a call that fails with -1; the OSError says of what."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def system_call(what: str, number: int, *arguments: Any) -> int:
    """A system call by its number, with words for what fails; missing arguments are 0."""
    padded = [
        ctypes.c_ulong(each) if isinstance(each, int) else each
        for each in (*arguments, *[0] * (6 - len(arguments)))
    ]
    return check_result(what, libc().syscall(ctypes.c_long(number), *padded))


def prctl(what: str, option: int, argument: int = 0) -> None:
    """Set an attribute of this process."""
    none = ctypes.c_ulong(0)
    check_result(what, libc().prctl(option, ctypes.c_ulong(argument), none, none, none))


def allow_inspection() -> None:
    """Let processes of this user see in /proc how much this one uses."""
    if sys.platform == "linux":
        prctl("dumpable", DUMPABLE, 1)


def fork(namespaces: int = 0) -> int:
    """Fork, the child in new namespaces; its process id here, 0 in the child."""
    if not namespaces:
        return os.fork()
    if (threads := len(os.listdir("/proc/self/task"))) > 1:  # a lock of theirs would stay closed
        raise OSError(errno.EBUSY, f"new namespaces: this process has {threads} threads")
    api = ctypes.pythonapi
    api.PyOS_BeforeFork()
    pid = int(libc().syscall(ctypes.c_long(CLONE), ctypes.c_ulong(namespaces | signal.SIGCHLD),
                             *[ctypes.c_ulong(0)] * 4))  # fmt: skip
    number = ctypes.get_errno()
    if pid == 0:
        api.PyOS_AfterFork_Child()
        return 0
    api.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(number, f"new namespaces: {os.strerror(number)}")
    return pid


def write(path: str, text: str) -> None:
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


def change_root(directory: str) -> None:
    """Make a mounted directory the root of this mount namespace; the old one is out of reach."""
    os.chdir(directory)
    system_call("pivot_root", PIVOT_ROOT, ctypes.c_char_p(b"."), ctypes.c_char_p(b"."))
    check_result("umount of the old root", libc().umount2(b".", DETACH))
    os.chdir("/")


def drop_capabilities() -> None:
    """Give up every capability, for this process and what it may execute."""
    for capability in range(LAST_CAPABILITY + 1):
        try:
            prctl("capability bounding set", BOUNDING_DROP, capability)
        except OSError:
            break  # past the last one that the kernel knows, or there is none to give up
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    system_call("capset", CAPSET, ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))


def die_with_parent(parent: int) -> None:
    """End this process when its parent does, if the parent has not ended already."""
    prctl("death signal", DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
