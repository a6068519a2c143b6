"""The tuner: its own time beside the games', and against the same study written naively."""

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

import arena.tuning  # noqa: F401  # before numpy, as the command has it: one thread

# isort: split
import optuna

from arena.config.command_line import RunOptions, available_cores
from arena.planning.tasks import Task
from arena.playing.options import Interrupts
from arena.storage.journal import RunDirectory
from arena.tuning import study as search
from arena.tuning.optuna_study import distributions
from arena.tuning.recommendation import recommend
from arena.tuning.space import Point
from arena.tuning.study import Study, play_trials
from arena.tuning.study_config import load_study
from arena.tuning.trial_games import TrialGamesBlob, TrialTask, TrialWorker, decode_trial
from arena.tuning.trials import Trial, make_trial
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


# When each trial began and ended, and in which process: seconds, written by the workers.
begun, ended = RawArray("d", TRIALS), RawArray("d", TRIALS)
process = RawArray("l", TRIALS)
PLAY = TrialWorker.play


class Spent(NamedTuple):
    """Seconds of one study."""

    whole: float  # from the first proposal to the recommendation
    own: float  # of the workers' time until the last trial, what was not games
    games: float  # of all workers together
    gaps: list[float]  # between a trial's end and the next one's start in the same worker


@contextmanager
def study() -> Iterator[Study]:
    """A study that is ready to play, everything compiled, in a directory of its own."""
    with tempfile.TemporaryDirectory() as text:
        directory = Path(text)
        path = directory / "bench.toml"
        path.write_text(STUDY)
        tuning = load_study(path, [])
        options = RunOptions(directory, available_cores(), Interrupts(), quiet=True)
        with RunDirectory(directory, "bench") as locked:
            yield search.prepare_study(tuning, options, locked)


def time_task(player: TrialWorker, part: TrialTask) -> TrialGamesBlob:
    """The games of a part; a trial as small as these is one part."""
    begun[part.slot] = time.monotonic()
    played = PLAY(player, part)
    ended[part.slot], process[part.slot] = time.monotonic(), os.getpid()
    return played


def study_time() -> Spent:
    """One study, played by the tuner."""
    with study() as ready:
        TrialWorker.play = time_task  # type: ignore[method-assign]  # to time it
        started = time.monotonic()
        try:
            played = play_trials(ready, "bench")
        finally:
            TrialWorker.play = PLAY  # type: ignore[method-assign]  # as it was
        recommended(ready, played.trials, played.arrived)
        whole = time.monotonic() - started
    games = sum(trial.seconds for trial in played.trials)
    own = available_cores() * (max(ended) - min(begun)) - games
    return Spent(whole, own, games, gaps())


def recommended(ready: Study, trials: list[Trial], final: Point | None) -> None:
    """Find what the study recommends."""
    tuning = ready.tuning
    point = tuning.space.point(tuning.seed_values)
    recommend(tuning.space, point, trials, tuning.plan.seed, final)


def gaps() -> list[float]:
    """Seconds between trials that followed one another in one worker."""
    slots = defaultdict(list)
    for slot in sorted(range(TRIALS), key=lambda slot: begun[slot]):
        slots[process[slot]].append(slot)
    return [begun[after] - ended[slot] for each in slots.values() for slot, after in pairwise(each)]


def naive_seconds() -> float:
    """The same study as `study.optimize` has it: one process, all in memory, compiled games."""
    with study() as ready:
        trial_games, tuning = ready.games, ready.tuning

        def score(trial: optuna.Trial) -> float:
            for name, kind in distributions(tuning.space).items():
                trial.suggest_float(name, kind.low, kind.high)
            changes = tuning.space.changes(tuning.space.point(trial.params))
            span = trial_games.span(trial.number, 0)
            whole = Task(span.start, span.stop, {})
            played = trial_games.player.play(TrialTask(trial.number, 0, whole, changes, True))
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
    """What workers waited for, as a share of the games' time."""
    found = min(
        (study_time() for _ in range(min(rounds, 3))), key=lambda each: each.own / each.games
    )
    share = found.own / found.games
    what = f"{TRIALS} trials of 200 games at depth 6, time beside the games: allowed"
    shown = f"{100 * share:.1f} %", f"{100 * OWN_SHARE:.0f} % of {found.games:.1f} s"
    return Row(what, *shown, OWN_SHARE / share, 1.0)


def next_trial(rounds: int) -> Row:
    """How soon a worker begins the next trial: nothing is built or compiled in between."""
    longest = min(max(study_time().gaps) for _ in range(min(rounds, 3)))
    what = "from a trial's end to the next one's start, longest of all: allowed"
    return Row(what, f"{1000 * longest:.1f} ms", "10 ms", GAP_SECONDS / longest, 1.0)


def tuning_naive(rounds: int) -> Row:
    """Seconds to the recommendation against `study.optimize` in one process."""
    ours, against = best_of(min(rounds, 3), lambda: study_time().whole, naive_seconds)
    what = f"time to the recommendation, {TRIALS} trials of 200 games: study.optimize, one process"
    return Row(what, f"{ours:.2f} s", f"{against:.2f} s", against / ours, 1.8)
