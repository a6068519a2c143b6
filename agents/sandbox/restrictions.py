"""Landlock, seccomp and resource limits: irrevocable restrictions of a process."""

import ctypes
import errno
import os
import platform
import resource
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agents.sandbox.messages import BotLimits
from agents.sandbox.syscalls import (
    DUMPABLE,
    NO_NEW_PRIVILEGES,
    call_number,
    is_supported,
    prctl,
    system_call,
    write,
)

VERSION = 1  # the flag that asks for the version of Landlock
PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIRECTORY = 1, 2, 4, 8
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15  # truncate, device ioctl
READING = EXECUTE | READ_FILE | READ_DIRECTORY
# How many rights of the file system each version knows, and those of TCP and of scopes.
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
TCP, SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals


def landlock_version() -> int:
    """The version of Landlock that the kernel has; OSError if it has none."""
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
            for path in paths:
                _allow(rules, path, allowed & rights)
        prctl("no new privileges", NO_NEW_PRIVILEGES, 1)
        system_call("landlock_restrict_self", rules, 0)
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
        system_call("landlock_add_rule", rules, *arguments)
    finally:
        os.close(place)


SET_MODE_FILTER = 1
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
X32 = 0x4000_0000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN, AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
ALLOW, KILL, REFUSE = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in what a filter sees
REFUSED_CALLS = (  # noqa: SIM905  # shorter than a list of strings
    "ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd "
    "mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick open_tree open_tree_attr "
    "move_mount mount_setattr open_by_handle_at name_to_handle_at unshare setns "
    "swapon swapoff reboot sethostname setdomainname init_module delete_module finit_module "
    "kexec_load kexec_file_load acct settimeofday clock_settime clock_adjtime adjtimex "
    "quotactl quotactl_fd add_key request_key keyctl bpf perf_event_open userfaultfd "
    "io_uring_setup io_uring_enter io_uring_register syslog vhangup fanotify_init "
    "migrate_pages move_pages shmget shmat shmctl semget semop semctl semtimedop "
    "msgget msgsnd msgrcv msgctl mq_open memfd_create memfd_secret sched_setaffinity "
    "sched_setscheduler sched_setparam sched_setattr ioprio_set"
).split()
# Where a bot has no root of its own: Landlock does not look at these.
ATTRIBUTE_CALLS = (  # noqa: SIM905
    "chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat utime utimes utimensat "
    "futimesat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr setxattrat "
    "removexattrat file_setattr"
).split()
SIGNAL_CALLS = "tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal".split()  # noqa: SIM905
X86_IO_CALLS = 172, 173  # iopl and ioperm, which no other machine has
ANY_NAMESPACE = 0x7E02_0080
UNIX, INET, INET6 = 1, 2, 10  # address families
SOCKET_TYPE, STREAM, PACKETS = 0xF, 1, 5
TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP = 0x5412, 0x541C, 0x8901, 0x8902
SET_OWNER, SET_OWNER_TOO = 8, 15  # of the signals of a descriptor, by fcntl
ACCESS_MODE, TRUNCATE = 0b11, 0o1000

Instruction = tuple[int, int, int, int]  # code, jumps if true and false, operand


def filter_system_calls(own_root: bool, inet: bool = False) -> None:
    """Install the filter; OSError where there is none for this machine.

    `own_root` is for a process that sees no files and processes but its own, `inet` for one in a
    network of its own.
    """
    if not is_supported():
        raise OSError(errno.ENOSYS, "seccomp: no table of system calls for this machine")
    version = 0
    with suppress(OSError):
        version = landlock_version()
    install_filter(filter_program(own_root, inet, version))


