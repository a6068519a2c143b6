"""Landlock: a process gives up most files, the network and signals, for good."""

import ctypes
import os
import struct
from collections.abc import Sequence

from agents.sandbox.syscalls import NO_NEW_PRIVILEGES, prctl, system_call

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
