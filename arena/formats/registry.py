"""Writing a run in other formats: a file of all games, a file for each table."""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

from arena.formats.records import (
    ExportedGame,
    ExportedTable,
    exported_games,
    raw_tables,
    read_tables,
)
from arena.report.data import Report
from arena.storage.game_table import THOUGHT_COLUMNS, THOUGHTS
from arena.storage.parquet import read_lists
from games.base.errors import Mistake
from games.base.files import whole_file, write_text
from games.base.text import did_you_mean, listed, quoted

# How a file's name ends -> module with `games_in(file) -> Iterator[GivenGame]`.
READERS: Mapping[str, str] = {
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

    def text(self, each: ExportedGame) -> str:
        """One game; all of them stand in one file."""


class TableWriter(Protocol):
    """What the module of a format of tables defines."""

    SUFFIX: str
    RAW: bool  # whether it gets the columns of the run's tables, not numbers as people read them

    def text(self, each: ExportedTable) -> str:
        """One table, which is a file of its own."""


def game_writer(name: str) -> GameWriter:
    """The module behind a name in `GAME_WRITERS`."""
    return cast(GameWriter, importlib.import_module(GAME_WRITERS[name]))


def table_writer(name: str) -> TableWriter:
    """The module behind a name in `TABLE_WRITERS`."""
    return cast(TableWriter, importlib.import_module(TABLE_WRITERS[name]))


def checked(names: Sequence[str], writes: str) -> None:
    """Raise a Mistake if one of the names is no format of games, or of tables."""
    known = WRITERS[writes]
    for name in names:
        if name not in known:
            near = did_you_mean(name, known)
            raise Mistake(f"--{writes} must be one of {listed(known)}, got {quoted(name)}{near}")


def write_games(report: Report, name: str, directory: Path) -> Path:
    """Write all games in one format; a Mistake if it cannot hold them."""
    made = game_writer(name)
    refusal = getattr(made, "refusal", None)
    if refusal is not None and (why := refusal(report.plan.of)):
        raise Mistake(why)
    path = directory / f"games{made.SUFFIX}"
    with whole_file(path) as file:
        file.write(getattr(made, "HEAD", "").encode())
        for game in exported_games(report):
            file.write(made.text(game).encode("utf-8", "replace"))
    return path


def write_tables(report: Report, name: str, directory: Path) -> list[Path]:
    """Write all tables in one format."""
    made = table_writer(name)
    paths = []
    for table in raw_tables(report) if made.RAW else read_tables(report):
        path = directory / f"{table.name}{made.SUFFIX}"
        write_text(path, made.text(table).encode("utf-8", "replace").decode())
        paths.append(path)
    if made.RAW and report.directory is not None and (report.directory / THOUGHTS).exists():
        paths.append(_write_thoughts(report.directory / THOUGHTS, made, directory))
    return paths


def _write_thoughts(table: Path, made: TableWriter, directory: Path) -> Path:
    """Write what agents thought, some rows at a time: there may be a row for every move."""
    path, head = directory / f"thoughts{made.SUFFIX}", tuple(THOUGHT_COLUMNS)
    with whole_file(path) as file:
        file.write(made.text(ExportedTable("thoughts", "", head, ())).encode())
        for columns in read_lists(table, head):
            rows = tuple(zip(*(columns[name] for name in head), strict=True))
            text = made.text(ExportedTable("thoughts", "", head, rows))
            file.write(text.partition("\n")[2].encode("utf-8", "replace"))
    return path
