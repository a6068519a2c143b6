"""The claim: how the recommended weights score in games that no part of the search has seen."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.records import Games, pair_points
from arena.stats.elo import elo_from_score
from arena.stats.intervals import score_estimate
from arena.stats.words import percent, signed
from arena.tuning.trials import Trial
from arena.tuning.tune_file import Tuning

# Standard errors of a gain that a claim shows in four studies of five (1.96 + 0.84).
SHOWN = 2.8


class Score(NamedTuple):
    """An expected score, or a difference of two, with its 95 % interval."""

    value: float
    low: float
    high: float


class StudyClaim(NamedTuple):
    """The expected score against the opponents of the study, from pairings fixed beforehand."""

    score: Score
    gain_elo: Score | None  # over the seed weights; None against other opponents
    games: int
    against: str


def claim_of(tuning: Tuning, games: Sequence[Games]) -> StudyClaim:
    """The claim of these games, a match for each opponent, all on openings of their own."""
    points = np.concatenate([pair_points(each) / 4.0 for each in games])
    score = scored(np.arange(len(points)), points)
    alone = against_seed(tuning)
    gain = Score(*map(elo_within, score)) if alone else None
    return StudyClaim(score, gain, sum(map(len, games)), opponents_text(tuning))


def scored(openings: NDArray[np.int64], points: NDArray[np.float64]) -> Score:
    """The score with its interval; an end that nothing bounds is that of all scores."""
    found = score_estimate(openings, points)
    low, high = found.low, found.high
    return Score(float(points.mean()), 0.0 if low is None else low, 1.0 if high is None else high)


def elo_within(score: float) -> float:
    """The Elo of a score; that of a thousandth where all or nothing was won."""
    return elo_from_score(min(max(score, 0.001), 0.999))


def against_seed(tuning: Tuning) -> bool:
    """Whether the only opponent is the agent with its seed weights."""
    return [name for name, _ in tuning.opponents] == [tuning.agent]


def opponents_text(tuning: Tuning) -> str:
    """Whom the candidates play, with shares where there are several."""
    names = {name: f"{name} (seed weights)" if name == tuning.agent else name
             for name, _ in tuning.opponents}  # fmt: skip
    if len(names) == 1:
        return next(iter(names.values()))
    return ", ".join(f"{names[name]} {percent(share)}" for name, share in tuning.opponents)


def claim_text(claim: StudyClaim) -> str:
    """The claim in one phrase: score, gain, opponents, games."""
    value, low, high = (percent(each) for each in claim.score)
    gain = ""
    if claim.gain_elo is not None:
        elo, least, most = (signed(each) for each in claim.gain_elo)
        gain = f", {elo} [{least}, {most}] Elo"
    return (
        f"{value} [{low}, {high}]{gain} against {claim.against}, "
        f"in {claim.games:,} games that the search has not seen"
    )


def could_be_shown(pairs: int, trials: Sequence[Trial]) -> float:
    """The gain in Elo that a claim of so many pairings shows in four studies of five."""
    played = sum(trial.games / 2 for trial in trials)
    variance = sum(trial.noise * (trial.games / 2) ** 2 for trial in trials) / played
    return elo_within(0.5 + SHOWN * (variance / pairs) ** 0.5)
