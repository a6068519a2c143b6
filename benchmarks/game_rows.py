"""Benchmarks of whole games through the game loop against games.perft."""

import numpy as np

from agents.core import AgentSpec
from agents.registry import build
from agents.search.compiled_agent import CompiledAgent
from agents.search.game_loop import RESULTS
from benchmarks.table import Row, per_second
from benchmarks.timing import best_of, timed_job
from games import game
from games.perft import play_random_games

GAMES, LONGEST, REPEATS, SEED = 2_000, 128, 10, 1  # a batch as large as the arena's


def loop_kalah(rounds: int) -> Row:
    """Compare the game loop with random games on kalah(6,4)."""
    return loop_row("kalah(6,4)", rounds)


def loop_othello(rounds: int) -> Row:
    """Compare the game loop with random games on Othello."""
    return loop_row("othello", rounds)


def loop_row(name: str, rounds: int) -> Row:
    """Compare random games that store moves and results with games that only count results."""
    of = game(name)
    first, second = (build(AgentSpec("random"), of) for _ in range(2))
    assert isinstance(first, CompiledAgent)
    assert isinstance(second, CompiledAgent)
    openings = np.empty((GAMES, 0), np.int16)
    seeds = np.arange(2 * GAMES, dtype=np.uint64).reshape(GAMES, 2)
    slots = np.empty((GAMES, LONGEST), np.int16)
    results = np.empty((GAMES, RESULTS), np.int64)
    contexts, start = (first.context, second.context), of.start().state

    def play() -> None:
        first.kernels.play_games(*contexts, start, openings, seeds, slots, results)

    play()
    play_random_games(of, 1, SEED)
    ours, against = best_of(
        rounds,
        timed_job(play, REPEATS),
        timed_job(lambda: play_random_games(of, GAMES, SEED), REPEATS),
    )
    rates = per_second(GAMES / ours), per_second(GAMES / against)
    return Row(f"random v random, {name}, the game loop: random games", *rates, against / ours, 0.8)
