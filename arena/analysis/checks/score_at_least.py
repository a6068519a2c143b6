"""The claim that a score reaches a number, by its one-sided bound."""

from arena.analysis.checks.claims import (
    CONFIDENCE,
    MIN_DISTINCT,
    STATUS,
    Check,
    Verdict,
    make_verdict,
)
from arena.analysis.checks.score_bound import (
    COUNT_FORFEITS,
    OF,
    check_score_bound,
    impossible,
    look_count_text,
)
from arena.analysis.evidence import Evidence
from arena.stats.text import check_text
from games.base.schema import Key

KEYS = (
    Key("score_at_least", "float", "points a game, from 0 to 1", above=0, high=1),
    CONFIDENCE,
    MIN_DISTINCT,
    OF,
    COUNT_FORFEITS,
)
COMPARES = True


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Whether the bound on the score reaches the number."""
    result = check_score_bound(check, evidence, check.values["score_at_least"])
    # The text begins with the answer, which the status says already.
    detail = look_count_text(check, evidence) + check_text(result).partition(": ")[2]
    return make_verdict(check, STATUS[result.verdict], detail, measured=result)


def hopeless(check: Check, openings: int, pairs: int) -> str:
    """Why no result of so many openings and pairs could satisfy it; empty if one could."""
    return impossible(check, check.values["score_at_least"], openings, pairs)
