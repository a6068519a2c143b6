"""Anytime-valid intervals by betting."""

import math
from collections.abc import Sequence
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
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
_HALVINGS = 60
# Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence
# sequences": a mixture of these weights of the squared errors of prediction.
WEIGHTS = 0.9 * np.array([0.01, 0.02, 0.035, 0.06, 0.1, 0.17, 0.28, 0.45, 0.7, 1.0])
ALL = Ends(0.0, 1.0)


class Reach(NamedTuple):
    """Means that are left, from `low` to `high`; 0 and 1 exclude nothing."""

    low: Floats
    high: Floats


def log_betting_capital(
    counts: npt.ArrayLike, mean: npt.ArrayLike, scores: Sequence[float] = PAIR_SCORES
) -> Floats:
    """Logarithm of the capital that bets on more than `mean` have earned; -inf never occurs.

    `counts[..., i]` says how often `scores[i]` was seen; leading axes are many questions at once,
    and `mean` (above 0, at most 1) is one for all or one for each.
    """
    seen = np.asarray(counts, dtype=np.float64)[..., None, :]
    claim = np.asarray(mean, dtype=np.float64)
    return _log_capital(seen, claim, np.asarray(scores, dtype=np.float64))


def _log_capital(seen: Floats, claim: Floats, scores: Floats) -> Floats:
    """The same of arrays, for those who ask again and again; `seen` has an axis for the stakes."""
    gains = scores / claim[..., None, None] - 1.0
    earned = np.add.reduce(np.log1p(STAKES[:, None] * gains) * seen, axis=-1)
    most: Floats = np.maximum.reduce(earned, axis=-1)
    shares = np.add.reduce(np.exp(earned - most[..., None]), axis=-1)
    return np.asarray(most + np.log(shares / len(STAKES)))


def log_betting_capital_below(
    counts: npt.ArrayLike, mean: npt.ArrayLike, scores: Sequence[float] = PAIR_SCORES
) -> Floats:
    """Logarithm of the capital that bets on less than `mean` (0 to below 1) have earned."""
    mirrored = [1.0 - score for score in scores]
    return log_betting_capital(counts, 1.0 - np.asarray(mean, dtype=np.float64), mirrored)


def betting_interval(
    counts: npt.ArrayLike, alpha: float, scores: Sequence[float] = PAIR_SCORES
) -> Reach:
    """Interval that ever leaves out the true mean in a share `alpha` of runs at most."""
    return Reach(
        betting_lower_bound(counts, alpha / 2.0, scores),
        betting_upper_bound(counts, alpha / 2.0, scores),
    )


def betting_lower_bound(
    counts: npt.ArrayLike, alpha: float, scores: Sequence[float] = PAIR_SCORES
) -> Floats:
    """One-sided lower bound that is ever above the true mean in a share `alpha` of runs at most.

    0 where nothing, or no point, was seen.
    """
    seen, limit = np.asarray(counts, dtype=np.float64), -math.log(alpha)
    total, values = seen.sum(axis=-1), np.asarray(scores, dtype=np.float64)
    points = (seen * values).sum(axis=-1)
    # The capital falls as the claimed mean rises, and is at most 1 at the mean seen.
    high = np.divide(points, total, out=np.zeros_like(points), where=total > 0)
    low, by_stake = np.zeros_like(high), seen[..., None, :]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = middle > 0.0
        claimed = np.where(above, middle, 1.0)
        ruled_out = (_log_capital(by_stake, claimed, values) >= limit) & above
        low, high = np.where(ruled_out, middle, low), np.where(ruled_out, high, middle)
    return np.asarray(low)


def betting_upper_bound(
    counts: npt.ArrayLike, alpha: float, scores: Sequence[float] = PAIR_SCORES
) -> Floats:
    """The same from above; 1 where nothing, or no point lost, was seen."""
    mirrored = [1.0 - score for score in scores]
    return np.asarray(1.0 - betting_lower_bound(counts, alpha, mirrored))


@dataclass(frozen=True, slots=True)
class RepeatedOpenings:
    """Sums over the complete turns of all openings, where these are played again.

    `surprise` sums the squared errors of each score predicted from the earlier ones of its
    opening; `kept` is what the looks after 2, 4, 8, ... turns have left of the scale.
    """

    sums: Floats  # of the scores of each opening, the turn that is under way included
    squares: Floats
    surprise: float
    law: Ints  # how often each pair score was seen
    whole: tuple[int, float, float]  # turns, points and surprise at the end of the last turn
    kept: Ends


@dataclass(frozen=True, slots=True)
class AnytimeScore:
    """The pairings of one match so far, in schedule order.

    `first` counts the five pair scores of the first pairing on each of the `openings`; later
    ones on the same opening say nothing more of openings like these until a turn is complete.
    """

    openings: int
    level: float
    pairings: int
    points: float
    first: tuple[int, int, int, int, int]
    turns: RepeatedOpenings | None


def start_anytime(openings: int, *, again: bool, level: float = 0.95) -> AnytimeScore:
    """The standing before the first pairing; `again`: openings will be played more than once."""
    turns = None
    if again:
        none, law = np.zeros(openings), np.zeros(5, np.int64)
        turns = RepeatedOpenings(none, none, 0.0, law, (0, 0.0, 0.0), ALL)
    return AnytimeScore(openings, level, 0, 0.0, (0, 0, 0, 0, 0), turns)


