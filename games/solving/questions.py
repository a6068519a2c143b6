"""The yes-or-no question that a search answers, from which every value is found."""

from typing import Protocol

from games.position import Position
from games.solving.bounds import Bounds

Answer = int | None  # a bound on the margin, on the side that was asked about; None: undecided


class Questions(Protocol):
    """A search of one game, with everything it remembers between questions."""

    @property
    def nodes(self) -> int:
        """Positions searched since it was made."""

    def prepare(self) -> None:
        """Build or open what all questions share; otherwise the first question does so."""

    def forget(self) -> None:
        """Empty the table; the database stays."""

    def limits(self, position: Position) -> Bounds:
        """Bounds that hold for any final margin of the side to move."""

    def ask(self, position: Position, bound: int, nodes: int) -> Answer:
        """Whether the final margin of the side to move is at least `bound`.

        An answer of `bound` or more is a lower bound of the margin, a smaller one an upper
        bound; None if `nodes` were not enough. What was found is remembered, so that the
        same question goes on where it was left.
        """
