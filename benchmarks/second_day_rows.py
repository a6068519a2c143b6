"""What is asked after the first table: how soon the first line of an answer is there."""

import random
import subprocess
import sys
import time

import numpy as np

from agents.core import AgentSpec
from arena.playing.asked_agents import asked
from arena.stats.same_moves import agreements
from benchmarks.fresh import ROOT
from benchmarks.table import Row
from games import Game, Position, game

FIRST_LINE_SECONDS = 2.0
AGREEMENT_SECONDS = 10.0
PLAN = ("arena.plan", "experiments/kalah_ladder.toml", "--known", "off")
EXPLAIN = ("arena.explain", "kalah(6,4)", "3 6 1", "--perfect", "0")


def plan_first_line(rounds: int) -> Row:
    """Seconds until `arena.plan` has printed its first line, warm cache."""
    return first_line_row(rounds, PLAN)


def explain_first_line(rounds: int) -> Row:
    """Seconds until `arena.explain` has printed its first line, warm cache."""
    return first_line_row(rounds, EXPLAIN)


def agreement_of_twelve(rounds: int) -> Row:
    """Seconds to ask twelve searches of depth 6 about 2,000 positions, and to compare all pairs."""
    of = game("kalah(6,4)")
    specs = {
        f"agent{n}": AgentSpec("alphabeta", depth=6, weights={"pot": 1.0 + n, "in_play": 1.0})
        for n in range(12)
    }
    positions = [position for line in range(200) for position in random_positions(of, line)][:2000]
    taken = []
    for _ in range(min(rounds, 3) + 1):  # one more warms the cache
        begun = time.perf_counter()
        moves = asked(of, specs, positions, 1, 60.0)
        agreements(np.array(list(moves.values())), len(specs))
        taken.append(time.perf_counter() - begun)
    ratio = AGREEMENT_SECONDS / min(taken)
    what = "agreement of 12 agents on 2,000 positions, depth 6: allowed"
    return Row(what, f"{min(taken):.2f} s", f"{AGREEMENT_SECONDS:g} s", ratio, 1.0)


def random_positions(of: Game, line: int) -> list[Position]:
    """Positions with a choice from a game of random moves."""
    dice, position, found = random.Random(line), of.start(), []
    while not of.over(position):
        legal = of.legal(position)
        found += [position] * (len(legal) > 1)
        position = of.play(position, dice.choice(legal))
    return found


def first_line_row(rounds: int, words: tuple[str, ...]) -> Row:
    """The best of some rounds against the time that is allowed; one before them warms the cache."""
    seconds_to_first_line(words)
    taken = min(seconds_to_first_line(words) for _ in range(min(rounds, 5)))
    what = f"{words[0]}, start to first line, warm cache: allowed"
    ratio = FIRST_LINE_SECONDS / taken
    return Row(what, f"{taken:.2f} s", f"{FIRST_LINE_SECONDS:g} s", ratio, 1.0)


def seconds_to_first_line(words: tuple[str, ...]) -> float:
    """Seconds from the start of a command to its first line; it is then left to its end."""
    begun = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        taken = time.perf_counter() - begun
        process.stdout.read()
    assert line.strip()
    return taken
