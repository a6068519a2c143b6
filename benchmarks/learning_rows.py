"""Benchmarks of learned weights: the speed of a search with them, and the time to learn them."""

import os
import random
import resource
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, run

import numpy as np

from agents.core import AgentSpec
from agents.evaluation.learned_value import find_tables
from agents.evaluation.table_sums import TableSums
from agents.evaluation.training_positions import GameReader
from agents.registry import build
from agents.search.compiled_agent import CompiledAgent
from arena.learning.feature_fit import fit_features
from arena.learning.self_play import GamePart, SelfPlay, SelfPlaySettings, unpack_games
from benchmarks.table import Row, per_second
from benchmarks.timing import best_of
from games import Position, game
from games.learned_block import MOST_REMAINING, phase_of

NODES = 20_000
POSITIONS = 24
STUDY_SECONDS = 80.0  # of the shipped study of six weights
ROUND_SECONDS, THREE_ROUNDS_SECONDS, MOST_MEMORY = 60.0, 900.0, 1.5e9
EXPERIMENTS = Path(__file__).parents[1] / "experiments"


def middle_positions(name: str) -> list[Position]:
    """Return positions from the middle of random games."""
    of, rng, found = game(name), random.Random(5), list[Position]()
    while len(found) < POSITIONS:
        position = of.start()
        for _ in range(12 + len(found)):
            if not of.over(position):
                position = of.play(position, rng.choice(of.legal(position)))
        if not of.over(position):
            found.append(position)
    return found


def speed_row(name: str, rounds: int) -> Row:
    """Compare nodes a second with learned tables and with six features."""
    of, positions = game(name), middle_positions(name)

    def seconds_a_node(kind: str) -> float:
        agent = build(AgentSpec(kind, nodes=NODES, endgame=0), of)
        assert isinstance(agent, CompiledAgent)
        begun = time.thread_time()
        nodes = sum(agent.choose_fast(position).nodes for position in positions)
        return (time.thread_time() - begun) / nodes

    ours, against = best_of(
        rounds, lambda: seconds_a_node("smart"), lambda: seconds_a_node("smart_classic")
    )
    what = f"{name}, nodes a second with learned tables: with six features"
    return Row(what, per_second(1 / ours), per_second(1 / against), against / ours, 0.88)


def learned_kalah(rounds: int) -> Row:
    """Measure kalah(6,4), pairs of holes."""
    return speed_row("kalah(6,4)", rounds)


def learned_othello(rounds: int) -> Row:
    """Measure Othello, patterns."""
    return speed_row("othello(8)", rounds)


@cache
def self_play(name: str) -> SelfPlay:
    """Return a compiled teacher of 100 nodes a move."""
    settings = SelfPlaySettings(1, 10, 24, 10)
    work = SelfPlay(game(name), AgentSpec("smart_classic", nodes=100), settings)
    work.prepare()
    return work


def six_weights(rounds: int) -> Row:
    """Measure fitting Othello's six weights from 1,000 games, games included."""
    work, of = self_play("othello(8)"), game("othello(8)")
    reader = GameReader(of)

    def fit_seconds() -> float:
        begun = time.perf_counter()
        played, _ = unpack_games(work.play(GamePart(0, 1000)).games)
        positions = reader.positions(played)
        tests = positions.games >= 900
        phases = tuple(np.zeros(count, np.int64) for count in (int((~tests).sum()), tests.sum()))
        fit_features(of, positions.select(~tests), positions.select(tests), phases, of.features)
        return time.perf_counter() - begun

    seconds = min(fit_seconds() for _ in range(rounds))
    what = "six weights from 1,000 games, games included: the shipped study"
    ratio = STUDY_SECONDS / seconds
    return Row(what, f"{seconds:.2f} s", f"{STUDY_SECONDS:.0f} s", ratio, 20.0)


def fit_step(rounds: int) -> Row:
    """Compare a step of the fit that computes its indices with numpy on stored indices."""
    of, work = game("othello(8)"), self_play("othello(8)")
    played, _ = unpack_games(work.play(GamePart(0, 2000)).games)
    positions = GameReader(of).positions(played)
    tables = find_tables(of, "patterns")
    layout = tables.layout(of.rules)
    sums = TableSums(of, tables, layout, phase_of(np.arange(MOST_REMAINING), 1, 10, 60), 1)
    count = len(positions.rows)
    listed = np.empty((count, layout.lookups), np.int32)
    sums.kernels.index_rows(sums.contexts[0], positions.rows, layout.lookups, listed)
    values = np.random.default_rng(1).integers(-1000, 1000, sums.weight_count)
    whole, none = sums.expand_values(values).astype(np.float64), np.zeros(count, np.int16)

    def ours() -> float:
        begun = time.perf_counter()
        sums.add_residuals(positions.rows, none, 0, values)
        return time.perf_counter() - begun

    def by_numpy() -> float:
        begun = time.perf_counter()
        totals = whole[listed].sum(axis=1)
        np.bincount(listed.ravel(), np.repeat(totals, layout.lookups), len(whole))
        return time.perf_counter() - begun

    own, against = best_of(rounds, ours, by_numpy)
    what = "positions a second, indexing and one step of the fit: numpy.bincount, indices stored"
    return Row(what, per_second(count / own), per_second(count / against), against / own, 1.5)


def learn_seconds(name: str, *changes: str) -> tuple[float, float]:
    """Return seconds and peak memory of learning from nothing in one process."""
    with tempfile.TemporaryDirectory() as results:
        words = [sys.executable, "-m", "pitflip", "learn", str(EXPERIMENTS / f"{name}.toml")]
        words += ["--results", results, "--quiet", "--cache", "off"]
        for change in changes:
            words += ["--set", change]
        begun = time.perf_counter()
        run(words, check=True, stdout=DEVNULL, cwd=EXPERIMENTS.parent)
        seconds = time.perf_counter() - begun
    unit = 1 if sys.platform == "darwin" else 1024
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit


def learn_kalah(_: int) -> Row:
    """Measure learning Kalah tables from nothing: one round with its match."""
    seconds, _memory = learn_seconds("learn_kalah", "learn.rounds=1")
    what = "Kalah tables from nothing, one round of 90,000 games: allowed"
    return Row(what, f"{seconds:.0f} s", f"{ROUND_SECONDS:.0f} s", ROUND_SECONDS / seconds, 1.0)


def learn_othello(_: int) -> Row:
    """Measure learning Othello patterns from nothing: three rounds with their matches."""
    seconds, memory = learn_seconds("learn_othello")
    what = f"Othello patterns from nothing, three rounds, {os.cpu_count()} cores: allowed"
    shown = f"{seconds:.0f} s, {memory / 1e9:.2f} GB"
    ratio = min(THREE_ROUNDS_SECONDS / seconds, MOST_MEMORY / memory)
    return Row(what, shown, f"{THREE_ROUNDS_SECONDS:.0f} s, 1.5 GB", ratio, 1.0)
