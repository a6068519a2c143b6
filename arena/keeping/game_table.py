"""The games of a run as a table that anyone can read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.keeping.arrow_columns import Column, coded, sentences, taken
from arena.keeping.parquet import Provenance, column_names, read_columns, write_columns
from arena.keeping.text_column import TextColumn
from arena.planning.game_pieces import ROWS_AT_ONCE, pieces
from arena.planning.openings import NO_MOVE, Openings
from arena.planning.records import WIN, GameColumn, Games, Termination, first_movers
from games import Game
from games.transcripts import written

WORDS = [how.name.lower() for how in Termination]
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

GAME_COLUMNS = {
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
COMPARED = ("pair", "seed", "game_id", "result", "margin", "plies", "termination")


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
    provenance: Provenance,
    *,
    moves: bool,
) -> None:
    """One row a game in schedule order; `parts` are all games, piece by piece.

    `repeat` is for all of them. `moves` asks for a column of moves, which the parts must keep.
    """
    types = {name: kind for name, kind in GAME_COLUMNS.items() if moves or name != "moves"}

    def tables() -> Iterator[Mapping[str, Column]]:
        at = 0
        for part in pieces(parts, ROWS_AT_ONCE):
            columns = _game_columns(part, at, agents)
            columns["opening_moves"] = _opening_words(of, openings, part.opening)
            columns["repeat"] = repeat[at : at + len(part)]
            if moves:
                assert part.moves is not None  # `moves` says that they are kept
                columns["moves"] = _joined_words(of, part.moves, part.plies)
            yield columns
            at += len(part)

    write_columns(path, types, tables(), provenance, ENCODINGS)


def read_games(path: Path) -> StoredGames:
    """The games of a table that `write_games` wrote; TableError if it did not."""
    columns = read_columns(path, COMPARED)
    moves = TextColumn(path, "moves") if "moves" in column_names(path) else None
    columns["result"] = np.rint(columns["result"] * WIN).astype(np.int8)
    places = {word: place for place, word in enumerate(WORDS)}
    ends = [places.get(word, -1) for word in columns["termination"].tolist()]
    columns["termination"] = np.array(ends, np.int8)
    return StoredGames(Games(columns, None, {}), moves)


def _game_columns(part: Games, at: int, agents: Sequence[str]) -> dict[str, Column]:
    """The columns of `GAME_COLUMNS` from game `at` on, but words of moves, and repeats."""
    named = {name: coded(part.columns[name], agents) for name in ("first", "second")}
    named["first_mover"] = coded(first_movers(part), agents)
    plain = ("pair", "leg", "opening", "seed", "game_id", "margin", "plies")
    return (
        named
        | {name: part.columns[name] for name in plain}
        | {
            "game": np.arange(at, at + len(part)),
            "result": part.result / float(WIN),
            "termination": coded(part.termination, WORDS),
        }
    )


def _opening_words(of: Game, openings: Openings, places: GameColumn) -> Column:
    """The moves of the opening of every game as players write them."""
    met, place = np.unique(places, return_inverse=True)
    slots = openings.slots[met]
    inside = slots != NO_MOVE
    plies = inside.sum(axis=1, dtype=np.int32)
    return taken(_joined_words(of, of.moves_of(slots[inside]), plies), place.ravel())


def _joined_words(of: Game, moves: NDArray[np.int16], plies: NDArray[np.int32]) -> Column:
    """Every game as one text, its moves separated by blanks."""
    found = written(of, moves, plies)
    return sentences(found.words, found.places, plies)
