"""A position as a user's Python bot sees it."""

from collections.abc import Callable
from functools import cache
from typing import get_type_hints

import numpy as np

from agents.search.bind import feature_names, part_functions, plain_heuristics
from games import Game, IllegalMove, Position
from games.base.text import did_you_mean, join_names
from games.board import NO_NUMBER, Board, PrintedMoves, board_numbers, decode_position
from games.core import Plain
from games.kernels.context import LEFT
from games.kernels.jit import python_function
from games.parts import PrintedNumber, heuristic_function_names

Sides = tuple[PrintedMoves, PrintedMoves]
Heuristic = Callable[..., object]
NO_DATA: dict[str, object] = {}


def heuristic_names(game: Game) -> tuple[str, ...]:
    """Return the names of the heuristic functions and features of this game."""
    return (*heuristic_function_names(game.package), *feature_names(game.family_name))


def bind_heuristic(game: Game, name: str, position: Position, numbers: Sides) -> Heuristic:
    """Return a heuristic function of this position; holes have the mover's numbers."""
    run = plain_heuristics(game.family_name)[name]
    hints = board_number_arguments(game.family_name, name)
    own = numbers[position.side]

    def heuristic(*arguments: int) -> object:
        given = [
            south_number(game, name, own, numbers[0], argument) if printed else argument
            for argument, printed in zip(arguments, hints[:-1], strict=False)
        ]
        answer = run(game.context, position.state, *given, *arguments[len(given) :])
        if not hints[-1]:
            return bool(answer) if isinstance(answer, bool | np.bool_) else int(answer)
        return mover_number(own, numbers[0], int(answer))

    return heuristic


def flip_position(game: Game, position: Position) -> Position:
    """Return the same board with the other side to move."""
    state = python_function(game.family.turned)(position.state)
    return Position(state, 1 - position.mover, position.swapped)


def south_number(game: Game, name: str, own: PrintedMoves, south: PrintedMoves, number: int) -> int:
    """Return South's number for the hole that has this number for the mover; IndexError if none."""
    slot = own.slot.get(number)
    if slot is None or slot not in south.number:
        numbers = sorted(known for known in own.slot if known != NO_NUMBER)
        raise IndexError(f"{name}: {game} has no {number} here; it has {join_names(numbers)}")
    return south.number[slot]


def mover_number(own: PrintedMoves, south: PrintedMoves, number: int) -> int:
    """Return the mover's number for the hole that has this number for South, if not negative."""
    return own.number[south.slot[number]] if number >= 0 else number


@cache
def board_number_arguments(family_name: str, name: str) -> tuple[bool, ...]:
    """Return for each argument, and last for the result, whether it is a number on the board."""
    template = part_functions(family_name, "heuristic_functions").get(name)
    if template is None or name in feature_names(family_name):
        return (False,)
    hints = get_type_hints(python_function(template), include_extras=True)
    return tuple(
        hint == PrintedNumber for name, hint in hints.items() if name not in ("rules", "position")
    )


class View:
    """A position of a game; every property is computed when it is read.

    Moves are the numbers printed on the board; the caller may pass them as `numbers`.
    """

    __slots__ = ("_fields", "_noted", "_numbers", "_position", "_words", "game")
    _fields: tuple[int, ...]  # the number of words of each field of the state
    _words: list[int]
    _noted: dict[str, object]  # the notes of the bot by `data`

    def __init__(
        self, game: Game, position: Position | None = None, numbers: Sides | None = None
    ) -> None:
        self.game = game
        self._position = position
        self._numbers = numbers or board_numbers(game)

    @classmethod
    def of_board(cls, board: Board, numbers: Sides) -> "View":
        """Return a view of the current board."""
        view = cls(board.game, None, numbers)
        view._fields, view._words = board.fields, board.words.tolist()
        return view

    @property
    def position(self) -> Position:
        """The position as built-in agents see it."""
        if self._position is None:
            self._position = decode_position(self.game, self._fields, self._words)
        return self._position

    @property
    def mover(self) -> int:
        """The player to move: 0 moved first in the game, 1 second."""
        return self.position.mover

    @property
    def side(self) -> int:
        """The side of the board to move: 0 South or Black, 1 North or White."""
        return self.position.side

    @property
    def legal(self) -> tuple[int, ...]:
        """The legal moves as numbers on the board, in the order of the mover's row."""
        number = self._numbers[self.side].number
        slots = (self.game.slots_of(move) for move in self.game.legal(self.position))
        return tuple(number[slot] for slot in slots if slot in number)

    @property
    def seconds(self) -> float | None:
        """The time limit of this move in seconds; None for a view created by the bot."""
        words = getattr(self, "_words", None)
        return words[LEFT] / 1e9 if words and words[LEFT] else None

    @property
    def over(self) -> bool:
        """True if the game is finished."""
        return self.game.over(self.position)

    @property
    def margin(self) -> int:
        """The current score of the player to move minus the other's."""
        margin = self.game.margin(self.position)
        return margin if self.mover == 0 else -margin

    @property
    def text(self) -> str:
        """The position in one line."""
        return self.game.text(self.position)

    @property
    def rows(self) -> Plain:
        """Sowing games: own, own_pot, other, other_pot, rows in their owner's sowing order.

        Othello: own and other, sets of squares numbered row by row.
        """
        return self.game.plain(self.position)

    def data(self, name: str, value: object) -> None:
        """Note something about the move, for `thoughts.parquet` and the page of the run."""
        self._noted = {**self.noted, str(name): value}

    @property
    def noted(self) -> dict[str, object]:
        """The data noted so far."""
        return getattr(self, "_noted", NO_DATA)

    def turned(self) -> "View":
        """Return the same board with the other side to move."""
        return View(self.game, flip_position(self.game, self.position), self._numbers)

    def __getattr__(self, name: str) -> Callable[..., object]:
        """Return a heuristic function of the game for this position, such as `view.hole(3)`."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in (names := heuristic_names(self.game)):
            near = did_you_mean(name, [*dir(View), *names])
            raise AttributeError(f"a view of {self.game} has no {name}{near}")
        return bind_heuristic(self.game, name, self.position, self._numbers)

    def play(self, move: int) -> "View":
        """Return the position after a legal move."""
        return View(self.game, self.game.play(self.position, self._move(move)), self._numbers)

    def move_text(self, move: int) -> str:
        """Return the move as it is printed on the board."""
        return self.game.move_text(self.position, self._move(move))

    def _move(self, number: int) -> int:
        slot = self._numbers[self.side].slot.get(number)
        move = None if slot is None else self.game.moves_of(slot)
        if move not in self.game.legal(self.position):
            legal = join_names(self.legal)
            raise IllegalMove(f"{self.game}: move {number} is not legal here; legal: {legal}")
        return move

    def __str__(self) -> str:
        return self.game.draw(self.position)
