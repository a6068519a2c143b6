"""What has to be the same on every machine, by what Dask says is installed there."""

from collections.abc import Mapping
from typing import Any

from arena.keeping import provenance

ALIKE = ("python", "pitflip", "numba", "numpy")  # what decides games, beside our sources


def difference(said: Mapping[str, Any], names: tuple[str, ...] = ALIKE) -> str | None:
    """How another machine differs from this one, in words; None if it does not."""
    known = provenance.versions()
    for name in names:
        there = said["packages"].get(name)
        if name == "python":
            there = ".".join(said["host"]["python"].split(".")[:3])
        if there != known[name]:
            what = f"{name} {there}" if there else f"no {name}"
            return f"it has {what}, here it is {known[name]}"
    return None
