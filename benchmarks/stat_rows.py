"""Benchmarks of the statistics: ratings, live standings and a round of a race."""

import time

import numpy as np

from arena.planning.rounds import Participants
from arena.planning.schedules.best import start_best
from arena.stats.rating_data import RatingData, rating_data
from arena.stats.ratings import RatingPlan, rate
from benchmarks.table import Row

RATING_SECONDS, STANDING_SECONDS, ROUND_SECONDS = 2.0, 0.05, 0.01


def results(agents: int, games: int) -> RatingData:
    """Return results of agents with evenly spread strengths on 5,000 openings."""
    rng = np.random.default_rng(1)
    first = rng.integers(agents, size=games)
    second = (first + rng.integers(1, agents, size=games)) % agents
    elo = np.linspace(-300.0, 300.0, agents)
    expected = 1.0 / (1.0 + 10.0 ** ((elo[second] - elo[first]) / 400.0))
    scores = (rng.random(games) < expected).astype(float)
    return rating_data(first, second, scores, rng.integers(5_000, size=games), agents)


def rating(rounds: int) -> Row:
    """Measure rating 100 agents from 1,000,000 games with 200 bootstrap replicates."""
    given = results(100, 1_000_000)
    taken = min(seconds(given, 200) for _ in range(min(rounds, 3)))
    what = "rating 100 agents, 1,000,000 games, 200 replicates"
    return Row(what, f"{taken:.2f} s", f"{RATING_SECONDS:.0f} s", RATING_SECONDS / taken, 1.0)


def live_standings(rounds: int) -> Row:
    """Measure rating 20 agents from 190,000 games without replicates, as a live display does."""
    given = results(20, 190_000)
    taken = min(seconds(given, 0) for _ in range(rounds))
    what = "live standings of 20 agents"
    return Row(what, f"{1000 * taken:.0f} ms", "50 ms", STANDING_SECONDS / taken, 1.0)


def race_round(rounds: int) -> Row:
    """Measure deciding a round of a race of 32 agents and choosing the next one."""
    values = {"best": 1, "delta": 0.05, "indifference": 10.0}
    names = [f"a{place}" for place in range(32)]
    rng, taken = np.random.default_rng(1), []
    for _ in range(rounds):
        stage = start_best(values, Participants(names, 10**6))
        for _ in range(8):
            points = [rng.integers(0, 5, each.pairs, np.int8) for each in stage.meetings]
            begun = time.perf_counter()
            stage = stage.after_round(points)
            assert stage.meetings
            taken.append(time.perf_counter() - begun)
    middle = float(np.median(taken))
    what = "deciding a round of a race of 32 agents"
    return Row(what, f"{1000 * middle:.1f} ms", "10 ms", ROUND_SECONDS / middle, 1.0)


def seconds(given: RatingData, draws: int) -> float:
    """Return the seconds of one rating."""
    begun = time.perf_counter()
    rate(given, RatingPlan(draws=draws))
    return time.perf_counter() - begun
