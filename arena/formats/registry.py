"""The tables of formats: readers of games, and writers of games, tables and figures of a run."""

import importlib
from collections.abc import Mapping, Sequence
from types import ModuleType

from arena.report.figures.registry import FIGURE_FORMATS
from games.base.errors import UserError
from games.base.text import did_you_mean, join_names, quote

# suffix of a file -> module with `read_games(file) -> Iterator[ExternalGame]`
FORMATS: Mapping[str, str] = {
    ".parquet": "arena.formats.parquet",
    ".csv": "arena.formats.csv",
    ".pgn": "arena.formats.pgn",
    ".ggf": "arena.formats.ggf",
}
# name -> module with `SUFFIX` and `game_text(record: GameRecord) -> str`. It may define `HEAD`,
# the text before the first game, and `refusal(game) -> str | None`, why it cannot hold such games.
GAME_WRITERS: Mapping[str, str] = {
    "pgn": "arena.formats.pgn",
    "ggf": "arena.formats.ggf",
    "csv": "arena.formats.csv",
    "json": "arena.formats.json",
}
# name -> module with `SUFFIX`, `table_text(table: TextTable) -> str` and `RAW`: whether it
# gets the columns of the run's tables, and not the tables of the page
TABLE_WRITERS: Mapping[str, str] = {
    "csv": "arena.formats.csv",
    "markdown": "arena.formats.markdown",
    "latex": "arena.formats.latex",
}
WRITERS: Mapping[str, Mapping[str, str]] = {
    "games": GAME_WRITERS,
    "tables": TABLE_WRITERS,
    "figures": FIGURE_FORMATS,
}


def format_writer(name: str, writes: str) -> ModuleType:
    """Return the module of a format that writes "games" or "tables"."""
    return importlib.import_module(WRITERS[writes][name])


def check_format_names(names: Sequence[str], writes: str) -> None:
    """Raise a UserError if a name is not in the table of writers."""
    known = WRITERS[writes]
    for name in names:
        if name not in known:
            near = did_you_mean(name, known)
            raise UserError(
                f"--{writes} must be one of {join_names(known)}, got {quote(name)}{near}"
            )
