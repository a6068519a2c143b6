"""Estimates for one match, seen by either agent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from arena.stats.counts import (
    PairCounts,
    first_mover_scores,
    mirrored,
    pair_counts,
    pair_scores,
)
from arena.stats.elo import elo_estimate, likelihood_of_superiority, normalized_elo_estimate
from arena.stats.estimate import Estimate, EstimateKind, Scope, negate, no_estimate, transform
from arena.stats.intervals import (
    NO_FAIR_PAIR,
    NO_GAMES,
    census_estimate,
    estimate_from_spread,
    has_interval,
    no_variation_estimate,
    score_estimate,
)
from arena.stats.spread import Spread, kish_effective_size, spread, spread_fixed_openings


@dataclass(frozen=True, slots=True)
class ScoreAndElo:
    """How strong one agent is against the other, for one of the two questions.

    Live line, table, check and rating take it from here, so no two of them disagree.
    """

    spread: Spread
    score: Estimate
    elo: Estimate
    normalized: Estimate

    @property
    def scope(self) -> Scope:
        """Which of the two questions it answers."""
        return self.spread.scope

    @property
    def effective_pairings(self) -> float:
        """Independent pairings that would be as sure."""
        return self.spread.effective_pairings


@dataclass(frozen=True, slots=True)
class MatchEstimate:
    """One row of a win-rate table, seen by one agent.

    `like` is for openings like these, `these` for exactly these openings where the results
    answer that too. `kish` counts equally weighted openings; `superiority` is None where it
    rests on too little.
    """

    counts: PairCounts
    like: ScoreAndElo
    these: ScoreAndElo | None
    first_mover: Estimate
    superiority: float | None
    kish: float

    @property
    def answer(self) -> ScoreAndElo:
        """The answer that stands first: openings like these, unless only the others are known."""
        if self.these is None:
            return self.like
        whole = self.like.score.kind is EstimateKind.CENSUS
        noisy = self.these.spread.se > 0.0 and not has_interval(self.like.spread)
        return self.these if whole or noisy else self.like

    @property
    def score(self) -> Estimate:
        """The score of the first answer."""
        return self.answer.score

    @property
    def elo(self) -> Estimate:
        """The Elo difference of the first answer."""
        return self.answer.elo

    @property
    def normalized(self) -> Estimate:
        """The normalized Elo of the first answer."""
        return self.answer.normalized

    @property
    def spread(self) -> Spread:
        """The spread of the first answer."""
        return self.answer.spread

    @property
    def effective_pairings(self) -> float:
        """Independent pairings that would be as sure as the first answer."""
        return self.answer.effective_pairings


def matchup(
    openings: npt.ArrayLike,
    as_first: npt.ArrayLike,
    as_second: npt.ArrayLike,
    *,
    games: tuple[Sequence[object], Sequence[object]] | None = None,
    level: float = 0.95,
    steady: bool = False,
    census: bool = False,
    varied: bool = False,
    repeats: int = 0,
    times: npt.ArrayLike | None = None,
    fair: npt.ArrayLike | None = None,
) -> MatchEstimate:
    """Sum up pairings given by opening and one agent's score (0, 1/2, 1) in each seat.

    Leave out replays first: they are no evidence; `repeats` games were replayed and never
    varied, or games on one opening `varied`, which scores need not show. `games` names the game
    of each pairing in which the agent moved first, then the other one. `steady` agents are known
    to leave nothing to chance; a `census` has every opening there is. `times` says how often a
    pairing stands there. Only pairings in which both games are `fair` tell about the first move:
    a forfeit has its loser in either seat; all are fair without it.
    """
    scores = pair_scores(as_first, as_second)
    found = spread(openings, scores, times)
    whole = census and found.openings > 0
    counts = pair_counts(openings, as_first, as_second, games, times)
    like = _answer(
        found, census_estimate(found.mean, level) if whole else estimate_from_spread(found, level)
    )
    inside = None if steady or whole or repeats else spread_fixed_openings(openings, scores, times)
    return MatchEstimate(
        counts=counts,
        like=like,
        these=_these(found, inside, level, steady or whole, varied, repeats),
        first_mover=first_mover_estimate(openings, as_first, as_second, times, fair, level, whole),
        superiority=None if census else likelihood_of_superiority(found),
        kish=kish_effective_size(openings, times),
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
    """Return the first movers' score in the pairings in which both games are fair.

    It is that of a census only if all pairings of one are.
    """
    scores, met = first_mover_scores(as_first, as_second), np.asarray(openings)
    kept = np.ones(len(scores), np.bool_) if fair is None else np.asarray(fair, np.bool_)
    often = None if times is None else np.asarray(times)[kept]
    if not kept.any():
        return no_estimate(NO_FAIR_PAIR if len(scores) else NO_GAMES, level=level)
    return score_estimate(met[kept], scores[kept], level, census and bool(kept.all()), often)


def _answer(found: Spread, score: Estimate) -> ScoreAndElo:
    return ScoreAndElo(
        found, score, elo_estimate(score), normalized_elo_estimate(score, found.variance)
    )


def _these(
    found: Spread,
    inside: Spread | None,
    level: float,
    steady: bool,
    varied: bool,
    repeats: int,
) -> ScoreAndElo | None:
    """The answer for exactly these openings, if the results have one: `inside` is its spread."""
    if found.pairings == 0:
        return None
    known = found._replace(scope=Scope.THESE)
    if steady:
        return _answer(known, census_estimate(found.mean, level))
    if inside is not None and (varied or inside.se > 0.0):
        return _answer(inside, estimate_from_spread(inside, level))
    repeats = repeats or 2 * (found.pairings - found.openings)
    return _answer(known, no_variation_estimate(found.mean, repeats, level)) if repeats else None


def estimate_unpaired_games(
    openings: npt.ArrayLike, scores: npt.ArrayLike, level: float = 0.95
) -> MatchEstimate:
    """The same from single games that make no pairings, by opening and the agent's score."""
    found = spread(openings, scores)
    return MatchEstimate(
        counts=pair_counts([], [], []),
        like=_answer(found, estimate_from_spread(found, level)),
        these=None,
        first_mover=no_estimate("no pairings", level=level),
        superiority=likelihood_of_superiority(found),
        kish=kish_effective_size(openings),
    )


def no_estimate_for_these(reason: str) -> ScoreAndElo:
    """The answer for exactly these openings where there is none."""
    none = no_estimate(reason, scope=Scope.THESE)
    return ScoreAndElo(spread([], [])._replace(scope=Scope.THESE), none, none, none)


def from_other_side(row: MatchEstimate) -> MatchEstimate:
    """The same pairings, seen by the opponent."""
    return replace(
        row,
        counts=mirrored(row.counts),
        like=_mirrored_answer(row.like),
        these=None if row.these is None else _mirrored_answer(row.these),
        superiority=None if row.superiority is None else 1.0 - row.superiority,
    )


def _mirrored_answer(answer: ScoreAndElo) -> ScoreAndElo:
    found = answer.spread
    return ScoreAndElo(
        spread=found._replace(
            mean=1.0 - found.mean if found.pairings else 0.0,
            scores=tuple(1.0 - score for score in reversed(found.scores)),
            shares=found.shares[::-1],
            opening_scores=tuple(1.0 - score for score in reversed(found.opening_scores)),
            opening_masses=found.opening_masses[::-1],
        ),
        score=transform(negate(answer.score), lambda s: 1.0 + s),
        elo=negate(answer.elo),
        normalized=negate(answer.normalized),
    )
