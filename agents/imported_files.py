"""The modules of a user's own that a file of theirs imports from beside it."""

import re
import sys
from pathlib import Path

from games.limited_files import TooMuch, read_bytes

LARGEST = 4 << 20  # bytes of one file
MOST = 64
OURS = {"games", "agents", "arena"}
# Read, never run: a line that only looks like an import names a file that does no harm.
IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([\w., \t]+))", re.MULTILINE)


def imported_files(path: Path) -> tuple[Path, ...]:
    """What a Python file imports from its own directory, and what these import, by name."""
    found: dict[str, Path] = {}
    waiting = [path]
    while waiting and len(found) < MOST:
        for name in _imported_names(waiting.pop()):
            beside = path.with_name(f"{name}.py")
            if name not in found and beside != path and beside.is_file():
                found[name] = beside
                waiting.append(beside)
    return tuple(found[name] for name in sorted(found))


def _imported_names(path: Path) -> set[str]:
    """The first words of what a file imports; none of a file that is no Python, or too large."""
    if path.suffix != ".py":
        return set()
    try:
        content = read_bytes(path, LARGEST)
    except (TooMuch, OSError):
        return set()
    names = set[str]()
    for one, several in IMPORT.findall(content):
        for each in (one or several).split(b","):
            names.add(each.strip().partition(b".")[0].split(b" ")[0].decode("ascii", "replace"))
    return {name for name in names - OURS if name and name not in sys.stdlib_module_names}


def find_beside(path: Path) -> None:
    """Let a file import what lies beside it, after all that is installed."""
    if imported_files(path) and (place := str(path.parent)) not in sys.path:
        sys.path.append(place)
