"""What every move of a position is worth, for whoever plays at the terminal."""

from games import Game, Position
from games.solving import Budget, SolverSettings, solver_of
from games.solving.bounds import Allowance, Bounds
from games.solving.solution import Solution, steps
from games.solving.solver import Solver
from games.solving.valued_lines import beside
from games.terminal import say

SECONDS = 3.0  # of looking, at most, before a move


class Hints:
    """Values of moves, exact or as bounds; what was found out serves the moves that follow."""

    def __init__(self, of: Game, seconds: float = SECONDS) -> None:
        """Nothing is solved yet."""
        self.of, self.seconds = of, seconds
        self.solver: Solver | None = None

    def beside(self, board: str, position: Position) -> str:
        """The drawn board with the value of every move on its right."""
        return board if self.of.over(position) else beside(board, self.lines(position))

    def lines(self, position: Position) -> list[str]:
        """Who wins, and a line a move."""
        known = self.found(position)
        outcome = known.bounds.outcome
        lines = [f"{outcome or 'nobody knows who wins'}: {words(known.bounds)}"]
        for move, bounds in known.moves:
            best = " best" if bounds.exact and bounds == known.bounds else ""
            lines.append(f"{self.of.move_text(position, move):>4} {words(bounds)}{best}")
        return lines

    def found(self, position: Position) -> Solution:
        """As much as is found out in a few seconds."""
        if self.solver is None:
            settings = SolverSettings(database_seconds=self.seconds)
            self.solver = solver_of(self.of, settings, say)
            self.solver.prepare()
        *_, known = steps(self.solver, position, Allowance(Budget(seconds=self.seconds)))
        return known


def words(bounds: Bounds) -> str:
    """`+8`, `-2 to +4`, or `?` where nothing is known."""
    if bounds.exact:
        return f"{bounds.low:+d}"
    if not (bounds.has_low and bounds.has_high):
        return "?"
    return f"{bounds.low:+d} to {bounds.high:+d}"
