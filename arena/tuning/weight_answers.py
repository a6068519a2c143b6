"""What may be said of each weight: its interval, and whether it can be told from its seed value."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from arena.tuning.claim import Score, elo_within
from arena.tuning.gaussian_process import Floats, Posterior
from arena.tuning.recommendation import Z_95, at
from arena.tuning.samplers.sampler import seeded
from arena.tuning.space import Point, Space, Value, value_text

SURFACES = 200  # drawn from the process; their highest points make the interval
SPREAD_POINTS, NEAR_POINTS, NEAR = 250, 350, 0.15
LITTLE_ELO = 10.0  # what matters less than this does not matter
EDGE, INWARDS = 0.05, 0.15  # of a range
NEAR_SEED = 0.05  # of a range: so small a move shows little, whether or not the weight matters


class WeightWord(StrEnum):
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
    gain_elo: Score  # over the same point with this weight at its seed value
    answer: WeightWord


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
    tops, answers = highest_points(posterior, best, seed), list[WeightAnswer]()
    for place, axis in enumerate(space.axes):
        low, high = (axis.weight(float(u)) for u in np.quantile(tops[:, place], (0.025, 0.975)))
        at_seed = moved(best, place, float(seed_point[place]))
        gain = gained(posterior, best, at_seed)
        way = abs(float(best[place] - seed_point[place]))
        answer = answer_of(gain, near=way == 0.0 if axis.choices else way < NEAR_SEED)
        value = axis.weight(float(best[place]))
        if not axis.choices and min(best[place], 1.0 - best[place]) <= EDGE:
            held = bool(clipped) and clipped[place]
            answer = WeightWord.WIDEN if held else edge_answer(posterior, best, place)
        answers.append(WeightAnswer(axis.name, value, low, high, gain, answer))
    return answers


def after_match(answers: Sequence[WeightAnswer], shows_gain: bool) -> list[WeightAnswer]:
    """The answers that agree with the match of the recommended weights against the seed weights.

    The search chose the weights, so its belief alone shows nothing: a weight matters only if the
    match shows a gain. A weight that is tuned alone then matters, as nothing else was changed.
    """
    if shows_gain:
        told = (WeightWord.UNTOLD, WeightWord.LITTLE) if len(answers) == 1 else ()
        return [_answered(each, WeightWord.MATTERS) if each.answer in told else each
                for each in answers]  # fmt: skip
    return [
        _answered(each, WeightWord.UNTOLD) if each.answer is WeightWord.MATTERS else each
        for each in answers
    ]


def _answered(each: WeightAnswer, word: WeightWord) -> WeightAnswer:
    return each._replace(answer=word)


def answer_of(gain: Score, near: bool) -> WeightWord:
    """What a gain with its interval says; near its seed value a weight may matter elsewhere."""
    if gain.low > 0.0:
        return WeightWord.MATTERS
    return WeightWord.LITTLE if gain.high < LITTLE_ELO and not near else WeightWord.UNTOLD


def edge_answer(posterior: Posterior, best: Point, place: int) -> WeightWord:
    """Whether a weight near an edge of its range loses when it is moved inwards."""
    inwards = INWARDS if best[place] < 0.5 else -INWARDS
    gain = gained(posterior, best, moved(best, place, float(best[place]) + inwards))
    return WeightWord.WIDEN if gain.low > 0.0 else WeightWord.FLAT_EDGE


def moved(point: Point, place: int, unit: float) -> Point:
    """The same point with one weight elsewhere."""
    other = np.array(point)
    other[place] = unit
    return other


def gained(posterior: Posterior, better: Point, worse: Point) -> Score:
    """The difference of two points in Elo, with its 95 % interval."""
    score = at(posterior, better).value
    gain, spread = posterior.difference(better, worse)
    ends = (gain, gain - Z_95 * spread, gain + Z_95 * spread)
    return Score(*(elo_within(score) - elo_within(score - each) for each in ends))


def highest_points(posterior: Posterior, best: Point, seed: int) -> Floats:
    """Where each of many surfaces drawn from the process is highest, among some points."""
    rng, dims = seeded(seed, -2), len(best)
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
