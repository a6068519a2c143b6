"""Endgame databases on disk: named by what decides them, checked, shared by all processes."""

import hashlib
import mmap
import os
import shutil
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from games.kernels.compile_cache import remove_unused, user_caches, writable
from games.whole_files import whole_file

Values = NDArray[np.int8]

CHECKSUM = 4  # bytes at the end of a file
DISK_SHARE, MEMORY_SHARE = 0.2, 0.25  # of what is free: a database takes no more


def digest_of(modules: tuple[str, ...], words: tuple[object, ...]) -> str:
    """A digest of the sources and words that decide a database."""
    digest = hashlib.blake2b(digest_size=10)
    for path in modules:
        digest.update(Path(path).read_bytes())
    digest.update(repr(words).encode())
    return digest.hexdigest()


def directory() -> Path | None:
    """The directory of databases, in the user's cache; None if it cannot be written."""
    for root in user_caches():
        if writable(root):
            remove_unused(root, "database-*")
            return root
    return None


def opened(root: Path | None, name: str, beans: int, size: int) -> Values | None:
    """The first `size` values of the smallest file of this name with `beans` or more; None if
    there is none. A file that is damaged is removed.
    """
    for path in sorted_files(root, name, beans):
        with suppress(OSError, ValueError), path.open("rb") as file:  # an empty file has no map
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if len(whole) >= size + CHECKSUM and is_whole(whole):
                os.utime(path)
                return np.frombuffer(whole, np.int8)[:size]
        with suppress(OSError):
            path.unlink()
    return None


def sorted_files(root: Path | None, name: str, beans: int) -> list[Path]:
    """The files of this name that are large enough, the smallest first."""
    if root is None:
        return []
    counts = {int(path.stem.rpartition("-")[2]): path for path in root.glob(f"{name}-*.bin")}
    return [counts[count] for count in sorted(counts) if count >= beans]


def is_whole(stored: mmap.mmap) -> bool:
    """Whether the checksum matches the values."""
    values = memoryview(stored)[:-CHECKSUM]
    return zlib.crc32(values).to_bytes(CHECKSUM, "little") == stored[-CHECKSUM:]


def keep(root: Path, name: str, beans: int, values: Values) -> None:
    """Write the file; a process that has mapped an older file of this name keeps that one."""
    with whole_file(root / f"{name}-{beans}.bin") as file:
        stored = memoryview(values.data)
        file.write(stored)
        file.write(zlib.crc32(stored).to_bytes(CHECKSUM, "little"))


def room(root: Path | None) -> int:
    """The largest new database in bytes: a share of the free memory and disk."""
    free = free_memory() * MEMORY_SHARE
    if root is not None:
        free = min(free, shutil.disk_usage(root).free * DISK_SHARE)
    return int(free)


def free_memory() -> int:
    """Free memory in bytes, as the system reports it."""
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 1 << 32
