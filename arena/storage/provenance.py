"""The identity of a run: digests of plan, sources and files; versions and machine; run.json."""

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
from games.base.files import parse_json, read_with_limit, write_text
from games.base.imports import follow_own_imports, module_paths, package_modules
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
            name = name.rpartition(".")[0]  # Python runs the packages above a module first

    paths = [path for package in DECIDING_PACKAGES for path in (root / package).rglob("*.*")]
    data = {path: path.read_bytes() for path in paths if path.suffix in DECIDING_DATA}
    return data | follow_own_imports(sorted(places.intersection(paths)), read, find)


def file_digests(plan: Plan) -> dict[str, str]:
    """Return digests of the users' files by their paths from the experiment's.

    A directory that is too large to read has one digest, and a slash behind its name.
    """
    digests: dict[str, str] = {}
    for tree in plan.file_trees():
        if tree.is_large:
            digests[f"{portable_path(tree.path, plan.base)}/"] = tree.digest()
        else:
            for path in tree.files.values():
                digests[portable_path(path, plan.base)] = file_digest(path)
    return digests


def tree_digests(plan: Plan) -> dict[str, str]:
    """Return digests of the files and directories in the plan, each with imports or content."""
    return {portable_path(tree.path, plan.base): source_digest(tree) for tree in plan.file_trees()}


def source_digest(tree: FileTree) -> str:
    """Return the digest of a file with its imports or of a directory."""
    is_alone = len(tree.files) == 1 and not tree.is_directory
    return file_digest(tree.path) if is_alone else tree.digest()


def large_directory_lines(plan: Plan) -> list[str]:
    """Return a line for each user's directory that is too large to read at every start."""
    return [
        f"{printable(str(tree.path))} is large ({len(tree.files):,} files, "
        f"{tree.bytes >> 20:,} MB): an edit shows only by a file's name, size or time"
        for tree in plan.file_trees()
        if tree.is_large
    ]


def file_digest(path: Path) -> str:
    """Return the digest of one file."""
    with path.open("rb") as file:  # in chunks: a program may be large
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()


def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results depend on."""
    versions = {"python": platform.python_version()}
    return versions | {package: version_of(package) for package in PACKAGES}


@cache
def version_of(package: str) -> str:
    """Return the installed version of a package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"  # run from the sources, without an installation


def machine_info() -> dict[str, object]:
    """Return facts about this machine, which are never part of the reproducible tables."""
    has_affinity = hasattr(os, "sched_getaffinity")
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count(),
    }


class RunIdentity(NamedTuple):
    """The identity of a run, computed once. The names are those of run.json."""

    experiment: str
    digest: str  # of everything that decides its games; it names the run
    plan: Mapping[str, object]  # as JSON
    code: str  # digest of our sources
    files: dict[str, str]  # digests of the users' files
    sources: dict[str, str]  # digests of the files and directories that the plan names


def identify_run(name: str, plan: Plan) -> RunIdentity:
    """Return the identity of a run of this plan with the present files."""
    code = code_digest()
    digest = hashlib.blake2b(f"{plan.digest()} {code}".encode(), digest_size=5).hexdigest()
    return RunIdentity(name, digest, plan.to_json(), code, file_digests(plan), tree_digests(plan))


def write_run_file(directory: Path, identity: RunIdentity, more: Mapping[str, object]) -> None:
    """Write run.json: the identity with the whole plan, versions, machine, and `more`."""
    facts = {"versions": package_versions(), "machine": machine_info(), **more}
    _write_json(directory, {**identity._asdict(), **facts})


def _write_json(directory: Path, content: Mapping[str, object]) -> None:
    write_text(directory / RUN, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def write_run_start(directory: Path, identity: RunIdentity, more: Mapping[str, object]) -> None:
    """Write run.json; a run or study that is continued or printed again keeps its dates."""
    stored = load_run_file(directory)
    kept = {key: stored[key] for key in ("begun", "finished", "games") if key in stored}
    facts = {"begun": timestamp(), "finished": None, **more, **kept}
    write_run_file(directory, identity, facts)


def write_run_end(directory: Path, games: int) -> None:
    """Write into run.json when a study ended and how many games it played, once."""
    stored = load_run_file(directory)
    if not stored.get("finished"):
        _write_json(directory, {**stored, "finished": timestamp(), "games": games})


def load_run_file(directory: Path) -> KeyValues:
    """Return the content of run.json; empty if it cannot be read."""
    try:
        stored = parse_json(read_with_limit(directory / RUN, LARGEST_RUN, pipes=False))
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def plan_changes(old: object, new: object, place: str = "") -> list[str]:
    """Return the differences between two plans, each as `pairs was 100, is 200`."""
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
    texts = [
        "the default" if value is None else json.dumps(value, ensure_ascii=False)
        for value in (old, new)
    ]
    if isinstance(old, dict) or isinstance(new, dict) or max(map(len, texts)) > LONGEST_VALUE:
        return "is new" if old is None else "is gone" if new is None else "changed"
    return f"was {texts[0]}, is {texts[1]}"


def timestamp() -> str:
    """Return the time as run.json writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def table_metadata(plan: Plan, identity: RunIdentity) -> dict[str, object]:
    """Return the metadata of every table, without clocks or machines."""
    return {
        "experiment": identity.experiment,
        "run": identity.digest,
        "game": plan.game_name,
        "seed": plan.seed,
        "plan": identity.plan,
        "files": identity.files,
        "sources": identity.sources,
        "versions": package_versions(),
    }


def agent_versions(stored: KeyValues) -> dict[str, str]:
    """Return a fingerprint of each agent: of its spec and of its users' files.

    `stored` holds the plan and digests of run.json or of a table; empty without digests.
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
