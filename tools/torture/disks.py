"""Small file systems and file size limits for one trial."""

import ctypes
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from agents.sandbox.syscalls import (
    DETACH,
    MOUNT_NAMESPACE,
    PRIVATE,
    RECURSIVE,
    REMOUNT,
    check_result,
    libc,
)

LARGE = "size=256m"


@cache
def unshare_mounts() -> bool:
    """Enter a private mount namespace; return whether this process may mount."""
    try:
        check_result("new mounts", libc().unshare(MOUNT_NAMESPACE))
        mount("none", Path("/"), "", RECURSIVE | PRIVATE)
    except OSError:
        return False
    return True


def mount(source: str, target: Path, kind: str, flags: int, data: str = "") -> None:
    """Mount or remount a file system; raise OSError if that is not allowed."""
    words = [os.fsencode(each) for each in (source, target, kind)]
    result = libc().mount(*words, ctypes.c_ulong(flags), os.fsencode(data))
    check_result(f"mount {target}", result)


@contextmanager
def small_disk(directory: Path, kilobytes: int) -> Iterator[None]:
    """Mount a file system of this size on the directory, with the files of the directory in it."""
    held = {path.relative_to(directory): path.read_bytes() for path in files_in(directory)}
    mount("tmpfs", directory, "tmpfs", 0, LARGE)
    try:
        write_files(directory, held)
        resize(directory, f"size={kilobytes}k")
        yield
    finally:
        check_result("unmount", libc().umount2(os.fsencode(directory), DETACH))


def resize(disk: Path, size: str = LARGE) -> None:
    """Change the size of a file system, but not below the size of its files."""
    used = sum(path.stat().st_blocks // 2 for path in disk.rglob("*"))
    if size != LARGE:
        size = f"size={max(int(size[5:-1]), used + 8)}k"
    mount("tmpfs", disk, "tmpfs", REMOUNT, size)


def files_in(directory: Path) -> list[Path]:
    """Return all files below a directory, sorted."""
    return [path for path in sorted(directory.rglob("*")) if path.is_file()]


def write_files(directory: Path, files: dict[Path, bytes]) -> None:
    """Write files with these relative paths into a directory."""
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def limit_file_size(kilobytes: int) -> None:
    """Limit the size of files that this process writes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, resource.RLIM_INFINITY))
