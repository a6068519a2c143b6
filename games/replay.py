"""Replay a written game as text or as numbers."""

from collections.abc import Sequence
from itertools import pairwise

from games import Game, Position
from games.base.errors import print_error
from games.solving import Budget, SolverSettings, solver_of
from games.solving.solution import MoveValues, beside, cost_words, value_lines, values_back
from games.solving.solver import Allowance

BUILDING = 0.3  # of the seconds may go into a database that is not there


def replay_summary(of: Game, positions: list[Position]) -> dict[str, object]:
    """The game after the last move; a swap is not a ply."""
    last = positions[-1]
    swaps = sum(before.swapped != after.swapped for before, after in pairwise(positions))
    return {
        "game": of.name,
        "over": of.over(last),
        "margin": of.margin(last),
        "score": list(of.score(last)),
        "raw_score": list(of.raw_score(last)),
        "plies": len(positions) - 1 - swaps,
        "mover": of.mover(last),
        "position": of.text(last),
    }


def replay_text(of: Game, positions: list[Position], text: str) -> str:
    """Every board, with the move that led to it."""
    blocks = [of.draw(positions[0])]
    words = of.notation.split(text)
    for ply, (word, (before, after)) in enumerate(zip(words, pairwise(positions), strict=True), 1):
        player = of.mover(before)
        move = of.move_text(before, of.parse_move(before, word))
        again = " and moves again" if of.mover(after) == player and not of.over(after) else ""
        blocks.append(f"{ply}. player {player + 1} plays {move}{again}\n{of.draw(after)}")
    return "\n\n".join([*blocks, verdict(of, positions[-1])])


def replay_text_with_values(
    of: Game, positions: list[Position], text: str, values: Sequence[MoveValues | None]
) -> str:
    """Return every board with the values of its moves, and the loss of each played move."""
    words = of.notation.split(text)
    moves = [of.parse_move(at, word) for at, word in zip(positions, words, strict=False)]
    blocks, known = [], sum(each is not None for each in values)
    for place, position in enumerate(positions):
        board, there = of.draw(position), values[place]
        played = moves[place] if place < len(moves) else None
        if there:
            board = beside(board, value_lines(of, position, there, played))
        blocks.append(board)
        if played is not None:
            lost = cost_words(there, played) if there else ""
            report = f"{place + 1}. player {of.mover(position) + 1} plays {words[place]}"
            blocks.append(f"{report}: {lost}" if lost else report)
    if known < len(values):
        blocks.append(f"values are known for the last {known} of {len(values)} positions")
    return "\n\n".join([*blocks, verdict(of, positions[-1])])


def solve_positions(of: Game, positions: list[Position], seconds: float) -> list[MoveValues | None]:
    """The values of all moves, as far back as the seconds allow."""
    solver = solver_of(of, SolverSettings(database_seconds=seconds * BUILDING), print_error)
    solver.prepare()
    return values_back(solver, positions, Allowance(Budget(seconds=seconds)))


def values_json(of: Game, positions: list[Position], values: Sequence[MoveValues | None]) -> object:
    """The margins by move at each position; null where they are not known."""
    return [
        None if there is None else {of.move_text(at, move): there[move].low for move in there}
        for at, there in zip(positions, values, strict=True)
    ]


def verdict(of: Game, last: Position) -> str:
    """The final score, or who is to move."""
    first, second = of.score(last)
    if not of.over(last):
        return f"not over: player {of.mover(last) + 1} to move, {first}-{second}"
    winner = "tie" if first == second else f"player {1 if first > second else 2} wins"
    raw = of.raw_score(last)
    plain = "" if raw == (first, second) else f" ({raw[0]}-{raw[1]} without the empty squares)"
    return f"over: {winner} {first}-{second}{plain}"
