"""Moves and positions of a user's game as text."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from games.base.text import GameError, quote
from games.core import Notation, Plain, Position
from games.kernels.family import State
from games.user_games.load import Answer, UserFunction, call_user_function

LINE = re.compile(r"\s*([0-9a-f]{1,16}(?: [0-9a-f]{1,16})*), player ([12]) to move\s*")


@dataclass(frozen=True)
class UserNotation(Notation):
    """The text forms of one game; `own` are the file's functions, `final` scores a final state."""

    path: Path
    rules: tuple[int, ...]
    moves: int  # move numbers without a pass
    own: Mapping[str, UserFunction]
    from_words: Callable[[State], State]
    final: Callable[[State], int]

    def _answer(self, name: str, *arguments: object) -> Answer:
        return call_user_function(self.path, self.own[name], self.rules, *arguments)

    def move_text(self, position: Position, move: int) -> str:
        """Return the file's `move_text(rules, move)`, or the move number counted from 1."""
        return self._text_of(move)

    def _text_of(self, move: int) -> str:
        if move == self.moves:
            return "pass"
        return str(self._answer("move_text", move)) if "move_text" in self.own else str(move + 1)

    def parse_move(self, position: Position, text: str) -> int | None:
        """Return the move of a text, in upper or lower case."""
        return self._numbers.get(text.strip().lower())

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        """Return the moves by text, the same in all positions; of equal texts the first counts."""
        moves = reversed(range(self.moves + 1))
        return {self._text_of(move).lower(): move for move in moves}

    def split(self, text: str) -> list[str]:
        """Split moves at spaces or commas."""
        return text.replace(",", " ").split()

    def text(self, position: Position) -> str:
        """Return the file's `text(rules, position)`, or the words of the state."""
        if "text" in self.own:
            return str(self._answer("text", position))
        words = " ".join(f"{int(word):x}" for word in position.state)
        return f"{words}, player {position.mover + 1} to move"

    def parse(self, text: str) -> Position:
        """Return the position of a text; the file's `parse(rules, text)` returns (state, mover)."""
        if "text" in self.own and "parse" in self.own:
            state, mover = self._answer("parse", text)
            return Position(self.from_words(state), mover)
        found = LINE.fullmatch(text)
        if "text" in self.own or not found or len(found[1].split()) != len(self._fields):
            raise GameError(f"{self.path}: {quote(text)} is not a position of this game")
        words = [int(word, 16) for word in found[1].split()]
        return Position(self.from_words(words), int(found[2]) - 1)

    @property
    def _fields(self) -> tuple[str, ...]:
        fields: tuple[str, ...] = self.own["State"]._fields  # type: ignore[attr-defined]
        return fields

    def draw(self, position: Position, names: tuple[str, str] | None) -> str:
        """Return the file's `draw(rules, position)`, or the position in one line."""
        board = str(self._answer("draw", position)) if "draw" in self.own else self.text(position)
        if names is None:
            return board
        points = self.current_score(position)
        return f"{board}\n{names[0]} {points[0]}, {names[1]} {points[1]}"

    def current_score(self, position: Position) -> tuple[int, int]:
        """Return the file's `score(rules, position)`, first player first; or 0 to 0."""
        if "score" not in self.own:
            return 0, 0
        points = self._answer("score", position)
        if not isinstance(points, tuple | list) or len(points) != 2:
            raise GameError(f"{self.path}: score must return two numbers, got {quote(str(points))}")
        return int(points[0]), int(points[1])

    def score(self, position: Position) -> tuple[int, int]:
        """Return the score of a finished game; without `score` in the file, from the margin."""
        if "score" in self.own:
            return self.current_score(position)
        margin = self.final(position.state) * (1 if position.mover == 0 else -1)
        return max(margin, 0), max(-margin, 0)

    def plain(self, position: Position) -> Plain:
        """Return the words of the state as plain numbers."""
        return tuple(int(word) for word in position.state)
