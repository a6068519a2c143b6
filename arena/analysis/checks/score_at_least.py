"""The claim that a score reaches a number, by its one-sided bound.

`elo_at_least` uses the same bound.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from arena.analysis.checks.registry import (
    CONFIDENCE,
    COUNT_FORFEITS,
    MIN_DISTINCT,
    OF,
    STATUS,
    THESE,
    Check,
    CheckKind,
    Verdict,
    make_verdict,
)
from arena.analysis.evidence import Evidence, pair_scores_of
from arena.analysis.match_counts import Match
from arena.analysis.win_rates import estimate_from_evidence, is_census
from arena.stats.anytime import anytime_lower_bound_these, start_anytime, update_anytime
from arena.stats.estimate import EstimateKind, Scope
from arena.stats.score_checks import (
    CheckStatus,
    ScoreCheck,
    min_observations,
    score_at_least,
    score_at_least_anytime,
    vacuous_text,
)
from arena.stats.spread import spread
from arena.stats.text import check_text
from games.base.schema import Key

KEYS = (
    Key("score_at_least", "float", "points a game, from 0 to 1", above=0, high=1),
    CONFIDENCE,
    MIN_DISTINCT,
    OF,
    COUNT_FORFEITS,
)
EXACT_FOR_THESE = "exact for these openings: no agent uses chance"
NOT_THESE = "no opening was played more than once by agents that leave something to chance"


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Return whether the bound on the score reaches the number."""
    result = check_score_bound(check, evidence, check.values["score_at_least"])
    # `check_text` begins with the status, which a verdict has already.
    detail = look_count_text(check, evidence) + check_text(result).partition(": ")[2]
    return make_verdict(check, STATUS[result.verdict], detail, measured=result)


def why_impossible(check: Check, openings: int, pairs: int) -> str:
    """Return why no result of these openings and pairs could satisfy it; "" if one could."""
    return impossible_reason(check, check.values["score_at_least"], openings, pairs)


def check_score_bound(check: Check, evidence: Evidence, wanted: float) -> ScoreCheck:
    """Check by a one-sided bound whether the score of "A beats B" is at least `wanted`."""
    match = evidence.match_between(*(check.parties or ("", "")))
    level, least = check.values["confidence"], check.values["min_distinct"]
    if match is None:
        return score_at_least(spread([], []), wanted, level=level, min_distinct=least)
    counted = match if check.values["count_forfeits"] else match.fair_pairs()
    dropped = match.pairs - counted.pairs
    # Without some of its games, a finite set of openings is not complete.
    known = evidence if dropped == 0 else replace(evidence, census_pairs=())
    result = _check_counted_games(check, known, counted, wanted)
    if dropped == 0:
        return result
    reason = f"{2 * dropped} of {2 * match.pairs} games do not count, for faults"
    if result.verdict is CheckStatus.VACUOUS:
        reason += " (count_forfeits = true counts them)"
    return replace(result, reason=f"{result.reason}; {reason}")


def _check_counted_games(
    check: Check, evidence: Evidence, match: Match, wanted: float
) -> ScoreCheck:
    level, least = check.values["confidence"], check.values["min_distinct"]
    row = estimate_from_evidence(match, evidence)
    these = check.values["of"] == THESE
    answer = row.these if these else row.like
    if answer is None:
        return ScoreCheck(CheckStatus.VACUOUS, wanted, None, None, level, 0, NOT_THESE)
    exact = answer.score.kind is EstimateKind.CENSUS
    if exact or not (why := _anytime_reason(check, evidence)):
        census = is_census(match, evidence)
        exact = exact and (census or these)
        result = score_at_least(
            answer.spread, wanted, level=level, min_distinct=least, census=exact
        )
        # There are more openings than these.
        return replace(result, reason=EXACT_FOR_THESE) if exact and not census else result
    reason = f"anytime {100 * level:g} % bound: {why}"
    if these:
        openings = match.distinct_openings
        bound = _anytime_bound_of_these(evidence, match, not check.values["count_forfeits"], level)
        status = CheckStatus.PASSED if bound >= wanted else CheckStatus.FAILED
        return ScoreCheck(status, wanted, answer.spread.mean, bound, level, openings, reason)
    first = np.rint(4.0 * first_score_per_opening(match.evidence())).astype(np.int64)
    counts = np.bincount(first, minlength=5)
    return score_at_least_anytime(
        answer.spread, counts, wanted, level=level, min_distinct=least, reason=reason
    )


def _anytime_reason(check: Check, evidence: Evidence) -> str:
    """Return why the bound must be anytime-valid; "" if the claim is looked at once."""
    if evidence.plan.stop is not None:
        return "a test could stop the run"
    if evidence.plan.rounds is not None:
        return "results decided who met"
    looks = look_count(check, evidence)
    return f"look {looks} at this claim" if looks > 1 else ""


def look_count(check: Check, evidence: Evidence) -> int:
    """Return the number of looks at a claim, this one included."""
    return 1 + evidence.earlier_looks(check.that, check.test, check.values)


def look_count_text(check: Check, evidence: Evidence) -> str:
    """Return the number of looks as the start of a verdict; "" at the first look."""
    looks = look_count(check, evidence)
    return f"after {looks} looks: " if looks > 1 else ""


def first_score_per_opening(match: Match) -> NDArray[np.float64]:
    """Return the score of the first pair on each opening; later pairs are no new observation."""
    order = np.lexsort((match.earliest, match.openings))
    first = np.unique(match.openings[order], return_index=True)[1]
    return np.asarray(match.scores[order[first]])


def _anytime_bound_of_these(evidence: Evidence, match: Match, fair: bool, level: float) -> float:
    state = start_anytime(match.distinct_openings, again=True)
    for scores in pair_scores_of(evidence, match, fair):
        state = update_anytime(state, scores)
    return anytime_lower_bound_these(state, level)


def impossible_reason(check: Check, wanted: float, openings: int, pairs: int) -> str:
    """Return why no result of these openings and pairs could show the score; "" if one could."""
    least = min_observations(wanted, check.values["confidence"])
    if check.values["of"] == THESE:
        return "" if pairs >= least else vacuous_text(pairs, least, Scope.THESE)
    least = max(check.values["min_distinct"], least)
    count = min(openings, pairs)
    return "" if count >= least else vacuous_text(count, least)


KIND = CheckKind(
    keys=KEYS,
    compares=True,
    verdict=verdict,
    why_impossible=why_impossible,
)
