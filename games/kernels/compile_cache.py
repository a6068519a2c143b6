"""Where compiled kernels are kept: a directory for each state of the sources, made when needed."""

import hashlib
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
from numba.core import event

PACKAGE = Path(__file__).parents[1]
# `agents` compiles kernels too: its sources decide the cache directory as ours do.
COMPILED_PACKAGES = (PACKAGE, PACKAGE.parent / "agents")
UNUSED_DAYS = 30
USER = os.getuid() if hasattr(os, "getuid") else 0  # Windows keeps temporary files by user
config: Any = numba.config  # its names are set while it loads, unseen by type checkers


def sources_digest() -> str:
    """Name of the cache: changes with any kernel source, compiler, Python or processor."""
    digest = hashlib.blake2b(digest_size=10)
    versions = (numba.__version__, llvmlite.__version__, platform.python_version())
    for word in (*versions, llvmlite.binding.get_host_cpu_name()):
        digest.update(f"{word}\n".encode())
    for package in COMPILED_PACKAGES:
        for path in sorted(package.rglob("*.py")):
            digest.update(f"{path.relative_to(package.parent)}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def cache_roots() -> Iterator[Path]:
    """Where compiled code may be kept: where the user says, beside the sources, in his cache."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(named)
    yield PACKAGE / "__pycache__"
    yield from user_caches()


def user_caches() -> Iterator[Path]:
    """Where a user's programs keep what they can make again."""
    with suppress(RuntimeError):  # a user without a home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pitflip"
    with suppress(OSError):  # no temporary directory, or one that is not safe
        yield private(Path(tempfile.gettempdir()) / f"pitflip-{USER}")


def private(directory: Path) -> Path:
    """`directory`, made if need be; OSError if others could put code there for us to run."""
    directory.mkdir(mode=0o700, exist_ok=True)
    status = directory.stat()
    if status.st_uid != USER or status.st_mode & 0o022:
        raise PermissionError(f"{directory} is not ours alone")
    return directory


def writable(directory: Path) -> bool:
    """Whether files can be made in `directory`, which is made if need be."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def remove_unused(root: Path, pattern: str = "kernels-*") -> None:
    """Delete the caches in `root` that no run has used for `UNUSED_DAYS`."""
    oldest = time.time() - UNUSED_DAYS * 86400
    for cached in root.glob(pattern):
        try:
            if cached.stat().st_mtime < oldest:
                for path in sorted(cached.rglob("*"), reverse=True):
                    path.rmdir() if path.is_dir() else path.unlink()
                cached.rmdir() if cached.is_dir() else cached.unlink()
        except OSError:
            continue  # another process uses or removes it: the next run will see


def cache_directory() -> Path | None:
    """The first usable cache of this digest, marked as used now; `None` if nothing is writable."""
    name = f"kernels-{sources_digest()}"
    for root in cache_roots():
        directory = root / name
        if writable(directory):
            os.utime(directory)
            remove_unused(root)
            return directory
    return None


class Announcer(event.Listener):
    """Tells the user once per process that compiling is going on, and that it is rare."""

    def __init__(self) -> None:
        """Nothing has been compiled yet."""
        self.announced = False

    def on_start(self, _event: event.Event) -> None:
        """Say so at the first function that is not in the cache."""
        if not self.announced:
            self.announced = True
            print(
                "pitflip: compiling for this machine (only once) ...", file=sys.stderr, flush=True
            )

    def on_end(self, _event: event.Event) -> None:
        """Nothing: the work that follows shows that compiling is over."""


class Bell(event.Listener):
    """Calls a function whenever something begins or ends to be compiled."""

    def __init__(self, ring: Callable[[], None]) -> None:
        """`ring` is called in the thread that compiles."""
        self.ring = ring

    def on_start(self, _event: event.Event) -> None:
        """A function begins."""
        self.ring()

    def on_end(self, _event: event.Event) -> None:
        """A function is compiled."""
        self.ring()


def on_compilation(ring: Callable[[], None]) -> None:
    """Have `ring` called at every beginning and end of a compilation in this process."""
    event.register("numba:compile", Bell(ring))


@cache
def prepared() -> bool:
    """Make Numba use our cache and announce what it compiles; whether there is a cache.

    Asked for when the first kernel is made: importing a module makes no directory.
    """
    event.register("numba:compile", Announcer())
    directory = cache_directory()
    if directory is not None:
        config.CACHE_DIR = str(directory)
    return directory is not None
