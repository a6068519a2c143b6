"""Disks of one trial's own: full ones, read-only ones, a source that looks otherwise."""

import ctypes
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from agents.sandbox.syscalls import (
    DETACH,
    NEW_NAMESPACES,
    PRIVATE,
    RECURSIVE,
    REMOUNT,
    check_result,
    libc,
)

LARGE = "size=256m"


@cache
def own_mounts() -> bool:
    """Whether this process may mount, which from now on nobody else sees."""
    try:
        check_result("new mounts", libc().unshare(NEW_NAMESPACES["mount"]))
        mount("none", Path("/"), "", RECURSIVE | PRIVATE)
    except OSError:
        return False
    return True


def mount(source: str, target: Path, kind: str, flags: int, data: str = "") -> None:
    """Mount, or mount anew; OSError if that is not allowed."""
    words = [os.fsencode(each) for each in (source, target, kind)]
    result = libc().mount(*words, ctypes.c_ulong(flags), os.fsencode(data))
    check_result(f"mount {target}", result)


@contextmanager
def small_disk(directory: Path, kilobytes: int) -> Iterator[None]:
    """A disk of this size at the directory, which keeps what is in it after that."""
    held = {path.relative_to(directory): path.read_bytes() for path in files_below(directory)}
    mount("tmpfs", directory, "tmpfs", 0, LARGE)
    try:
        written(directory, held)
        resized(directory, f"size={kilobytes}k")
        yield
    finally:
        check_result("unmount", libc().umount2(os.fsencode(directory), DETACH))


def resized(disk: Path, size: str = LARGE) -> None:
    """Give a disk another size, no less than what it holds; it can be written to."""
    used = sum(path.stat().st_blocks // 2 for path in disk.rglob("*"))
    if size != LARGE:
        size = f"size={max(int(size[5:-1]), used + 8)}k"
    mount("tmpfs", disk, "tmpfs", REMOUNT, size)


def files_below(directory: Path) -> list[Path]:
    """All files, in their order."""
    return [path for path in sorted(directory.rglob("*")) if path.is_file()]


def written(directory: Path, files: dict[Path, bytes]) -> None:
    """Write files below a directory."""
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def files_limited(kilobytes: int) -> None:
    """Files that this process writes end at this size, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, resource.RLIM_INFINITY))
