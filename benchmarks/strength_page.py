"""The page "How strong is `smart`?": our measurements, and those made outside."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agents.core import AgentSpec
from arena.stats.elo import elo_from_score
from benchmarks.endgame_rows import positions
from benchmarks.evaluation_error import table as error_table
from benchmarks.learned_strength import LearnedMatch, LearnedScore, play_match_by_lengths
from games import game
from games.solving import SolverSettings, solver_of

SEED = 80_000
FFO = range(40, 45)
PAIRS = 10  # of each length of openings
NODES = 2_000
OPPONENTS = (
    AgentSpec("random"),
    AgentSpec("greedy"),
    AgentSpec("alphabeta", depth=3),
    AgentSpec("alphabeta", depth=5),
    AgentSpec("smart_classic", nodes=NODES),
    AgentSpec("smart", nodes=NODES // 4),
    AgentSpec("smart", nodes=4 * NODES),
)
BEGIN = """\
# How strong is `smart`?

This page compares `smart` at Othello with programs that many people know. `python -m
benchmarks.strength --page FILE` writes it. Tables marked *measured outside* were made with those
programs on 2026-11-20, before the latest changes of `smart`; the command cannot repeat them,
because it needs no other program. The command measures all other tables.
[Elo](../reference/glossary.md) differences have 95 % intervals."""
OUTSIDE = """\
## Against other programs (measured outside)

One core, balanced openings of eight plies, both sides of each, 100 pairs for each line. A fixed
level searches to its depth without a clock.

| `smart` at 50 ms a move against | Elo of `smart` |
|---|---|
| Zebra, 50 ms | +19 [-20, +58] |
| a web build of Egaroucid, 50 ms | +67 [+21, +113] |
| NTest, 50 ms | -263 [-320, -210] |
| NTest, 200 ms (both) | -274 [-349, -203] |
| NTest, level 6 | +156 [+81, +233] |
| NTest, level 8 | +78 [+12, +145] |
| the web build of Egaroucid, level 5 | +676 |
| the web build of Egaroucid, level 6 | +463 |
| the web build of Egaroucid, level 8 | +252 [+173, +339] |"""


class Solved(NamedTuple):
    """The work of solving FFO 40 to 44."""

    nodes: int
    seconds: float  # of processor time


def solve_ffo() -> Solved:
    """Solve the positions and raise if a value is not the published one."""
    of = game("othello")
    solver = solver_of(of, SolverSettings())
    solver.prepare()
    before, begun = solver.nodes, time.process_time()
    for entry in positions():
        if entry["ffo"] in FFO:
            solver.clear()
            found = solver.margin(of.parse(f"{entry['board']} {entry['stm']}")).low
            if found != entry["score"]:
                raise ValueError(f"FFO {entry['ffo']}: {found}, published is {entry['score']}")
    return Solved(solver.nodes - before, time.process_time() - begun)


def endgame_lines() -> Iterator[str]:
    """Yield the section on exact endgames."""
    own = solve_ffo()
    yield f"""\
## Exact endgames

The positions FFO {FFO[0]} to {FFO[-1]} (20 to 23 empty squares), each solved from nothing on one
core. Every value of ours is the published one.

| program | million positions | seconds |
|---|---|---|
| the solver of this version, processor time | {own.nodes / 1e6:.0f} | {own.seconds:.1f} |
| our solver before the learned move order (measured outside) | 327 | 10.6 |
| Zebra (measured outside) | 113 | 3.9 |
| NTest (measured outside) | 163 | 3.0, with small errors on four of FFO 1 to 39 |
| the web build of Egaroucid (measured outside) | 446 | 12.5 |
| neural-reversi 6.3 (published) | 93 | |"""


def error_lines() -> Iterator[str]:
    """Yield the section on the evaluation."""
    yield """\
## Evaluation without search

Mean absolute error in discs. Ours is from `python -m benchmarks.evaluation_error`: positions from
games of agents of mixed strength, with their exact values. The shipped weights were made
before both sets.
"""
    yield from error_table([])
    yield """
Measured outside, on 300 other positions with 20 empty squares, from games at 50 ms: `smart` 6.5,
Zebra 5.9, NTest 5.6, the web build of Egaroucid 6.3. Games of good players are closer, so errors
of different sets cannot be compared."""


def opponent_text(spec: AgentSpec) -> str:
    """Return the kind of the agent with its limit."""
    limits = [f"{value:,} {'plies' if name == 'depth' else name}"
              for name, value in spec.options.items()]  # fmt: skip
    return f"`{spec.kind}`" + "".join(f", {each}" for each in limits)


def elo_text(found: LearnedScore) -> str:
    """Return the Elo difference; a one-sided 95 % bound (Clopper and Pearson) if all were won."""
    score = found.score
    if score.share == 1:
        return f"over {elo_from_score(0.05 ** (1 / score.games)):+.0f}"
    return found.elo_words.removesuffix(" Elo").replace("+1200]", "no bound]")


def match_lines() -> Iterator[str]:
    """Yield the section on our own agents."""
    yield f"""\
## Against our own agents

`smart` with {NODES:,} nodes a move, {3 * PAIRS} pairs for each line, openings of 6, 8 and 9
random plies. `alphabeta` is the classroom's search with unit weights.
Where every game was won, there is only a lower bound.

| against | wins, draws, losses | Elo of `smart` |
|---|---|---|"""
    usual = AgentSpec("smart", nodes=NODES)
    match = LearnedMatch("othello", {"nodes": NODES}, PAIRS, 0.0)
    for other in OPPONENTS:
        found = LearnedScore(match, play_match_by_lengths(match, usual, other, SEED))
        yield f"| {opponent_text(other)} | {found.score} | {elo_text(found)} |"


def write_page(path: Path) -> None:
    """Measure and write the page."""
    parts = ["\n".join(lines()) for lines in (endgame_lines, error_lines, match_lines)]
    path.write_text("\n\n".join([BEGIN, OUTSIDE, *parts]) + "\n")
