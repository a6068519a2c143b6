"""The arena from outside: games a second through arena.run, its start, its resume."""

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
from arena.config.command_line import available_cores
from arena.config.experiment import load
from arena.planning.schedule import make_schedule
from arena.playing.cached_pairs import CachedPairs
from arena.storage.game_cache import GameCache
from benchmarks.fresh import fresh
from benchmarks.random_rows import open_spiel_games
from benchmarks.table import Row, per_second, skipped
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
ALONE = 2_000  # games of the mirror match in one process
START_SECONDS, RESUME_SECONDS = 1.5, 3.0


@contextmanager
def experiment(text: str, pairs: int) -> Iterator[list[str]]:
    """The words that run an experiment in a directory of its own."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "bench.toml"
        path.write_text(text.format(pairs=pairs))
        yield ["-m", "arena.run", str(path), "--results", directory, "--quiet", "--cache", "off"]


def seconds_from_first_game(words: list[str]) -> float:
    """Seconds of a fresh run from its first game to its last table."""
    begun = time.perf_counter()
    fresh([*words, "--fresh"])
    whole = time.perf_counter() - begun
    return whole - seconds_to_first_game(words)


def seconds_to_first_game(words: list[str]) -> float:
    """Seconds until a run of one pair is done: everything but the games."""
    begun = time.perf_counter()
    fresh([*words, "--fresh", "--pairs", "1"])
    return time.perf_counter() - begun


def random_through_arena(rounds: int) -> Row:
    """Random games through arena.run, tables included, against a Python loop of open_spiel's."""
    what, target = "2,000,000 random games, kalah(6,4), arena.run: open_spiel from Python", 20.0
    try:
        loaded = importlib.import_module("pyspiel").load_game("mancala")
    except ImportError:
        return skipped(what, "no open_spiel", target)
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
    """An alpha-beta mirror match through arena.run, against the game loop alone times cores."""
    what = f"alphabeta depth 6 mirror, arena.run: the game loop alone x {available_cores()} cores"
    with experiment(MIRROR, MIRROR_PAIRS) as words:
        ours, against = best_of(
            min(rounds, 3), lambda: seconds_from_first_game(words), timed_job(mirror_alone(), 3)
        )
    rates = 2 * MIRROR_PAIRS / ours, ALONE * available_cores() / against
    return Row(what, per_second(rates[0]), per_second(rates[1]), rates[0] / rates[1], 0.9)


def mirror_alone() -> Callable[[], object]:
    """Games of the mirror match in one compiled call, from as many random openings."""
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
    """Six random plies as slots."""
    of, rng = game("kalah(6,4)"), random.Random(number)
    position, moves = of.start(), []
    for _ in range(6):
        moves.append(rng.choice(of.legal(position)))
        position = of.play(position, moves[-1])
    return of.slots_of(moves).tolist()


def start_to_first_game(rounds: int) -> Row:
    """A fresh arena.run, warm cache: seconds until a run of one pair is done."""
    with experiment(MIRROR, 1) as words:
        seconds_to_first_game(words)
        taken = min(seconds_to_first_game(words) for _ in range(rounds))
    what = "arena.run, start to first game and its tables, warm cache"
    return Row(what, f"{taken:.2f} s", f"{START_SECONDS} s", START_SECONDS / taken, 1.0)


def resume(rounds: int) -> Row:
    """The same command on a finished run of 100,000 games: seconds until its tables."""
    with experiment(RANDOM, RESUMED_PAIRS) as words:
        fresh(words)
        taken = min(fresh(words).seconds for _ in range(min(rounds, 3)))
    what = "arena.run, a finished run of 100,000 games to its tables"
    return Row(what, f"{taken:.2f} s", f"{RESUME_SECONDS} s", RESUME_SECONDS / taken, 1.0)


def all_known(rounds: int) -> Row:
    """A run of 100,000 games that are all known, against a finished run of them."""
    with experiment(RANDOM, RESUMED_PAIRS) as words, tempfile.TemporaryDirectory() as store:
        known = [*words[:-1], store]
        fresh(known)
        rounds = min(rounds, 3)
        finished = min(fresh(known).seconds for _ in range(rounds))
        taken = min(fresh([*known, "--fresh"]).seconds for _ in range(rounds))
    what = "arena.run, 100,000 known games: a finished run of them x 1.5"
    return Row(what, f"{taken:.2f} s", f"{1.5 * finished:.2f} s", 1.5 * finished / taken, 1.0)


def nothing_known(rounds: int) -> Row:
    """Asking for 20,000 games of which none is known, against the time that they take."""
    with experiment(MIRROR, MIRROR_PAIRS) as words, tempfile.TemporaryDirectory() as store:
        played = fresh([*words, "--pairs", str(ALONE)]).seconds * MIRROR_PAIRS / ALONE
        drawn = make_schedule(load(Path(words[2])).plan)
        games = GameCache(Path(store))
        taken = min(seconds_to_ask(CachedPairs(drawn, games)) for _ in range(rounds))
        games.close()
    what = "asking for 20,000 games, depth 6, none known: 1 % of their time"
    least = 0.01 * played
    return Row(what, f"{1000 * taken:.1f} ms", f"{1000 * least:.0f} ms", least / taken, 1.0)


def seconds_to_ask(known: CachedPairs) -> float:
    """Seconds until it is said of all pairings that they are not known."""
    begun, at = time.perf_counter(), 0
    pairings = known.drawn.pairings
    while at < pairings.total:
        at = known.unknown(pairings, at)[1]
    return time.perf_counter() - begun
