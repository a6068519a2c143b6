"""Seccomp: system calls that no bot needs are refused."""

import ctypes
import errno
import struct

from agents.sandbox.syscalls import NO_NEW_PRIVILEGES, is_supported, prctl, system_call

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
CLONE, CLONE3, SOCKET, IOCTL, PRLIMIT, SETPRIORITY = 56, 435, 41, 16, 302, 141
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
    program = b"".join(struct.pack("<HBBI", *each) for each in filter_program(inet))
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
