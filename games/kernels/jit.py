"""The one place where compilation is configured: cache, decorators, specialised copies."""

import hashlib
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any, TypeVar

import llvmlite
import llvmlite.binding
import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).parents[1]
# `agents` compiles kernels too: its sources decide the cache directory as ours do.
COMPILED_PACKAGES = (PACKAGE, PACKAGE.parent / "agents")
UNUSED_DAYS = 30
USER = os.getuid() if hasattr(os, "getuid") else 0  # Windows keeps temporary files by user
config: Any = numba.config  # its names are set while it loads, unseen by type checkers
INTERPRETED = bool(config.DISABLE_JIT)


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
    """Where compiled code may be kept: as told, beside the sources, in the user's cache."""
    if told := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(told)
    yield PACKAGE / "__pycache__"
    with suppress(RuntimeError):  # a user without a home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pitflip"
    with suppress(OSError):  # no temporary directory, or one that is not safe
        yield private(Path(tempfile.gettempdir()) / f"pitflip-{USER}")


def private(directory: Path) -> Path:
    """`directory`, made if need be; OSError if others could put code there for us to run."""
    directory.mkdir(mode=0o700, exist_ok=True)
    kept = directory.stat()
    if kept.st_uid != USER or kept.st_mode & 0o022:
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


def remove_unused(root: Path) -> None:
    """Delete the caches in `root` that no run has used for `UNUSED_DAYS`."""
    oldest = time.time() - UNUSED_DAYS * 86400
    for directory in root.glob("kernels-*"):
        try:
            if directory.stat().st_mtime < oldest:
                for path in sorted(directory.rglob("*"), reverse=True):
                    path.rmdir() if path.is_dir() else path.unlink()
                directory.rmdir()
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
        """Nothing has been said yet."""
        self.said = False

    def on_start(self, _event: Any) -> None:
        """Say so at the first function that is not in the cache."""
        if not self.said:
            self.said = True
            print(
                "pitflip: compiling for this machine (only once) ...", file=sys.stderr, flush=True
            )

    def on_end(self, _event: Any) -> None:
        """Nothing: the work that follows shows that compiling is over."""


CACHE = cache_directory()
if CACHE is not None:
    config.CACHE_DIR = str(CACHE)
register: Any = event.register  # Numba leaves it untyped
register("numba:compile", Announcer())
if INTERPRETED:
    # Kernels wrap around on purpose; compiled code does so silently.
    warnings.filterwarnings("ignore", "overflow encountered in scalar", RuntimeWarning)


# Kernels allocate nothing, so nothing is counted: with `_nrt`, Numba counts references to
# the context array in every call, and those atomic instructions took most of the time.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


def compiled(function: Function) -> Function:
    """`function` compiled on first use, kept on disk, run without the interpreter lock."""
    cached = CACHE is not None
    compile_: Any = numba.njit(cache=cached, **OPTIONS)
    made: Function = compile_(function)
    return made


def inlined(function: Function) -> Function:
    """A small part of kernels, always merged into its caller; never an entry point."""
    compile_: Any = numba.njit(forceinline=True, **OPTIONS)
    made: Function = compile_(function)
    return made


_taken: set[str] = set()


def _twin(template: Function, scope: dict[str, Any], suffix: str) -> FunctionType:
    """A copy of `template` that reads its globals from `scope` and has a name of its own."""
    plain = getattr(template, "py_func", template)
    twin = FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__)
    twin.__qualname__ = f"{plain.__qualname__}_{suffix}"
    twin.__module__ = plain.__module__
    return twin


def inline_copies(templates: Sequence[Function], names: dict[str, Any]) -> dict[str, Any]:
    """Copies of small `templates` in which `names` mean these functions, merged into callers."""
    copies: dict[str, Any] = {}
    for template in templates:
        scope = vars(sys.modules[template.__module__]) | names | copies
        twin = _twin(template, scope, "inlined")
        copies[template.__name__] = scope[template.__name__] = inlined(twin)
    return copies


def specialise(suffix: str, templates: Sequence[Function], **names: Any) -> SimpleNamespace:
    """Compiled copies of `templates` in which the given `names` mean these functions.

    Later templates may call earlier ones and themselves. The disk cache tells
    copies apart by `suffix` alone, so a suffix is given out once.
    """
    label = f"{templates[0].__module__}.{suffix}"
    if label in _taken:
        raise ValueError(f"{label} is specialised already: two copies would share a cache entry")
    _taken.add(label)
    scope = vars(sys.modules[templates[0].__module__]) | names
    copies = {}
    for template in templates:
        twin = _twin(template, scope, suffix)
        copies[template.__name__] = scope[template.__name__] = compiled(twin)
    return SimpleNamespace(**copies)
