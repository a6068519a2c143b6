"""The evidence of a finished run, with its exclusions and with earlier runs of the same claims."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.sandbox.sandbox import Sandbox
from arena.analysis.checks.registry import BEATS
from arena.analysis.evidence import Evidence, Exclusion, evidence_of
from arena.analysis.summary_file import load_checks
from arena.planning.games import GameParts
from arena.planning.schedule import Schedule
from arena.playing.forfeits import ForfeitRule
from arena.playing.worker import make_move_replayer
from arena.storage.provenance import load_run_file
from games.base.schema import KeyValues

DECIDING = ("game", "seed", "openings", "move_seconds")


def load_evidence(
    schedule: Schedule,
    parts: GameParts,
    pairs: int,
    directory: Path,
    sandbox: Sandbox,
    progress: Callable[[str], None],
    unloadable: Mapping[int, str],
) -> Evidence:
    """Return the evidence of this many `pairs` of a schedule.

    `unloadable` maps the places of agents that did not load to the reason.
    """
    return evidence_of(
        schedule.plan,
        parts,
        census=schedule.census if pairs == schedule.pairs.total else [],
        deterministic=schedule.deterministic_matches,
        starts=lambda: schedule.opening_lines,
        replay=make_move_replayer(schedule, sandbox),
        sandbox=sandbox,
        progress=progress,
        earlier_looks=EarlierLooks(directory).count,
        opening_plies=schedule.openings.plies,
        excluded=find_exclusions(schedule, parts, unloadable),
    )


def find_exclusions(
    schedule: Schedule, parts: GameParts, unloadable: Mapping[int, str]
) -> tuple[Exclusion, ...]:
    """Return the bots that the forfeit rule excludes, in the order of the experiment."""
    rule, at = ForfeitRule(schedule, unloadable), 0
    if not rule.counts.bots:
        return ()
    for games in parts():
        rule.count_games(games, at)
        at += len(games)
    names = schedule.plan.names
    return tuple(
        Exclusion(names[place], since, rule.unplayed[place], rule.reason(place))
        for place, since in sorted(rule.first_unplayed.items())
    )


class EarlierLooks:
    """The earlier runs in the directory of a run's results."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def count(self, that: str, test: str, values: KeyValues) -> int:
        """Return how many earlier runs tested this claim on fewer of the same games."""
        own = load_run_file(self.directory)
        names = [name.strip() for name in that.split(BEATS)]
        # Runs with equal numbers of pairs have the same games, so they are one look.
        pairs = {
            stored["plan"]["pairs"]
            for directory, stored in self._runs_before(own)
            if _is_earlier_part(stored, own, names) and _has_claim(directory, that, test, values)
        }
        return len(pairs)

    def _runs_before(self, own: KeyValues) -> Iterator[tuple[Path, KeyValues]]:
        until = own.get("finished")
        for directory in sorted(self.directory.parent.glob("*")):
            if directory == self.directory or not directory.is_dir():
                continue
            stored = load_run_file(directory)
            when = stored.get("finished")
            if when and "plan" in stored and (until is None or when <= until):
                yield directory, stored


def _is_earlier_part(stored: KeyValues, own: KeyValues, names: Sequence[str]) -> bool:
    """Return whether a run played fewer of the games of these agents, on a part of the openings."""
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


def _has_claim(directory: Path, that: str, test: str, values: KeyValues) -> bool:
    return any(
        check.get("that") == that
        and check.get("test") == test
        and all(check.get("values", {}).get(key) == values.get(key) for key in (test, "of"))
        for check in load_checks(directory)
    )
