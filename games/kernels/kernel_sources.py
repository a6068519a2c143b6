"""Which sources decide the kernels of a module: those of its room, the rules, what both import.

Reading imports from the text is enough, and a superset does no harm: a file too many compiles
kernels anew that did not change, a file too few would run yesterday's code. So whoever
compiles asks `require` whether every function that goes in comes from these files.
"""

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGES = (Path(__file__).parents[1], Path(__file__).parents[2] / "agents")
# Kernels that no other room's kernels are made of: an edit here compiles nothing else.
APART = frozenset({"games.solving"})
COMPILER = "games.kernels.jit"
IMPORT = re.compile(
    r"^\s*(?:from\s+((?:games|agents)[\w.]*)\s+import\s+(\([^)]*\)|.*)"
    r"|import\s+((?:games|agents)[\w.]*))",
    re.MULTILINE,
)


@cache
def modules() -> dict[str, Path]:
    """Every module of the packages that compile, by name."""
    return {
        ".".join(path.with_suffix("").relative_to(package.parent).parts).removesuffix(
            ".__init__"
        ): path
        for package in PACKAGES
        for path in package.rglob("*.py")
    }


@cache
def imported_by(module: str) -> frozenset[str]:
    """The modules of ours that are named in its imports, wherever these stand."""
    names: set[str] = set()
    for package, members, plain in IMPORT.findall(modules()[module].read_text()):
        names |= {plain or package} | {f"{package}.{name}" for name in re.findall(r"\w+", members)}
    return frozenset(names & modules().keys())


def room_of(module: str) -> str:
    """The directory that the module lies in, or the module itself beside the packages' roots."""
    return ".".join(module.split(".")[:2])


@cache
def rules_sources() -> frozenset[str]:
    """The modules of `games` that any kernel may be made of: kernels, packs, users' rules."""
    rooms = {room_of(name) for name in modules() if name.count(".") > 1}
    return frozenset(
        name
        for name in modules()
        if name.startswith("games.")
        and room_of(name) not in APART
        and (room_of(name) in rooms or COMPILER in imported_by(name))
    )


@cache
def sources_of(room: str) -> frozenset[str]:
    """The modules that decide the kernels of a room; of all rooms, if it is none of ours."""
    inside = {name for name in modules() if room_of(name) == room}
    found: set[str] = set()
    to_read = list(rules_sources() | (inside or modules().keys()))
    while to_read:
        if (name := to_read.pop()) not in found:
            found.add(name)
            to_read += imported_by(name)
    return frozenset(found)


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
def content(module: str) -> bytes:
    """The source of a module, with its name."""
    return module.encode() + b"\n" + modules()[module].read_bytes()


@cache
def digest_of(room: str, versions: tuple[str, ...]) -> str:
    """Names a cache: changes with any source that decides the room's kernels, or a version."""
    digest = hashlib.blake2b("\n".join(versions).encode(), digest_size=10)
    for name in sorted(sources_of(room)):
        digest.update(content(name))
    return digest.hexdigest()
