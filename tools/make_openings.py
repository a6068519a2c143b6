"""Find even openings by solving random ones: python -m tools.make_openings FILE [COUNT].

COUNT 1000 reproduces arena/planning/openings/solved/kalah_6_4_plies_6.csv in about an hour.
"""

import sys
from pathlib import Path

from arena.analysis.checks.winnable import SolverThreads
from arena.planning.openings.openings import opening_moves, position_after
from arena.planning.openings.random import random_openings
from games import Game, game
from games.base.errors import print_error
from games.base.files import write_text
from games.solving import SolverSettings
from games.solving.solution import remaining_units
from games.solving.solver import Bounds, Solver

SEED, WITHIN = 2026, 2  # seed of the random moves, largest margin
PORTION, PER_TABLE = 256, 32  # openings per batch; similar openings that share a table
Line = tuple[int, ...]


def even_openings(of: Game, plies: int, count: int, most_open: int) -> list[tuple[str, int]]:
    """Return the first `count` even openings, with the margin of side 0.

    Openings with more than `most_open` beans in play are skipped: they take too long to solve.
    """

    def solve(solver: Solver, lines: list[Line]) -> list[tuple[Line, int]]:
        margins = [(line, even_margin(solver, of, line)) for line in lines]
        return [(line, margin) for line, margin in margins if margin is not None]

    threads, found, done = SolverThreads(of, SolverSettings(24, None), print_error), [], 0
    while len(found) < count:
        drawn = random_openings(of, plies, done + PORTION, SEED, None)
        lines = [tuple(opening_moves(of, slots)) for slots in drawn.slots[done:]]
        if not lines:
            break  # all openings were drawn
        done += len(lines)
        lines = [x for x in lines if (remaining_units(of, position_after(of, x)) or 0) <= most_open]
        alike = sorted(lines)
        parts = [alike[at : at + PER_TABLE] for at in range(0, len(alike), PER_TABLE)]
        solved = threads.run(solve, parts, f"{len(found):,} found")
        margins = dict(line for part in solved for line in part)
        found += [(of.write(line), margins[line]) for line in lines if line in margins]
    return found[:count]


def even_margin(solver: Solver, of: Game, line: Line) -> int | None:
    """Return the margin of side 0 after these moves; None if it is too large."""
    position = position_after(of, line)
    if solver.better_than(position, WITHIN).low > WITHIN:
        return None
    if solver.better_than(position, -WITHIN - 1).high < -WITHIN:
        return None
    margin = solver.margin(position, known=Bounds(-WITHIN, WITHIN)).low
    return margin if position.mover == 0 else -margin


if __name__ == "__main__":
    total = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    rows = even_openings(game("kalah(6,4)"), plies=6, count=total, most_open=42)
    write_text(Path(sys.argv[1]), "".join(["moves,margin\n", *(f"{a},{b}\n" for a, b in rows)]))
