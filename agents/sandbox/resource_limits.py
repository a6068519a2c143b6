"""Limits that the kernel enforces on each process of a bot."""

import resource
from contextlib import suppress
from pathlib import Path

from agents.sandbox.messages import BotLimits
from agents.sandbox.syscalls import write

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
