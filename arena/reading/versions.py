"""Versions of files that an experiment names: seen from its directory, else from here."""

from pathlib import Path

from arena.keeping.git_files import VersionError
from arena.keeping.source_versions import VersionedName, materialised

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
