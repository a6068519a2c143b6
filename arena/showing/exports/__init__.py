"""Files for other programs: games and tables of a run, each format a module with `text(each)`."""

import importlib
from collections.abc import Mapping
from typing import Protocol, cast

from arena.showing.exported import ExportedGame, ExportedTable

# name -> module
GAME_WRITERS: Mapping[str, str] = {
    "pgn": "arena.showing.exports.pgn",
    "ggf": "arena.showing.exports.ggf",
    "csv": "arena.showing.exports.csv_game_rows",
    "json": "arena.showing.exports.json_games",
}
TABLE_WRITERS: Mapping[str, str] = {
    "csv": "arena.showing.exports.csv_tables",
    "markdown": "arena.showing.exports.markdown",
    "latex": "arena.showing.exports.latex",
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
