"""The solution of one position, step by step: outcome, margin, every move, the best line."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from games.core import Game
from games.position import Position
from games.solving.bounds import Allowance, Bounds
from games.solving.solver import Solver


@dataclass(frozen=True, slots=True)
class Solution:
    """What is known about the position and its moves, in board order, with a best line."""

    bounds: Bounds
    moves: tuple[tuple[int, Bounds], ...] = ()
    line: tuple[int, ...] = ()

    @property
    def best(self) -> int | None:
        """The lowest of the best moves, once every move is known."""
        exact = [move for move, bounds in self.moves if bounds == self.bounds]
        return exact[0] if exact and self.complete else None

    @property
    def complete(self) -> bool:
        """Whether the margins of the position and of every move are known."""
        return self.bounds.exact and all(bounds.exact for _, bounds in self.moves)


def board_order(of: Game, position: Position) -> list[int]:
    """The legal moves as their numbers ascend on the board; a swap comes last."""

    def place(move: int) -> tuple[bool, int]:
        text = of.move_text(position, move)
        return (False, int(text)) if text.isdigit() else (True, move)

    return sorted(of.legal(position), key=place)


def steps(solver: Solver, position: Position, allowance: Allowance) -> Iterator[Solution]:
    """The solution after every slice of the search, until all is known or the budget ends."""
    of = solver.game
    known = Solution(solver.questions.limits(position))
    yield known
    for bounds in solver.narrowing(position, allowance):
        known = replace(known, bounds=bounds)
        yield known
    moves = board_order(of, position)
    for place, move in enumerate(moves):
        at_most = Bounds(-known.bounds.high, known.bounds.high)
        for bounds in after_move(solver, position, move, allowance, at_most):
            known = replace(known, moves=(*known.moves[:place], (move, bounds)))
            yield known
    if known.complete:
        for line in best_lines(solver, position, known, allowance):
            known = replace(known, line=line)
            yield known


def after_move(
    solver: Solver, position: Position, move: int, allowance: Allowance, at_most: Bounds
) -> Iterator[Bounds]:
    """The margin of the side to move after its move; no move is worth more than the position."""
    child = solver.game.play(position, move)
    same = child.mover == position.mover
    limits = solver.questions.limits(child)
    if same:
        limits = Bounds(limits.low, min(limits.high, at_most.high))
        yield from solver.narrowing(child, allowance, limits)
    else:
        limits = Bounds(max(limits.low, -at_most.high), limits.high)
        yield from (bounds.turned() for bounds in solver.narrowing(child, allowance, limits))


def best_lines(
    solver: Solver, position: Position, known: Solution, allowance: Allowance
) -> Iterator[tuple[int, ...]]:
    """The line of play, one move longer each time: always the lowest best move."""
    of, move, margin = solver.game, known.best, known.bounds.low
    line: tuple[int, ...] = ()
    while move is not None:
        line = (*line, move)
        yield line
        child = of.play(position, move)
        margin = margin if child.mover == position.mover else -margin
        position = child
        move = lowest_best(solver, position, margin, allowance)


def lowest_best(
    solver: Solver, position: Position, margin: int, allowance: Allowance
) -> int | None:
    """The lowest move that keeps the known margin; None when game or budget ends."""
    for move in board_order(solver.game, position):
        worth = is_worth(solver, position, move, margin, allowance)
        if worth is None:
            return None
        if worth:
            return move
    return None


def is_worth(
    solver: Solver, position: Position, move: int, margin: int, allowance: Allowance
) -> bool | None:
    """Whether the move leads to at least this margin; None if the budget ran out first."""
    child = solver.game.play(position, move)
    if child.mover == position.mover:
        found = solver.better_than(child, margin - 1, allowance)
    else:
        found = solver.better_than(child, -margin, allowance).turned()
    if found.low >= margin:
        return True
    return False if found.high < margin else None


def as_json(of: Game, position: Position, known: Solution, seconds: float) -> dict[str, Any]:
    """One object: margins are those of the side to move; null where only bounds are known."""
    return {
        "game": of.name,
        "position": of.text(position),
        "outcome": known.bounds.outcome,
        **margins(known.bounds),
        "moves": [
            {"move": of.move_text(position, move), **margins(bounds)}
            for move, bounds in known.moves
        ],
        "line": written(of, position, known.line),
        "seconds": round(seconds, 3),
    }


def margins(bounds: Bounds) -> dict[str, int | bool | None]:
    """The margin, if known, with its bounds."""
    margin = bounds.low if bounds.exact else None
    low = bounds.low if bounds.has_low else None
    high = bounds.high if bounds.has_high else None
    return {"margin": margin, "exact": bounds.exact, "low": low, "high": high}


def written(of: Game, position: Position, moves: tuple[int, ...]) -> list[str]:
    """The moves as they are written on the board, one after the other."""
    texts = []
    for move in moves:
        texts.append(of.move_text(position, move))
        position = of.play(position, move)
    return texts
