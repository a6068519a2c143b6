"""Bundles: small trials that follow one another, shown as one trial of the file's size."""

from collections.abc import Sequence
from functools import reduce
from operator import xor

import numpy as np

from arena.tuning.trials import Trial

Z_95 = 1.959964


def bundled(trials: Sequence[Trial], size: int, first: int = 0) -> list[Trial]:
    """The trials by `size`, numbered from `first` on; the last bundle may be smaller."""
    if size == 1:
        return list(trials)
    starts = range(0, len(trials), size)
    return [_bundle(number, trials[at : at + size]) for number, at in enumerate(starts, first)]


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
