"""The games of a report: piece by piece, or some of them, never more than that in memory."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.keeping import parquet
from arena.planning.records import GameColumn

NUMBERS = ("pair", "opening", "result", "margin", "plies", "repeat")

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Texts = Callable[[str, Sequence[int]], Sequence[str | None] | None]


class GameColumns(NamedTuple):
    """Some games as columns; agents are places in the report's names, ends places in its words."""

    first: GameColumn
    second: GameColumn
    opening: GameColumn
    pair: GameColumn
    result: GameColumn  # points of agent `first`
    margin: GameColumn
    plies: GameColumn
    ending: GameColumn
    repeat: GameColumn
    mover: GameColumn  # the first mover, to move after the opening; -1: not known

    def at(self, rows: Numbers) -> "GameColumns":
        """Some of these games."""
        return GameColumns(*(column[rows] for column in self))


class PlayedGames(NamedTuple):
    """The games of a report in schedule order, `size` of them.

    `pieces` gives all of them whenever it is called, `texts` a column of texts in some rows, or
    None where it was not kept.
    """

    size: int
    names: tuple[str, ...]
    endings: tuple[str, ...]
    pieces: Callable[[], Iterator[GameColumns]]
    texts: Texts

    def numbered(self) -> Iterator[tuple[int, GameColumns]]:
        """The pieces, each with the row of its first game."""
        at = 0
        for piece in self.pieces():
            yield at, piece
            at += len(piece.result)

    def at(self, rows: Numbers) -> GameColumns:
        """The games in these ascending rows."""
        found = [
            piece.at(
                rows[slice(*np.searchsorted(rows, (start, start + len(piece.result))))] - start
            )
            for start, piece in self.numbered()
        ]
        return _below(found) if found else no_games()

    def openings(self) -> Numbers:
        """The opening of every game."""
        none = np.empty(0, np.int64)
        return np.concatenate([none, *(piece.opening for piece in self.pieces())])

    def forfeited(self, piece: GameColumns) -> Flags:
        """Which games were lost by a fault; a game that is too long is a draw."""
        normal = [place for place, word in enumerate(self.endings) if word == "normal"]
        return np.asarray(~np.isin(piece.ending, normal) & (piece.result != 0.5))


def no_games() -> GameColumns:
    """No games at all."""
    none = np.empty(0, np.int64)
    return GameColumns(none, none, none, none, none / 1.0, none, none, none, none > 0, none)


def games_here(names: Sequence[str], endings: Sequence[str], games: GameColumns) -> PlayedGames:
    """Games that are in memory and kept no texts."""
    whole = (games,) if len(games.result) else ()
    return PlayedGames(
        len(games.result), tuple(names), tuple(endings), lambda: iter(whole), lambda _, __: None
    )


def stored_games(path: Path, names: Sequence[str]) -> PlayedGames:
    """The games of a table, the agents by their places in `names`."""
    endings = tuple(parquet.words_of(path, "termination"))
    agents = dict.fromkeys(("first", "second", "first_mover"), tuple(names))
    words = {**agents, "termination": endings}

    def pieces() -> Iterator[GameColumns]:
        for columns in parquet.read_pieces(path, NUMBERS, words):
            columns["ending"] = columns.pop("termination")
            columns["mover"] = columns.pop("first_mover")
            yield GameColumns(**columns)

    size = parquet.rows_of(path)
    first = tuple(islice(pieces(), 1))  # what cannot be read is said here
    # A page goes through them a dozen times: what is one piece is read once.
    whole = sum(len(piece.result) for piece in first) == size
    return PlayedGames(
        size, tuple(names), endings, (lambda: iter(first)) if whole else pieces,
        lambda name, rows: parquet.read_texts(path, name, rows),
    )  # fmt: skip


def _below(parts: Sequence[GameColumns]) -> GameColumns:
    return GameColumns(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
