"""Solutions as users see them: steps, best lines, values of moves, limits of what is solvable."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from games.core import Game, Position
from games.solving.solver import OUTCOMES, Allowance, Bounds, Solver, sign

# Most beans in play, or empty squares, of a position that was solved within a day.
KALAH, NO_EXTRA_TURN, WHOLE_STATES = 54, 32, 22
OTHELLO = 26
# Most beans or empty squares in positions for which judging 2,000 games takes seconds.
JUDGE_LIMITS = {KALAH: 32, NO_EXTRA_TURN: 20, WHOLE_STATES: 14, OTHELLO: 13}
MoveValues = Mapping[int, Bounds]  # of the side to move, in the order of the board


@dataclass(frozen=True, slots=True)
class Solution:
    """The known bounds of a position and its moves, in board order, with a best line."""

    bounds: Bounds
    moves: tuple[tuple[int, Bounds], ...] = ()
    line: tuple[int, ...] = ()

    @property
    def best(self) -> int | None:
        """Return the lowest of the best moves; None until the values of all moves are known."""
        exact = [move for move, bounds in self.moves if bounds == self.bounds]
        return exact[0] if exact and self.complete else None

    @property
    def complete(self) -> bool:
        """Return whether the margins of the position and of all moves are known."""
        return self.bounds.exact and all(bounds.exact for _, bounds in self.moves)


def board_order(game: Game, position: Position) -> list[int]:
    """Return the legal moves in the order of their printed numbers; a swap comes last."""

    def place(move: int) -> tuple[bool, int]:
        text = game.move_text(position, move)
        return (False, int(text)) if text.isdigit() else (True, move)

    return sorted(game.legal(position), key=place)


def solve_steps(solver: Solver, position: Position, allowance: Allowance) -> Iterator[Solution]:
    """Yield solutions after every slice of the search, until one is complete or the budget ends."""
    game = solver.game
    known = Solution(solver.search.limits(position))
    yield known
    for bounds in solver.narrow(position, allowance):
        known = replace(known, bounds=bounds)
        yield known
    moves = board_order(game, position)
    for place, move in enumerate(moves):
        at_most = Bounds(-known.bounds.high, known.bounds.high)
        for bounds in move_bounds(solver, position, move, allowance, at_most):
            known = replace(known, moves=(*known.moves[:place], (move, bounds)))
            yield known
    if known.complete:
        for line in best_lines(solver, position, known, allowance):
            known = replace(known, line=line)
            yield known


def move_bounds(
    solver: Solver, position: Position, move: int, allowance: Allowance, at_most: Bounds
) -> Iterator[Bounds]:
    """Yield bounds of the mover's margin after a move, which cannot exceed `at_most`."""
    child = solver.game.play(position, move)
    same = child.mover == position.mover
    limits = solver.search.limits(child)
    if same:
        limits = Bounds(limits.low, min(limits.high, at_most.high))
        yield from solver.narrow(child, allowance, limits)
    else:
        limits = Bounds(max(limits.low, -at_most.high), limits.high)
        yield from (bounds.for_opponent() for bounds in solver.narrow(child, allowance, limits))


def best_lines(
    solver: Solver, position: Position, known: Solution, allowance: Allowance
) -> Iterator[tuple[int, ...]]:
    """Yield the best line, one move longer each time; ties go to the lowest move."""
    game, move, margin = solver.game, known.best, known.bounds.low
    line: tuple[int, ...] = ()
    while move is not None:
        line = (*line, move)
        yield line
        child = game.play(position, move)
        margin = margin if child.mover == position.mover else -margin
        position = child
        move = lowest_best_move(solver, position, margin, allowance)


def lowest_best_move(
    solver: Solver, position: Position, margin: int, allowance: Allowance
) -> int | None:
    """Return the lowest move that keeps the margin; None when the game or the budget ends."""
    for move in board_order(solver.game, position):
        reaches = reaches_margin(solver, position, move, margin, allowance)
        if reaches is None:
            return None
        if reaches:
            return move
    return None


def reaches_margin(
    solver: Solver, position: Position, move: int, margin: int, allowance: Allowance
) -> bool | None:
    """Return whether the move reaches at least this margin; None if the budget was too small."""
    child = solver.game.play(position, move)
    if child.mover == position.mover:
        bounds = solver.better_than(child, margin - 1, allowance)
    else:
        bounds = solver.better_than(child, -margin, allowance).for_opponent()
    if bounds.low >= margin:
        return True
    return False if bounds.high < margin else None