def install_filter(instructions: Sequence[Instruction]) -> None:
    """Have the kernel run a filter at every system call of this process and its children."""
    program = b"".join(struct.pack("<HBBI", *each) for each in instructions)
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("<H6xQ", len(program) // 8, ctypes.addressof(code))
    prctl("no new privileges", NO_NEW_PRIVILEGES, 1)
    system_call("seccomp", SET_MODE_FILTER, 0, ctypes.c_char_p(header))


def filter_program(own_root: bool, inet: bool, landlock: int) -> list[Instruction]:
    """The filter: some calls are refused, some are judged by an argument, the rest is allowed."""
    machine = platform.machine()
    program: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, ARCHITECTURES[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
    ]
    refused = [call_number(name) for name in REFUSED_CALLS]
    if machine == "x86_64":
        program += [(AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL)]
        refused += X86_IO_CALLS
    if not own_root:
        refused += [call_number(name) for name in ("socket", *ATTRIBUTE_CALLS)]
        if landlock < 3:
            refused.append(call_number("truncate"))
        if landlock < 6:
            refused += [call_number(name) for name in SIGNAL_CALLS]
    for number in refused:
        if number is not None:
            program += [(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | errno.EPERM)]
    # C libraries fall back to `clone`, whose flags can be looked at.
    program += _refuse("clone3", errno.ENOSYS)
    program += _unless("clone", 0, [(ANY_BIT, 1, 0, ANY_NAMESPACE)])
    program += _unless("prctl", 0, [(EQUAL, 1, 0, DUMPABLE)])  # we could not see what it uses
    program += _unless("prlimit64", 0, [(EQUAL, 0, 1, 0)])
    program += _unless("setpriority", 0, [(EQUAL, 0, 3, 0), _argument(1), (EQUAL, 0, 1, 0)])
    terminal = [(EQUAL, 2, 0, TIOCSTI), (EQUAL, 1, 0, TIOCLINUX)]
    owners = [(EQUAL, 4, 0, TIOCSTI), (EQUAL, 3, 0, TIOCLINUX), (EQUAL, 2, 0, FIOSETOWN),
              (EQUAL, 1, 0, SIOCSPGRP)]  # fmt: skip
    if own_root:
        families = [(EQUAL, 2, 0, UNIX), (EQUAL, 1, 0, INET), (EQUAL, 0, 1, INET6)]
        program += _unless("socket", 0, families if inet else [(EQUAL, 0, 1, UNIX)])
        return [*program, *_unless("ioctl", 1, terminal), (RETURN, 0, 0, ALLOW)]
    # A pair of stream sockets is connected for good; datagrams could go elsewhere.
    types = [(AND, 0, 0, SOCKET_TYPE), (EQUAL, 1, 0, STREAM), (EQUAL, 0, 1, PACKETS)]
    program += _unless("socketpair", 1, types)
    if landlock < 3:  # a file that may only be read could be truncated
        program += _refuse("openat2", errno.ENOSYS)
        for name, place in (("open", 1), ("openat", 2)):
            truncates = [(ANY_BIT, 0, 2, TRUNCATE), (AND, 0, 0, ACCESS_MODE), (EQUAL, 1, 0, 0)]
            program += _unless(name, place, truncates)
    if landlock < 6:
        program += _unless("ioctl", 1, owners)
        program += _unless("fcntl", 1, [(EQUAL, 2, 0, SET_OWNER), (EQUAL, 1, 0, SET_OWNER_TOO)])
        for name in ("kill", "tgkill"):  # only itself
            program += _unless(name, 0, [(EQUAL, 0, 1, os.getpid())])
    else:
        program += _unless("ioctl", 1, terminal)
    return [*program, (RETURN, 0, 0, ALLOW)]


def _argument(place: int) -> Instruction:
    return (LOAD, 0, 0, ARGUMENTS + 8 * place)


def _refuse(name: str, error: int) -> list[Instruction]:
    number = call_number(name)
    return [(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | error)] if number is not None else []


def _unless(name: str, argument: int, test: list[Instruction]) -> list[Instruction]:
    """A call allowed by one argument: the test falls through to ALLOW, or jumps past it."""
    number = call_number(name)
    if number is None:
        return []
    return [
        (EQUAL, 0, len(test) + 3, number),
        _argument(argument),
        *test,
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE | errno.EPERM),
    ]


OPEN_FILES = 256
NONE_AT_ALL = ("RLIMIT_CORE", "RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO")
# Beyond the limit: the spawner, which looks ten times a second, ends a bot before the kernel
# refuses it a process, so that the fault has its name.
EXTRA_PROCESSES = 256


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
