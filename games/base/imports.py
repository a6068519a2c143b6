"""Find the source files that a Python file imports, without running them."""

import ast
import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path, PurePath
from typing import TypeVar

from games.base.files import write_text

AnyPath = TypeVar("AnyPath", bound=PurePath)
Names = Callable[[bytes], Iterable[str]]
MEMORY = Path(__file__).parent / "__pycache__" / "imports.json"
MOST_REMEMBERED = 5_000


@lru_cache(1024)
def imported_names(source: bytes) -> tuple[str, ...]:
    """Return the modules that a source may import: `a.b`, or `..a.b` where the import is relative.

    `from a import b` names `a.b` too, which may be a module. A source with an error has none.
    """
    return tuple(_names(source)) if b"import" in source else ()


def _names(source: bytes) -> Iterator[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for statement in _statements(tree):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            package = "." * statement.level + (statement.module or "")
            dot = "." if statement.module else ""
            yield package
            yield from (f"{package}{dot}{alias.name}" for alias in statement.names)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements, at any depth, and no expressions: these import nothing."""
    waiting = [tree]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                yield child
                waiting.append(child)


def imported_files(
    files: Iterable[AnyPath],
    read: Callable[[AnyPath], bytes | None],
    find: Callable[[AnyPath, str], Iterable[AnyPath]],
    names: Names = imported_names,
) -> dict[AnyPath, bytes]:
    """Return the files and all that they import, directly or not, with their contents.

    `find` gives the paths at which a module may lie that a file imports; `read` gives None for
    those that are not there or do not count.
    """
    found: dict[AnyPath, bytes] = {}
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        content = None if path in found else read(path)
        if content is None:
            continue
        found[path] = content
        if path.suffix == ".py":
            for name in names(content):
                waiting += find(path, name)
    return found


def directory_of_import(importer: AnyPath, name: str, root: AnyPath) -> AnyPath:
    """Return where the search for a module begins: at `root`, or at a package of the importer."""
    level = len(name) - len(name.lstrip("."))
    return importer.parents[min(level, len(importer.parents)) - 1] if level else root


def module_paths(importer: AnyPath, name: str, root: AnyPath) -> Iterator[AnyPath]:
    """Yield the paths at which a module may lie: it may be a file or a package."""
    place = directory_of_import(importer, name, root)
    if parts := name.strip(".").split(".") if name.strip(".") else []:
        place = place.joinpath(*parts)
        yield place.with_name(f"{place.name}.py")
    yield place / "__init__.py"


def package_modules(packages: Iterable[Path]) -> dict[str, Path]:
    """Return every module of some packages by its name."""
    return {
        ".".join(path.with_suffix("").relative_to(package.parent).parts).removesuffix(
            ".__init__"
        ): path
        for package in packages
        for path in package.rglob("*.py")
    }


def remembered_names(source: bytes) -> list[str]:
    """Return `imported_names` of one of our own sources, which are known from an earlier start.

    Parsing all of them takes 0.5 s at every start. What is remembered goes by content.
    """
    key = hashlib.blake2b(source, digest_size=12).hexdigest()
    known = _remembered()
    if key not in known:
        known[key] = sorted(set(imported_names(source)))
    return known[key]


@cache
def _remembered() -> dict[str, list[str]]:
    with suppress(OSError, ValueError):
        stored = json.loads(MEMORY.read_bytes())
        if isinstance(stored, dict) and len(stored) < MOST_REMEMBERED:
            return stored
    return {}


def own_imported_files(
    files: Iterable[Path],
    read: Callable[[Path], bytes | None],
    find: Callable[[Path, str], Iterable[Path]],
) -> dict[Path, bytes]:
    """Return `imported_files` of our own sources."""
    before = len(_remembered())
    found = imported_files(files, read, find, remembered_names)
    if len(_remembered()) != before:
        with suppress(OSError):  # it cannot be written: then all are parsed again
            MEMORY.parent.mkdir(exist_ok=True)
            write_text(MEMORY, json.dumps(_remembered()))
    return found
