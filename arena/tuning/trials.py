"""Trials: their score and variance, their journal, and bundles of small ones."""

import json
from collections.abc import Sequence
from functools import reduce
from operator import xor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.analysis.duplicates import count_distinct
from arena.planning.games import Games
from arena.stats.estimate import no_estimate
from arena.stats.intervals import score_estimate
from arena.stats.quantiles import Z_95
from arena.storage.journal import Section
from arena.tuning.space import Params, Point
from games.kernels.splitmix import mixed

# Prior of the noise, about half that of pairs in Kalah (chess-tuning-tools uses such a prior).
PRIOR_PAIRINGS = 2.5
PRIOR_VARIANCE = 0.10
NOISE_FLOOR = 1e-6
NO_ESTIMATE = no_estimate("shown in a bundle")


class StoredTrial(NamedTuple):
    """A finished trial in the journal."""

    params: Params
    games: bytes
    seconds: float
    end_time: float = 0.0  # seconds since 1970; 0: unknown


def store_trial(section: Section, number: int, trial: StoredTrial) -> None:
    """Store a finished trial with all its games."""
    note = {"params": trial.params, "seconds": trial.seconds, "ended": trial.end_time}
    section.append(number, number + 1, trial.games, json.dumps(note))


def load_trials(section: Section) -> list[StoredTrial]:
    """Return the finished trials in their order."""
    notes = [(batch.content, json.loads(batch.note)) for batch in section.batches()]
    return [
        StoredTrial(note["params"], games, note["seconds"], note["ended"]) for games, note in notes
    ]


class Trial(NamedTuple):
    """A small tournament of one candidate: its score, the uncertainty, and the games behind it."""

    number: int
    point: Point
    score: float
    low: float  # 95 % interval of the score, by openings
    high: float
    noise: float  # variance of the score
    games: int
    distinct_games: int
    fingerprint: int  # of its games; 0 if it moved exactly as its opponent
    seconds: float  # of all cores together
    start_time: float = 0.0  # seconds since 1970; 0: unknown
    end_time: float = 0.0


def make_trial(
    number: int,
    point: Point,
    games: Games,
    seconds: float,
    end_time: float = 0.0,
    bundled: bool = False,
) -> Trial:
    """Return the trial of some games, in which the games of a pair follow each other.

    A trial that is only ever shown `bundled` with others gets no interval.
    """
    points = (games.result[0::2] + (2 - games.result[1::2])) / 4.0
    estimate = NO_ESTIMATE if bundled else score_estimate(games.opening[0::2], points)
    score = float(points.mean())
    return Trial(
        number=number,
        point=point,
        score=score,
        low=0.0 if estimate.low is None else estimate.low,
        high=1.0 if estimate.high is None else estimate.high,
        noise=score_variance(points),
        games=len(games),
        distinct_games=count_distinct(games),
        fingerprint=games_fingerprint(games),
        seconds=seconds,
        start_time=max(end_time - seconds, 0.0),
        end_time=end_time,
    )


def score_variance(points: NDArray[np.float64]) -> float:
    """Return the variance of the mean of pair scores, with a weak prior for few pairs."""
    squares = float(np.square(points - points.mean()).sum())
    variance = (squares + PRIOR_PAIRINGS * PRIOR_VARIANCE) / (len(points) + PRIOR_PAIRINGS)
    return variance / len(points) + NOISE_FLOOR


def candidates_differ(trials: Sequence[Trial], step: int) -> bool:
    """Return whether any two candidates played different games, as far as openings allow.

    After the first trial, `step` consecutive trials share openings and can be compared. Trials with
    different openings differ anyway, unless a candidate moves exactly as its opponent.
    """
    found = {trial.fingerprint for trial in trials}
    if step == 1 or 0 in found:
        return len(found) > 1
    steps = (trials[at : at + step] for at in range(1, len(trials), step))
    return any(len({trial.fingerprint for trial in each}) > 1 for each in steps)


def games_fingerprint(games: Games) -> int:
    """Return a hash of the games of a candidate; 0 if it moves exactly as its opponent."""
    if (games.game_id[0::2] == games.game_id[1::2]).all():
        return 0
    two, leg = np.uint64(2), games.leg.astype(np.uint64)
    places = mixed(games.pair.astype(np.uint64) * two + leg)
    seats = leg + two * (games.first + games.second).astype(np.uint64)
    words = mixed(games.game_id + mixed(seats + np.uint64(1)))
    return int(np.bitwise_xor.reduce(mixed(words ^ places)))


def bundle_trials(trials: Sequence[Trial], size: int) -> list[Trial]:
    """Return the trials in bundles of `size`; the last bundle may be smaller."""
    if size == 1:
        return list(trials)
    starts = range(0, len(trials), size)
    return [_bundle(number, trials[at : at + size]) for number, at in enumerate(starts)]


def _bundle(number: int, trials: Sequence[Trial]) -> Trial:
    games = np.array([trial.games for trial in trials])
    share = games / games.sum()
    score = float(share @ [trial.score for trial in trials])
    noise = float(share**2 @ [trial.noise for trial in trials])
    reach = Z_95 * noise**0.5
    return Trial(
        number=number,
        point=np.asarray(share @ np.array([trial.point for trial in trials])),
        score=score,
        low=max(score - reach, 0.0),
        high=min(score + reach, 1.0),
        noise=noise,
        games=int(games.sum()),
        distinct_games=sum(trial.distinct_games for trial in trials),
        fingerprint=reduce(xor, (trial.fingerprint for trial in trials)),
        seconds=sum(trial.seconds for trial in trials),
        start_time=min(trial.start_time for trial in trials),
        end_time=max(trial.end_time for trial in trials),
    )
