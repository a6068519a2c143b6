"""Benchmarks of time limits: the longest of many moves against the allowed time."""

import random
import time

from agents.core import Agent, AgentSpec
from agents.registry import build
from benchmarks.table import Row
from games import Position, game

NAMES = ("kalah(6,4)", "othello")
MOVES, SEED = 30, 1
GRACE, SHARE = 0.010, 0.02  # allowed overshoot, in seconds and as a share of the limit


def limit_1(rounds: int) -> Row:
    """Measure a limit of 1 ms a move."""
    return limit_row(0.001, rounds)


def limit_10(rounds: int) -> Row:
    """Measure a limit of 10 ms a move."""
    return limit_row(0.010, rounds)


def limit_50(rounds: int) -> Row:
    """Measure a limit of 50 ms a move."""
    return limit_row(0.050, rounds)


def limit_row(seconds: float, rounds: int) -> Row:
    """Compare the longest move, pauses of the machine included, with the allowed time."""
    rng = random.Random(SEED)
    longest = min(longest_move(seconds, rng) for _ in range(min(rounds, 3)))
    allowed = seconds + GRACE + SHARE * seconds
    what = f"limit of {1000 * seconds:.0f} ms, longest of {MOVES * len(NAMES)} moves: allowed"
    times = f"{1000 * longest:.1f} ms", f"{1000 * allowed:.1f} ms"
    return Row(what, *times, allowed / longest, 1.0)


def longest_move(seconds: float, rng: random.Random) -> float:
    """Return the seconds of the longest move over `MOVES` moves of each game."""
    taken = 0.0
    for name in NAMES:
        agent = build(AgentSpec("smart", seconds=seconds), game(name))
        agent.start(SEED)
        for _ in range(MOVES):
            taken = max(taken, seconds_of_move(agent, random_position(name, rng)))
    return taken


def seconds_of_move(agent: Agent, position: Position) -> float:
    """Return the seconds to choose a move and its principal variation."""
    begun = time.perf_counter()
    agent.choose(position)
    return time.perf_counter() - begun


def random_position(name: str, rng: random.Random) -> Position:
    """Return a position after up to 30 random moves that has a choice of moves."""
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
