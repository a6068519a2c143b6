"""Files for other programs: games and tables of a run, each format a module with `text(each)`."""

import importlib
from collections.abc import Mapping
from typing import Protocol, cast

from arena.showing.exported import ExportedGame, ExportedTable

# name -> module
WRITERS: Mapping[str, str] = {
    "pgn": "arena.showing.exports.pgn",
    "ggf": "arena.showing.exports.ggf",
    "json": "arena.showing.exports.json_games",
    "csv": "arena.showing.exports.csv_tables",
    "markdown": "arena.showing.exports.markdown",
    "latex": "arena.showing.exports.latex",
}


class GameWriter(Protocol):
    """What the module of a format of games defines; it may also define `refusal(game)`."""

    WRITES: str  # "games"
    SUFFIX: str

    def text(self, each: ExportedGame) -> str:
        """One game; all of them stand in one file."""


class TableWriter(Protocol):
    """What the module of a format of tables defines."""

    WRITES: str  # "tables"
    SUFFIX: str
    RAW: bool  # whether it gets the columns of the run's tables, not numbers as people read them

    def text(self, each: ExportedTable) -> str:
        """One table, which is a file of its own."""


def writer(name: str) -> GameWriter | TableWriter:
    """The module behind a name in `WRITERS`."""
    return cast(GameWriter | TableWriter, importlib.import_module(WRITERS[name]))


def names_of(writes: str) -> list[str]:
    """The formats of "games" or of "tables"."""
    return [name for name in WRITERS if writer(name).WRITES in (writes,)]
