"""Versions of files that somebody names: seen from a directory, else from here."""

from pathlib import Path

from agents import SpecError
from arena.keeping.git_files import VersionError
from arena.keeping.source_versions import VersionedName, materialised, versioned

RESULTS = "results"  # where runs lie beside an experiment, or here


def found_version(wanted: VersionedName, directory: Path) -> Path:
    """Where the version of a file is; a VersionError says why there is none."""
    bases = (directory, Path.cwd())
    results = tuple(dict.fromkeys((base / RESULTS).resolve() for base in bases))
    errors = []
    for base in bases:
        path = base / Path(wanted.file).expanduser()
        try:
            return materialised(path.parent.resolve() / path.name, wanted.version, results)
        except (VersionError, OSError, RuntimeError) as error:  # a home that is not known
            errors.append(str(error))
    raise VersionError(errors[0])


def at_version(word: str, directory: Path) -> str:
    """The whole path of the version that a word names; any other word as it is.

    SpecError says why there is no such version.
    """
    wanted = versioned(word)
    if wanted is None or (directory / word).exists():
        return word
    try:
        path = found_version(wanted, directory)
    except VersionError as error:
        raise SpecError(str(error)) from None
    return f"{path}:{wanted.name}" if wanted.name else str(path)
