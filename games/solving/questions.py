"""What a search answers: one question of two answers, on which every value rests."""

from typing import Protocol

from games.position import Position
from games.solving.bounds import Bounds

Answer = int | None  # a bound on the margin, on the side that was asked about; None: undecided


class Questions(Protocol):
    """A search of one game with all that it remembers between questions."""

    @property
    def nodes(self) -> int:
        """Positions looked at since it was made."""

    def prepare(self) -> None:
        """Build or open what all questions share; a question does so itself if nobody did."""

    def forget(self) -> None:
        """Empty the table; the database stays."""

    def limits(self, position: Position) -> Bounds:
        """What the final margin of the side to move may be at all."""

    def ask(self, position: Position, bound: int, nodes: int) -> Answer:
        """Whether the final margin of the side to move is at least `bound`.

        An answer of `bound` or more is a lower bound of the margin, a smaller one an upper
        bound; None if `nodes` were not enough. What was found is remembered, so that the
        same question goes on where it was left.
        """
