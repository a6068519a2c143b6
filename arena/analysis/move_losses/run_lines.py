"""The games of a finished run as lines of moves, each distinct line once."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arena.planning.plan import Plan
from arena.storage.parquet import TableError, read_columns
from arena.storage.provenance import file_digest, load_run_file
from arena.storage.run_file import GAMES, NotARunError, games_table_path, load_plan
from games import Game

COLUMNS = ("first", "second", "repeat", "opening_moves")


@dataclass(frozen=True, slots=False)
class RunLines:
    """The games of a run in the order of its table; `lines` has every distinct game once."""

    directory: Path
    plan: Plan
    seats: NDArray[np.int16]  # the agents that moved first and second, a row a game
    repeat: NDArray[np.bool_]
    opening_plies: NDArray[np.int32]
    lines: tuple[str, ...]
    line_of: NDArray[np.int64]  # the place in `lines` of each game

    @cached_property
    def game(self) -> Game:
        """Return the game that was played."""
        return self.plan.game

    @cached_property
    def move_texts(self) -> tuple[tuple[str, ...], ...]:
        """Return the moves of every line as text."""
        return tuple(tuple(self.game.notation.split(line)) for line in self.lines)

    @cached_property
    def digest(self) -> str:
        """Return a digest that changes with the games."""
        return file_digest(self.directory / GAMES)

    @cached_property
    def source(self) -> dict[str, object]:
        """Return the provenance of the judge's tables."""
        stored = load_run_file(self.directory)
        return {
            "experiment": stored.get("experiment"),
            "run": stored.get("digest"),
            "game": self.plan.game_name,
        }


def load_run_lines(directory: Path) -> RunLines:
    """Load the lines of a run; NotARunError names the reason if it cannot be judged."""
    plan, path = load_plan(directory), games_table_path(directory)
    try:
        columns = read_columns(path, COLUMNS, optional=("moves",))
    except TableError as error:
        raise NotARunError(f"{path} cannot be read: {error}") from None
    if "moves" not in columns:
        raise NotARunError(f"{path} has no moves: play it again with keep_moves = true")
    places = {name: place for place, name in enumerate(plan.names)}
    seats = [[places[name] for name in columns[seat].tolist()] for seat in ("first", "second")]
    game, openings = plan.game, columns["opening_moves"].tolist()
    lengths = {text: len(game.notation.split(text)) for text in set(openings)}
    lines: dict[str, int] = {}
    line_of = [lines.setdefault(text, len(lines)) for text in columns["moves"].tolist()]
    return RunLines(
        directory,
        plan,
        np.array(seats, np.int16).reshape(2, -1).T,
        columns["repeat"].astype(np.bool_),
        np.array([lengths[text] for text in openings], np.int32),
        tuple(lines),
        np.array(line_of, np.int64),
    )
