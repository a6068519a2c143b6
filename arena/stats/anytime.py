"""Anytime-valid intervals by betting."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.stats.counts import Floats, Ints
from arena.stats.estimate import Estimate, EstimateKind, Scope, no_estimate
from arena.stats.intervals import NO_GAMES, ONE_OPENING, Ends, interval
from arena.stats.spread import QUARTERS, OpeningSums, spread_from_sums

# Small stakes are for means near the claim and many scores, large ones for the reverse.
STAKES = np.array([0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3, 0.45, 0.65, 0.9])
PAIR_SCORES = np.array(QUARTERS)
MIRRORED_SCORES = 1.0 - PAIR_SCORES
# Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence
# sequences": a mixture of these weights of the squared errors of prediction.
WEIGHTS = 0.9 * np.array([0.01, 0.02, 0.035, 0.06, 0.1, 0.17, 0.28, 0.45, 0.7, 1.0])
ANY_SCORE = Ends(0.0, 1.0)
_BISECTION_STEPS = 60


class BettingInterval(NamedTuple):
    """Means that are not excluded, from `low` to `high`; 0 and 1 exclude nothing."""

    low: Floats
    high: Floats


def log_betting_capital(counts: npt.ArrayLike, mean: npt.ArrayLike) -> Floats:
    """Return the logarithm of the capital earned by bets on more than `mean`.

    `counts[..., i]` pairs had the score i / 4; leading axes are separate questions. `mean` (above
    0, at most 1) is one number for all questions or one for each.
    """
    return _log_capital(_by_stake(counts), np.asarray(mean, np.float64), PAIR_SCORES)


def log_betting_capital_below(counts: npt.ArrayLike, mean: npt.ArrayLike) -> Floats:
    """Return the logarithm of the capital earned by bets on less than `mean` (0 to below 1)."""
    return _log_capital(_by_stake(counts), 1.0 - np.asarray(mean, np.float64), MIRRORED_SCORES)


def _by_stake(counts: npt.ArrayLike) -> Floats:
    """Return the counts with an axis for the stakes."""
    return np.asarray(counts, dtype=np.float64)[..., None, :]


def _log_capital(seen: Floats, claim: Floats, scores: Floats) -> Floats:
    gains = scores / claim[..., None, None] - 1.0
    earned = np.add.reduce(np.log1p(STAKES[:, None] * gains) * seen, axis=-1)
    most: Floats = np.maximum.reduce(earned, axis=-1)
    shares = np.add.reduce(np.exp(earned - most[..., None]), axis=-1)
    return np.asarray(most + np.log(shares / len(STAKES)))


def betting_interval(counts: npt.ArrayLike, alpha: float) -> BettingInterval:
    """Return an interval that ever excludes the true mean in at most a share `alpha` of runs."""
    return BettingInterval(
        betting_lower_bound(counts, alpha / 2.0), betting_upper_bound(counts, alpha / 2.0)
    )


def betting_lower_bound(counts: npt.ArrayLike, alpha: float) -> Floats:
    """Return a bound that ever exceeds the true mean in at most a share `alpha` of runs.

    It is 0 without pairs or without points.
    """
    return _lower_bound(counts, alpha, PAIR_SCORES)


def betting_upper_bound(counts: npt.ArrayLike, alpha: float) -> Floats:
    """Return the upper counterpart of `betting_lower_bound`; 1 if no point was lost."""
    return np.asarray(1.0 - _lower_bound(counts, alpha, MIRRORED_SCORES))


def _lower_bound(counts: npt.ArrayLike, alpha: float, scores: Floats) -> Floats:
    seen, limit = np.asarray(counts, dtype=np.float64), -math.log(alpha)
    total = seen.sum(axis=-1)
    points = (seen * scores).sum(axis=-1)
    # The capital falls as the claimed mean rises, and is at most 1 at the observed mean.
    high = np.divide(points, total, out=np.zeros_like(points), where=total > 0)
    low, by_stake = np.zeros_like(high), _by_stake(seen)
    for _ in range(_BISECTION_STEPS):
        middle = 0.5 * (low + high)
        above = middle > 0.0
        claim = np.where(above, middle, 1.0)
        excluded = (_log_capital(by_stake, claim, scores) >= limit) & above
        low, high = np.where(excluded, middle, low), np.where(excluded, high, middle)
    return np.asarray(low)


@dataclass(frozen=True, slots=True)
class RepeatSums:
    """Sums over repeated turns; in one turn each opening is played once.

    `squared_errors` sums those of predicting each score from the earlier ones on its opening.
    `interval` is the intersection of the intervals computed after 2, 4, 8, ... turns.
    """

    sums: Floats  # of the scores of each opening, the unfinished turn included
    squares: Floats
    squared_errors: float
    score_counts: Ints
    last_turn: tuple[int, float, float]  # turns, points and squared errors at its end
    interval: Ends


@dataclass(frozen=True, slots=True)
class AnytimeScore:
    """The pairs of one match so far, in schedule order.

    `first` counts the five scores of the first pair on each of the `openings`. Later pairs on the
    same openings are no evidence about openings like these until a turn is complete.
    """

    openings: int
    level: float
    pairs: int
    points: float
    first: tuple[int, int, int, int, int]
    repeats: RepeatSums | None


def start_anytime(openings: int, *, again: bool, level: float = 0.95) -> AnytimeScore:
    """Return the state before the first pair; `again` plays openings more than once."""
    repeats = None
    if again:
        none, counts = np.zeros(openings), np.zeros(5, np.int64)
        repeats = RepeatSums(none, none, 0.0, counts, (0, 0.0, 0.0), ANY_SCORE)
    return AnytimeScore(openings, level, 0, 0.0, (0, 0, 0, 0, 0), repeats)


def update_anytime(state: AnytimeScore, scores: npt.ArrayLike) -> AnytimeScore:
    """Return the state after further pair scores, in schedule order.

    The result does not depend on how the scores are divided into calls.
    """
    values = np.asarray(scores, dtype=np.float64)
    at = 0
    while at < len(values):
        turns, place = divmod(state.pairs, state.openings)
        whole = min(_turns_until_look(turns), (len(values) - at) // state.openings)
        size = state.openings * whole if whole and not place else state.openings - place
        state = _observe_piece(state, place, values[at : at + size])
        at += size
    return state


def _turns_until_look(turns: int) -> int:
    return (1 << turns.bit_length()) - turns


def _observe_piece(state: AnytimeScore, place: int, scores: Floats) -> AnytimeScore:
    """Add a part of one turn, or whole turns between two looks."""
    seen = np.bincount(np.rint(4.0 * scores).astype(np.int64), minlength=5)
    first = state.first
    if state.pairs < state.openings:
        ll, ld, even, wd, ww = (int(n) for n in np.array(first) + seen)
        first = ll, ld, even, wd, ww
    after = replace(
        state,
        pairs=state.pairs + len(scores),
        points=state.points + float(scores.sum()),
        first=first,
    )
    if state.repeats is None:
        return after
    return replace(after, repeats=_add_repeats(after, state.repeats, place, scores, seen))


def _add_repeats(
    state: AnytimeScore, repeats: RepeatSums, place: int, scores: Floats, seen: Ints
) -> RepeatSums:
    """Add a piece to the sums over turns; `state` already includes it."""
    turn = (state.pairs - 1) // state.openings
    rows = scores.reshape(-1, min(len(scores), state.openings))
    met = slice(place, place + rows.shape[1])
    sums, squares = repeats.sums.copy(), repeats.squares.copy()
    earlier = sums[met] + rows.cumsum(axis=0) - rows
    times = np.arange(turn + 2 - len(rows), turn + 2)[:, None]
    sums[met] += rows.sum(axis=0)
    squares[met] += np.square(rows).sum(axis=0)
    errors = repeats.squared_errors + float(np.square(rows - (0.5 + earlier) / times).sum())
    after = RepeatSums(
        sums, squares, errors, repeats.score_counts + seen, repeats.last_turn, repeats.interval
    )
    if state.pairs % state.openings:
        return after
    last_turn = turn + 1, state.points, errors
    return replace(after, last_turn=last_turn, interval=_interval_of_look(state, after, turn + 1))


def _interval_of_look(state: AnytimeScore, repeats: RepeatSums, turns: int) -> Ends:
    """Narrow the interval after 2, 4, 8, ... turns; all looks together err in alpha / 2 of runs."""
    look = turns.bit_length() - 1
    if turns < 2 or turns != 1 << look or state.openings < 2:
        return repeats.interval
    sizes = np.full(state.openings, turns)
    sums = OpeningSums(sizes, repeats.sums, repeats.squares)
    found = spread_from_sums(sums, QUARTERS, repeats.score_counts)
    ends = interval(found, (1.0 - state.level) / (4.0 * look * (look + 1)))
    return _intersect(repeats.interval, ends)


def anytime_estimate(state: AnytimeScore) -> Estimate:
    """Return the score for openings like these, in an anytime-valid interval."""
    if state.pairs == 0:
        return no_estimate(NO_GAMES, level=state.level)
    value = state.points / state.pairs
    if state.openings == 1:
        return no_estimate(ONE_OPENING, value, state.level)
    alpha = 1.0 - state.level
    if state.repeats is None:
        return _estimate(state, value, _cached_betting_interval(state.first, alpha))
    ends = _cached_betting_interval(state.first, alpha / 2.0)
    return _estimate(state, value, _intersect(ends, state.repeats.interval))


@lru_cache(maxsize=1 << 12)  # terminal, progress file and page ask for the same states
def _cached_betting_interval(first: tuple[int, int, int, int, int], alpha: float) -> Ends:
    found = betting_interval(first, alpha)
    return Ends(float(found.low), float(found.high))


def anytime_estimate_these(state: AnytimeScore) -> Estimate | None:
    """Return the score for exactly these openings at the last complete turn; None before two."""
    if (found := _mean_of_these(state, 2.0 / (1.0 - state.level))) is None:
        return None
    value, deviation = found
    ends = Ends(max(value - deviation, 0.0), min(value + deviation, 1.0))
    return replace(_estimate(state, value, ends), scope=Scope.THESE)


def anytime_lower_bound_these(state: AnytimeScore, level: float) -> float:
    """Return the one-sided bound for exactly these openings; 0 before two complete turns."""
    found = _mean_of_these(state, 1.0 / (1.0 - level))
    return 0.0 if found is None else max(found[0] - found[1], 0.0)


def _mean_of_these(state: AnytimeScore, odds: float) -> tuple[float, float] | None:
    """Return the mean of complete turns and the deviation at which the mixture reaches the odds."""
    if state.repeats is None or state.repeats.last_turn[0] < 2:
        return None
    turns, points, squared_errors = state.repeats.last_turn
    pairs = turns * state.openings
    penalty = (-np.log1p(-WEIGHTS) - WEIGHTS) * squared_errors
    low, high = 0.0, 1.0
    for _ in range(_BISECTION_STEPS):
        middle = 0.5 * (low + high)
        logs = WEIGHTS * pairs * middle - penalty
        most = float(logs.max())
        earned = most + math.log(float(np.exp(logs - most).mean()))
        low, high = (low, middle) if earned >= math.log(odds) else (middle, high)
    return points / pairs, high


def _intersect(one: Ends, other: Ends) -> Ends:
    return Ends(max(one.low, other.low), min(one.high, other.high))


def _estimate(state: AnytimeScore, value: float, ends: Ends) -> Estimate:
    low, high = min(ends.low, value), max(ends.high, value)
    return Estimate(
        value,
        low if low > 0.0 else None,
        high if high < 1.0 else None,
        state.level,
        EstimateKind.ANYTIME,
    )
