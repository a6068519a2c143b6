"""A position as a user's Python bot sees it."""

from collections.abc import Callable
from functools import cache
from typing import get_type_hints

import numpy as np

from agents.search.bind import feature_names, interpreted_words, part_names
from games import Game, IllegalMove, Position
from games.base.text import did_you_mean, listed
from games.board import NO_NUMBER, Board, PrintedMoves, decode_position, printed_moves
from games.core import Plain
from games.kernels.board_layout import LEFT
from games.kernels.jit import unbound
from games.kernels.printed_numbers import PrintedNumber
from games.parts import board_words

Sides = tuple[PrintedMoves, PrintedMoves]
Word = Callable[..., object]
NOTHING_NOTED: dict[str, object] = {}


def word_names(of: Game) -> tuple[str, ...]:
    """The words that a view of this game answers to."""
    return (*board_words(of.package), *feature_names(of.family_name))


def asked_word(of: Game, name: str, position: Position, numbers: Sides) -> Word:
    """A word about this position, in the numbers that its mover sees on the board."""
    run = interpreted_words(of.family_name)[name]
    hints = printed_arguments(of.family_name, name)
    mine = numbers[position.side]

    def asked(*arguments: int) -> object:
        given = [
            south(of, name, mine, numbers[0], each) if printed else each
            for each, printed in zip(arguments, hints[:-1], strict=False)
        ]
        answer = run(of.context, position.state, *given, *arguments[len(given) :])
        if not hints[-1]:
            return bool(answer) if isinstance(answer, bool | np.bool_) else int(answer)
        return seen(mine, numbers[0], int(answer))

    return asked


def turned_position(of: Game, position: Position) -> Position:
    """The same board with the other side to move."""
    state = unbound(of.family.turned)(position.state)
    return Position(state, 1 - position.mover, position.swapped)


def south(of: Game, name: str, mine: PrintedMoves, souths: PrintedMoves, number: int) -> int:
    """The number that South's seat shows where the mover sees `number`; IndexError if nothing."""
    slot = mine.slot.get(number)
    if slot is None or slot not in souths.number:
        there = sorted(each for each in mine.slot if each != NO_NUMBER)
        raise IndexError(f"{name}: {of} has no {number} here; it has {listed(there)}")
    return souths.number[slot]


def seen(mine: PrintedMoves, souths: PrintedMoves, number: int) -> int:
    """The number that the mover sees where South's seat shows `number`; below 0 as it is."""
    return mine.number[souths.slot[number]] if number >= 0 else number


@cache
def printed_arguments(family_name: str, name: str) -> tuple[bool, ...]:
    """Which arguments of a word stand on the board, and at the end whether its answer does."""
    template = part_names(family_name, "heuristic_functions").get(name)
    if template is None or name in feature_names(family_name):
        return (False,)
    hints = get_type_hints(unbound(template), include_extras=True)
    kinds = [hints[each] == PrintedNumber for each in hints if each not in ("rules", "position")]
    return tuple(kinds)


class View:
    """A position of a game; every property is computed when it is read.

    Moves are the numbers printed on the board.
    """

    __slots__ = ("_fields", "_noted", "_numbers", "_position", "_words", "game")
    _fields: tuple[int, ...]  # where its words, as a board has them, become a state
    _words: list[int]
    _noted: dict[str, object]  # what the bot noted of its move

    def __init__(
        self, game: Game, position: Position | None = None, numbers: Sides | None = None
    ) -> None:
        """`numbers` are those of the game, where they are known already."""
        self.game = game
        self._position = position
        self._numbers = numbers or printed_moves(game)

    @classmethod
    def of_board(cls, board: Board, numbers: Sides) -> "View":
        """What stands on the board now."""
        view = cls(board.game, None, numbers)
        view._fields, view._words = board.fields, board.words.tolist()
        return view

    @property
    def position(self) -> Position:
        """The position as agents of ours have it."""
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
        """The legal moves as numbers on the board, in the order of the mover's own row."""
        number = self._numbers[self.side].number
        slots = (self.game.slots_of(move) for move in self.game.legal(self.position))
        return tuple(number[slot] for slot in slots if slot in number)

    @property
    def seconds(self) -> float | None:
        """How long it may think about this move; None for a view that it made itself."""
        words = getattr(self, "_words", None)
        return words[LEFT] / 1e9 if words and words[LEFT] else None

    @property
    def over(self) -> bool:
        """Whether the game is finished."""
        return self.game.over(self.position)

    @property
    def margin(self) -> int:
        """The score of the player to move minus the other's, as it stands."""
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
        """What was noted so far with `data`."""
        return getattr(self, "_noted", NOTHING_NOTED)

    def turned(self) -> "View":
        """The same board with the other side to move."""
        # loads Numba

        return View(self.game, turned_position(self.game, self.position), self._numbers)

    def __getattr__(self, name: str) -> Callable[..., object]:
        """A word of the game about this position, such as `view.hole(3)`."""
        if name.startswith("_"):
            raise AttributeError(name)
        # loads Numba

        if name not in (names := word_names(self.game)):
            near = did_you_mean(name, [*dir(View), *names])
            raise AttributeError(f"a view of {self.game} has no {name}{near}")
        return asked_word(self.game, name, self.position, self._numbers)

    def play(self, move: int) -> "View":
        """The position after a legal move."""
        return View(self.game, self.game.play(self.position, self._move(move)), self._numbers)

    def move_text(self, move: int) -> str:
        """The move as it is printed on the board."""
        return self.game.move_text(self.position, self._move(move))

    def _move(self, number: int) -> int:
        """The move of our own that the number on the board means."""
        slot = self._numbers[self.side].slot.get(number)
        move = None if slot is None else self.game.moves_of(slot)
        if move not in self.game.legal(self.position):
            legal = listed(self.legal)
            raise IllegalMove(f"{self.game}: move {number} is not legal here; legal: {legal}")
        return move

    def __str__(self) -> str:
        return self.game.draw(self.position)
