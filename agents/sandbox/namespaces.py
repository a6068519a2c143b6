"""A root, network and process numbers for one bot."""

import errno
import fcntl
import os
import socket
import struct
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from agents.sandbox import syscalls
from agents.sandbox.syscalls import (
    BIND,
    NEW_NAMESPACES,
    NO_DEV,
    NO_EXEC,
    NO_SUID,
    PRIVATE,
    READ_ONLY,
    RECURSIVE,
    REMOUNT,
    mount,
)

ALL = sum(NEW_NAMESPACES.values())
USER_ID = 1000  # the user as a bot sees it: not root
SCRATCH = "/tmp"  # in a root of the bot's own
MOST_FILES = 4096
UP, SET_FLAGS = 0x1, 0x8914  # of a network interface
DEVICES = ("null", "zero", "full", "random", "urandom")
# What programs look for when they start; the rest of /etc stays hidden.
SETTINGS = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "java*")


@cache
def system_directories() -> tuple[str, ...]:
    """Where the programs and libraries of this machine lie: looked for once, before the forks."""
    settings = [str(each) for name in SETTINGS for each in Path("/etc").glob(name)]
    folders = [f"/{name}" for name in ("usr", "bin", "sbin", "lib", "lib32", "lib64", "opt")]
    return tuple(path for path in (*folders, "/nix/store", *settings) if os.path.exists(path))


def enter_own_root(owner: tuple[int, int], readable: Sequence[str], scratch_bytes: int) -> None:
    """In a process just cloned: only these paths, to be read, and an empty scratch directory.

    `owner` are user and group of the process that made it. An OSError if a path would hide the
    scratch directory.
    """
    for path in readable:
        if Path(SCRATCH).is_relative_to(os.path.normpath(path)):
            message = f"readable must not be {path}, which holds the bot's scratch directory"
            raise OSError(errno.EINVAL, f"{message}; name a directory below it")
    syscalls.write("/proc/self/setgroups", "deny")
    for name, number in zip(("uid_map", "gid_map"), owner, strict=True):
        syscalls.write(f"/proc/self/{name}", f"{USER_ID} {number} 1")
    sources = _open_paths([*system_directories(), *readable])
    devices = _open_paths([f"/dev/{name}" for name in DEVICES])
    stage = tempfile.gettempdir()
    mount("none", "/", "", RECURSIVE | PRIVATE)
    mount("tmpfs", stage, "tmpfs", NO_SUID | NO_DEV, "size=1m,mode=755")
    _private_folders(stage, scratch_bytes)
    for path, (place, flags) in sources.items():
        _bind_mount(stage, path, place, flags | READ_ONLY | NO_SUID | NO_DEV)
    for path, (place, _) in devices.items():
        _bind_mount(stage, path, place, None)
    syscalls.change_root(stage)
    mount("none", "/", "", BIND | REMOUNT | READ_ONLY | NO_SUID | NO_DEV)
    os.chdir(SCRATCH)


def enable_loopback() -> None:
    """Let processes of this network talk to one another; there is nothing else in it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", UP)
        fcntl.ioctl(any_socket, SET_FLAGS, request)


def _open_paths(paths: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Descriptors of the paths that exist, links followed, with the flags of their mounts.

    They are opened before anything is mounted: what hides a path hides it by name only. What a link
    means is shown at its own place, too: the link may lie in a directory that is shown.
    """
    found: dict[str, tuple[int, int]] = {}
    for path in sorted({*map(os.path.normpath, paths), *map(os.path.realpath, paths)}):
        if any(path.startswith(f"{above}/") or path == above for above in found):
            continue  # it is there with what is above it
        with suppress(OSError):
            flags = os.statvfs(path).f_flag & (NO_SUID | NO_DEV | NO_EXEC)
            found[path] = os.open(path, os.O_PATH), flags
    return found


def _bind_mount(stage: str, path: str, place: int, flags: int | None) -> None:
    """Show what the descriptor means at the same path below `stage`; close it."""
    target, source = stage + path, f"/proc/self/fd/{place}"
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        syscalls.write(target, "")
    mount(source, target, "", BIND | RECURSIVE)
    if flags is not None:
        mount("none", target, "", BIND | REMOUNT | flags)
    os.close(place)


def _private_folders(stage: str, scratch_bytes: int) -> None:
    for name in ("proc", "dev", SCRATCH[1:]):
        os.makedirs(f"{stage}/{name}", exist_ok=True)
    with suppress(OSError):  # a container may hide parts of its own; then there is none
        mount("proc", f"{stage}/proc", "proc", NO_SUID | NO_DEV | NO_EXEC)
    # A bot's files count as its memory, and the machine's.
    options = f"size={scratch_bytes},nr_inodes={MOST_FILES},mode=700"
    mount("tmpfs", stage + SCRATCH, "tmpfs", NO_SUID | NO_DEV, options)
    os.symlink(SCRATCH, f"{stage}/dev/shm")
