"""Benchmarks of whole `arena.run` commands: games a second, start-up and resume."""

import importlib
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from agents.core import AgentSpec
from agents.registry import build
from agents.search import game_loop as loop
from agents.search.compiled_agent import CompiledAgent
from arena.config.experiment import load_experiment
from arena.config.run_options import available_cores
from arena.planning.schedule import make_schedule
from arena.playing.cached_pairs import CachedPairs
from arena.storage.game_cache import GameCache
from benchmarks.fresh import fresh
from benchmarks.random_rows import open_spiel_games
from benchmarks.table import Row, per_second, skipped_row
from benchmarks.timing import best_of, timed_job
from games import game

RANDOM = """
game = "kalah(6,4)"
pairs = {pairs}
keep_moves = false
openings = {{ random_plies = 0, repeat = true }}
[agents.a]
kind = "random"
[agents.b]
kind = "random"
"""
MIRROR = """
game = "kalah(6,4)"
pairs = {pairs}
[agents.a]
kind = "alphabeta"
depth = 6
[agents.b]
kind = "alphabeta"
depth = 6
"""
RANDOM_PAIRS, MIRROR_PAIRS, RESUMED_PAIRS = 1_000_000, 10_000, 50_000
ALONE = 2_000  # games of the mirror match, played in one process
START_SECONDS, RESUME_SECONDS = 1.5, 3.0


@contextmanager
def experiment(text: str, pairs: int) -> Iterator[list[str]]:
    """Yield the arguments that run an experiment in a temporary directory."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "bench.toml"
        path.write_text(text.format(pairs=pairs))
        yield ["-m", "arena.run", str(path), "--results", directory, "--quiet", "--cache", "off"]


def seconds_from_first_game(words: list[str]) -> float:
    """Return the seconds of a fresh run from its first game to its last table."""
    begun = time.perf_counter()
    fresh([*words, "--fresh"])
    whole = time.perf_counter() - begun
    return whole - seconds_to_first_game(words)


def seconds_to_first_game(words: list[str]) -> float:
    """Return the seconds of a run of one pair: everything except playing the games."""
    begun = time.perf_counter()
    fresh([*words, "--fresh", "--pairs", "1"])
    return time.perf_counter() - begun


def random_through_arena(rounds: int) -> Row:
    """Compare random games through arena.run with a Python loop over open_spiel."""
    what, target = "2,000,000 random games, kalah(6,4), arena.run: open_spiel from Python", 20.0
    try:
        loaded = importlib.import_module("pyspiel").load_game("mancala")
    except ImportError:
        return skipped_row(what, "no open_spiel", target)
    rng, theirs = random.Random(1), 2_000
    with experiment(RANDOM, RANDOM_PAIRS) as words:
        ours, against = best_of(
            min(rounds, 3),
            lambda: seconds_from_first_game(words),
            timed_job(lambda: open_spiel_games(loaded, theirs, rng)),
        )
    rates = 2 * RANDOM_PAIRS / ours, theirs / against
    return Row(what, per_second(rates[0]), per_second(rates[1]), rates[0] / rates[1], target)


def mirror_through_arena(rounds: int) -> Row:
    """Compare a mirror match through arena.run with the bare game loop on all cores."""
    what = f"alphabeta depth 6 mirror, arena.run: the game loop alone x {available_cores()} cores"
    with experiment(MIRROR, MIRROR_PAIRS) as words:
        ours, against = best_of(
            min(rounds, 3), lambda: seconds_from_first_game(words), timed_job(mirror_alone(), 3)
        )
    rates = 2 * MIRROR_PAIRS / ours, ALONE * available_cores() / against
    return Row(what, per_second(rates[0]), per_second(rates[1]), rates[0] / rates[1], 0.9)


def mirror_alone() -> Callable[[], object]:
    """Return a call that plays the mirror match in one kernel call, from random openings."""
    of = game("kalah(6,4)")
    agents = [build(AgentSpec("alphabeta", depth=6), of) for _ in range(2)]
    openings = np.array([random_opening(n) for n in range(ALONE)], np.int16)
    seeds = np.zeros((len(openings), 2), np.uint64)
    slots = np.empty((len(openings), 256), np.int16)
    results = np.empty((len(openings), loop.RESULTS), np.int64)
    first, second = agents
    assert isinstance(first, CompiledAgent)
    assert isinstance(second, CompiledAgent)
    state = of.start().state
    contexts = first.context, second.context
    return lambda: first.kernels.play_games(*contexts, state, openings, seeds, slots, results)


def random_opening(number: int) -> list[int]:
    """Return six random plies as slots."""
    of, rng = game("kalah(6,4)"), random.Random(number)
    position, moves = of.start(), []
    for _ in range(6):
        moves.append(rng.choice(of.legal(position)))
        position = of.play(position, moves[-1])
    return of.slots_of(moves).tolist()


def start_to_first_game(rounds: int) -> Row:
    """Measure a fresh arena.run of one pair with a warm cache."""
    with experiment(MIRROR, 1) as words:
        seconds_to_first_game(words)
        taken = min(seconds_to_first_game(words) for _ in range(rounds))
    what = "arena.run, start to first game and its tables, warm cache"
    return Row(what, f"{taken:.2f} s", f"{START_SECONDS} s", START_SECONDS / taken, 1.0)


def resume(rounds: int) -> Row:
    """Measure the same command on a finished run of 100,000 games, until its tables."""
    with experiment(RANDOM, RESUMED_PAIRS) as words:
        fresh(words)
        taken = min(fresh(words).seconds for _ in range(min(rounds, 3)))
    what = "arena.run, a finished run of 100,000 games to its tables"
    return Row(what, f"{taken:.2f} s", f"{RESUME_SECONDS} s", RESUME_SECONDS / taken, 1.0)


def all_cached(rounds: int) -> Row:
    """Compare a run of 100,000 cached games with rerunning a finished run."""
    with experiment(RANDOM, RESUMED_PAIRS) as words, tempfile.TemporaryDirectory() as store:
        known = [*words[:-1], store]
        fresh(known)
        rounds = min(rounds, 3)
        finished = min(fresh(known).seconds for _ in range(rounds))
        taken = min(fresh([*known, "--fresh"]).seconds for _ in range(rounds))
    what = "arena.run, 100,000 known games: a finished run of them x 1.5"
    return Row(what, f"{taken:.2f} s", f"{1.5 * finished:.2f} s", 1.5 * finished / taken, 1.0)


def none_cached(rounds: int) -> Row:
    """Compare looking up 20,000 games in an empty cache with the time to play them."""
    with experiment(MIRROR, MIRROR_PAIRS) as words, tempfile.TemporaryDirectory() as store:
        played = fresh([*words, "--pairs", str(ALONE)]).seconds * MIRROR_PAIRS / ALONE
        schedule = make_schedule(load_experiment(Path(words[2])).plan)
        games = GameCache(Path(store))
        taken = min(lookup_seconds(CachedPairs(schedule, games)) for _ in range(rounds))
        games.close()
    what = "asking for 20,000 games, depth 6, none known: 1 % of their time"
    least = 0.01 * played
    return Row(what, f"{1000 * taken:.1f} ms", f"{1000 * least:.0f} ms", least / taken, 1.0)


def lookup_seconds(known: CachedPairs) -> float:
    """Return the seconds until the game cache has been searched for all pairs."""
    begun, at = time.perf_counter(), 0
    pairs = known.schedule.pairs
    while at < pairs.total:
        at = known.pairs_to_play(pairs, at)[1]
    return time.perf_counter() - begun
