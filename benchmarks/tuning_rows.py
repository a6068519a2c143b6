"""Benchmarks of the tuner: its overhead, and a naive implementation of the same study."""

import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from typing import NamedTuple

import arena.tuning  # noqa: F401  # before numpy, which then uses one thread, as in the command

# isort: split
import optuna

from arena.config.run_options import RunOptions, available_cores
from arena.planning.tasks import Task
from arena.playing.options import Interrupts
from arena.storage.journal import RunDirectory
from arena.storage.versions import SourceWatch
from arena.tuning import study as search
from arena.tuning.study import Study, conclude_search, play_trials
from arena.tuning.study_config import load_study
from arena.tuning.trial_games import TrialGamesBlob, TrialTask, TrialWorker, decode_trial
from arena.tuning.trials import make_trial
from benchmarks.table import Row
from benchmarks.timing import best_of

STUDY = """
game = "kalah(6,4)"
[agents.tuned]
kind = "alphabeta"
depth = 6
weights = { pot = 1.0, in_play = 0.5 }
[tune]
agent = "tuned"
games = 200
trials = 200
method = "tpe"
[tune.weights]
pot = 1.0
in_play = [-0.5, 1.0]
extra_turn = [-1.0, 2.0]
capture = [-0.5, 1.0]
mobility = [-1.0, 2.0]
"""
TRIALS, OWN_SHARE, GAP_SECONDS = 200, 0.02, 0.010


# Start, end and process of each trial in seconds, written by the workers.
begun, ended = RawArray("d", TRIALS), RawArray("d", TRIALS)
process = RawArray("l", TRIALS)
PLAY = TrialWorker.play


class StudyTimes(NamedTuple):
    """The times of one study, in seconds."""

    whole: float  # from the first proposal to the recommendation
    own: float  # the workers' time until the last trial, games excluded
    games: float  # of all workers together
    gaps: list[float]  # between a trial's end and the next one's start in the same worker


@contextmanager
def study() -> Iterator[Study]:
    """Yield a compiled study that is ready to play, in a temporary directory."""
    with tempfile.TemporaryDirectory() as text:
        directory = Path(text)
        path = directory / "bench.toml"
        path.write_text(STUDY)
        tuning = load_study(path, [])
        options = RunOptions(directory, available_cores(), Interrupts(), quiet=True)
        with RunDirectory(directory, "bench") as locked:
            yield search.prepare_study(tuning, options, locked, SourceWatch(tuning.plan, {}))


def time_task(player: TrialWorker, part: TrialTask) -> TrialGamesBlob:
    """Play a part and record its times; such a small trial has only one part."""
    begun[part.trial] = time.monotonic()
    played = PLAY(player, part)
    ended[part.trial], process[part.trial] = time.monotonic(), os.getpid()
    return played


def study_time() -> StudyTimes:
    """Run one study with the tuner and return its times."""
    with study() as ready:
        TrialWorker.play = time_task  # type: ignore[method-assign]  # timed
        started = time.monotonic()
        try:
            walk = play_trials(ready)
        finally:
            TrialWorker.play = PLAY  # type: ignore[method-assign]  # restored
        conclude_search(ready, walk)
        whole = time.monotonic() - started
    games = sum(trial.seconds for trial in ready.trials)
    own = available_cores() * (max(ended) - min(begun)) - games
    return StudyTimes(whole, own, games, gaps())


def gaps() -> list[float]:
    """Return the seconds between consecutive trials of one worker."""
    slots = defaultdict(list)
    for slot in sorted(range(TRIALS), key=lambda slot: begun[slot]):
        slots[process[slot]].append(slot)
    return [begun[after] - ended[slot] for each in slots.values() for slot, after in pairwise(each)]


def naive_seconds() -> float:
    """Return the seconds of the same study with `study.optimize` in one process."""
    with study() as ready:
        trial_games, tuning = ready.games, ready.tuning

        def score(trial: optuna.Trial) -> float:
            for name, kind in tuning.space.distributions().items():
                trial.suggest_float(name, kind.low, kind.high)
            changes = tuning.space.changes(tuning.space.point(trial.params))
            span = trial_games.pair_range(trial.number, 0)
            whole = Task(span.start, span.stop, {})
            played = trial_games.worker.play(TrialTask(trial.number, 0, whole, changes, True))
            games = decode_trial(trial_games, trial.number, [played.games])
            point = tuning.space.point(trial.params)
            return make_trial(trial.number, point, games, played.seconds).score

        sampler = optuna.samplers.TPESampler(seed=1, n_startup_trials=TRIALS // 2)
        started = time.monotonic()
        naive = optuna.create_study(direction="maximize", sampler=sampler)
        naive.enqueue_trial({a.name: tuning.seed_values[a.name] for a in tuning.space.axes})
        naive.optimize(score, n_trials=TRIALS)
        assert naive.best_params
        return time.monotonic() - started


def tuner_itself(rounds: int) -> Row:
    """Compare the time that workers do not spend on games with the allowed share."""
    found = min(
        (study_time() for _ in range(min(rounds, 3))), key=lambda each: each.own / each.games
    )
    share = found.own / found.games
    what = f"{TRIALS} trials of 200 games at depth 6, time beside the games: allowed"
    shown = f"{100 * share:.1f} %", f"{100 * OWN_SHARE:.0f} % of {found.games:.1f} s"
    return Row(what, *shown, OWN_SHARE / share, 1.0)


def next_trial(rounds: int) -> Row:
    """Compare the longest pause between two trials of a worker with the allowed time."""
    longest = min(max(study_time().gaps) for _ in range(min(rounds, 3)))
    what = "from a trial's end to the next one's start, longest of all: allowed"
    return Row(what, f"{1000 * longest:.1f} ms", "10 ms", GAP_SECONDS / longest, 1.0)


def tuning_naive(rounds: int) -> Row:
    """Compare the seconds to the recommendation with `study.optimize` in one process."""
    ours, against = best_of(min(rounds, 3), lambda: study_time().whole, naive_seconds)
    what = f"time to the recommendation, {TRIALS} trials of 200 games: study.optimize, one process"
    return Row(what, f"{ours:.2f} s", f"{against:.2f} s", against / ours, 1.8)
