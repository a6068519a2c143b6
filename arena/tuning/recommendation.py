"""Recommended values and the conclusion for each weight."""

import time
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from arena.tuning.samplers.registry import trial_rng
from arena.tuning.space import Point, Space, Value, value_text, values_text
from arena.tuning.surrogate import (
    Floats,
    Posterior,
    TrialData,
    fit_posterior,
    hyperparameters,
    posterior_maximum,
)
from arena.tuning.trials import Trial, candidates_differ
from arena.tuning.validation import ScoreInterval, clamped_elo

Z_95 = 1.959964
LEAST_TRIALS = 5
NO_CHANGE = "flat: no game changed between candidates; widen the ranges, or tune other weights"
NO_GAIN = "flat: the 95 % interval of its gain over the seed weights holds 0"
# Points that were lucky have a small variance of their own in so few pairings.
LEAST_OWN = 50
FEW = "too few trials to recommend anything"
FIT_SHARE = 0.005  # of the time may go into fits for the live line
FITTED_LIVE = 120  # trials that the live line is fitted on
SURFACES = 200  # drawn from the process; their highest points make the interval
SPREAD_POINTS, NEAR_POINTS, NEAR = 250, 350, 0.15
LITTLE_ELO = 10.0  # what matters less than this does not matter
EDGE, INWARDS = 0.05, 0.15  # of a range
NEAR_SEED = 0.05  # of a range: so small a move shows little, whether or not the weight matters


class Recommendation(NamedTuple):
    """The recommended weights with their evidence; `flat` says why they are the seed weights."""

    point: Point
    weights: dict[str, Value]
    best_point: Point  # of the posterior mean, also when it is flat
    score: ScoreInterval  # expected against the opponents of the trials
    gain: ScoreInterval  # over the seed weights
    gain_elo: ScoreInterval
    flat: str  # empty if it is not
    trials: int
    games: int
    fingerprints: int  # candidates that played differently


def trial_data(trials: Sequence[Trial]) -> TrialData:
    """The trials for the Gaussian process; small ones have the variance of all in common."""
    pairs = np.array([trial.games / 2 for trial in trials])
    noise = np.array([trial.noise for trial in trials])
    pooled = float((noise * pairs**2).sum() / pairs.sum()) / pairs
    return TrialData(
        np.array([trial.point for trial in trials]),
        np.array([trial.score for trial in trials]),
        np.where(pairs < LEAST_OWN, pooled, noise),
    )


def recommend(
    space: Space,
    seed_point: Point,
    trials: Sequence[Trial],
    seed: int,
    final: Point | None = None,
    sharing: int = 1,
) -> tuple[Recommendation, Posterior]:
    """The weights of the highest posterior mean, unless they gain nothing over the seed weights.

    `final` is where a sampler that walks has arrived: its trials lie too close together to show
    where the mean is highest, but they show which score to expect there. So many trials after the
    first share openings, `sharing`.
    """
    posterior, differ = fit_posterior(trial_data(trials)), candidates_differ(trials, sharing)
    return make_recommendation(space, seed_point, trials, posterior, seed, differ, final), posterior


def make_recommendation(
    space: Space,
    seed_point: Point,
    trials: Sequence[Trial],
    posterior: Posterior,
    seed: int,
    differ: bool,
    final: Point | None = None,
) -> Recommendation:
    """The recommendation that follows from a fitted posterior.

    `differ` says whether any two candidates played differently.
    """
    best = space.snapped(
        posterior_maximum(posterior, trial_rng(seed, -1)) if final is None else final
    )
    seed_point = space.snapped(seed_point)
    gain, spread = posterior.difference(best, seed_point)
    score = score_at(posterior, best)
    fingerprints = len({trial.fingerprint for trial in trials})
    flat = ""
    if len(trials) < LEAST_TRIALS:
        flat = FEW
    elif not differ:
        flat = NO_CHANGE
    elif gain - Z_95 * spread <= 0.0:
        flat = NO_GAIN
    point = seed_point if flat else best
    base = score_at(posterior, seed_point).value
    gained = ScoreInterval(gain, gain - Z_95 * spread, gain + Z_95 * spread)
    return Recommendation(
        point=point,
        weights=space.values(point),
        best_point=best,
        score=score,
        gain=gained,
        gain_elo=ScoreInterval(*(clamped_elo(base + each) - clamped_elo(base) for each in gained)),
        flat=flat,
        trials=len(trials),
        games=sum(trial.games for trial in trials),
        fingerprints=fingerprints,
    )


