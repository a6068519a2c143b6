"""Whole games as players write them, fast enough for every game of a run."""

import os
import shlex
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from games import Game, Position
from games.core import kernels
from games.kernels.context import PASS


class Written(NamedTuple):
    """Moves, one after another, as places in a short list of words."""

    places: NDArray[np.int16]
    words: list[str]


def index_move_texts(of: Game, moves: NDArray[np.int16], plies: NDArray[np.int32]) -> Written:
    """The moves of games that follow one another, `plies` long, as words.

    At most, the way a move is written depends on the side of the board; only then are the
    games played again.
    """
    by_side = move_texts_by_side(of)
    if by_side[0] == by_side[1]:
        return Written(moves, by_side[0])
    sides = np.empty(len(moves), np.int16)
    no_slot = PASS - 1
    swap = no_slot if of.swap_move is None else of.slots_of(of.swap_move)
    kernels(of.family_name).sides_moving(
        of.context, of.start().state, swap, of.slots_of(moves), np.ascontiguousarray(plies), sides
    )
    return Written(moves + sides * np.int16(len(by_side[0])), by_side[0] + by_side[1])


def game_lines(of: Game, moves: NDArray[np.int16], plies: NDArray[np.int32]) -> list[str]:
    """Every game as one line of moves."""
    texts = index_move_texts(of, moves, plies)
    words = [texts.words[place] for place in texts.places.tolist()]
    ends = np.cumsum(plies).tolist()
    return [" ".join(words[begin:stop]) for begin, stop in zip([0, *ends[:-1]], ends, strict=True)]


def move_texts_by_side(of: Game) -> tuple[list[str], list[str]]:
    """How each move number is written, for either side of the board."""
    count = len(of.slots) + (of.pass_move is not None)
    state = of.start().state
    south, north = (
        [of.move_text(Position(state, side), move) for move in range(count)] for side in (0, 1)
    )
    return south, north


def move_texts(of: Game, moves: Sequence[int]) -> list[str]:
    """The moves of one game, as words."""
    found = index_move_texts(of, np.array(moves, np.int16), np.array([len(moves)], np.int32))
    return [found.words[place] for place in found.places.tolist()]


def replay_command(of: Game, moves: Sequence[int], start: Position | None = None) -> str:
    """The command that shows a game move by move, run from the current directory."""
    return replay_command_for_line(of, of.write(moves, start), start)


def replay_command_for_line(of: Game, line: str, start: Position | None = None) -> str:
    """The command that shows a written game, run from the current directory."""
    command = f'pitflip game {_in_quotes(_name_from_here(of))} replay "{line}"'
    if start is None or start == of.start():
        return command
    return f"{command} --start {_in_quotes(of.text(start))}"


def _name_from_here(of: Game) -> str:
    """The game's name; a user's file is named as seen from the working directory."""
    if of.source is None:
        return of.name
    return f"{os.path.relpath(of.source)}:{of.name.rpartition('.py:')[2]}"


def _in_quotes(word: str) -> str:
    return shlex.quote(word) if set(word) & set('"$`\\!') else f'"{word}"'
