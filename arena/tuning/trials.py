"""Score and variance of a trial."""

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
from arena.storage.journal import Section
from arena.tuning.space import Point
from games.kernels.splitmix import mixed

# Prior of the noise: half a Kalah-like pairing law (chess-tuning-tools uses such a prior).
PRIOR_PAIRINGS = 2.5
PRIOR_VARIANCE = 0.10
NOISE_FLOOR = 1e-6
NO_ESTIMATE = no_estimate("shown in a bundle")
Z_95 = 1.959964


class StoredTrial(NamedTuple):
    """A finished trial as the journal holds it."""

    point: Point
    games: bytes
    seconds: float
    ended: float = 0.0  # seconds since 1970; 0 where nobody noted it


def store_trial(section: Section, slot: int, trial: StoredTrial) -> None:
    """Store a finished trial with all its games."""
    note = {"point": [float(unit) for unit in trial.point], "seconds": trial.seconds}
    note["ended"] = trial.ended
    section.append(slot, slot + 1, trial.games, json.dumps(note))


def load_trials(section: Section) -> list[StoredTrial]:
    """The trials that are finished, in the order of their slots."""
    notes = [(batch.content, json.loads(batch.note)) for batch in section.batches()]
    return [
        StoredTrial(np.array(note["point"]), games, note["seconds"], note.get("ended", 0.0))
        for games, note in notes
    ]


class Trial(NamedTuple):
    """One candidate's small tournament: its score, how sure it is, and the games behind it."""

    slot: int
    point: Point
    score: float
    low: float  # 95 % interval of the score, by openings
    high: float
    noise: float  # variance of the score
    games: int
    distinct_games: int
    fingerprint: int  # of all games it played; 0 where it moved as its opponent does
    seconds: float  # of thinking, all cores together
    begun: float = 0.0  # seconds since 1970; 0 where nobody noted it
    ended: float = 0.0


def make_trial(
    slot: int, point: Point, games: Games, seconds: float, ended: float = 0.0, bundled: bool = False
) -> Trial:
    """The trial of these games, where both games of a pairing stand together.

    One that is only ever shown `bundled` with others needs no interval of its own.
    """
    points = (games.result[0::2] + (2 - games.result[1::2])) / 4.0
    estimate = NO_ESTIMATE if bundled else score_estimate(games.opening[0::2], points)
    score = float(points.mean())
    return Trial(
        slot=slot,
        point=point,
        score=score,
        low=0.0 if estimate.low is None else estimate.low,
        high=1.0 if estimate.high is None else estimate.high,
        noise=score_variance(points),
        games=len(games),
        distinct_games=count_distinct(games),
        fingerprint=games_fingerprint(games),
        seconds=seconds,
        begun=max(ended - seconds, 0.0),
        ended=ended,
    )


def score_variance(points: NDArray[np.float64]) -> float:
    """Variance of the mean of pair scores, with a weak prior so that few games are not exact."""
    squares = float(np.square(points - points.mean()).sum())
    variance = (squares + PRIOR_PAIRINGS * PRIOR_VARIANCE) / (len(points) + PRIOR_PAIRINGS)
    return variance / len(points) + NOISE_FLOOR


def candidates_differ(trials: Sequence[Trial], sharing: int) -> bool:
    """Whether any two candidates played differently, as far as that can be seen.

    So many trials after the first, `sharing`, play the same openings and can be compared. Others
    differ by their openings, unless a candidate moves as its opponent does.
    """
    found = {trial.fingerprint for trial in trials}
    if sharing == 1 or 0 in found:
        return len(found) > 1
    return any(
        step_differs([trial.fingerprint for trial in trials[at : at + sharing]])
        for at in range(1, len(trials), sharing)
    )


def step_differs(fingerprints: Sequence[int]) -> bool:
    """Whether the trials of a step, which share openings, played any game differently."""
    return len(set(fingerprints)) > 1


def games_fingerprint(games: Games) -> int:
    """A word for what a candidate played: 0 if it moved as its opponent does in every game."""
    if (games.game_id[0::2] == games.game_id[1::2]).all():
        return 0
    two, leg = np.uint64(2), games.leg.astype(np.uint64)
    places = mixed(games.pair.astype(np.uint64) * two + leg)
    seats = leg + two * (games.first + games.second).astype(np.uint64)
    words = mixed(games.game_id + mixed(seats + np.uint64(1)))
    return int(np.bitwise_xor.reduce(mixed(words ^ places)))


def bundle_trials(trials: Sequence[Trial], size: int) -> list[Trial]:
    """The trials by `size`; the last bundle may be smaller."""
    if size == 1:
        return list(trials)
    starts = range(0, len(trials), size)
    return [_bundle(number, trials[at : at + size]) for number, at in enumerate(starts)]


def _bundle(number: int, trials: Sequence[Trial]) -> Trial:
    """One trial at the mean of their points, with all of their games."""
    games = np.array([trial.games for trial in trials])
    share = games / games.sum()
    score = float(share @ [trial.score for trial in trials])
    noise = float(share**2 @ [trial.noise for trial in trials])
    reach = Z_95 * noise**0.5
    return Trial(
        slot=number,
        point=np.asarray(share @ np.array([trial.point for trial in trials])),
        score=score,
        low=max(score - reach, 0.0),
        high=min(score + reach, 1.0),
        noise=noise,
        games=int(games.sum()),
        distinct_games=sum(trial.distinct_games for trial in trials),
        fingerprint=reduce(xor, (trial.fingerprint for trial in trials)),
        seconds=sum(trial.seconds for trial in trials),
        begun=min(trial.begun for trial in trials),
        ended=max(trial.ended for trial in trials),
    )