def score_at(posterior: Posterior, point: Point) -> ScoreInterval:
    """The expected score at one point."""
    mean, spread = posterior.at(point[None, :])
    reach = Z_95 * float(spread[0])
    return ScoreInterval(float(mean[0]), float(mean[0]) - reach, float(mean[0]) + reach)


def recommendation_text(recommendation: Recommendation) -> str:
    """The weights in one phrase; what the search believes of them is no claim."""
    if recommendation.flat:
        return f"best so far: the seed weights ({recommendation.flat})"
    return f"best so far: {values_text(recommendation.weights)}"


class BestSoFar:
    """The recommendation while trials come in, fitted now and then; never the luckiest trial."""

    def __init__(self, space: Space, seed_point: Point, seed: int, sharing: int) -> None:
        """No trial is known yet; so many after the first share openings, `sharing`."""
        self.space, self.seed_point, self.seed = space, seed_point, seed
        self.sharing = sharing
        self.start: Floats | None = None
        self.latest: Recommendation | None = None
        self.fit_seconds = 0.0

    def words(self, trials: Sequence[Trial], seconds: float) -> list[str]:
        """The latest recommendation, if there is one, `seconds` after the study began."""
        if self.fit_seconds <= FIT_SHARE * seconds:
            begun = time.monotonic()
            self.latest = self.recommendation(trials)
            self.fit_seconds += time.monotonic() - begun
        return [] if self.latest is None else [recommendation_text(self.latest)]

    def recommendation(self, trials: Sequence[Trial]) -> Recommendation | None:
        """As `recommend`, from at most FITTED_LIVE trials; None before there are enough."""
        if len(trials) < LEAST_TRIALS:
            return None
        step = -(-len(trials) // FITTED_LIVE)
        posterior = fit_posterior(trial_data(trials[::step]), self.start)
        self.start = hyperparameters(posterior)
        differ = candidates_differ(trials, self.sharing)
        return make_recommendation(
            self.space, self.seed_point, trials, posterior, self.seed, differ
        )


def slice_points(through: Point, axis: int, count: int) -> Floats:
    """Points along one weight's whole range, the others as they are in `through`."""
    points = np.tile(through, (count, 1))
    points[:, axis] = np.linspace(0.0, 1.0, count)
    return points


class WeightConclusion(StrEnum):
    """What the games say of a weight."""

    MATTERS = "matters"
    UNTOLD = "cannot be told from its seed value"
    LITTLE = "does not matter here"
    WIDEN = "at the edge: widen it"
    FLAT_EDGE = "flat up to the edge"


class WeightAnswer(NamedTuple):
    """One weight: where it may lie, what its change is believed to gain, what follows."""

    weight: str
    value: Value  # of the highest posterior mean
    low: Value  # 95 % interval of where it is best
    high: Value
    gain_elo: ScoreInterval  # over the same point with this weight at its seed value
    answer: WeightConclusion


def weight_answers(
    space: Space,
    posterior: Posterior,
    best: Point,
    seed_point: Point,
    seed: int,
    clipped: Sequence[bool] = (),
) -> list[WeightAnswer]:
    """An answer for every tuned weight, in the order of the space.

    `clipped` are those that an edge held back while the search walked.
    """
    tops, answers = sampled_maxima(posterior, best, seed), list[WeightAnswer]()
    for place, axis in enumerate(space.axes):
        low, high = (axis.weight(float(u)) for u in np.quantile(tops[:, place], (0.025, 0.975)))
        at_seed = with_weight(best, place, float(seed_point[place]))
        gain = elo_gain(posterior, best, at_seed)
        way = abs(float(best[place] - seed_point[place]))
        answer = conclude_weight(gain, near=way == 0.0 if axis.choices else way < NEAR_SEED)
        value = axis.weight(float(best[place]))
        if not axis.choices and min(best[place], 1.0 - best[place]) <= EDGE:
            held = bool(clipped) and clipped[place]
            answer = WeightConclusion.WIDEN if held else edge_answer(posterior, best, place)
        answers.append(WeightAnswer(axis.name, value, low, high, gain, answer))
    return answers


def after_match(
    answers: Sequence[WeightAnswer], shows_gain: bool, detectable_elo: float = 0.0
) -> list[WeightAnswer]:
    """The answers that agree with the match of the recommended weights against the seed weights.

    The search chose the weights, so its belief alone shows nothing: a weight matters only if the
    match shows a gain. A weight that is tuned alone then matters, as nothing else was changed.
    No weight "does not matter" where the study had shown only gains of `detectable_elo`.
    """
    if detectable_elo > LITTLE_ELO:
        answers = [
            _answered(each, WeightConclusion.UNTOLD)
            if each.answer is WeightConclusion.LITTLE
            else each
            for each in answers
        ]
    if shows_gain:
        told = (WeightConclusion.UNTOLD, WeightConclusion.LITTLE) if len(answers) == 1 else ()
        return [_answered(each, WeightConclusion.MATTERS) if each.answer in told else each
                for each in answers]  # fmt: skip
    return [
        _answered(each, WeightConclusion.UNTOLD)
        if each.answer is WeightConclusion.MATTERS
        else each
        for each in answers
    ]


def _answered(each: WeightAnswer, word: WeightConclusion) -> WeightAnswer:
    return each._replace(answer=word)


def conclude_weight(gain: ScoreInterval, near: bool) -> WeightConclusion:
    """What a gain with its interval says; near its seed value a weight may matter elsewhere."""
    if gain.low > 0.0:
        return WeightConclusion.MATTERS
    return (
        WeightConclusion.LITTLE if gain.high < LITTLE_ELO and not near else WeightConclusion.UNTOLD
    )


def edge_answer(posterior: Posterior, best: Point, place: int) -> WeightConclusion:
    """Whether a weight near an edge of its range loses when it is moved inwards."""
    inwards = INWARDS if best[place] < 0.5 else -INWARDS
    gain = elo_gain(posterior, best, with_weight(best, place, float(best[place]) + inwards))
    return WeightConclusion.WIDEN if gain.low > 0.0 else WeightConclusion.FLAT_EDGE


def with_weight(point: Point, place: int, unit: float) -> Point:
    """The same point with one weight elsewhere."""
    other = np.array(point)
    other[place] = unit
    return other


def elo_gain(posterior: Posterior, better: Point, worse: Point) -> ScoreInterval:
    """The difference of two points in Elo, with its 95 % interval."""
    score = score_at(posterior, better).value
    gain, spread = posterior.difference(better, worse)
    ends = (gain, gain - Z_95 * spread, gain + Z_95 * spread)
    return ScoreInterval(*(clamped_elo(score) - clamped_elo(score - each) for each in ends))


def sampled_maxima(posterior: Posterior, best: Point, seed: int) -> Floats:
    """Where each of many surfaces drawn from the process is highest, among some points."""
    rng, dims = trial_rng(seed, -2), len(best)
    near = np.clip(best + NEAR * rng.standard_normal((NEAR_POINTS, dims)), 0.0, 1.0)
    points = np.concatenate([rng.random((SPREAD_POINTS, dims)), near, best[None, :]])
    root = np.linalg.cholesky(posterior.covariance(points) + 1e-9 * np.eye(len(points)))
    drawn = posterior.means(points)[:, None] + root @ rng.standard_normal((len(points), SURFACES))
    return np.asarray(points[np.argmax(drawn, axis=0)])


def interval_text(of: WeightAnswer) -> str:
    """Between which values it is best."""
    low, high = value_text(of.low), value_text(of.high)
    if isinstance(of.low, str | bool) or isinstance(of.high, str | bool):
        return low if low == high else f"{low} or {high}"
    return f"[{low}, {high}]"


def answer_lines(answers: Sequence[WeightAnswer], recommended: dict[str, Value]) -> list[str]:
    """A line for every weight: its value, its interval, what may be said of it."""
    width = max(len(each.weight) for each in answers)
    return [
        f"  {each.weight:{width}}  {value_text(recommended[each.weight])} "
        f"{interval_text(each)}: {each.answer}"
        for each in answers
    ]
