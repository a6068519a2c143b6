"""A run as its directory tells it: the plan in run.json, the games in the tables."""

from pathlib import Path

from arena.keeping.game_table import StoredGames, read_games
from arena.keeping.parquet import TableError
from arena.keeping.provenance import code_digest, file_digest, read_run
from arena.planning.plan import Plan, PlanError
from games.terminal import Mistake

GAMES = "games.parquet"


class NotARun(Mistake, ValueError):  # noqa: N818  # an answer, not a fault
    """Why a directory does not tell of a run; one line."""


def stored_plan(directory: Path, beside: Path | None = None) -> Plan:
    """The plan of a run; the users' files lie where they were, or as if in `beside`."""
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
    """What is not as it was when the run was played."""
    stored = read_run(directory)
    base = beside or Path(stored["path"]).parent
    changed = [
        name for name, old in stored.get("files", {}).items() if file_digest(base / name) != old
    ]
    if stored.get("code") != code_digest():
        changed.append("pitflip")
    return [f"{name} has changed since this run" for name in changed]


def stored_games(directory: Path) -> StoredGames:
    """What `games.parquet` says of the games of a run, as far as it can be compared."""
    path = directory / GAMES
    if not path.exists():
        raise NotARun(f"{directory} has no {GAMES}: the run is not finished")
    try:
        return read_games(path)
    except TableError as error:
        raise NotARun(f"{path} cannot be read: {error}") from None
