"""Find the sources that decide the kernels of a room: its own, the rules, and what they import.

A superset does no harm: a file too many compiles kernels anew that did not change. A file too few
would run yesterday's code, so `require` checks that each function that is compiled comes from these
files.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from games.imports import module_paths, own_imported_files, package_modules, remembered_names

PACKAGES = (Path(__file__).parents[1], Path(__file__).parents[2] / "agents")
# Kernels that no other room's kernels are made of: an edit here compiles nothing else.
APART = frozenset({"games.solving"})
COMPILER = "games.kernels.jit"


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
