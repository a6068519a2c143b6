"""Identity and differences of runs."""

import hashlib
import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from arena.planning.plan import Plan, portable_path
from games.base.errors import printable
from games.base.file_trees import FileTree
from games.base.files import parse_json, read_limited, write_text
from games.base.imports import module_paths, own_imported_files, package_modules
from games.base.schema import KeyValues

RUN = "run.json"
LONGEST_VALUE = 40
LARGEST_RUN = 1 << 26  # bytes of run.json
OWN_PACKAGES = ("games", "agents", "arena")
PACKAGES = ("pitflip", "numpy", "numba", "pandas", "pyarrow")
# Packages that decide games: rules, agents with their weights, planning, playing; and imports.
DECIDING_PACKAGES = ("games", "agents", "arena/planning", "arena/playing")
DECIDING_DATA = (".toml", ".csv", ".npz")


@cache
def code_digest() -> str:
    """Return the digest of the sources that decide games, as they were when this process began."""
    root, digest = Path(__file__).parents[2], hashlib.blake2b(digest_size=8)
    for path, content in sorted(deciding_sources(root).items()):
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def deciding_sources(root: Path) -> dict[Path, bytes]:
    """Return the sources below `root` that decide games, with what they import."""

    modules = package_modules(root / package for package in OWN_PACKAGES)
    places = set(modules.values())

    def read(path: Path) -> bytes | None:
        return path.read_bytes() if path in places else None

    def find(importer: Path, name: str) -> Iterator[Path]:
        if name.startswith("."):
            yield from module_paths(importer, name, root)
        while name in modules:
            yield modules[name]
            name = name.rpartition(".")[0]  # the packages that it lies in are run first

    paths = [path for package in DECIDING_PACKAGES for path in (root / package).rglob("*.*")]
    data = {path: path.read_bytes() for path in paths if path.suffix in DECIDING_DATA}
    return data | own_imported_files(sorted(places.intersection(paths)), read, find)


def file_digests(plan: Plan) -> dict[str, str]:
    """Return digests of the users' own files by their paths from the experiment's.

    A directory that is too large to read has one, and a slash behind its name.
    """
    digests: dict[str, str] = {}
    for tree in plan.trees():
        if tree.is_large:
            digests[f"{portable_path(tree.path, plan.base)}/"] = tree.digest()
        else:
            for path in tree.files.values():
                digests[portable_path(path, plan.base)] = file_digest(path)
    return digests


def tree_digests(plan: Plan) -> dict[str, str]:
    """Return digests of what the plan names, each with what it imports or has below it."""
    return {portable_path(tree.path, plan.base): source_digest(tree) for tree in plan.trees()}


def source_digest(tree: FileTree) -> str:
    """Return the digest of what an agent names: that of the file, if it imports nothing."""
    alone = len(tree.files) == 1 and not tree.is_directory
    return file_digest(tree.path) if alone else tree.digest()


def large_directory_lines(plan: Plan) -> list[str]:
    """Return a line for each directory of the users' that is too large to read at every start."""
    return [
        f"{printable(str(tree.path))} is large ({len(tree.files):,} files, "
        f"{tree.bytes >> 20:,} MB): an edit shows only by a file's name, size or time"
        for tree in plan.trees()
        if tree.is_large
    ]


def file_digest(path: Path) -> str:
    """Digest of one file."""
    with path.open("rb") as file:  # piece by piece: a program may be large
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()


def versions() -> dict[str, str]:
    """The versions that results depend on."""
    known = {"python": platform.python_version()}
    return known | {package: version_of(package) for package in PACKAGES}


@cache
def version_of(package: str) -> str:
    """The installed version of a package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"  # run from the sources, without an installation


def machine() -> dict[str, object]:
    """The machine that plays; never part of the reproducible tables."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
    }


