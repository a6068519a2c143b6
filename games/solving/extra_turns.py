"""Is an extra turn always best? Counted over positions in which one may choose."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from games.core import Game, Position
from games.solving.solver import Solver, sign


class ExtraTurns(NamedTuple):
    """Positions with an extra turn and another move: how many, and in how many of them the best
    extra turn is worth less than the best other move, or leads to a worse result.
    """

    choices: int
    worse: int
    result_worse: int


class TooMany(ValueError):  # noqa: N818  # an answer, not a fault
    """There are more positions than are walked."""


def reachable(of: Game, most: int) -> Iterator[Position]:
    """Every position that is not over, each once; TooMany if there are more than `most`."""
    level, seen = [of.start()], {of.start()}
    while level:
        following = []
        for position in level:
            if legal := of.legal(position):
                yield position
            for move in legal:
                child = of.play(position, move)
                if child not in seen:
                    seen.add(child)
                    following.append(child)
        if len(seen) > most:
            raise TooMany(f"{of.name} has more than {most:,} positions")
        level = following


def extra_turns(solver: Solver, positions: Iterable[Position]) -> ExtraTurns:
    """Count the choices among the positions."""
    choices = worse = result_worse = 0
    for position in positions:
        kinds = moves_by_turn(solver.game, position)
        if not all(kinds):
            continue
        values = {move: bounds.low for move, bounds in solver.moves(position).items()}
        other, extra = (max(values[move] for move in moves) for moves in kinds)
        choices += 1
        worse += extra < other
        result_worse += sign(extra) < sign(other)
    return ExtraTurns(choices, worse, result_worse)


def moves_by_turn(of: Game, position: Position) -> tuple[list[int], list[int]]:
    """The moves that end the turn, and those after which the mover goes on."""
    kinds: tuple[list[int], list[int]] = [], []
    for move in of.legal(position):
        child = of.play(position, move)
        goes_on = child.mover == position.mover and not of.over(child)
        kinds[goes_on].append(move)
    return kinds
