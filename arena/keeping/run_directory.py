"""A stored run: its plan in run.json, its games in the tables."""

from pathlib import Path

from arena.keeping.game_table import StoredGames, read_games
from arena.keeping.parquet import TableError
from arena.keeping.provenance import code_digest, file_digest, read_run
from arena.planning.plan import Plan, PlanError
from games.terminal import Mistake

GAMES = "games.parquet"


class NotARun(Mistake, ValueError):  # noqa: N818  # an answer, not a fault
    """A directory does not hold a finished run; one line says why."""


def stored_plan(directory: Path, beside: Path | None = None) -> Plan:
    """The plan of a run; the users' files are where they were, or seen from `beside`."""
    stored = read_run(directory)
    if not stored:
        raise NotARun(f"{directory} is not a run's directory: it has no run.json")
    if "plan" not in stored:
        raise NotARun(f"{directory / 'run.json'} has no plan: another version of pitflip wrote it")
    try:
        return Plan.from_json(stored["plan"], beside or Path(stored["path"]).parent)
    except PlanError as error:
        raise NotARun(f"{directory / 'run.json'} cannot be read: {error}") from None


def changes_since(directory: Path, beside: Path | None = None) -> list[str]:
    """The files and sources that have changed since the run was played."""
    stored = read_run(directory)
    base = beside or Path(stored["path"]).parent
    changed = [
        name for name, old in stored.get("files", {}).items() if file_digest(base / name) != old
    ]
    if stored.get("code") != code_digest():
        changed.append("pitflip")
    return [f"{name} has changed since this run" for name in changed]


def stored_games(directory: Path) -> StoredGames:
    """The games of a run in `games.parquet`, in the columns that can be compared."""
    path = directory / GAMES
    if not path.exists():
        raise NotARun(f"{directory} has no {GAMES}: the run is not finished")
    try:
        return read_games(path)
    except TableError as error:
        raise NotARun(f"{path} cannot be read: {error}") from None
