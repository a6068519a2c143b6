"""The recommended weights, and a conclusion for each weight."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from arena.stats.quantiles import Z_95
from arena.tuning.samplers.registry import trial_rng
from arena.tuning.space import Point, Space, Value, value_text, values_text
from arena.tuning.surrogate import (
    Floats,
    Posterior,
    TrialData,
    fit_posterior,
    posterior_maximum,
)
from arena.tuning.trials import Trial, candidates_differ
from arena.tuning.validation import ScoreInterval, finite_elo

LEAST_TRIALS = 5
NO_CHANGE = "flat: no game changed between candidates; widen the ranges, or tune other weights"
NO_GAIN = "flat: the 95 % interval of the gain over the seed weights contains 0"
LEAST_OWN = 50  # pairs: in fewer pairs lucky trials have too small a variance
FEW = "too few trials to recommend anything"
SURFACES = 200  # drawn from the posterior; their maxima make the interval
SPREAD_POINTS, NEAR_POINTS, NEAR = 250, 350, 0.15
LITTLE_ELO = 10.0  # a weight that gains less does not matter
EDGE, INWARDS = 0.05, 0.15  # of a range
NEAR_SEED = 0.05  # of a range: a smaller move cannot show whether the weight matters


class Recommendation(NamedTuple):
    """The recommended weights with their evidence."""

    point: Point
    weights: dict[str, Value]
    best_point: Point  # as if it were not flat
    score: ScoreInterval  # expected against the opponents of the trials
    gain: ScoreInterval  # over the seed weights
    gain_elo: ScoreInterval
    flat: str  # why the seed weights are recommended; empty otherwise
    trials: int
    games: int
    fingerprints: int  # candidates with different games


def trial_data(trials: Sequence[Trial]) -> TrialData:
    """Return the trials for the Gaussian process; small trials share one variance per game."""
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
    step: int = 1,
) -> tuple[Recommendation, Posterior]:
    """Return the recommendation and the posterior.

    The recommendation is the maximum of the posterior mean, or `final`, the end of a walk: its
    trials lie too close together to show a maximum. The seed weights are recommended if no gain
    over them is certain. After the first trial, `step` consecutive trials share openings.
    """
    posterior, differ = fit_posterior(trial_data(trials)), candidates_differ(trials, step)
    best = posterior_maximum(posterior, trial_rng(seed, -1)) if final is None else final
    best, seed_point = space.round_point(best), space.round_point(seed_point)
    gain, spread = posterior.difference(best, seed_point)
    flat = ""
    if len(trials) < LEAST_TRIALS:
        flat = FEW
    elif not differ:
        flat = NO_CHANGE
    elif gain - Z_95 * spread <= 0.0:
        flat = NO_GAIN
    point = seed_point if flat else best
    base, gains = score_at(posterior, seed_point).value, interval_of(gain, spread)
    recommendation = Recommendation(
        point=point,
        weights=space.values(point),
        best_point=best,
        score=score_at(posterior, best),
        gain=gains,
        gain_elo=ScoreInterval(*(finite_elo(base + each) - finite_elo(base) for each in gains)),
        flat=flat,
        trials=len(trials),
        games=sum(trial.games for trial in trials),
        fingerprints=len({trial.fingerprint for trial in trials}),
    )
    return recommendation, posterior


def interval_of(value: float, spread: float) -> ScoreInterval:
    """Return the 95 % interval of a value with a standard deviation."""
    return ScoreInterval(value, value - Z_95 * spread, value + Z_95 * spread)


def score_at(posterior: Posterior, point: Point) -> ScoreInterval:
    """Return the expected score at a point."""
    mean, spread = posterior.at(point[None, :])
    return interval_of(float(mean[0]), float(spread[0]))


def recommendation_text(recommendation: Recommendation) -> str:
    """Return the recommendation in one phrase."""
    if recommendation.flat:
        return f"best so far: the seed weights ({recommendation.flat})"
    return f"best so far: {values_text(recommendation.weights)}"


def slice_points(through: Point, axis: int, count: int) -> Floats:
    """Return points along the whole range of one weight, the other weights as in `through`."""
    points = np.tile(through, (count, 1))
    points[:, axis] = np.linspace(0.0, 1.0, count)
    return points


class WeightConclusion(StrEnum):
    """A conclusion about one weight."""

    MATTERS = "matters"
    UNKNOWN = "cannot be told from its seed value"
    LITTLE = "does not matter here"
    WIDEN = "at the edge: widen it"
    FLAT_EDGE = "flat up to the edge"


class WeightAnswer(NamedTuple):
    """The interval of one weight, the Elo that its change gains, and the conclusion."""

    weight: str
    value: Value  # at the best point
    low: Value  # 95 % interval of the best value
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
    """Return the answer for every tuned weight, in the order of the space.

    `clipped` are the weights that an edge held back during a walk.
    """
    tops, answers = sample_maxima(posterior, best, seed), list[WeightAnswer]()
    for place, axis in enumerate(space.axes):
        low, high = (axis.value_at(float(u)) for u in np.quantile(tops[:, place], (0.025, 0.975)))
        at_seed = with_weight(best, place, float(seed_point[place]))
        gain = elo_gain(posterior, best, at_seed)
        moved = abs(float(best[place] - seed_point[place]))
        answer = conclude_weight(gain, near=moved == 0.0 if axis.choices else moved < NEAR_SEED)
        value = axis.value_at(float(best[place]))
        if not axis.choices and min(best[place], 1.0 - best[place]) <= EDGE:
            held_back = bool(clipped) and clipped[place]
            answer = WeightConclusion.WIDEN if held_back else edge_answer(posterior, best, place)
        answers.append(WeightAnswer(axis.name, value, low, high, gain, answer))
    return answers


def revise_conclusions(
    answers: Sequence[WeightAnswer], shows_gain: bool, detectable_elo: float = 0.0
) -> list[WeightAnswer]:
    """Make the conclusions agree with the match of the recommended weights.

    The search chose the weights, so only the match can show that a weight matters. A weight that is
    tuned alone matters if the match shows a gain. "Does not matter" needs a study that can detect a
    gain of LITTLE_ELO.
    """
    changed = dict[WeightConclusion, WeightConclusion]()
    if detectable_elo > LITTLE_ELO:
        changed[WeightConclusion.LITTLE] = WeightConclusion.UNKNOWN
    if not shows_gain:
        changed[WeightConclusion.MATTERS] = WeightConclusion.UNKNOWN
    elif len(answers) == 1:
        unsure = (WeightConclusion.UNKNOWN, WeightConclusion.LITTLE)
        changed |= dict.fromkeys(unsure, WeightConclusion.MATTERS)
    return [each._replace(answer=changed.get(each.answer, each.answer)) for each in answers]


def conclude_weight(gain: ScoreInterval, near: bool) -> WeightConclusion:
    """Return the conclusion from a gain; a weight near its seed value may matter elsewhere."""
    if gain.low > 0.0:
        return WeightConclusion.MATTERS
    return (
        WeightConclusion.LITTLE if gain.high < LITTLE_ELO and not near else WeightConclusion.UNKNOWN
    )


def edge_answer(posterior: Posterior, best: Point, place: int) -> WeightConclusion:
    """Return whether a weight near an edge loses when it is moved inwards."""
    inwards = INWARDS if best[place] < 0.5 else -INWARDS
    gain = elo_gain(posterior, best, with_weight(best, place, float(best[place]) + inwards))
    return WeightConclusion.WIDEN if gain.low > 0.0 else WeightConclusion.FLAT_EDGE


def with_weight(point: Point, place: int, unit: float) -> Point:
    """Return the point with another value of one weight."""
    other = np.array(point)
    other[place] = unit
    return other


def elo_gain(posterior: Posterior, better: Point, worse: Point) -> ScoreInterval:
    """Return the difference of two points in Elo with its 95 % interval."""
    score = score_at(posterior, better).value
    gains = interval_of(*posterior.difference(better, worse))
    return ScoreInterval(*(finite_elo(score) - finite_elo(score - each) for each in gains))


def sample_maxima(posterior: Posterior, best: Point, seed: int) -> Floats:
    """Return the highest of some points on each of many surfaces drawn from the posterior."""
    rng, dims = trial_rng(seed, -2), len(best)
    near = np.clip(best + NEAR * rng.standard_normal((NEAR_POINTS, dims)), 0.0, 1.0)
    points = np.concatenate([rng.random((SPREAD_POINTS, dims)), near, best[None, :]])
    root = np.linalg.cholesky(posterior.covariance(points) + 1e-9 * np.eye(len(points)))
    drawn = posterior.means(points)[:, None] + root @ rng.standard_normal((len(points), SURFACES))
    return np.asarray(points[np.argmax(drawn, axis=0)])


def interval_text(of: WeightAnswer) -> str:
    """Return the interval in which the weight is best."""
    low, high = value_text(of.low), value_text(of.high)
    if isinstance(of.low, str | bool) or isinstance(of.high, str | bool):
        return low if low == high else f"{low} or {high}"
    return f"[{low}, {high}]"


def answer_lines(answers: Sequence[WeightAnswer], recommended: dict[str, Value]) -> list[str]:
    """Return a line for every weight: value, interval, conclusion."""
    width = max(len(each.weight) for each in answers)
    return [
        f"  {each.weight:{width}}  {value_text(recommended[each.weight])} "
        f"{interval_text(each)}: {each.answer}"
        for each in answers
    ]
