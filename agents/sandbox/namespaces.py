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
USER_ID = 1000  # of the user as a bot sees it: not root
# The scratch directory in a root of the bot's own. Nothing else is mounted below it, as Landlock
# lets a bot write wherever that is.
SCRATCH = "/pitflip"
UNUSED_ID = 0x7000_0000  # of no user, nor of a container, on any machine
MOST_LOOKED_AT = 5000  # files, to see whether everybody may read them
READ_ONLY_IN_PROC = ("sys", "sysrq-trigger", "irq", "bus", "fs")
MOST_FILES = 4096
UP, SET_FLAGS = 0x1, 0x8914  # of a network interface
DEVICES = ("null", "zero", "full", "random", "urandom")
# What programs look for when they start; the rest of /etc stays hidden.
SETTINGS = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "java*",
            "ssl/openssl.cnf", "pki/tls/openssl.cnf", "crypto-policies")  # fmt: skip


@cache
def system_directories() -> tuple[str, ...]:
    """Where the programs and libraries of this machine lie: looked for once, before the forks."""
    settings = [str(each) for name in SETTINGS for each in Path("/etc").glob(name)]
    folders = [f"/{name}" for name in ("usr", "bin", "sbin", "lib", "lib32", "lib64", "opt")]
    return tuple(path for path in (*folders, "/nix/store", *settings) if os.path.exists(path))


def map_unused_user(process: int, readable: Sequence[str]) -> None:
    """As root, let a process just cloned become a user that owns nothing.

    It stays ours if it could not read its own files then, or the kernel allows no other.
    """
    if os.getuid() == 0 and all(map(is_public, readable)):
        with suppress(OSError):
            for name in ("uid_map", "gid_map"):
                text = f"0 0 1\n{USER_ID} {UNUSED_ID + process} 1\n"
                syscalls.write(f"/proc/{process}/{name}", text)


@cache
def is_public(path: str) -> bool:
    """Return whether everybody may read a file, or a directory and its files; the first of many."""
    waiting, count = [path], 0
    while waiting and count < MOST_LOOKED_AT:
        each = waiting.pop()
        with suppress(OSError):
            count += 1
            folder = os.path.isdir(each)
            needed = 0o005 if folder else 0o004
            if os.stat(each).st_mode & needed != needed:
                return False
            if folder and not os.path.islink(each):
                waiting += (inner.path for inner in os.scandir(each))
    return True


def enter_own_root(owner: tuple[int, int], readable: Sequence[str], scratch_bytes: int) -> None:
    """In a process just cloned: only these paths, to be read, and an empty scratch directory.

    `owner` are user and group of the process that made it. An OSError if a path would show the
    scratch directories of other bots.
    """
    stage = tempfile.gettempdir()
    for path in readable:
        if Path(stage).is_relative_to(os.path.normpath(path)):
            message = f"readable must not be {path}, which holds the bot's scratch directory"
            raise OSError(errno.EINVAL, f"{message}; name a directory below it")
    os.umask(0o022)
    for name, number in zip(("uid_map", "gid_map"), owner, strict=True):
        if not Path(f"/proc/self/{name}").read_text().strip():  # else the spawner has written it
            if name == "gid_map":
                syscalls.write("/proc/self/setgroups", "deny")
            syscalls.write(f"/proc/self/{name}", f"{USER_ID} {number} 1")
    sources = _open_paths([*system_directories(), *readable])
    devices = _open_paths([f"/dev/{name}" for name in DEVICES])
    mount("none", "/", "", RECURSIVE | PRIVATE)
    mount("tmpfs", stage, "tmpfs", NO_SUID | NO_DEV, "size=1m,mode=755")
    _private_folders(stage, scratch_bytes)
    for path, place in sources.items():
        _bind_mount(stage, path, place, READ_ONLY | NO_SUID | NO_DEV)
    for path, place in devices.items():
        _bind_mount(stage, path, place, READ_ONLY | NO_SUID | NO_EXEC)
    for path in ("/tmp", "/dev/shm"):  # unless a path that may be read lies there
        if not os.path.exists(stage + path):
            os.symlink(SCRATCH, stage + path)
    syscalls.change_root(stage)
    mount("none", "/", "", BIND | REMOUNT | READ_ONLY | NO_SUID | NO_DEV)
    os.chdir(SCRATCH)


def enable_loopback() -> None:
    """Let processes of this network talk to one another; there is nothing else in it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", UP)
        fcntl.ioctl(any_socket, SET_FLAGS, request)


def _open_paths(paths: Sequence[str]) -> dict[str, int]:
    """Descriptors of the paths that exist, links followed.

    They are opened before anything is mounted: what hides a path hides it by name only. What a link
    means is shown at its own place, too: the link may lie in a directory that is shown.
    """
    found: dict[str, int] = {}
    for path in sorted({*map(os.path.normpath, paths), *map(os.path.realpath, paths)}):
        if any(path.startswith(f"{above}/") or path == above for above in found):
            continue  # it is there with what is above it
        with suppress(OSError):
            found[path] = os.open(path, os.O_PATH)
    return found


def _bind_mount(stage: str, path: str, place: int, flags: int) -> None:
    """Show what the descriptor means at the same path below `stage`; close it."""
    target, source = stage + path, f"/proc/self/fd/{place}"
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        syscalls.write(target, "")
    mount(source, target, "", BIND | RECURSIVE)
    syscalls.restrict_mounts(target, flags)
    os.close(place)


def _private_folders(stage: str, scratch_bytes: int) -> None:
    for name in ("proc", "dev", SCRATCH[1:]):
        os.makedirs(f"{stage}/{name}", exist_ok=True)
    with suppress(OSError):  # a container may hide parts of its own; then there is none
        mount("proc", f"{stage}/proc", "proc", NO_SUID | NO_DEV | NO_EXEC)
        for name in READ_ONLY_IN_PROC:
            if os.path.exists(path := f"{stage}/proc/{name}"):
                mount(path, path, "", BIND | RECURSIVE)
                syscalls.restrict_mounts(path, READ_ONLY | NO_SUID | NO_DEV | NO_EXEC)
    # A bot's files count as its memory, and the machine's.
    limits = f"size={scratch_bytes},nr_inodes={MOST_FILES}"
    options = f"{limits},mode=700,uid={USER_ID},gid={USER_ID}"
    mount("tmpfs", stage + SCRATCH, "tmpfs", NO_SUID | NO_DEV, options)
