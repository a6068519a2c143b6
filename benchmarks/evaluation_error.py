"""Measure the error of learned Othello weights: python -m benchmarks.evaluation_error [FILE ...].

Prints the mean absolute error of the shipped weights and of each file, on exact positions from
games of agents of mixed strength. `--make` draws and solves these positions again.
"""

import argparse
import csv
import random
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from agents.registry import build
from agents.search.compiled_agent import CompiledAgent
from agents.search.context import UNIT
from games import Game, Position, game
from games.solving import solver_of

POSITIONS = Path(__file__).with_name("othello_exact.csv")
FIELDS = ("set", "empties", "own", "other", "margin")
CHOOSING, HELD_OUT = "choosing", "held out"  # only the second set judges weights
COUNTS = {16: 400, 20: 300}  # positions of each set by empty squares
SEEDS = {CHOOSING: 1, HELD_OUT: 2}
OPENING = (8, 14)  # random plies
NODES = (30, 300, 3_000, 20_000)  # of the players


class ExactPosition(NamedTuple):
    """A position with its final margin under perfect play, seen by the side to move."""

    set: str
    empties: int
    own: int
    other: int
    margin: int


@cache
def read_positions() -> tuple[ExactPosition, ...]:
    """Return the stored positions."""
    with POSITIONS.open(newline="") as file:
        return tuple(
            ExactPosition(
                row["set"], int(row["empties"]), int(row["own"], 16), int(row["other"], 16),
                int(row["margin"]),
            )
            for row in csv.DictReader(file)
        )  # fmt: skip


def draw_position(
    of: Game, players: Sequence[CompiledAgent], empties: int, rng: random.Random
) -> Position:
    """Return the position with this many empty squares from a game of two random players."""
    while True:
        sides = rng.choices(players, k=2)
        for player in sides:
            player.start(rng.getrandbits(32))
        position, ply, opening = of.start(), 0, rng.randint(*OPENING)
        while not of.over(position):
            own, other = position.state
            if 64 - (int(own) | int(other)).bit_count() == empties:
                if of.legal(position) != (of.pass_move,):
                    return position
                break
            player = sides[position.side]
            choose = ply < opening
            move = rng.choice(of.legal(position)) if choose else player.choose_fast(position).move
            position, ply = of.play(position, move), ply + 1


def make_positions() -> Iterator[ExactPosition]:
    """Draw and solve the positions of both sets; all positions differ."""
    of = game("othello")
    solver = solver_of(of)
    specs = [AgentSpec(kind, nodes=nodes) for kind in ("smart", "smart_classic") for nodes in NODES]
    players = [agent for spec in specs if isinstance(agent := build(spec, of), CompiledAgent)]
    seen = set[tuple[int, int]]()
    for empties, count in COUNTS.items():
        for name, seed in SEEDS.items():
            rng, left = random.Random(100 * seed + empties), count
            while left:
                position = draw_position(of, players, empties, rng)
                own, other = (int(word) for word in position.state)
                if (own, other) not in seen:
                    seen.add((own, other))
                    yield ExactPosition(name, empties, own, other, solver.margin(position).low)
                    left -= 1


def write_positions() -> None:
    """Write the positions, one line as soon as it is solved."""
    with POSITIONS.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(FIELDS)
        for each in make_positions():
            words = f"{each.own:016x}", f"{each.other:016x}"
            lines.writerow((each.set, each.empties, *words, each.margin))
            file.flush()


def errors(weights: str | None, positions: Sequence[ExactPosition]) -> NDArray[np.float64]:
    """Return evaluation minus exact margin of each position; None: the shipped weights."""
    options = {} if weights is None else {"weights": weights}
    agent = build(AgentSpec("smart", **options), game("othello"))
    assert isinstance(agent, CompiledAgent)
    value, state = agent.kernels.position_value, agent.game.family.State
    found = [
        int(value(agent.context, state(np.uint64(each.own), np.uint64(each.other)))) / UNIT
        - each.margin
        for each in positions
    ]
    return np.array(found)


def table(files: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a Markdown table: mean absolute errors in discs with 95 % intervals."""
    groups = [
        (name, empties)
        for name in SEEDS
        for empties in sorted({p.empties for p in read_positions()})
    ]
    counts = [sum((p.set, p.empties) == group for p in read_positions()) for group in groups]
    heads = [
        f"{name}, {empties} empties ({count})"
        for (name, empties), count in zip(groups, counts, strict=True)
    ]
    yield f"| weights | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 1)}"
    for weights in (None, *files):
        cells = []
        for group in groups:
            chosen = [p for p in read_positions() if (p.set, p.empties) == group]
            sizes = np.abs(errors(weights, chosen))
            cells.append(f"{sizes.mean():.2f} ± {1.96 * sizes.std(ddof=1) / len(sizes) ** 0.5:.2f}")
        yield f"| {'shipped' if weights is None else Path(weights).name} | {' | '.join(cells)} |"


def main(words: list[str] | None = None) -> int:
    """Print the table, or make the positions."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.evaluation_error", description=__doc__
    )
    parser.add_argument("weights", nargs="*", metavar="WEIGHTS", help="files of learned weights")
    parser.add_argument("--make", action="store_true", help="draw and solve the positions again")
    options = parser.parse_args(words)
    if options.make:
        write_positions()
    for line in table(options.weights):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