class RunIdentity(NamedTuple):
    """The identity of a run, computed once."""

    experiment: str
    digest: str  # the run's name: what decides its games
    plan: Mapping[str, object]  # as JSON holds it
    code: str  # digest of our sources
    files: dict[str, str]  # digests of the users' own
    # Of each file with what it imports, and of each directory, that the plan names.
    sources: dict[str, str]


def identify_run(name: str, plan: Plan) -> RunIdentity:
    """Return the identity of a run of this plan, as of now."""
    code = code_digest()
    digest = hashlib.blake2b(f"{plan.digest()} {code}".encode(), digest_size=5).hexdigest()
    return RunIdentity(name, digest, plan.to_json(), code, file_digests(plan), tree_digests(plan))


def write_run(directory: Path, origin: RunIdentity, more: Mapping[str, object]) -> None:
    """Write run.json: the origin with the whole plan, versions, machine, and `more`."""
    content = {**origin._asdict(), "versions": versions(), "machine": machine(), **more}
    write_text(directory / RUN, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def note_started(directory: Path, origin: RunIdentity, more: Mapping[str, object]) -> None:
    """Write run.json; a run or study that is continued or printed again keeps its dates."""
    stored = read_run(directory)
    kept = {key: stored[key] for key in ("begun", "finished", "games") if key in stored}
    write_run(directory, origin, {"begun": timestamp(), "finished": None, **more, **kept})


def note_finished(directory: Path, games: int) -> None:
    """Write into run.json when a study ended and how many games it played, once."""
    stored = read_run(directory)
    if not stored.get("finished"):
        content = {**stored, "finished": timestamp(), "games": games}
        write_text(directory / RUN, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_run(directory: Path) -> KeyValues:
    """The content of run.json; empty if it cannot be read."""
    try:
        stored = parse_json(read_limited(directory / RUN, LARGEST_RUN, pipes=False))
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def plan_changes(old: object, new: object, place: str = "") -> list[str]:
    """Yield the differences between two plans, each as `pairs was 100, is 200`."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = [*new, *(key for key in old if key not in new)]
        return [
            change
            for key in keys
            for change in plan_changes(
                old.get(key), new.get(key), f"{place}.{key}" if place else key
            )
        ]
    return [] if old == new else [f"{place} {_difference(old, new)}"]


def _difference(old: object, new: object) -> str:
    short = [
        "not set" if value is None else json.dumps(value, ensure_ascii=False)
        for value in (old, new)
    ]
    if isinstance(old, dict) or isinstance(new, dict) or max(map(len, short)) > LONGEST_VALUE:
        return "is new" if old is None else "is gone" if new is None else "changed"
    return f"was {short[0]}, is {short[1]}"


def timestamp() -> str:
    """The time as run.json writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def table_metadata(plan: Plan, origin: RunIdentity) -> dict[str, object]:
    """Return the origin that every table has, without clocks or machines."""
    return {
        "experiment": origin.experiment,
        "run": origin.digest,
        "game": plan.game,
        "seed": plan.seed,
        "plan": origin.plan,
        "files": origin.files,
        "sources": origin.sources,
        "versions": versions(),
    }


def agent_versions(stored: KeyValues) -> dict[str, str]:
    """Return a fingerprint of each agent: of its spec and of the users' files behind it.

    `stored` holds the plan and digests of run.json or of a table; none without digests.
    """
    plan, files, sources = (stored.get(key) for key in ("plan", "files", "sources"))
    agents = plan.get("agents") if isinstance(plan, dict) else None
    if not isinstance(files, dict) or not isinstance(agents, dict):
        return {}
    found = {}
    digests = files | sources if isinstance(sources, dict) else files
    for name, spec in agents.items():
        text = json.dumps(spec, sort_keys=True)
        own = {path: digest for path, digest in digests.items() if path in text}
        whole = json.dumps([spec, own], sort_keys=True)
        found[name] = hashlib.blake2b(whole.encode(), digest_size=2).hexdigest()
    return found
