"""Solutions for people: steps, best lines, values of moves, feasibility."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from games.core import Game, Position
from games.solving.solver import WORDS, Allowance, Bounds, Solver, sign

# Beans in play, or empty squares, beyond which no position was solved within a day.
KALAH, NO_EXTRA_TURN, WHOLE_STATES = 54, 32, 22
OTHELLO = 26
# The most beans or empty squares at which 2,000 games are judged within seconds.
JUDGED = {KALAH: 32, NO_EXTRA_TURN: 20, WHOLE_STATES: 14, OTHELLO: 13}
MoveValues = Mapping[int, Bounds]  # of the side to move, in the order of the board


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


def hopeless(of: Game, position: Position) -> str | None:
    """A warning about a position that is too large; None if it is not, or if that is unknown."""
    left = still_open(of, position)
    if left is None or left <= (most := most_solved(of)):
        return None
    return (
        f"{of.name}: {left} {what_is_open(of)} are hopeless (about {most} can be solved): "
        "expect bounds, not the value"
    )


def still_open(of: Game, position: Position) -> int | None:
    """Beans in play, or empty squares; None for a game whose difficulty is unknown."""
    if of.pack == "othello":
        return int(of.rules.cells - sum(of.raw_score(position)))
    if of.pack == "sowing":
        rows = of.plain(position)
        return int(sum(rows.own) + sum(rows.other))
    return None


def what_is_open(of: Game) -> str:
    """What `still_open` counts."""
    return "empty squares" if of.pack == "othello" else "beans in play"


def most_solved(of: Game) -> int:
    """The most beans in play, or empty squares, that can be solved."""
    return OTHELLO if of.pack == "othello" else most_beans(of)


def most_beans(of: Game) -> int:
    """The most beans in play that can be solved under this game's rules."""
    if of.rules.holes > 7:
        return WHOLE_STATES
    return NO_EXTRA_TURN if of.rules.extra_turn == "no" else KALAH


def usual_last(of: Game) -> int | None:
    """How many beans in play, or empty squares, whole runs are judged from in little time.

    None where nobody knows what makes a position hard.
    """
    if of.pack not in ("sowing", "othello"):
        return None
    return JUDGED[most_solved(of)]


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
