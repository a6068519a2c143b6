"""The bound on a score that claims of strength share: its games, its question, its looks."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from arena.analysis.checks.claims import Check
from arena.analysis.evidence import Evidence, pair_scores_of
from arena.analysis.match_counts import Match
from arena.analysis.win_rates import estimated, is_census
from arena.stats.anytime import anytime_lower_bound_these, start_anytime, update_anytime
from arena.stats.estimate import EstimateKind, Scope
from arena.stats.match_estimate import ScoreAndElo
from arena.stats.score_checks import (
    CheckStatus,
    ScoreCheck,
    observations_needed,
    score_at_least,
    score_at_least_anytime,
    vacuous_text,
)
from arena.stats.spread import spread
from games.base.schema import Key

LIKE, THESE = "like these", "these"
FIRST, MANY = "first", "many"
OF = Key(
    "of",
    "text",
    "openings like these, or exactly these",
    LIKE,
    choices=(LIKE, THESE),
)
LOOKS = Key(
    "looks",
    "text",
    'first: later looks pay for themselves; "many": the first look has their bound, too',
    FIRST,
    choices=(FIRST, MANY),
)
COUNT_FORFEITS = Key("count_forfeits", "bool", "whether games that ended by a fault count", False)
EXACT_FOR_THESE = "exact for these openings: no agent uses chance"
NOT_THESE = "no opening was played more than once by agents that leave something to chance"


def check_score_bound(check: Check, evidence: Evidence, wanted: float) -> ScoreCheck:
    """Whether the score of "A beats B" is at least so much, by its one-sided bound."""
    match = evidence.between(*(check.parties or ("", "")))
    level, least = check.values["confidence"], check.values["min_distinct"]
    if match is None:
        return score_at_least(spread([], []), wanted, level=level, min_distinct=least)
    counted = match if check.values["count_forfeits"] else match.fair_pairs()
    dropped = match.pairings - counted.pairings
    # Without some of its games a finite set of openings was not played out.
    known = evidence if dropped == 0 else replace(evidence, census=())
    result = _decided(check, known, counted, wanted)
    if dropped == 0:
        return result
    what = f"{2 * dropped} of {2 * match.pairings} games do not count, for faults"
    if result.verdict is CheckStatus.VACUOUS:
        what += " (count_forfeits = true counts them)"
    return replace(result, reason=f"{result.reason}; {what}")


def _decided(check: Check, evidence: Evidence, match: Match, wanted: float) -> ScoreCheck:
    """The check of games that count."""
    level, least = check.values["confidence"], check.values["min_distinct"]
    row = estimated(match, evidence)
    answer = row.like if check.values["of"] == LIKE else row.these
    if answer is None:
        return ScoreCheck(CheckStatus.VACUOUS, wanted, None, None, level, 0, NOT_THESE)
    exact = answer.score.kind is EstimateKind.CENSUS
    if exact or not (why := _looked(check, evidence)):
        exact = exact and (is_census(match, evidence) or check.values["of"] == THESE)
        result = score_at_least(
            answer.spread, wanted, level=level, min_distinct=least, census=exact
        )
        if exact and not is_census(match, evidence):  # there are more openings than these
            return replace(result, reason=EXACT_FOR_THESE)
        return result
    if check.values["of"] == THESE:
        return _ever_of_these(check, evidence, match, answer, (wanted, why))
    first = np.rint(4.0 * first_score_per_opening(match.evidence())).astype(np.int64)
    counts = np.bincount(first, minlength=5)
    reason = f"anytime {100 * level:g} % bound: {why}"
    return score_at_least_anytime(
        answer.spread, counts, wanted, level=level, min_distinct=least, reason=reason
    )


def _looked(check: Check, evidence: Evidence) -> str:
    """Why the bound must stay true at several looks; empty at the only one."""
    if evidence.plan.stop is not None:
        return "a test could stop the run"
    if evidence.plan.rounds is not None:
        return "results decided who met"
    looks = look_count(check, evidence)
    if looks > 1:
        return f"look {looks} at this claim"
    return "many looks" if check.values["looks"] == MANY else ""


def look_count(check: Check, evidence: Evidence) -> int:
    """The looks at a claim so far, this one included."""
    return 1 + evidence.looks(check.that, check.test, check.values)


def look_count_text(check: Check, evidence: Evidence) -> str:
    """How often the claim was looked at, for the verdict; empty at the first look."""
    looks = look_count(check, evidence)
    return f"after {looks} looks: " if looks > 1 else ""


def first_score_per_opening(match: Match) -> NDArray[np.float64]:
    """The score of the first pairing on each opening; the others are no new observation."""
    order = np.lexsort((match.earliest, match.openings))
    first = np.unique(match.openings[order], return_index=True)[1]
    return np.asarray(match.scores[order[first]])


def _ever_of_these(
    check: Check, evidence: Evidence, match: Match, answer: ScoreAndElo, asked: tuple[float, str]
) -> ScoreCheck:
    """The check of exactly these openings, by a bound that stays true at every look."""
    (wanted, why), level = asked, check.values["confidence"]
    openings, fair = match.met, not check.values["count_forfeits"]
    standing = start_anytime(openings, again=True)
    for scores in pair_scores_of(evidence, match, fair):
        standing = update_anytime(standing, scores)
    bound = anytime_lower_bound_these(standing, level)
    reason = f"anytime {100 * level:g} % bound: {why}"
    verdict = CheckStatus.PASSED if bound >= wanted else CheckStatus.FAILED
    return ScoreCheck(verdict, wanted, answer.spread.mean, bound, level, openings, reason)


def impossible(check: Check, wanted: float, openings: int, pairs: int) -> str:
    """Why no result of so many openings and pairs could satisfy a claim; empty if one could."""
    level = check.values["confidence"]
    if check.values["of"] == THESE:
        least = observations_needed(wanted, level)
        return "" if pairs >= least else vacuous_text(pairs, least, Scope.THESE)
    least = max(check.values["min_distinct"], observations_needed(wanted, level))
    if check.values["looks"] == MANY:
        least = max(least, observations_needed(wanted, level, looks=True))
    there = min(openings, pairs)
    return "" if there >= least else vacuous_text(there, least)