def solution_json(
    game: Game, position: Position, known: Solution, seconds: float
) -> dict[str, Any]:
    """Return the solution for JSON: margins of the side to move, null where unknown."""
    return {
        "game": game.name,
        "position": game.text(position),
        "outcome": known.bounds.outcome,
        **margins(known.bounds),
        "moves": [
            {"move": game.move_text(position, move), **margins(bounds)}
            for move, bounds in known.moves
        ],
        "line": move_texts(game, position, known.line),
        "seconds": round(seconds, 3),
    }


def margins(bounds: Bounds) -> dict[str, int | bool | None]:
    """Return the margin, if known, with its bounds."""
    margin = bounds.low if bounds.exact else None
    low = bounds.low if bounds.has_low else None
    high = bounds.high if bounds.has_high else None
    return {"margin": margin, "exact": bounds.exact, "low": low, "high": high}


def move_texts(game: Game, position: Position, moves: tuple[int, ...]) -> list[str]:
    """Return a sequence of moves as written on the board."""
    texts = []
    for move in moves:
        texts.append(game.move_text(position, move))
        position = game.play(position, move)
    return texts


def size_warning(game: Game, position: Position) -> str | None:
    """Return a warning if the position is too large to solve; None if it is not, or unknown."""
    left = remaining_units(game, position)
    if left is None or left <= (most := max_solvable(game)):
        return None
    return (
        f"{game.name}: {left} {unit_name(game)} are too many to solve (the limit is about {most}): "
        "expect bounds, not the value"
    )


def remaining_units(game: Game, position: Position) -> int | None:
    """Return the beans in play or empty squares; None for a user's game."""
    if game.pack == "othello":
        return int(game.rules.cells - sum(game.raw_score(position)))
    if game.pack == "sowing":
        rows = game.plain(position)
        return int(sum(rows.own) + sum(rows.other))
    return None


def unit_name(game: Game) -> str:
    """Return the name of the units of `remaining_units`."""
    return "empty squares" if game.pack == "othello" else "beans in play"


def max_solvable(game: Game) -> int:
    """Return the most beans in play, or empty squares, that can be solved."""
    return OTHELLO if game.pack == "othello" else max_solvable_beans(game)


def max_solvable_beans(game: Game) -> int:
    """Return the most beans in play that can be solved under this game's rules."""
    if game.rules.holes > 7:
        return WHOLE_STATES
    return NO_EXTRA_TURN if game.rules.extra_turn == "no" else KALAH


def default_judge_limit(game: Game) -> int | None:
    """Return the most beans or empty squares for which judging a whole run takes little time.

    The result is None for users' games, whose difficulty is unknown.
    """
    if game.pack not in ("sowing", "othello"):
        return None
    return JUDGE_LIMITS[max_solvable(game)]


def solve_backwards(
    solver: Solver, positions: Sequence[Position], allowance: Allowance
) -> list[MoveValues | None]:
    """Return the values of the moves in each position; None where the budget did not suffice.

    Late positions are solved first: they are the fastest, and their results help earlier ones.
    """
    known: list[MoveValues | None] = [None] * len(positions)
    for place in range(len(positions) - 1, -1, -1):
        position = positions[place]
        values = solver.moves(position, allowance)
        if not all(bounds.exact for bounds in values.values()):
            break
        known[place] = {move: values[move] for move in board_order(solver.game, position)}
    return known


def best_margin(values: MoveValues) -> int:
    """Return the margin of the best move; all values must be exact."""
    return max(bounds.low for bounds in values.values())


def value_lines(
    game: Game, position: Position, values: MoveValues, played: int | None
) -> list[str]:
    """Return one line per move with its value; the best and the played move are marked."""
    best = best_margin(values)
    lines = [f"{OUTCOMES[sign(best)]} {best:+d}"]
    for move, bounds in values.items():
        mark = " best" if bounds.low == best else ""
        mark += " <- played" if move == played else ""
        lines.append(f"{game.move_text(position, move):>4} {bounds.low:+4d}{mark}")
    return lines


def side_by_side(board: str, lines: Sequence[str]) -> str:
    """Return a drawn board with lines of text on its right."""
    left = board.splitlines()
    width = max(map(len, left)) + 4
    rows = max(len(left), len(lines))
    padded = [*left, *[""] * (rows - len(left))], [*lines, *[""] * (rows - len(lines))]
    return "\n".join(f"{a:<{width}}{b}".rstrip() for a, b in zip(*padded, strict=True))


def loss_text(values: MoveValues, played: int) -> str:
    """Describe the loss of a move, such as `loses 12, +8 becomes -4: ...`; empty if it is 0."""
    best, after = best_margin(values), values[played].low
    if after == best:
        return ""
    old, new = OUTCOMES[sign(best)], OUTCOMES[sign(after)]
    words = f"loses {best - after}, {best:+d} becomes {after:+d}"
    if old == new:
        return words
    return f"{words}: a {old} becomes a {new}" + (", lost here" if new == "loss" else "")
