"""What a result rests on: versions, machine, sources, and the directory it is kept in."""

import hashlib
import importlib.metadata
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

PACKAGES = ("pitflip", "numpy", "numba", "pandas", "pyarrow")
SOURCES = ("games", "agents", "arena")
# What only shows or reads games: changing it does not change a run.
SHOWN_ONLY = ("terminal.py", "progress.py", "junit.py", "run.py", "play.py", "verify.py")


def code_digest() -> str:
    """Digest of the sources that decide games: rules, agents, arena."""
    root, digest = Path(__file__).parent.parent, hashlib.blake2b(digest_size=8)
    for package in SOURCES:
        for path in sorted((root / package).rglob("*.py")):
            if path.name not in SHOWN_ONLY and "stats" not in path.parts:
                digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """The versions that results depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"  # run from the sources, without an installation
    return found


def machine() -> dict[str, Any]:
    """What the run was played on; never part of the reproducible tables."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
    }


def run_digest(experiment: Any) -> str:
    """The name of a run: what decides its games."""
    whole = f"{experiment.digest()} {code_digest()}"
    return hashlib.blake2b(whole.encode(), digest_size=5).hexdigest()


def write_run(path: Path, experiment: Any, digest: str, **more: Any) -> None:
    """Write run.json: the resolved experiment, versions, machine, and what `more` says."""
    said = {
        "experiment": experiment.name,
        "digest": digest,
        "code": code_digest(),
        "resolved": experiment.resolved(),
        "versions": versions(),
        "machine": machine(),
    } | more
    beside = path.with_suffix(".tmp")
    beside.write_text(json.dumps(said, indent=1) + "\n")
    beside.replace(path)


def read_run(directory: Path) -> dict[str, Any]:
    """What run.json says, nothing if there is none to read."""
    try:
        said = json.loads((directory / "run.json").read_text())
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def why_new(directory: Path, experiment: Any) -> str | None:
    """Why this run is not a continuation of the latest one beside it; `None` if there is none."""
    others = [d for d in directory.parent.glob("*") if d != directory and read_run(d)]
    if directory.exists() or not others:
        return None
    latest = max(others, key=lambda d: (d / "run.json").stat().st_mtime)
    before, now = read_run(latest), experiment.resolved()
    old = before.get("resolved", {})
    changed = [key for key in now if old.get(key) != now[key]]
    if not changed:
        changed = ["pitflip itself" if before.get("code") != code_digest() else "a bot's own file"]
    return f"{', '.join(changed)} changed since {latest.name}: this is a new run, that one is kept"


def now_text() -> str:
    """The time as run.json writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
