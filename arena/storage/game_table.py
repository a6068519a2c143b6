"""Games.parquet and search_info.parquet."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.games import (
    CHUNK_ROWS,
    WIN,
    GameColumn,
    Games,
    MoveInfo,
    Termination,
    decode_search_info,
    first_movers,
    json_or_empty,
    pieces,
)
from arena.planning.openings.openings import NO_MOVE, Openings
from arena.storage.parquet import (
    Column,
    TableMetadata,
    TextColumn,
    column_names,
    dictionary_column,
    joined_words,
    read_columns,
    taken,
    write_columns,
)
from games import Game
from games.transcripts import index_move_texts

TERMINATIONS = [how.name.lower() for how in Termination]
DELTA = "DELTA_BINARY_PACKED"
# Ascending numbers take a bit or two as differences; hashes cannot be compressed.
ENCODINGS = {
    "game": DELTA,
    "pair": DELTA,
    "opening": DELTA,
    "seed": "PLAIN",
    "game_id": "PLAIN",
    "moves": "PLAIN",
}
GAME_SCHEMA = {
    "game": "int64",
    "pair": "int64",
    "leg": "int8",
    "opening": "int32",
    "opening_moves": "string",
    "first": "int16 words",
    "second": "int16 words",
    "first_mover": "int16 words",
    "seed": "uint64",
    "game_id": "uint64",
    "result": "double",
    "margin": "int32",
    "plies": "int32",
    "termination": "int8 words",
    "repeat": "bool",
    "moves": "string",
}
# The columns that must be equal when a game is played again.
REPLAYED_COLUMNS = ("pair", "seed", "game_id", "result", "margin", "plies", "termination")
SEARCH_INFO = "thoughts.parquet"
THOUGHT_ROWS_AT_ONCE = 1 << 14
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
Row = tuple[int, int, MoveInfo]  # game, agent


class StoredGames(NamedTuple):
    """The games in the table of a run; the moves as players write them, None if not kept.

    The moves, which are by far the most, are read some at a time.
    """

    games: Games
    moves: TextColumn | None


def write_games(
    path: Path,
    parts: Iterable[Games],
    repeat: NDArray[np.bool_],
    of: Game,
    agents: Sequence[str],
    openings: Openings,
    provenance: TableMetadata,
    *,
    moves: bool,
) -> None:
    """One row a game in schedule order; `parts` are all games, piece by piece.

    `repeat` is for all of them. `moves` asks for a column of moves, which the parts must keep.
    """
    types = {name: kind for name, kind in GAME_SCHEMA.items() if moves or name != "moves"}

    def tables() -> Iterator[Mapping[str, Column]]:
        at = 0
        for part in pieces(parts, CHUNK_ROWS):
            columns = _game_columns(part, at, agents)
            columns["opening_moves"] = _opening_text(of, openings, part.opening)
            columns["repeat"] = repeat[at : at + len(part)]
            if moves:
                assert part.moves is not None  # `moves` says that they are kept
                columns["moves"] = _move_text(of, part.moves, part.plies)
            yield columns
            at += len(part)

    write_columns(path, types, tables(), provenance, ENCODINGS)


def read_games(path: Path) -> StoredGames:
    """The games of a table that `write_games` wrote; TableError if it did not."""
    columns = read_columns(path, REPLAYED_COLUMNS)
    moves = TextColumn(path, "moves") if "moves" in column_names(path) else None
    columns["result"] = np.rint(columns["result"] * WIN).astype(np.int8)
    places = {word: place for place, word in enumerate(TERMINATIONS)}
    ends = [places.get(word, -1) for word in columns["termination"].tolist()]
    columns["termination"] = np.array(ends, np.int8)
    return StoredGames(Games(columns, None, {}), moves)


def _game_columns(part: Games, at: int, agents: Sequence[str]) -> dict[str, Column]:
    """The columns of `GAME_COLUMNS` from game `at` on, but words of moves, and repeats."""
    named = {name: dictionary_column(part.columns[name], agents) for name in ("first", "second")}
    named["first_mover"] = dictionary_column(first_movers(part), agents)
    plain = ("pair", "leg", "opening", "seed", "game_id", "margin", "plies")
    return (
        named
        | {name: part.columns[name] for name in plain}
        | {
            "game": np.arange(at, at + len(part)),
            "result": part.result / float(WIN),
            "termination": dictionary_column(part.termination, TERMINATIONS),
        }
    )


def _opening_text(of: Game, openings: Openings, places: GameColumn) -> Column:
    """The moves of the opening of every game as players write them."""
    met, place = np.unique(places, return_inverse=True)
    slots = openings.slots[met]
    inside = slots != NO_MOVE
    plies = inside.sum(axis=1, dtype=np.int32)
    return taken(_move_text(of, of.moves_of(slots[inside]), plies), place.ravel())


def _move_text(of: Game, moves: NDArray[np.int16], plies: NDArray[np.int32]) -> Column:
    """Every game as one text, its moves separated by blanks."""
    found = index_move_texts(of, moves, plies)
    return joined_words(found.words, found.places, plies)


def write_search_info(
    path: Path, parts: Iterable[Games], names: Sequence[str], provenance: TableMetadata
) -> None:
    """One row a thought, in the order of the games; `parts` are all games, piece by piece."""

    def tables() -> Iterator[Mapping[str, Column]]:
        rows = search_info_rows(parts)
        while some := list(islice(rows, THOUGHT_ROWS_AT_ONCE)):
            yield _columns(some, names)

    write_columns(path, THOUGHT_COLUMNS, tables(), provenance)


def search_info_rows(parts: Iterable[Games]) -> Iterator[Row]:
    """The thoughts of all games."""
    at = 0
    for games in parts:
        seats = games.first, games.second
        for row, text in sorted(games.thoughts.items()):
            for each in decode_search_info(text):
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
        "agent": dictionary_column(np.array([agent for _, agent, _ in rows], np.int16), names),
        **numbers,
        "seconds": [each.nanoseconds / 1e9 for _, _, each in rows],
        "line": [each.line or None for each in thoughts],
        "data": [json_or_empty(each.data) or None for each in thoughts],
    }
