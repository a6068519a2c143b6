"""The cache of compiled kernels, keyed by one source digest."""

import hashlib
import mmap
import os
import platform
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
from numba.core import event

from games.base.imports import (
    cached_import_names,
    follow_own_imports,
    module_paths,
    package_modules,
)

PACKAGE = Path(__file__).parents[1]
PACKAGES = (PACKAGE, PACKAGE.parent / "agents")
# A module that imports one of these contains kernels or templates of kernels.
KERNEL_MARKS = frozenset({"games.kernels.jit", "games.kernels.family"})
UNUSED_DAYS = 30
USER = os.getuid() if hasattr(os, "getuid") else 0  # on Windows temporary files are per user
config: Any = numba.config  # Numba sets its names at import, so type checkers do not see them
_choosing = threading.Lock()


def has_kernels(path: Path) -> bool:
    """Return whether a module has kernels, or belongs to a package of games."""
    if path.is_relative_to(PACKAGE) and path.parent not in (PACKAGE, PACKAGE / "base"):
        return True
    return not KERNEL_MARKS.isdisjoint(cached_import_names(path.read_bytes()))


@cache
def kernel_sources() -> dict[str, bytes]:
    """Return the sources that affect kernels: packages of games, other kernels, their imports.

    Packages of games count as a whole: their modules are loaded by name, without an import
    statement that could be followed.
    """
    modules = package_modules(PACKAGES)
    names = {path: name for name, path in modules.items()}

    def read(path: Path) -> bytes | None:
        return path.read_bytes() if path in names else None

    def find(importer: Path, name: str) -> Iterable[Path]:
        if name.startswith("."):
            return module_paths(importer, name, PACKAGE.parent)
        return [modules[name]] if name in modules else []

    sources = follow_own_imports(filter(has_kernels, names), read, find)
    return {names[path]: source for path, source in sources.items()}


def source_digest(versions: tuple[str, ...]) -> str:
    """Return the name of the cache, which changes with any source of the kernels or version."""
    digest = hashlib.blake2b("\n".join(versions).encode(), digest_size=10)
    for name, source in sorted(kernel_sources().items()):
        digest.update(name.encode() + b"\n" + source)
    return digest.hexdigest()


def compiler_versions() -> tuple[str, ...]:
    """Return the versions that affect compiled code: compiler, Python and processor."""
    processor = str(llvmlite.binding.get_host_cpu_name())
    return numba.__version__, llvmlite.__version__, platform.python_version(), processor


def cache_roots() -> Iterator[Path]:
    """Yield possible parents of the cache: NUMBA_CACHE_DIR, our package, the user's caches."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(named)
    yield PACKAGE / "__pycache__"
    yield from user_caches()


def user_caches() -> Iterator[Path]:
    """Yield the directories for cached files of a user."""
    with suppress(RuntimeError):  # a user without a home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pitflip"
    with suppress(OSError):  # there is no temporary directory, or it is not safe
        yield require_private(Path(tempfile.gettempdir()) / f"pitflip-{USER}")


def require_private(directory: Path) -> Path:
    """Create the directory if needed; raise an OSError if other users could write code into it."""
    directory.mkdir(mode=0o700, exist_ok=True)
    status = directory.stat()
    if status.st_uid != USER or status.st_mode & 0o022:
        raise PermissionError(f"{directory} can be written by others")
    return directory


def is_writable(directory: Path) -> bool:
    """Return whether files can be created in `directory`, which is created if needed."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def remove_old_caches(root: Path, pattern: str = "kernels-*") -> None:
    """Delete the caches in `root` that were not used for `UNUSED_DAYS`."""
    oldest = time.time() - UNUSED_DAYS * 86400
    for cached in root.glob(pattern):
        try:
            if cached.stat().st_mtime < oldest:
                for path in sorted(cached.rglob("*"), reverse=True):
                    path.rmdir() if path.is_dir() else path.unlink()
                cached.rmdir() if cached.is_dir() else cached.unlink()
        except OSError:
            continue  # another process uses or removes it


@cache
def cache_directory() -> Path | None:
    """Return the first writable cache and mark it as used; None if there is none."""
    name = f"kernels-{source_digest(compiler_versions())}"
    for root in cache_roots():
        directory = root / name
        if is_writable(directory):
            os.utime(directory)
            remove_old_caches(root)
            return directory
    return None


class Announcer(event.Listener):
    """Announces the first compilation, once for all forked processes."""

    silent = False  # True in a bot's process, whose output belongs to the bot

    def __init__(self) -> None:
        self.announced = mmap.mmap(-1, 1)  # shared with forked processes

    def on_start(self, _event: event.Event) -> None:
        """Print the announcement at the first function that is not in the cache."""
        if not (self.silent or self.announced[0]):
            self.announced[0] = 1
            text = "pitflip: compiling for this machine; later runs load the result ..."
            print(text, file=sys.stderr, flush=True)

    def on_end(self, _event: event.Event) -> None:
        """Do nothing."""


class CompilationListener(event.Listener):
    """Calls a function whenever a compilation begins or ends."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call  # in the thread that compiles

    def on_start(self, _event: event.Event) -> None:
        """Report the start of a compilation."""
        self.call()

    def on_end(self, _event: event.Event) -> None:
        """Report the end of a compilation."""
        self.call()


def on_compilation(call: Callable[[], None]) -> None:
    """Call `call` at every compilation in this process, instead of printing a line."""
    Announcer.silent = True
    event.register("numba:compile", CompilationListener(call))


@cache
def announce() -> None:
    """Register the announcement; not at import, so that importing has no side effects."""
    event.register("numba:compile", Announcer())


@contextmanager
def use_cache() -> Iterator[bool]:
    """Let Numba cache the functions that are decorated in this block; yield whether it can.

    Numba reads its setting when a function is decorated, so only one thread may do this at a time.
    """
    announce()
    with _choosing:
        directory = cache_directory()
        if directory is not None:
            config.CACHE_DIR = str(directory)
        yield directory is not None
