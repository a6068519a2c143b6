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

from games.base.imports import module_paths, own_imported_files, package_modules, remembered_names

PACKAGES = (Path(__file__).parents[1], Path(__file__).parents[2] / "agents")
# Kernels that no other room's kernels are made of: an edit here compiles nothing else.
APART = frozenset({"games.solving"})
COMPILER = "games.kernels.jit"
PACKAGE = Path(__file__).parents[1]
UNUSED_DAYS = 30
USER = os.getuid() if hasattr(os, "getuid") else 0  # Windows keeps temporary files by user
config: Any = numba.config  # type checkers do not see its names, which are set while it loads
_choosing = threading.Lock()


@cache
def modules() -> dict[str, Path]:
    """Return every module of the packages that compile, by name."""
    return package_modules(PACKAGES)


@cache
def names_by_path() -> dict[Path, str]:
    """Return the names of these modules by their paths."""
    return {path: name for name, path in modules().items()}


@cache
def content(path: Path) -> bytes | None:
    """Return the source of a module; None if the path is none of these modules."""
    return path.read_bytes() if path in names_by_path() else None


def find(importer: Path, name: str) -> Iterable[Path]:
    """Return where a module of ours may lie."""
    if name.startswith("."):
        return module_paths(importer, name, PACKAGES[0].parent)
    return [modules()[name]] if name in modules() else []


def room_of(module: str) -> str:
    """Return the directory of a module, or the module itself beside the packages' roots."""
    return ".".join(module.split(".")[:2])


def compiles(module: str) -> bool:
    """Return whether a module imports the compiler."""
    return COMPILER in remembered_names(content(modules()[module]) or b"")


@cache
def rules_sources() -> frozenset[str]:
    """Return the modules of `games` that any kernel may use: kernels, packs, users' rules."""
    rooms = {room_of(name) for name in modules() if name.count(".") > 1}
    return frozenset(
        name
        for name in modules()
        if name.startswith("games.")
        and room_of(name) not in APART
        and (room_of(name) in rooms or compiles(name))
    )


@cache
def sources_of(room: str) -> frozenset[str]:
    """Return the modules that decide the kernels of a room; of all rooms, if it is none of ours."""
    inside = {name for name in modules() if room_of(name) == room}
    begin = rules_sources() | (inside or modules().keys())
    found = own_imported_files([modules()[name] for name in sorted(begin)], content, find)
    return frozenset(names_by_path()[path] for path in found)


def require(module: str, functions: Iterable[object]) -> None:
    """Refuse a function of ours whose source does not decide the kernels of `module`."""
    known = sources_of(room_of(module))
    for function in functions:
        origin = getattr(function, "__module__", getattr(function, "__name__", None))
        if origin in modules() and origin not in known:
            raise RuntimeError(
                f"{origin} is compiled into a kernel of {module}, whose cache does not see it: "
                f"import it there, or take the room out of APART in {__name__}"
            )


@cache
def digest_of(room: str, versions: tuple[str, ...]) -> str:
    """Return the name of a cache, which changes with any source of the kernels or version."""
    digest = hashlib.blake2b("\n".join(versions).encode(), digest_size=10)
    for name in sorted(sources_of(room)):
        digest.update(name.encode() + b"\n" + (content(modules()[name]) or b""))
    return digest.hexdigest()


def versions() -> tuple[str, ...]:
    """What decides compiled code beside its sources: compiler, Python and processor."""
    processor = str(llvmlite.binding.get_host_cpu_name())
    return numba.__version__, llvmlite.__version__, platform.python_version(), processor


def cache_roots() -> Iterator[Path]:
    """Where the cache may lie: where the user says, beside the sources, in the user's cache."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(named)
    yield PACKAGE / "__pycache__"
    yield from user_caches()


def user_caches() -> Iterator[Path]:
    """Where a user's programs keep what they can make again."""
    with suppress(RuntimeError):  # a user without a home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pitflip"
    with suppress(OSError):  # there is no temporary directory, or it is not safe
        yield private(Path(tempfile.gettempdir()) / f"pitflip-{USER}")


def private(directory: Path) -> Path:
    """`directory`, created if need be; OSError if others could put code into it for us to run."""
    directory.mkdir(mode=0o700, exist_ok=True)
    status = directory.stat()
    if status.st_uid != USER or status.st_mode & 0o022:
        raise PermissionError(f"{directory} can be written by others")
    return directory


def writable(directory: Path) -> bool:
    """Whether files can be created in `directory`, which is created if need be."""
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
            continue  # another process uses or removes it


@cache
def cache_directory(room: str) -> Path | None:
    """The first writable cache of a room's kernels, marked as used now; `None` if there is none."""
    name = f"kernels-{digest_of(room, versions())}"
    for root in cache_roots():
        directory = root / name
        if writable(directory):
            os.utime(directory)
            remove_unused(root)
            return directory
    return None


class Announcer(event.Listener):
    """Tells the user that something is compiled, which is rare: once for all forked processes."""

    silent = False  # in a bot's process, whose output is the bot's

    def __init__(self) -> None:
        """Nothing has been compiled yet."""
        self.announced = mmap.mmap(-1, 1)  # shared with forked processes

    def on_start(self, _event: event.Event) -> None:
        """Print it at the first function that is not in the cache."""
        if not (self.silent or self.announced[0]):
            self.announced[0] = 1
            print(
                "pitflip: compiling for this machine (only once) ...", file=sys.stderr, flush=True
            )

    def on_end(self, _event: event.Event) -> None:
        """Print nothing: the work that follows shows that compiling is over."""


class Bell(event.Listener):
    """Calls a function whenever a compilation begins or ends."""

    def __init__(self, ring: Callable[[], None]) -> None:
        """`ring` is called in the thread that compiles."""
        self.ring = ring

    def on_start(self, _event: event.Event) -> None:
        """A compilation begins."""
        self.ring()

    def on_end(self, _event: event.Event) -> None:
        """A compilation ends."""
        self.ring()


def on_compilation(ring: Callable[[], None]) -> None:
    """Have `ring` called at every compilation in this process, in place of a line for the user."""
    Announcer.silent = True
    event.register("numba:compile", Bell(ring))


@cache
def announce() -> None:
    """Have compilations announced: importing a module registers nothing."""
    event.register("numba:compile", Announcer())


@contextmanager
def cache_of(module: str) -> Iterator[bool]:
    """Make Numba keep what is decorated meanwhile in the cache of `module`; whether there is one.

    Numba looks at its setting when a function is decorated, so this is for one thread at a time.
    """
    announce()
    with _choosing:
        directory = cache_directory(room_of(module))
        if directory is not None:
            config.CACHE_DIR = str(directory)
        yield directory is not None
