"""Write whole games as move texts, fast enough for all games of a run."""

import os
import shlex
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from games import Game, GameError, Position
from games.core import family_drivers
from games.kernels.context import PASS


class MoveTexts(NamedTuple):
    """Consecutive moves as indices into a short list of words."""

    places: NDArray[np.int16]
    words: list[str]


def index_move_texts(game: Game, moves: NDArray[np.int16], plies: NDArray[np.int32]) -> MoveTexts:
    """Return the move texts of consecutive games, whose lengths are `plies`.

    Games are replayed only if the text of a move depends on the side of the board.
    """
    by_side = move_texts_by_side(game)
    if by_side[0] == by_side[1]:
        return MoveTexts(moves, by_side[0])
    sides = np.empty(len(moves), np.int16)
    no_slot = PASS - 1
    swap = no_slot if game.swap_move is None else game.slots_of(game.swap_move)
    family_drivers(game.family_name).sides_moving(
        game.context,
        game.start().state,
        swap,
        game.slots_of(moves),
        np.ascontiguousarray(plies),
        sides,
    )
    return MoveTexts(moves + sides * np.int16(len(by_side[0])), by_side[0] + by_side[1])


def game_lines(game: Game, moves: NDArray[np.int16], plies: NDArray[np.int32]) -> list[str]:
    """Return every game as one line of moves."""
    texts = index_move_texts(game, moves, plies)
    words = [texts.words[place] for place in texts.places.tolist()]
    ends = np.cumsum(plies).tolist()
    return [" ".join(words[begin:stop]) for begin, stop in zip([0, *ends[:-1]], ends, strict=True)]


def move_texts_by_side(game: Game) -> tuple[list[str], list[str]]:
    """Return the text of each move number for both sides of the board."""
    count = len(game.slots) + (game.pass_move is not None)
    state = game.start().state
    south, north = (
        [game.move_text(Position(state, side), move) for move in range(count)] for side in (0, 1)
    )
    return south, north


def move_texts(game: Game, moves: Sequence[int]) -> list[str]:
    """Return the moves of one game as words."""
    texts = index_move_texts(game, np.array(moves, np.int16), np.array([len(moves)], np.int32))
    return [texts.words[place] for place in texts.places.tolist()]


def replay_command(game: Game, moves: Sequence[int], start: Position | None = None) -> str:
    """Return the command that replays a game, to run in the current directory."""
    return replay_command_for_line(game, game.write(moves, start), start)


def replay_command_for_line(game: Game, line: str, start: Position | None = None) -> str:
    """Return the command that replays a written game, to run in the current directory."""
    command = f'pitflip game {_in_quotes(_name_from_here(game))} replay "{line}"'
    if start is None or start == game.start():
        return command
    return f"{command} --start {_in_quotes(game.text(start))}"


def _name_from_here(game: Game) -> str:
    """Return the game's name, with the path of a user's file from the working directory."""
    if game.source is None:
        return game.name
    return f"{os.path.relpath(game.source)}:{game.name.rpartition('.py:')[2]}"


def _in_quotes(word: str) -> str:
    return shlex.quote(word) if set(word) & set('"$`\\!') else f'"{word}"'


def parse_position_or_moves(game: Game, text: str) -> Position:
    """Return the position that a text describes, or that its moves reach from the start."""
    words = game.notation.split(text)
    if not words:
        return game.start()
    try:
        return game.parse(text)
    except GameError:
        if game.notation.parse_move(game.start(), words[0]) is None and not words[0].isdigit():
            raise
    return game.replay(text)[-1]
