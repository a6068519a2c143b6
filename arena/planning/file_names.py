"""What a plan calls users' files: by their place from the experiment's, versions by content."""

import os
from pathlib import Path

VERSIONS = "@versions"  # in place of a user's cache, which is elsewhere on another machine


def versions_directory() -> Path:
    """Where versions of files are put, each in a directory that is named by its content."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return (cache / "pitflip" / "versions").resolve()


def name_in_plan(path: str | Path, base: Path) -> str:
    """The name of a file in the JSON of a plan; the same on every machine."""
    versions = versions_directory()
    if Path(path).is_relative_to(versions):
        return f"{VERSIONS}/{Path(path).relative_to(versions).as_posix()}"
    return Path(os.path.relpath(path, base)).as_posix()


def path_in_plan(name: str, base: Path) -> Path:
    """Where the file of such a name is; what follows a colon stays as it is."""
    if name.startswith(f"{VERSIONS}/"):
        return versions_directory() / name.removeprefix(f"{VERSIONS}/")
    return base / name
