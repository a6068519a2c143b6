"""The claim that an Elo difference reaches a number, by the bound on the score."""

from arena.analysis.checks.registry import (
    CONFIDENCE,
    COUNT_FORFEITS,
    MIN_DISTINCT,
    OF,
    STATUS,
    Check,
    CheckKind,
    Verdict,
    make_verdict,
)
from arena.analysis.checks.score_at_least import (
    check_score_bound,
    impossible_reason,
    look_count_text,
)
from arena.analysis.evidence import Evidence
from arena.stats.elo import elo_from_score, score_from_elo
from arena.stats.text import bound_decimals, percent_text, round_down, sign_text
from games.base.schema import Key

KEYS = (
    Key("elo_at_least", "float", "Elo above the other agent"),
    CONFIDENCE,
    MIN_DISTINCT,
    OF,
    COUNT_FORFEITS,
)


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Return whether the bound on the score reaches the score at that difference."""
    wanted = check.values["elo_at_least"]
    result = check_score_bound(check, evidence, score_from_elo(wanted))
    if result.score is None or result.bound is None:
        return make_verdict(check, STATUS[result.verdict], result.reason, measured=result)
    detail = look_count_text(check, evidence) + (
        f"at least {sign_text(wanted)} Elo wanted, found {_elo_text(result.score)}, "
        f"bound {_bound_text(result.score, result.bound)} ({result.reason}), K = {result.openings}"
    )
    return make_verdict(check, STATUS[result.verdict], detail, measured=result)


def why_impossible(check: Check, openings: int, pairs: int) -> str:
    """Return why no result of these openings and pairs could satisfy it; "" if one could."""
    return impossible_reason(check, score_from_elo(check.values["elo_at_least"]), openings, pairs)


def _elo_text(score: float) -> str:
    return percent_text(score) if score in (0.0, 1.0) else sign_text(elo_from_score(score))


def _bound_text(score: float, bound: float) -> str:
    if bound in (0.0, 1.0):
        return percent_text(bound)
    low = elo_from_score(bound)
    decimals = 0 if score == 1.0 else bound_decimals(elo_from_score(score), low)
    return sign_text(round_down(low, decimals), decimals)


KIND = CheckKind(
    keys=KEYS,
    compares=True,
    verdict=verdict,
    why_impossible=why_impossible,
)
