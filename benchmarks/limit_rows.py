"""Limits of time kept: the longest of many moves against what a limit allows."""

import random
import time

from agents.core import Agent, AgentSpec
from agents.registry import build
from benchmarks.table import Row
from games import Position, game

NAMES = ("kalah(6,4)", "othello")
MOVES, SEED = 30, 1
GRACE, SHARE = 0.010, 0.02  # what a move may take beyond its limit


def limit_1(rounds: int) -> Row:
    """One millisecond a move."""
    return limit_row(0.001, rounds)


def limit_10(rounds: int) -> Row:
    """Ten milliseconds."""
    return limit_row(0.010, rounds)


def limit_50(rounds: int) -> Row:
    """Fifty milliseconds."""
    return limit_row(0.050, rounds)


def limit_row(seconds: float, rounds: int) -> Row:
    """How many times the longest move fits into what is allowed; the machine's own pauses count."""
    rng = random.Random(SEED)
    longest = min(longest_move(seconds, rng) for _ in range(min(rounds, 3)))
    allowed = seconds + GRACE + SHARE * seconds
    what = f"limit of {1000 * seconds:.0f} ms, longest of {MOVES * len(NAMES)} moves: allowed"
    times = f"{1000 * longest:.1f} ms", f"{1000 * allowed:.1f} ms"
    return Row(what, *times, allowed / longest, 1.0)


def longest_move(seconds: float, rng: random.Random) -> float:
    """Seconds of the longest of `MOVES` moves a game."""
    taken = 0.0
    for name in NAMES:
        agent = build(AgentSpec("smart", seconds=seconds), game(name))
        agent.start(SEED)
        for _ in range(MOVES):
            taken = max(taken, seconds_of_move(agent, random_position(name, rng)))
    return taken


def seconds_of_move(agent: Agent, position: Position) -> float:
    """Seconds from the question to the answer, its principal line included."""
    begun = time.perf_counter()
    agent.choose(position)
    return time.perf_counter() - begun


def random_position(name: str, rng: random.Random) -> Position:
    """A position after up to 30 random moves that has a choice of moves."""
    of = game(name)
    while True:
        position = of.start()
        for _ in range(rng.randrange(30)):
            legal = of.legal(position)
            if not legal:
                break
            position = of.play(position, rng.choice(legal))
        if len(of.legal(position)) > 1:
            return position
