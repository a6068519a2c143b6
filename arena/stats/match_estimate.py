"""Estimates for one match, seen by either agent."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from arena.stats.counts import (
    PairCounts,
    first_mover_scores,
    mirror_counts,
    pair_counts,
    pair_scores,
)
from arena.stats.elo import elo_estimate, likelihood_of_superiority, normalized_elo_estimate
from arena.stats.estimate import (
    Estimate,
    EstimateKind,
    Scope,
    negate,
    no_estimate,
    shared_level,
    transform,
)
from arena.stats.intervals import (
    NO_FAIR_PAIR,
    NO_GAMES,
    census_estimate,
    estimate_from_spread,
    has_interval,
    no_variation_estimate,
    score_estimate,
)
from arena.stats.spread import Spread, spread, spread_fixed_openings


@dataclass(frozen=True, slots=True)
class ScoreAndElo:
    """Score and Elo of one agent against another, about one set of openings.

    Every table, check and rating reads these values, so they always agree.
    """

    spread: Spread
    score: Estimate
    elo: Estimate
    normalized: Estimate

    @property
    def scope(self) -> Scope:
        """Return the openings that the numbers are about."""
        return self.spread.scope

    @property
    def effective_pairs(self) -> float:
        """Return the number of independent pairs with the same error."""
        return self.spread.effective_pairs

    def map_estimates(self, change: Callable[[Estimate], Estimate]) -> "ScoreAndElo":
        """Return the answer with each of its estimates changed."""
        return replace(
            self,
            score=change(self.score),
            elo=change(self.elo),
            normalized=change(self.normalized),
        )


@dataclass(frozen=True, slots=True)
class MatchEstimate:
    """One row of a win-rate table, from one agent's side.

    `like` is about openings like these, `these` about exactly these openings; it is None if the
    results do not answer that. `superiority` is None for small samples.
    """

    counts: PairCounts
    like: ScoreAndElo
    these: ScoreAndElo | None
    first_mover: Estimate
    superiority: float | None

    @property
    def answer(self) -> ScoreAndElo:
        """Return the main answer: openings like these, unless only the other one is known."""
        if self.these is None:
            return self.like
        whole = self.like.score.kind is EstimateKind.CENSUS
        noisy = self.these.spread.se > 0.0 and not has_interval(self.like.spread)
        return self.these if whole or noisy else self.like

    @property
    def score(self) -> Estimate:
        """Return the score of the main answer."""
        return self.answer.score

    @property
    def elo(self) -> Estimate:
        """Return the Elo difference of the main answer."""
        return self.answer.elo

    def map_answers(self, change: Callable[[ScoreAndElo], ScoreAndElo]) -> "MatchEstimate":
        """Return the row with both of its answers changed."""
        these = None if self.these is None else change(self.these)
        return replace(self, like=change(self.like), these=these)


def estimate_match(
    openings: npt.ArrayLike,
    as_first: npt.ArrayLike,
    as_second: npt.ArrayLike,
    *,
    level: float = 0.95,
    deterministic: bool = False,
    census: bool = False,
    varied: bool = False,
    repeats: int = 0,
    times: npt.ArrayLike | None = None,
    fair: npt.ArrayLike | None = None,
) -> MatchEstimate:
    """Estimate a match from pairs given by opening and one agent's score (0, 1/2, 1) in each game.

    Leave out repeated games first, because they are no evidence; `repeats` counts them if they
    never varied. `varied`: games on one opening differed, which scores need not show. Row i occurs
    `times[i]` times. `deterministic` agents use no chance; a `census` has every opening of its set.
    Only pairs without a forfeit (`fair`, by default all) tell the value of the first move, because
    a forfeit is lost on either side.
    """
    scores = pair_scores(as_first, as_second)
    found = spread(openings, scores, times)
    whole = census and found.openings > 0
    like = census_estimate(found.mean, level) if whole else estimate_from_spread(found, level)
    exact = deterministic or whole
    inside = None if exact or repeats else spread_fixed_openings(openings, scores, times)
    return MatchEstimate(
        counts=pair_counts(openings, as_first, as_second, times),
        like=answer_of_score(found, like),
        these=_answer_for_these(found, inside, level, exact, varied, repeats),
        first_mover=first_mover_estimate(openings, as_first, as_second, times, fair, level, whole),
        superiority=None if census else likelihood_of_superiority(found),
    )


def first_mover_estimate(
    openings: npt.ArrayLike,
    as_first: npt.ArrayLike,
    as_second: npt.ArrayLike,
    times: npt.ArrayLike | None = None,
    fair: npt.ArrayLike | None = None,
    level: float = 0.95,
    census: bool = False,
) -> Estimate:
    """Return the first movers' score in the pairs in which both games are fair.

    It is that of a census only if all pairs of a census are fair.
    """
    scores, met = first_mover_scores(as_first, as_second), np.asarray(openings)
    kept = np.ones(len(scores), np.bool_) if fair is None else np.asarray(fair, np.bool_)
    often = None if times is None else np.asarray(times)[kept]
    if not kept.any():
        return no_estimate(NO_FAIR_PAIR if len(scores) else NO_GAMES, level=level)
    return score_estimate(met[kept], scores[kept], level, census and bool(kept.all()), often)


def answer_of_score(found: Spread, score: Estimate) -> ScoreAndElo:
    """Return the answer with this interval of the score."""
    return ScoreAndElo(
        found, score, elo_estimate(score), normalized_elo_estimate(score, found.variance)
    )


def _answer_for_these(
    found: Spread, inside: Spread | None, level: float, exact: bool, varied: bool, repeats: int
) -> ScoreAndElo | None:
    """Return the answer for exactly these openings, if there is one; `inside` is its spread."""
    if found.pairs == 0:
        return None
    these = found._replace(scope=Scope.THESE)
    if exact:
        return answer_of_score(these, census_estimate(found.mean, level))
    if inside is not None and (varied or inside.se > 0.0):
        return answer_of_score(inside, estimate_from_spread(inside, level))
    repeats = repeats or 2 * (found.pairs - found.openings)
    return (
        answer_of_score(these, no_variation_estimate(found.mean, repeats, level))
        if repeats
        else None
    )


def simultaneous_score(row: MatchEstimate, matches: int) -> Estimate:
    """Return the score with an interval that holds for all matches at once.

    Only fixed numbers of games allow such an interval; it is missing for other kinds.
    """
    score = row.score
    if matches == 1 or score.kind is EstimateKind.CENSUS:
        return score
    if score.kind is not EstimateKind.FIXED:
        return no_estimate(score.reason, score.value, score.level, score.scope)
    wider = estimate_from_spread(row.answer.spread, shared_level(score.level, matches))
    return replace(wider, level=score.level)


def estimate_unpaired_games(openings: npt.ArrayLike, scores: npt.ArrayLike) -> MatchEstimate:
    """Estimate a match from single games, given by opening and the agent's score."""
    found = spread(openings, scores)
    return MatchEstimate(
        counts=pair_counts([], [], []),
        like=answer_of_score(found, estimate_from_spread(found)),
        these=None,
        first_mover=no_estimate("no pairs"),
        superiority=likelihood_of_superiority(found),
    )


def mirror_estimate(row: MatchEstimate) -> MatchEstimate:
    """Return the same match from the opponent's side."""
    return replace(
        row.map_answers(_mirror_answer),
        counts=mirror_counts(row.counts),
        superiority=None if row.superiority is None else 1.0 - row.superiority,
    )


def _mirror_answer(answer: ScoreAndElo) -> ScoreAndElo:
    found = answer.spread
    return ScoreAndElo(
        spread=found._replace(
            mean=1.0 - found.mean if found.pairs else 0.0,
            scores=tuple(1.0 - score for score in reversed(found.scores)),
            shares=found.shares[::-1],
            opening_scores=tuple(1.0 - score for score in reversed(found.opening_scores)),
            opening_masses=found.opening_masses[::-1],
        ),
        score=transform(negate(answer.score), lambda s: 1.0 + s),
        elo=negate(answer.elo),
        normalized=negate(answer.normalized),
    )
