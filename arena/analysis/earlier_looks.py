"""Earlier runs that tested the same claim."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.analysis.summary_file import load_checks
from arena.storage.provenance import read_run
from games.base.schema import KeyValues

BEATS = " beats "
DECIDING = ("game", "seed", "openings", "move_seconds")


class EarlierLooks:
    """The runs that lie beside a run and come before it."""

    def __init__(self, directory: Path) -> None:
        """Nothing is read before the first claim is asked about."""
        self.directory = directory

    def count(self, that: str, test: str, values: KeyValues) -> int:
        """How many earlier runs printed a verdict on this claim from fewer of the same games."""
        own = read_run(self.directory)
        names = [name.strip() for name in that.split(BEATS)]
        # A run with as many pairs has no other games: it is no look of its own.
        pairs = {
            stored["plan"]["pairs"]
            for directory, stored in self._runs_before(own)
            if _same(stored, own, names) and _claimed(directory, that, test, values)
        }
        return len(pairs)

    def _runs_before(self, own: KeyValues) -> Iterator[tuple[Path, KeyValues]]:
        """The finished runs beside this one that were finished before it."""
        until = own.get("finished")
        for directory in sorted(self.directory.parent.glob("*")):
            if directory == self.directory or not directory.is_dir():
                continue
            stored = read_run(directory)
            when = stored.get("finished")
            if when and "plan" in stored and (until is None or when <= until):
                yield directory, stored


def _same(stored: KeyValues, own: KeyValues, names: list[str]) -> bool:
    """Whether a run played fewer of the games of these agents, on a part of the openings."""
    earlier, plan = stored["plan"], own.get("plan", {})
    if not all(earlier.get(key) == plan.get(key) for key in DECIDING):
        return False
    if not earlier.get("pairs", 0) < plan.get("pairs", 0):
        return False
    agents, ours = earlier.get("agents", {}), plan.get("agents", {})
    if any(name not in agents or agents[name] != ours.get(name) for name in names):
        return False
    files: dict[str, Any] = own.get("files", {})
    return all(files.get(name, digest) == digest for name, digest in stored["files"].items())


def _claimed(directory: Path, that: str, test: str, values: KeyValues) -> bool:
    """Whether a run printed a verdict on the claim."""
    return any(
        check.get("that") == that
        and check.get("test") == test
        and all(check.get("values", {}).get(key) == values.get(key) for key in (test, "of"))
        for check in load_checks(directory)
    )
