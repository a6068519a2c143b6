"""A position as a user's own bot sees it, in plain Python numbers."""

from dataclasses import dataclass

from games import Game, Position
from games.position import Plain


@dataclass(frozen=True, slots=True)
class View:
    """A position of a game; every property is computed when it is read."""

    game: Game
    position: Position

    @property
    def mover(self) -> int:
        """The player to move: 0 moved first in the game, 1 second."""
        return self.game.mover(self.position)

    @property
    def side(self) -> int:
        """The side of the board to move: 0 South or Black, 1 North or White."""
        return self.position.side

    @property
    def legal(self) -> tuple[int, ...]:
        """The legal moves, ascending."""
        return self.game.legal(self.position)

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

    def play(self, move: int) -> "View":
        """The position after a legal move."""
        return View(self.game, self.game.play(self.position, move))

    def move_text(self, move: int) -> str:
        """The move as it is printed on the board."""
        return self.game.move_text(self.position, move)

    def __str__(self) -> str:
        return self.game.draw(self.position)
