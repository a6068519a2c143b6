"""Read run.json, and open the games of a run."""

import contextlib
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from arena.planning.plan import Plan, PlanError, resolve_path
from arena.storage.game_table import StoredGames, read_games
from arena.storage.parquet import TableError
from arena.storage.provenance import RUN, code_digest, read_run
from arena.storage.versions import (
    file_digest_or_none,
    find_copies,
    is_replaced,
    kept_digests,
    tree_digest,
)
from games.base.cli import shell_command
from games.base.errors import UserError, printable
from games.base.schema import KeyValues

GAMES = "games.parquet"
VALIDATION = "validation.parquet"  # written at the end of a study


class NotARunError(UserError, ValueError):  # an answer, not a fault
    """The directory has no finished run; one line says why."""


def load_plan(directory: Path, beside: Path | None = None) -> Plan:
    """Return the plan of a run, with users' files relative to `beside` or where they were.

    Files that have changed or are gone are replaced by their kept copies.
    """
    stored = read_run(directory)
    if not stored:
        there = (
            "its run.json cannot be read" if (directory / RUN).exists() else "it has no run.json"
        )
        raise NotARunError(f"{directory} is not a run's directory: {there}")
    if instead := other_results(directory, stored):
        raise NotARunError(instead)
    if "plan" not in stored:
        raise NotARunError(
            f"{directory / 'run.json'} has no plan: another version of pitflip wrote it"
        )
    try:
        base = _base(stored, beside)
        copies = find_copies(directory, kept_digests(stored), base)
        return Plan.from_json(stored["plan"], base, copies)
    except PlanError as error:
        raise NotARunError(f"{directory / 'run.json'} cannot be read: {error}") from None


def is_finished(directory: Path) -> bool:
    """Return whether a run or a study has come to its end."""
    return bool(read_run(directory).get("finished"))


def other_results(directory: Path, stored: KeyValues) -> str:
    """Return what to do with the directory of a study, learning run or sweep; "" for a run.

    Their games are not in a table, so nothing can be reported, exported or verified game by game.
    """
    page = f"its page is {directory / 'report.html'}"  # a study's, and that of learning
    if "tuned" in stored:
        again = command_of(stored, "tune")
        if not is_finished(directory):
            return f"{directory} is a study that is not finished: {again} continues it"
        return (
            f"{directory} is a study, which keeps no table of games: {page}, its tables are "
            f"trials.parquet and {VALIDATION}; {again} writes them again "
            "(--fresh: plays it again)"
        )
    if "learned" in stored:
        again = shell_command(str(stored.get("command") or "its command"))
        return (
            f"{directory} is a run of learning, which keeps no table of games: {page}, "
            f"its numbers are in learned.json; {again} continues it or prints them again"
        )
    if "sweep" in stored:
        return (
            f"{directory} is a sweep: its page is {directory / 'sweep.html'}, its table is "
            f"sweep.parquet; name one of its runs, {directory / 'cells'}/NUMBER/RUN"
        )
    return ""


def command_of(stored: KeyValues, verb: str) -> str:
    """Return the command that played a run or study, as far as run.json has it."""
    path = stored.get("path")
    if not isinstance(path, str):
        return "its command"
    changes = stored.get("overrides") or ()
    words = [word for change in changes for word in ("--set", str(change))]
    return shell_command(shlex.join(["pitflip", verb, path, *words]))


def games_table(directory: Path) -> Path:
    """Return the path of a run's games; NotARunError if there is none."""
    path = directory / GAMES
    if path.exists():
        return path
    stored = read_run(directory)
    if instead := other_results(directory, stored):
        raise NotARunError(instead)
    again = command_of(stored, "run")
    raise NotARunError(f"{directory} has no {GAMES}: the run is not finished; {again} continues it")


def changes_since_run(directory: Path, beside: Path | None = None) -> list[str]:
    """Return the files and sources that have changed since the run was played."""
    stored = read_run(directory)
    base, notes = _base(stored, beside), []
    copies = find_copies(directory, kept_digests(stored), base)
    changed: dict[str, Path] = {}
    for name, old in _digests(stored, "files").items():
        path = resolve_path(name, base).resolve()
        if (tree_digest(path) if path.is_dir() else file_digest_or_none(path)) != old:
            changed[name] = path
    for name, old in _digests(stored, "sources").items():
        path = resolve_path(name, base).resolve()
        above = path if path.is_dir() else path.parent
        if tree_digest(path) != old and not any(p.is_relative_to(above) for p in changed.values()):
            changed[name] = path  # a file is new
    for name, path in changed.items():
        what = f"{printable(name)} {'has changed' if path.exists() else 'is gone'} since this run"
        taken = is_replaced(path, copies)
        notes.append(f"{what}: its kept copy was taken" if taken else what)
    if stored.get("code") != code_digest():
        notes.append("pitflip has changed since this run")
    return notes


def _base(stored: KeyValues, beside: Path | None) -> Path:
    return beside or Path(str(stored.get("path", ""))).parent


def _digests(stored: KeyValues, key: str) -> Mapping[str, object]:
    digests = stored.get(key, {})
    return digests if isinstance(digests, dict) else {}


def stored_games(directory: Path) -> StoredGames:
    """Return the games of a run in `games.parquet`, in the columns that can be compared."""
    with open_games_table(directory) as path:
        return read_games(path)


@contextlib.contextmanager
def open_games_table(directory: Path) -> Iterator[Path]:
    """Yield the path of a run's games; NotARunError if they cannot be read."""
    path = games_table(directory)
    try:
        yield path
    except TableError as error:
        raise NotARunError(f"{path} cannot be read: {error}") from None