def update_anytime(standing: AnytimeScore, scores: npt.ArrayLike) -> AnytimeScore:
    """The standing after further pair scores, in schedule order.

    How the scores are cut into calls makes no difference.
    """
    values = np.asarray(scores, dtype=np.float64)
    at = 0
    while at < len(values):
        turns, place = divmod(standing.pairings, standing.openings)
        whole = min(_until_look(turns), (len(values) - at) // standing.openings)
        size = standing.openings * whole if whole and not place else standing.openings - place
        standing = _observe_piece(standing, place, values[at : at + size])
        at += size
    return standing


def _until_look(turns: int) -> int:
    """How many turns there are from the end of one to the next look, or to the first one."""
    return (1 << turns.bit_length()) - turns


def _observe_piece(standing: AnytimeScore, place: int, scores: Floats) -> AnytimeScore:
    """One piece of a turn of the openings, or whole turns between two looks."""
    seen = np.bincount(np.rint(4.0 * scores).astype(np.int64), minlength=5)
    first = standing.first
    if standing.pairings < standing.openings:
        ll, ld, even, wd, ww = (int(n) for n in np.array(first) + seen)
        first = ll, ld, even, wd, ww
    after = replace(
        standing,
        pairings=standing.pairings + len(scores),
        points=standing.points + float(scores.sum()),
        first=first,
    )
    if standing.turns is None:
        return after
    return replace(after, turns=_turned(after, standing.turns, place, scores, seen))


def _turned(
    standing: AnytimeScore, turns: RepeatedOpenings, place: int, scores: Floats, seen: Ints
) -> RepeatedOpenings:
    """The sums over turns with one more piece; `standing` has it already."""
    turn = (standing.pairings - 1) // standing.openings
    rows = scores.reshape(-1, min(len(scores), standing.openings))
    met = slice(place, place + rows.shape[1])
    sums, squares = turns.sums.copy(), turns.squares.copy()
    earlier = sums[met] + rows.cumsum(axis=0) - rows
    times = np.arange(turn + 2 - len(rows), turn + 2)[:, None]
    sums[met] += rows.sum(axis=0)
    squares[met] += np.square(rows).sum(axis=0)
    surprise = turns.surprise + float(np.square(rows - (0.5 + earlier) / times).sum())
    after = RepeatedOpenings(sums, squares, surprise, turns.law + seen, turns.whole, turns.kept)
    if standing.pairings % standing.openings:
        return after
    whole = turn + 1, standing.points, surprise
    return replace(after, whole=whole, kept=_looked(standing, after, turn + 1))


def _looked(standing: AnytimeScore, turns: RepeatedOpenings, complete: int) -> Ends:
    """What a look after 2, 4, 8, ... complete turns leaves; all of them err in alpha / 2."""
    look = complete.bit_length() - 1
    if complete < 2 or complete != 1 << look or standing.openings < 2:
        return turns.kept
    sizes = np.full(standing.openings, complete)
    found = spread_from_sums(OpeningSums(sizes, turns.sums, turns.squares), QUARTERS, turns.law)
    ends = interval(found, (1.0 - standing.level) / (4.0 * look * (look + 1)))
    return _common(turns.kept, ends)


def anytime_estimate(standing: AnytimeScore) -> Estimate:
    """The score for openings like these, in an interval that stays true however often one looks."""
    if standing.pairings == 0:
        return no_estimate(NO_GAMES, level=standing.level)
    value = standing.points / standing.pairings
    if standing.openings == 1:
        return no_estimate(ONE_OPENING, value, standing.level)
    turns = standing.turns
    alpha = 1.0 - standing.level
    ends = _reach(standing.first, alpha if turns is None else alpha / 2.0)
    return _anytime(standing, value, ends if turns is None else _common(ends, turns.kept))


@lru_cache(maxsize=1 << 12)  # a terminal, a file and a page look at the same standings
def _reach(first: tuple[int, int, int, int, int], alpha: float) -> Ends:
    reach = betting_interval(first, alpha)
    return Ends(float(reach.low), float(reach.high))


def anytime_estimate_these(standing: AnytimeScore) -> Estimate | None:
    """The same for exactly these openings, as of the last complete turn; None without repeats."""
    turns = standing.turns
    if turns is None or turns.whole[0] < 2:
        return None
    complete, points, surprise = turns.whole
    pairings = complete * standing.openings
    reach = _radius(pairings, surprise, 2.0 / (1.0 - standing.level))
    value = points / pairings
    ends = Ends(max(value - reach, 0.0), min(value + reach, 1.0))
    return replace(_anytime(standing, value, ends), scope=Scope.THESE)


def anytime_lower_bound_these(standing: AnytimeScore, level: float) -> float:
    """The one-sided lower bound for exactly these openings; 0 before two complete turns."""
    turns = standing.turns
    if turns is None or turns.whole[0] < 2:
        return 0.0
    complete, points, surprise = turns.whole
    pairings = complete * standing.openings
    return max(points / pairings - _radius(pairings, surprise, 1.0 / (1.0 - level)), 0.0)


def _radius(pairings: int, surprise: float, odds: float) -> float:
    """The deviation of a mean at which the mixture of all weights reaches the odds."""
    penalty = (-np.log1p(-WEIGHTS) - WEIGHTS) * surprise
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        logs = WEIGHTS * pairings * middle - penalty
        most = float(logs.max())
        earned = most + math.log(float(np.exp(logs - most).mean()))
        low, high = (low, middle) if earned >= math.log(odds) else (middle, high)
    return high


def _common(one: Ends, other: Ends) -> Ends:
    return Ends(max(one.low, other.low), min(one.high, other.high))


def _anytime(standing: AnytimeScore, value: float, ends: Ends) -> Estimate:
    low, high = min(ends.low, value), max(ends.high, value)
    return Estimate(
        value,
        low if low > 0.0 else None,
        high if high < 1.0 else None,
        standing.level,
        EstimateKind.ANYTIME,
    )
