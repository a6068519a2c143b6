"""Linux system calls that Python lacks, for x86-64 and aarch64."""

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
from typing import Any

# Each entry is "name x86-64-number aarch64-number"; "-" if the machine has no such call, one
# number if both are equal. Any bot may make these calls.
USUAL_CALLS = """
read 0 63, write 1 64, close 3 57, lseek 8 62, pread64 17 67, pwrite64 18 68, readv 19 65,
creat 85 -, writev 20 66, preadv 295 69, pwritev 296 70, preadv2 327 286, pwritev2 328 287,
stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, statx 332 291, statfs 137 43, fstatfs 138 44,
access 21 -, faccessat 269 48, faccessat2 439, readlink 89 -, readlinkat 267 78, getdents 78 -,
getdents64 217 61, getcwd 79 17, chdir 80 49, fchdir 81 50, rename 82 -, renameat 264 38,
renameat2 316 276, mkdir 83 -, mkdirat 258 34, rmdir 84 -, link 86 -, linkat 265 37, unlink 87 -,
unlinkat 263 35, symlink 88 -, symlinkat 266 36, mknod 133 -, mknodat 259 33, umask 95 166,
ftruncate 77 46, fallocate 285 47, fsync 74 82, fdatasync 75 83, sync_file_range 277 84,
flock 73 32, fadvise64 221 223, readahead 187 213, copy_file_range 326 285, sendfile 40 71,
splice 275 76, tee 276 77, getxattr 191 8, lgetxattr 192 9, fgetxattr 193 10, listxattr 194 11,
llistxattr 195 12, flistxattr 196 13, dup 32 23, dup2 33 -, dup3 292 24, pipe 22 -, pipe2 293 59,
poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, close_range 436, epoll_create 213 -,
epoll_create1 291 20, epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441,
eventfd 284 -, eventfd2 290 19, signalfd 282 -, signalfd4 289 74, timerfd_create 283 85,
timerfd_settime 286 86, timerfd_gettime 287 87, connect 42 203, accept 43 202, accept4 288 242,
bind 49 200, listen 50 201, sendto 44 206, recvfrom 45 207, sendmsg 46 211, recvmsg 47 212,
sendmmsg 307 269, recvmmsg 299 243, shutdown 48 210, getsockname 51 204, getpeername 52 205,
getsockopt 55 209, mmap 9 222, mprotect 10 226, munmap 11 215, brk 12 214,
mremap 25 216, msync 26 227, mincore 27 232, madvise 28 233, mlock 149 228, munlock 150 229,
mlock2 325 284, mlockall 151 230, munlockall 152 231, mbind 237 235, set_mempolicy 238 237,
get_mempolicy 239 236, membarrier 324 283, pkey_mprotect 329 288, pkey_alloc 330 289,
pkey_free 331 290, map_shadow_stack 453, mseal 462, fork 57 -, vfork 58 -, execve 59 221,
execveat 322 281, exit 60 93, exit_group 231 94, wait4 61 260, waitid 247 95, getpid 39 172,
getppid 110 173, gettid 186 178, getpgid 121 155, getpgrp 111 -, getsid 124 156,
pidfd_open 434, arch_prctl 158 -, set_tid_address 218 96, set_robust_list 273 99,
get_robust_list 274 100, rseq 334 293, futex 202 98, futex_waitv 449, futex_wake 454,
futex_wait 455, futex_requeue 456, getcpu 309 168, sched_yield 24 124, sched_getaffinity 204 123,
sched_getparam 143 121, sched_getscheduler 145 120, sched_getattr 315 275,
sched_get_priority_max 146 125, sched_get_priority_min 147 126, sched_rr_get_interval 148 127,
getpriority 140 141, getrlimit 97 163, setrlimit 160 164, getrusage 98 165, times 100 153,
sysinfo 99 179, uname 63 160, restart_syscall 219 128, getuid 102 174, geteuid 107 175,
getgid 104 176, getegid 108 177, getresuid 118 148, getresgid 120 150, getgroups 115 158,
setuid 105 146, setgid 106 144, setreuid 113 145, setregid 114 143, setresuid 117 147,
setresgid 119 149, setgroups 116 159, capget 125 90, rt_sigaction 13 134, rt_sigprocmask 14 135,
rt_sigreturn 15 139, rt_sigpending 127 136, rt_sigtimedwait 128 137, rt_sigsuspend 130 133,
sigaltstack 131 132, pause 34 -, alarm 37 -, getitimer 36 102, setitimer 38 103, nanosleep 35 101,
clock_nanosleep 230 115, clock_gettime 228 113, clock_getres 229 114, gettimeofday 96 169,
time 201 -, timer_create 222 107, timer_settime 223 110, timer_gettime 224 108,
timer_getoverrun 225 109, timer_delete 226 111, getrandom 318 278
"""
# Only for a bot with a private root: Landlock does not check these.
ATTRIBUTE_CALLS = """
chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452, chown 92 -, lchown 94 -, fchown 93 55,
fchownat 260 54, utime 132 -, utimes 235 -, utimensat 280 88, futimesat 261 -, setxattr 188 5,
lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16,
setxattrat 463, removexattrat 466
"""
# Only for a bot in namespaces: the processes of others stay in one group, which signals reach.
GROUP_CALLS = """
setpgid 109 154, setsid 112 157
"""
# Only for a bot whose signals stay among its processes.
SIGNAL_CALLS = """
tkill 200 130, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, pidfd_send_signal 424
"""
# Calls that bots make with some arguments only, and our own.
OTHER_CALLS = """
open 2 -, openat 257 56, openat2 437, truncate 76 45, fcntl 72 25, ioctl 16 29,
socket 41 198, socketpair 53 199, setsockopt 54 208, clone 56 220, prctl 157 167,
setpriority 141 140,
prlimit64 302 261, kill 62 129, tgkill 234 131, pivot_root 155 41, capset 126 91,
seccomp 317 277, landlock_create_ruleset 444, landlock_add_rule 445, landlock_restrict_self 446,
mount_setattr 442, clone3 435
"""
MACHINES = ("x86_64", "aarch64")  # in the order of the numbers in the tables
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
def call_numbers(calls: str) -> dict[str, int]:
    """Return the numbers of the system calls of a table that this machine has."""
    numbers = {}
    for entry in calls.split(","):
        name, *both = entry.split()
        number = both[MACHINES.index(platform.machine()) if len(both) > 1 else 0]
        if number != "-":
            numbers[name] = int(number)
    return numbers


def is_known_machine() -> bool:
    """Return whether the tables have the numbers of this machine's system calls."""
    return LINUX and platform.machine() in MACHINES


def call_number(name: str) -> int | None:
    """Return the number of a system call; None if this machine has no such call."""
    tables = (OTHER_CALLS, USUAL_CALLS, ATTRIBUTE_CALLS, GROUP_CALLS, SIGNAL_CALLS)
    return next((found[name] for found in map(call_numbers, tables) if name in found), None)


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
    api = ctypes.pythonapi
    api.PyOS_BeforeFork()
    try:
        pid = _clone(flags, place.value or 0, group)
    except OSError:
        api.PyOS_AfterFork_Parent()
        raise
    if pid == 0:
        api.PyOS_AfterFork_Child()
    else:
        api.PyOS_AfterFork_Parent()
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
    """Return the mount points at and below a directory."""
    with open("/proc/self/mountinfo") as lines:
        names = [line.split()[4] for line in lines]
    places = [re.sub(r"\\([0-7]{3})", lambda each: chr(int(each[1], 8)), name) for name in names]
    return [each for each in places if each == target or each.startswith(f"{target}/")]


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
