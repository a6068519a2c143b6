"""Landlock, seccomp and resource limits: irrevocable restrictions of a process."""

import ctypes
import errno
import os
import resource
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agents.sandbox.messages import BotLimits
from agents.sandbox.syscalls import (
    DUMPABLE,
    NO_NEW_PRIVILEGES,
    is_supported,
    prctl,
    system_call,
    write,
)

CREATE, ADD_RULE, RESTRICT = 444, 445, 446
VERSION = 1  # the flag of CREATE that asks for it
PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIRECTORY = 1, 2, 4, 8
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15  # truncate, device ioctl
READING = EXECUTE | READ_FILE | READ_DIRECTORY
# How many rights of the file system each version knows, and those of TCP and of scopes.
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
TCP, SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals


def landlock_version() -> int:
    """The version of Landlock that the kernel has; OSError if it has none."""
    return system_call("landlock", CREATE, 0, 0, VERSION)


def restrict_files(readable: Sequence[str], writable: Sequence[str], tcp: bool = False) -> None:
    """Allow only these files and directories, no signals to others, TCP only if `tcp`."""
    known = landlock_version()
    rights = (1 << RIGHTS[min(known, 5)]) - 1
    fields = [rights, TCP if known >= 4 and not tcp else 0, SCOPES if known >= 6 else 0]
    attributes = struct.pack("<QQQ", *fields)[: 8 if known < 4 else 16 if known < 6 else 24]
    rules = system_call("landlock rules", CREATE, ctypes.c_char_p(attributes), len(attributes), 0)
    try:
        for allowed, paths in ((READING, readable), (rights, writable)):
            for path in paths:
                _allow(rules, path, allowed & rights)
        prctl("no new privileges", NO_NEW_PRIVILEGES, 1)
        system_call("landlock restriction", RESTRICT, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    """Add a rule if the path exists."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= FILE_RIGHTS
        rule = struct.pack("<Qi", rights, place)
        arguments = PATH_BENEATH, ctypes.c_char_p(rule), 0
        system_call(f"landlock {path}", ADD_RULE, rules, *arguments)
    finally:
        os.close(place)


SECCOMP, SET_MODE_FILTER = 317, 1
X86_64, X32 = 0xC000_003E, 0x4000_0000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, REFUSE = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in what a filter sees

# Numbers of x86-64. Other processes' memory and limits, mounts, the kernel, keys, clocks, devices,
# memory that no limit counts, everything that outlives the process.
REFUSED_CALLS = {
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "process_madvise": 440,
    "kcmp": 312, "pidfd_getfd": 438, "mount": 165, "umount2": 166, "pivot_root": 155,
    "chroot": 161, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "open_tree": 428, "move_mount": 429, "mount_setattr": 442, "open_by_handle_at": 304,
    "name_to_handle_at": 303, "unshare": 272, "setns": 308, "swapon": 167, "swapoff": 168,
    "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173,
    "init_module": 175, "delete_module": 176, "finit_module": 313, "kexec_load": 246,
    "kexec_file_load": 320, "acct": 163, "settimeofday": 164, "clock_settime": 227,
    "clock_adjtime": 305, "adjtimex": 159, "quotactl": 179, "quotactl_fd": 443, "add_key": 248,
    "request_key": 249, "keyctl": 250, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "syslog": 103,
    "vhangup": 153, "fanotify_init": 300, "migrate_pages": 256, "move_pages": 279,
    "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semop": 65, "semctl": 66,
    "semtimedop": 220, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "mq_open": 240,
    "memfd_create": 319, "memfd_secret": 447, "sched_setaffinity": 203,
    "sched_setscheduler": 144, "sched_setparam": 142, "sched_setattr": 314, "ioprio_set": 251,
}  # fmt: skip
CLONE, CLONE3, SOCKET, IOCTL, PRLIMIT, SETPRIORITY, PRCTL = 56, 435, 41, 16, 302, 141, 157
ANY_NAMESPACE = 0x7E02_0080
UNIX, INET, INET6 = 1, 2, 10  # address families
TIOCSTI, TIOCLINUX = 0x5412, 0x541C

Instruction = tuple[int, int, int, int]  # code, jumps if true and false, operand


def filter_system_calls(inet: bool = False) -> None:
    """Install the filter; OSError where there is none for this machine.

    `inet` is for a process in a network of its own, where nothing is but itself.
    """
    if not is_supported():
        raise OSError(errno.ENOSYS, "seccomp: no table of system calls for this machine")
    install_filter(filter_program(inet))


def install_filter(instructions: Sequence[Instruction]) -> None:
    """Have the kernel run a filter at every system call of this process and its children."""
    program = b"".join(struct.pack("<HBBI", *each) for each in instructions)
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("<H6xQ", len(program) // 8, ctypes.addressof(code))
    prctl("no new privileges", NO_NEW_PRIVILEGES, 1)
    system_call("seccomp", SECCOMP, SET_MODE_FILTER, 0, ctypes.c_char_p(header))


def filter_program(inet: bool) -> list[Instruction]:
    """The filter: what is listed is refused, or looked at by its arguments; the rest goes."""
    program: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, X86_64),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, X32),
        (RETURN, 0, 0, KILL),
    ]
    for number in REFUSED_CALLS.values():
        program += [(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | errno.EPERM)]
    # C libraries fall back to `clone`, whose flags can be looked at.
    program += [(EQUAL, 0, 1, CLONE3), (RETURN, 0, 0, REFUSE | errno.ENOSYS)]
    program += _unless(CLONE, 0, [(ANY_BIT, 1, 0, ANY_NAMESPACE)])
    families = [(EQUAL, 2, 0, UNIX), (EQUAL, 1, 0, INET), (EQUAL, 0, 1, INET6)]
    program += _unless(SOCKET, 0, families if inet else [(EQUAL, 0, 1, UNIX)])
    program += _unless(IOCTL, 1, [(EQUAL, 2, 0, TIOCSTI), (EQUAL, 1, 0, TIOCLINUX)])
    program += _unless(PRCTL, 0, [(EQUAL, 1, 0, DUMPABLE)])  # we could not see what it uses
    program += _unless(PRLIMIT, 0, [(EQUAL, 0, 1, 0)])
    program += _unless(SETPRIORITY, 1, [(EQUAL, 0, 1, 0)])
    return [*program, (RETURN, 0, 0, ALLOW)]


def _unless(number: int, argument: int, test: list[Instruction]) -> list[Instruction]:
    """A call allowed by one argument: the test falls through to ALLOW, or jumps past it."""
    return [
        (EQUAL, 0, len(test) + 3, number),
        (LOAD, 0, 0, ARGUMENTS + 8 * argument),
        *test,
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE | errno.EPERM),
    ]


OPEN_FILES = 256
NONE_AT_ALL = ("RLIMIT_CORE", "RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO")
EXTRA_PROCESSES = 8  # processes: who looks from outside ends a bot before the kernel refuses it one


def limit_resources(limits: BotLimits, grown: bool, own_user: bool) -> None:
    """Set the limits, soft and hard.

    `grown`: what is mapped already is not the bot's; `own_user`: the user's other processes
    do not count.
    """
    mapped = mapped_bytes() if grown else 0
    wanted = {
        "RLIMIT_DATA": mapped + limits.memory,
        "RLIMIT_FSIZE": limits.memory,
        "RLIMIT_NOFILE": OPEN_FILES,
        **dict.fromkeys(NONE_AT_ALL, 0),
    }
    if own_user:
        wanted["RLIMIT_NPROC"] = limits.processes + EXTRA_PROCESSES
    for name, value in wanted.items():
        if hasattr(resource, name):
            with suppress(OSError, ValueError):  # some systems refuse some of them
                resource.setrlimit(getattr(resource, name), (value, value))
    with suppress(OSError):  # a machine without memory takes bots first
        write("/proc/self/oom_score_adj", "1000")


def mapped_bytes() -> int:
    """The writable memory that this process has mapped."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmData"):
                return int(line.split()[1]) * 1024
    return 0
