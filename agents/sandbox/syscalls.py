"""Linux system calls that Python lacks, for x86-64 and aarch64."""

import ctypes
import errno
import os
import platform
import re
import signal
import struct
import sys
from contextlib import suppress
from functools import cache
from typing import Any

# The names of system calls -> their numbers on x86-64 and aarch64; one number if they are equal.
CALLS: dict[str, int | tuple[int, int | None]] = {
    "clone": (56, 220), "pivot_root": (155, 41), "capset": (126, 91), "seccomp": (317, 277),
    "clone3": 435, "socket": (41, 198), "socketpair": (53, 199), "ioctl": (16, 29),
    "prlimit64": (302, 261), "setpriority": (141, 140), "prctl": (157, 167), "open": (2, None),
    "openat": (257, 56), "openat2": 437, "fcntl": (72, 25), "landlock_create_ruleset": 444,
    "landlock_add_rule": 445, "landlock_restrict_self": 446,
    # Memory and limits of other processes.
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": 440, "kcmp": (312, 272), "pidfd_getfd": 438,
    # Mounts.
    "mount": (165, 40), "umount2": (166, 39), "chroot": (161, 51), "fsopen": 430,
    "fsconfig": 431, "fsmount": 432, "fspick": 433, "open_tree": 428, "open_tree_attr": 467,
    "move_mount": 429, "mount_setattr": 442, "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264), "unshare": (272, 97), "setns": (308, 268),
    # The kernel, keys, clocks and devices.
    "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142), "sethostname": (170, 161),
    "setdomainname": (171, 162), "init_module": (175, 105), "delete_module": (176, 106),
    "finit_module": (313, 273), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "acct": (163, 89), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "clock_adjtime": (305, 266), "adjtimex": (159, 171), "quotactl": (179, 60),
    "quotactl_fd": 443, "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "syslog": (103, 116),
    "vhangup": (153, 58), "fanotify_init": (300, 262),
    # Memory that no limit counts, and what outlives a process.
    "migrate_pages": (256, 238), "move_pages": (279, 239), "shmget": (29, 194),
    "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
    "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189),
    "msgrcv": (70, 188), "msgctl": (71, 187), "mq_open": (240, 180), "memfd_create": (319, 279),
    "memfd_secret": 447, "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274), "ioprio_set": (251, 30),
    # Owner, mode, times and attributes of files.
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": 452,
    "chown": (92, None), "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "utimensat": (280, 88),
    "futimesat": (261, None), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16), "setxattrat": 463, "removexattrat": 466, "file_setattr": 469,
    "truncate": (76, 45),
    # Signals.
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": 424,
}  # fmt: skip
MACHINES = {"x86_64": 0, "aarch64": 1}  # their place in a pair of CALLS
LINUX = sys.platform == "linux"
SIBLING, SET_CHILD_ID, CLEAR_CHILD_ID = 0x8000, 0x0100_0000, 0x0020_0000  # flags of clone
GET_ID_ADDRESS = 40
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
AT_WORKING_DIRECTORY, AT_RECURSIVE = (1 << 64) - 100, 0x8000
DEATH_SIGNAL, DUMPABLE, BOUNDING_DROP, SUBREAPER, NO_NEW_PRIVILEGES = 1, 4, 24, 36, 38
LAST_CAPABILITY = 63
CAPABILITY_VERSION = 0x2008_0522


def is_supported() -> bool:
    """Return whether the numbers of this machine's system calls are known here."""
    return LINUX and platform.machine() in MACHINES


def call_number(name: str) -> int | None:
    """The number of a system call; None if this machine has no such call."""
    numbers = CALLS[name]
    return numbers if isinstance(numbers, int) else numbers[MACHINES[platform.machine()]]


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


def system_call(name: str, *arguments: Any) -> int:
    """Make a system call; missing arguments are 0. OSError ENOSYS on an unknown machine."""
    number = call_number(name) if is_supported() else None
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


def allow_inspection() -> None:
    """Let processes of this user see in /proc how much this one uses."""
    if LINUX:
        prctl("dumpable", DUMPABLE, 1)


def fork(namespaces: int = 0, sibling: bool = False) -> int:
    """Fork, the child in new namespaces; its process id here, 0 in the child.

    A sibling is a child of this process's parent.
    """
    if not namespaces and not sibling:
        return os.fork()
    if (threads := len(os.listdir("/proc/self/task"))) > 1:  # a lock of theirs would stay closed
        raise OSError(errno.EBUSY, f"new namespaces: this process has {threads} threads")
    # As the C library does: the child finds its own number where it keeps that.
    place = ctypes.c_void_p()
    kept = libc().prctl(GET_ID_ADDRESS, ctypes.byref(place), None, None, None) == 0
    flags = namespaces | signal.SIGCHLD | (SIBLING if sibling else 0)
    flags |= SET_CHILD_ID | CLEAR_CHILD_ID if kept else 0
    address = place.value or 0
    last = (address, 0) if platform.machine() == "x86_64" else (0, address)
    api = ctypes.pythonapi
    api.PyOS_BeforeFork()
    try:
        pid = system_call("clone", flags, 0, 0, *last)
    except OSError:
        api.PyOS_AfterFork_Parent()
        raise
    if pid == 0:
        api.PyOS_AfterFork_Child()
    else:
        api.PyOS_AfterFork_Parent()
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


def restrict_mounts(target: str, flags: int) -> None:
    """Add flags such as READ_ONLY to a mount and to all that are mounted below it."""
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
    """Return where something is mounted: this directory, and all below it."""
    with open("/proc/self/mountinfo") as lines:
        names = [line.split()[4] for line in lines]
    places = [re.sub(r"\\([0-7]{3})", lambda each: chr(int(each[1], 8)), name) for name in names]
    return [each for each in places if each == target or each.startswith(f"{target}/")]


def change_root(directory: str) -> None:
    """Make a mounted directory the root of this mount namespace; the old one is out of reach."""
    os.chdir(directory)
    system_call("pivot_root", ctypes.c_char_p(b"."), ctypes.c_char_p(b"."))
    check_result("umount of the old root", libc().umount2(b".", DETACH))
    os.chdir("/")


def drop_capabilities(user: int | None = None) -> None:
    """Give up every capability, for this process and what it may execute; become a user."""
    for capability in range(LAST_CAPABILITY + 1):
        try:
            prctl("capability bounding set", BOUNDING_DROP, capability)
        except OSError:
            break  # past the last one that the kernel knows, or there is none to give up
    if user is not None:
        with suppress(OSError):  # where the groups may not be changed there is only our own
            os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    system_call("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))


def die_with_parent(parent: int) -> None:
    """End this process when its parent does, if the parent has not ended already."""
    prctl("death signal", DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
