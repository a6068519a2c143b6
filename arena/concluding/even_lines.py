"""Random openings whose exact margin is near 0, found by solving them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.analysis.checks.winnable import SolverThreads
from arena.planning.openings.openings import moves_of, position_after
from arena.planning.openings.random import random_openings
from games import Game
from games.base.files import write_text
from games.solving import SolverSettings
from games.solving.solution import still_open
from games.solving.solver import Bounds, Solver

TABLE_BITS = 24
AT_ONCE = 32  # openings that one solver solves before it forgets: like ones follow one another
PORTION = 256
HEADER = "moves,margin"
Line = tuple[str, int]  # the moves as they are written, the margin of side 0


@dataclass(frozen=True, slots=True)
class EvenLines:
    """Which openings are looked for."""

    of: Game
    plies: int
    within: int
    seed: int
    open_at_most: int | None  # beans in play, or empty squares, of what is worth solving
    database_beans: int | None


def even_lines(asked: EvenLines, progress: Callable[[str], None]) -> Iterator[list[Line]]:
    """The openings found among the next so many, in the order in which they are drawn."""
    of = asked.of
    settings = SolverSettings(TABLE_BITS, asked.database_beans)
    threads = SolverThreads(of, settings, progress)

    def work(solver: Solver, lines: Sequence[tuple[int, ...]]) -> list[Line]:
        margins = ((line, margin_within(solver, asked, line)) for line in lines)
        return [(of.write(line), margin) for line, margin in margins if margin is not None]

    for done, lines in portions(asked):
        alike = sorted(lines)
        parts = [alike[at : at + AT_ONCE] for at in range(0, len(lines), AT_ONCE)]
        words = f"of {done:,} drawn, solving {len(lines)} in portions of {AT_ONCE}"
        found = dict(line for part in threads.results(work, parts, words) for line in part)
        texts = (of.write(line) for line in lines)
        yield [(text, found[text]) for text in texts if text in found]


def portions(asked: EvenLines) -> Iterator[tuple[int, list[tuple[int, ...]]]]:
    """The openings in the order in which they are drawn, and how many went before."""
    of, done, wanted = asked.of, 0, PORTION
    waiting: list[tuple[int, ...]] = []
    while True:
        drawn = random_openings(of, asked.plies, wanted, asked.seed, None)
        if len(drawn) == done:
            yield done, waiting
            return
        for slots in drawn.slots[done:]:
            line = tuple(moves_of(of, slots))
            left = still_open(of, position_after(of, line))
            if asked.open_at_most is None or left is None or left <= asked.open_at_most:
                waiting.append(line)
        done, wanted = len(drawn), 2 * wanted
        while len(waiting) >= PORTION:
            yield done, waiting[:PORTION]
            waiting = waiting[PORTION:]


def margin_within(solver: Solver, asked: EvenLines, line: Sequence[int]) -> int | None:
    """The margin of side 0 if it is near enough to 0."""
    position, most = position_after(asked.of, line), asked.within
    if solver.better_than(position, most).low > most:
        return None
    if solver.better_than(position, -most - 1).high < -most:
        return None
    margin = solver.margin(position, known=Bounds(-most, most)).low
    return margin if position.mover == 0 else -margin


def written(path: Path, lines: Sequence[Line]) -> None:
    """Write the openings as a table of text."""
    rows = [f"{moves},{margin}" for moves, margin in lines]
    write_text(path, "\n".join([HEADER, *rows]) + "\n")
