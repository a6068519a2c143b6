"""The tables of games and of their search information."""

import json
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
    rechunk_games,
)
from arena.planning.openings.openings import NO_MOVE, Openings
from arena.storage.parquet import (
    Column,
    TableMetadata,
    TextColumn,
    column_names,
    dictionary_column,
    join_words,
    read_columns,
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
INFO_ROWS_AT_ONCE = 1 << 14
SEARCH_INFO_COLUMNS = {
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
Row = tuple[int, int, MoveInfo]  # game, agent, move


class StoredGames(NamedTuple):
    """The games in the table of a run; the moves as players write them, None if not kept.

    The moves are by far the most data, and are read one row group at a time.
    """

    games: Games
    moves: TextColumn | None


def write_games(
    path: Path,
    parts: Iterable[Games],
    repeat: NDArray[np.bool_],
    game: Game,
    agents: Sequence[str],
    openings: Openings,
    provenance: TableMetadata,
    *,
    moves: bool,
) -> None:
    """Write one row per game in schedule order; `parts` are all games, part by part.

    `repeat` marks the duplicates among all games. `moves` asks for a column of moves, which the
    parts must have.
    """
    types = {name: dtype for name, dtype in GAME_SCHEMA.items() if moves or name != "moves"}

    def tables() -> Iterator[Mapping[str, Column]]:
        at = 0
        for part in rechunk_games(parts, CHUNK_ROWS):
            columns = _game_columns(part, at, agents)
            columns["opening_moves"] = _opening_text(game, openings, part.opening)
            columns["repeat"] = repeat[at : at + len(part)]
            if moves:
                assert part.moves is not None
                columns["moves"] = _move_text(game, part.moves, part.plies)
            yield columns
            at += len(part)

    write_columns(path, types, tables(), provenance, ENCODINGS)


def read_games(path: Path) -> StoredGames:
    """Return the games of a table that `write_games` wrote; TableError if it did not."""
    columns = read_columns(path, REPLAYED_COLUMNS)
    moves = TextColumn(path, "moves") if "moves" in column_names(path) else None
    columns["result"] = np.rint(columns["result"] * WIN).astype(np.int8)
    numbers = {name: number for number, name in enumerate(TERMINATIONS)}
    terminations = [numbers.get(name, -1) for name in columns["termination"].tolist()]
    columns["termination"] = np.array(terminations, np.int8)
    return StoredGames(Games(columns, None, {}), moves)


def _game_columns(part: Games, at: int, agents: Sequence[str]) -> dict[str, Column]:
    """Return the columns of games from number `at` on, except texts of moves and `repeat`."""
    names = {name: dictionary_column(part.columns[name], agents) for name in ("first", "second")}
    names["first_mover"] = dictionary_column(first_movers(part), agents)
    plain = ("pair", "leg", "opening", "seed", "game_id", "margin", "plies")
    return (
        names
        | {name: part.columns[name] for name in plain}
        | {
            "game": np.arange(at, at + len(part)),
            "result": part.result / float(WIN),
            "termination": dictionary_column(part.termination, TERMINATIONS),
        }
    )


def _opening_text(game: Game, openings: Openings, places: GameColumn) -> Column:
    """Return the moves of the opening of every game as players write them."""
    distinct, place = np.unique(places, return_inverse=True)
    slots = openings.slots[distinct]
    inside = slots != NO_MOVE
    plies = inside.sum(axis=1, dtype=np.int32)
    return _move_text(game, game.moves_of(slots[inside]), plies).take(place.ravel())


def _move_text(game: Game, moves: NDArray[np.int16], plies: NDArray[np.int32]) -> Column:
    """Return every game as one text, its moves separated by blanks."""
    found = index_move_texts(game, moves, plies)
    return join_words(found.words, found.places, plies)


def write_search_info(
    path: Path, parts: Iterable[Games], names: Sequence[str], provenance: TableMetadata
) -> None:
    """Write one row per move with search information, in the order of the games."""

    def tables() -> Iterator[Mapping[str, Column]]:
        rows = search_info_rows(parts)
        while some := list(islice(rows, INFO_ROWS_AT_ONCE)):
            yield _search_info_columns(some, names)

    write_columns(path, SEARCH_INFO_COLUMNS, tables(), provenance)


def search_info_rows(parts: Iterable[Games]) -> Iterator[Row]:
    """Yield the search information of all games."""
    at = 0
    for games in parts:
        agents = games.first, games.second
        for row, text in sorted(games.search_info.items()):
            for move in decode_search_info(text):
                yield at + row, int(agents[move.side][row]), move
        at += len(games)


def _search_info_columns(rows: Sequence[Row], names: Sequence[str]) -> dict[str, Column]:
    info = [move.info for _, _, move in rows]
    return {
        "game": [game for game, _, _ in rows],
        "ply": [move.ply for _, _, move in rows],
        "agent": dictionary_column(np.array([agent for _, agent, _ in rows], np.int16), names),
        "value": [each.value for each in info],
        "depth": [each.depth for each in info],
        "nodes": [each.nodes for each in info],
        "seconds": [move.nanoseconds / 1e9 for _, _, move in rows],
        "line": [each.line or None for each in info],
        "data": [json.dumps(each.data, ensure_ascii=False) if each.data else None for each in info],
    }
