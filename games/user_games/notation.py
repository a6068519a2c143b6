"""Moves and positions of a user's game as text."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from games.base.text import GameError, quote
from games.core import Plain, Position
from games.kernels.family import State
from games.user_games.load import Answer, UserFunction, called

LINE = re.compile(r"\s*([0-9a-f]{1,16}(?: [0-9a-f]{1,16})*), player ([12]) to move\s*")


@dataclass(frozen=True)
class UserNotation:
    """The text forms of one game; `own` are the file's functions, `final` the margin of an end."""

    path: Path
    rules: tuple[int, ...]
    moves: int  # move numbers, a pass apart
    own: Mapping[str, UserFunction]
    restored: Callable[[State], State]
    final: Callable[[State], int]

    def _answer(self, name: str, *arguments: object) -> Answer:
        return called(self.path, self.own[name], self.rules, *arguments)

    def move_text(self, position: Position, move: int) -> str:
        """What the file's `move_text(rules, move)` says, else the number counted from 1."""
        return self._text_of(move)

    def _text_of(self, move: int) -> str:
        if move == self.moves:
            return "pass"
        return str(self._answer("move_text", move)) if "move_text" in self.own else str(move + 1)

    def parse_move(self, position: Position, text: str) -> int | None:
        """The move that is written so, in either case."""
        return self._numbers.get(text.strip().lower())

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        """Moves by their texts, which no position changes; of moves written alike, the first."""
        every = reversed(range(self.moves + 1))
        return {self._text_of(move).lower(): move for move in every}

    def split(self, text: str) -> list[str]:
        """Moves are set apart by blanks or commas."""
        return text.replace(",", " ").split()

    def text(self, position: Position) -> str:
        """What the file's `text(rules, position)` says, else the words of the state."""
        if "text" in self.own:
            return str(self._answer("text", position))
        words = " ".join(f"{int(word):x}" for word in position.state)
        return f"{words}, player {position.mover + 1} to move"

    def parse(self, text: str) -> Position:
        """The position that `text` wrote; the file's `parse(rules, text)` gives (state, mover)."""
        if "text" in self.own and "parse" in self.own:
            state, mover = self._answer("parse", text)
            return Position(self.restored(state), mover)
        found = LINE.fullmatch(text)
        if "text" in self.own or not found or len(found[1].split()) != len(self._fields):
            raise GameError(f"{self.path}: no position of this game is written {quote(text)}")
        words = [int(word, 16) for word in found[1].split()]
        return Position(self.restored(words), int(found[2]) - 1)

    @property
    def _fields(self) -> tuple[str, ...]:
        fields: tuple[str, ...] = self.own["State"]._fields  # type: ignore[attr-defined]
        return fields

    def draw(self, position: Position, names: tuple[str, str] | None) -> str:
        """What the file's `draw(rules, position)` shows, else the position in one line."""
        board = str(self._answer("draw", position)) if "draw" in self.own else self.text(position)
        if names is None:
            return board
        points = self.standing(position)
        return f"{board}\n{names[0]} {points[0]}, {names[1]} {points[1]}"

    def standing(self, position: Position) -> tuple[int, int]:
        """The file's `score(rules, position)`, first player first; else 0 to 0."""
        if "score" not in self.own:
            return 0, 0
        points = self._answer("score", position)
        if not isinstance(points, tuple | list) or len(points) != 2:
            raise GameError(f"{self.path}: score must answer two numbers, got {quote(str(points))}")
        return int(points[0]), int(points[1])

    def score(self, position: Position) -> tuple[int, int]:
        """The points of a finished game; without a `score` of the file one side has the margin."""
        if "score" in self.own:
            return self.standing(position)
        margin = self.final(position.state) * (1 if position.mover == 0 else -1)
        return max(margin, 0), max(-margin, 0)

    def plain(self, position: Position) -> Plain:
        """The words of the state as plain numbers."""
        return tuple(int(word) for word in position.state)
