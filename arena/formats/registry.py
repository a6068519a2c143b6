"""Writing a run in other formats: a file of all games, a file for each table."""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

from arena.formats.records import (
    GameRecord,
    TextTable,
    figure_tables,
    game_records,
    stored_tables,
)
from arena.report.data import ReportData
from arena.storage.game_table import SEARCH_INFO, THOUGHT_COLUMNS
from arena.storage.parquet import iter_rows
from games.base.errors import UserError
from games.base.files import atomic_write, write_text
from games.base.text import did_you_mean, listed, quote

# How a file's name ends -> module with `games_in(file) -> Iterator[GivenGame]`.
FORMATS: Mapping[str, str] = {
    ".parquet": "arena.formats.parquet",
    ".csv": "arena.formats.csv",
    ".pgn": "arena.formats.pgn",
    ".ggf": "arena.formats.ggf",
}
# name -> module
GAME_WRITERS: Mapping[str, str] = {
    "pgn": "arena.formats.pgn",
    "ggf": "arena.formats.ggf",
    "csv": "arena.formats.csv_games",
    "json": "arena.formats.json",
}
TABLE_WRITERS: Mapping[str, str] = {
    "csv": "arena.formats.csv",
    "markdown": "arena.formats.markdown",
    "latex": "arena.formats.latex",
}
WRITERS: Mapping[str, Mapping[str, str]] = {"games": GAME_WRITERS, "tables": TABLE_WRITERS}


class GameWriter(Protocol):
    """What the module of a format of games defines.

    It may also define `refusal(game)`, and `HEAD`, the text before the first game.
    """

    SUFFIX: str

    def text(self, each: GameRecord) -> str:
        """One game; all of them stand in one file."""


class TableWriter(Protocol):
    """What the module of a format of tables defines."""

    SUFFIX: str
    RAW: bool  # whether it gets the columns of the run's tables, not numbers as people read them

    def text(self, each: TextTable) -> str:
        """One table, which is a file of its own."""


def game_writer(name: str) -> GameWriter:
    """The module behind a name in `GAME_WRITERS`."""
    return cast(GameWriter, importlib.import_module(GAME_WRITERS[name]))


def table_writer(name: str) -> TableWriter:
    """The module behind a name in `TABLE_WRITERS`."""
    return cast(TableWriter, importlib.import_module(TABLE_WRITERS[name]))


def check_format_names(names: Sequence[str], writes: str) -> None:
    """Raise a UserError if one of the names is no format of games, or of tables."""
    known = WRITERS[writes]
    for name in names:
        if name not in known:
            near = did_you_mean(name, known)
            raise UserError(f"--{writes} must be one of {listed(known)}, got {quote(name)}{near}")


def write_games(report: ReportData, name: str, directory: Path) -> Path:
    """Write all games in one format; a UserError if it cannot hold them."""
    made = game_writer(name)
    refusal = getattr(made, "refusal", None)
    if refusal is not None and (why := refusal(report.plan.of)):
        raise UserError(why)
    path = directory / f"games{made.SUFFIX}"
    with atomic_write(path) as file:
        file.write(getattr(made, "HEAD", "").encode())
        for game in game_records(report):
            file.write(made.text(game).encode("utf-8", "replace"))
    return path


def write_tables(report: ReportData, name: str, directory: Path) -> list[Path]:
    """Write all tables in one format."""
    made = table_writer(name)
    paths = []
    for table in stored_tables(report) if made.RAW else figure_tables(report):
        path = directory / f"{table.name}{made.SUFFIX}"
        write_text(path, made.text(table).encode("utf-8", "replace").decode())
        paths.append(path)
    if made.RAW and report.directory is not None and (report.directory / SEARCH_INFO).exists():
        paths.append(_write_thoughts(report.directory / SEARCH_INFO, made, directory))
    return paths


def _write_thoughts(table: Path, made: TableWriter, directory: Path) -> Path:
    """Write what agents thought, some rows at a time: there may be a row for every move."""
    path, head = directory / f"thoughts{made.SUFFIX}", tuple(THOUGHT_COLUMNS)
    with atomic_write(path) as file:
        file.write(made.text(TextTable("thoughts", "", head, ())).encode())
        for columns in iter_rows(table, head):
            rows = tuple(zip(*(columns[name] for name in head), strict=True))
            text = made.text(TextTable("thoughts", "", head, rows))
            file.write(text.partition("\n")[2].encode("utf-8", "replace"))
    return path
