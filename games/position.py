"""A position of a game as everyone holds it, with the ways in which people write it."""

from typing import Any, NamedTuple, Protocol, TypeAlias

# A position in plain Python numbers; every notation has a form of its own.
Plain: TypeAlias = Any


class Position(NamedTuple):
    """A state as its mover sees it, the mover, and whether the players have swapped sides."""

    state: Any  # a family's named tuple
    mover: int
    swapped: bool = False

    @property
    def side(self) -> int:
        """The side of the board to move: 0 South or Black, 1 North or White."""
        return self.mover ^ self.swapped


class Notation(Protocol):
    """How people write the moves and positions of a game."""

    def move_text(self, position: Position, move: int) -> str:
        """The move as it is printed on the board."""

    def parse_move(self, position: Position, text: str) -> int | None:
        """The move that `text` means, legal or not; `None` if it means none."""

    def split(self, text: str) -> list[str]:
        """The moves of a written game, one by one."""

    def text(self, position: Position) -> str:
        """The position in one line that `parse` reads back."""

    def parse(self, text: str) -> Position:
        """The position written in `text`; a GameError says what is wrong with it."""

    def draw(self, position: Position, names: tuple[str, str] | None) -> str:
        """The board as people draw it, with the names of the first and second player."""

    def standing(self, position: Position) -> tuple[int, int]:
        """The beans in the pots, or discs on the board, of the first and the second player."""

    def score(self, position: Position) -> tuple[int, int]:
        """The reported score of a finished game."""

    def plain(self, position: Position) -> Plain:
        """The position in plain Python numbers, the mover's first."""
