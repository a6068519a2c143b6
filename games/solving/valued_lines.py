"""The value of every move at every ply of a written game, as far back as time allows."""

from collections.abc import Mapping, Sequence

from games.core import Game
from games.position import Position
from games.solving.bounds import WORDS, Allowance, Bounds, sign
from games.solving.solution import board_order
from games.solving.solver import Solver

MoveValues = Mapping[int, Bounds]  # of the side to move, in the order of the board


def values_back(
    solver: Solver, positions: Sequence[Position], allowance: Allowance
) -> list[MoveValues | None]:
    """The values of the moves in each position, the last first; None where time was over.

    Positions near the end are solved soonest, and what they teach serves those before.
    """
    found: list[MoveValues | None] = [None] * len(positions)
    for place in range(len(positions) - 1, -1, -1):
        position = positions[place]
        values = solver.moves(position, allowance)
        if not all(bounds.exact for bounds in values.values()):
            break
        found[place] = {move: values[move] for move in board_order(solver.game, position)}
    return found


def best_of(values: MoveValues) -> int:
    """The margin of the best move, all of which are exact."""
    return max(bounds.low for bounds in values.values())


def value_lines(of: Game, position: Position, values: MoveValues, played: int | None) -> list[str]:
    """The values for the side to move, a line a move: the best are marked, and the one played."""
    best = best_of(values)
    lines = [f"{WORDS[sign(best)]} {best:+d}"]
    for move, bounds in values.items():
        mark = " best" if bounds.low == best else ""
        mark += " <- played" if move == played else ""
        lines.append(f"{of.move_text(position, move):>4} {bounds.low:+4d}{mark}")
    return lines


def beside(board: str, lines: Sequence[str]) -> str:
    """A drawn board with lines of text on its right."""
    left = board.splitlines()
    width = max(map(len, left)) + 4
    rows = max(len(left), len(lines))
    padded = [*left, *[""] * (rows - len(left))], [*lines, *[""] * (rows - len(lines))]
    return "\n".join(f"{a:<{width}}{b}".rstrip() for a, b in zip(*padded, strict=True))


def cost_words(values: MoveValues, played: int) -> str:
    """What a move lost: `loses 12: a win becomes a loss, lost here`; empty if it lost nothing."""
    best, after = best_of(values), values[played].low
    if after == best:
        return ""
    before, left = WORDS[sign(best)], WORDS[sign(after)]
    words = f"loses {best - after}, {best:+d} becomes {after:+d}"
    if before == left:
        return words
    return f"{words}: a {before} becomes a {left}" + (", lost here" if left == "loss" else "")
