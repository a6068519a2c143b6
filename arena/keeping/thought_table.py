"""What agents thought of their moves as a table: one row a move of which something is known."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from arena.keeping.arrow_columns import Column, coded
from arena.keeping.parquet import Provenance, write_columns
from arena.planning.records import Games
from arena.planning.thought_rows import TimedThought, data_text, decoded_thoughts

THOUGHTS = "thoughts.parquet"
ROWS_AT_ONCE = 1 << 14
THOUGHT_COLUMNS = {
    "game": "int64",
    "ply": "int32",
    "agent": "int16 words",
    "value": "double",
    "depth": "int64",
    "nodes": "int64",
    "seconds": "double",
    "line": "string",
    "data": "string",
}
Row = tuple[int, int, TimedThought]  # game, agent


def write_thoughts(
    path: Path, parts: Iterable[Games], names: Sequence[str], provenance: Provenance
) -> None:
    """One row a thought, in the order of the games; `parts` are all games, piece by piece."""

    def tables() -> Iterator[Mapping[str, Column]]:
        rows = thought_rows(parts)
        while some := list(islice(rows, ROWS_AT_ONCE)):
            yield _columns(some, names)

    write_columns(path, THOUGHT_COLUMNS, tables(), provenance)


def thought_rows(parts: Iterable[Games]) -> Iterator[Row]:
    """The thoughts of all games."""
    at = 0
    for games in parts:
        seats = games.first, games.second
        for row, text in sorted(games.thoughts.items()):
            for each in decoded_thoughts(text):
                yield at + row, int(seats[each.side][row]), each
        at += len(games)


def _columns(rows: Sequence[Row], names: Sequence[str]) -> dict[str, Column]:
    thoughts = [each.thought for _, _, each in rows]
    numbers = {
        name: [getattr(each, name) for each in thoughts] for name in ("value", "depth", "nodes")
    }
    return {
        "game": [game for game, _, _ in rows],
        "ply": [each.ply for _, _, each in rows],
        "agent": coded(np.array([agent for _, agent, _ in rows], np.int16), names),
        **numbers,
        "seconds": [each.nanoseconds / 1e9 for _, _, each in rows],
        "line": [each.line or None for each in thoughts],
        "data": [data_text(each.data) or None for each in thoughts],
    }
