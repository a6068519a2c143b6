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
def import_names(source: bytes) -> tuple[str, ...]:
    """Return the modules that a source may import: `a.b`, or `..a.b` for a relative import.

    `from a import b` also yields `a.b`, which may be a module. Invalid sources import nothing.
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
    """Yield all statements at any depth; expressions cannot import, so they are skipped."""
    waiting = [tree]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                yield child
                waiting.append(child)


def follow_imports(
    files: Iterable[AnyPath],
    read: Callable[[AnyPath], bytes | None],
    find: Callable[[AnyPath, str], Iterable[AnyPath]],
    names: Names = import_names,
) -> dict[AnyPath, bytes]:
    """Return the contents of the files and of everything that they import, directly or not.

    `find` returns the candidate paths of an imported module. `read` returns None for paths that
    do not exist or are to be ignored.
    """
    contents: dict[AnyPath, bytes] = {}
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        content = None if path in contents else read(path)
        if content is None:
            continue
        contents[path] = content
        if path.suffix == ".py":
            for name in names(content):
                waiting += find(path, name)
    return contents


def directory_of_import(importer: AnyPath, name: str, root: AnyPath) -> AnyPath:
    """Return the directory where an import starts: `root`, or a package of the importer."""
    level = len(name) - len(name.lstrip("."))
    return importer.parents[min(level, len(importer.parents)) - 1] if level else root


def module_paths(importer: AnyPath, name: str, root: AnyPath) -> Iterator[AnyPath]:
    """Yield the candidate paths of a module: a file, or a package."""
    place = directory_of_import(importer, name, root)
    if parts := name.strip(".").split(".") if name.strip(".") else []:
        place = place.joinpath(*parts)
        yield place.with_name(f"{place.name}.py")
    yield place / "__init__.py"


def package_modules(packages: Iterable[Path]) -> dict[str, Path]:
    """Return all modules of some packages by their names."""
    return {
        ".".join(path.with_suffix("").relative_to(package.parent).parts).removesuffix(
            ".__init__"
        ): path
        for package in packages
        for path in package.rglob("*.py")
    }


def cached_import_names(source: bytes) -> list[str]:
    """Return the `import_names` of a module of Pitflip, cached by content.

    Parsing all modules takes 0.5 s, which would delay every start.
    """
    key = hashlib.blake2b(source, digest_size=12).hexdigest()
    known = _load_import_cache()
    if key not in known:
        known[key] = sorted(set(import_names(source)))
    return known[key]


@cache
def _load_import_cache() -> dict[str, list[str]]:
    with suppress(OSError, ValueError):
        stored = json.loads(MEMORY.read_bytes())
        if isinstance(stored, dict) and len(stored) < MOST_REMEMBERED:
            return stored
    return {}


def follow_own_imports(
    files: Iterable[Path],
    read: Callable[[Path], bytes | None],
    find: Callable[[Path, str], Iterable[Path]],
) -> dict[Path, bytes]:
    """Call `follow_imports` for modules of Pitflip and store new cache entries."""
    before = len(_load_import_cache())
    contents = follow_imports(files, read, find, cached_import_names)
    if len(_load_import_cache()) != before:
        with suppress(OSError):  # without a cache all sources are parsed again
            MEMORY.parent.mkdir(exist_ok=True)
            write_text(MEMORY, json.dumps(_load_import_cache()))
    return contents
