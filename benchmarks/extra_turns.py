"""Count how often an extra turn is not the best move: python -m benchmarks.extra_turns.

Without arguments it counts all positions of small boards, by exact values. Given the directory of
a run, it counts the positions near the end of its games. docs/perfect.md has the results.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from arena.analysis.move_losses.run_lines import load_run_lines
from games import Game, Position, game
from games.solving import solver_of
from games.solving.solution import remaining_units
from games.solving.solver import Solver, sign

BOARDS = ("kalah(3,2)", "kalah(3,3)", "kalah(4,2)", "kalah(5,1)")
GAMES, MOST_BEANS = 300, 28  # of a run


class ExtraTurnCounts(NamedTuple):
    """Positions with an extra turn and another move, and those where the extra turn is worse.

    Worse: the best extra turn is worth less than the best other move, or has a worse result.
    """

    choices: int
    worse: int
    result_worse: int


def reachable_positions(of: Game) -> Iterator[Position]:
    """Yield every reachable position that is not over, each once."""
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
        level = following


def endgame_positions(of: Game, lines: Iterable[str]) -> Iterator[Position]:
    """Yield the positions of games with few beans in play, each once."""
    seen: set[Position] = set()
    for line in lines:
        for position in of.replay(line):
            if (remaining_units(of, position) or 0) <= MOST_BEANS and position not in seen:
                seen.add(position)
                yield position


def count_extra_turns(solver: Solver, positions: Iterable[Position]) -> ExtraTurnCounts:
    """Count the positions with a choice between an extra turn and another move."""
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
    return ExtraTurnCounts(choices, worse, result_worse)


def moves_by_turn(of: Game, position: Position) -> tuple[list[int], list[int]]:
    """Return the moves that end the turn, and those that give an extra turn."""
    kinds: tuple[list[int], list[int]] = [], []
    for move in of.legal(position):
        child = of.play(position, move)
        extra_turn = child.mover == position.mover and not of.over(child)
        kinds[extra_turn].append(move)
    return kinds


def main(names: list[str]) -> None:
    """Print a row of a Markdown table for each board or run."""
    print("| board | positions with a choice | margin worse | result worse |\n|---|---|---|---|")
    for name in names or BOARDS:
        if Path(name).is_dir():
            run = load_run_lines(Path(name))
            of, positions = run.game, endgame_positions(run.game, run.lines[:GAMES])
        else:
            of = game(name)
            positions = reachable_positions(of)
        found = count_extra_turns(solver_of(of), positions)
        shares = (f"{part / max(1, found.choices):.1%}" for part in found[1:])
        print(f"| `{name}` | {found.choices:,} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
