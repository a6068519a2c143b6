"""The claim that a score reaches a number, by its one-sided bound."""

from arena.concluding.checks.claims import (
    CONFIDENCE,
    MIN_DISTINCT,
    STATUS,
    Check,
    Verdict,
    bounded,
    verdict_on,
)
from arena.concluding.evidence import Evidence
from arena.stats.words import check_text
from games.keys import Key

KEYS = (
    Key("score_at_least", "float", "points a game, from 0 to 1", above=0, high=1),
    CONFIDENCE,
    MIN_DISTINCT,
)
COMPARES = True


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Whether the bound on the score reaches the number."""
    result = bounded(check, evidence, check.values["score_at_least"])
    # The text begins with the answer, which the status says already.
    detail = check_text(result).partition(": ")[2]
    return verdict_on(check, STATUS[result.verdict], detail, measured=result)
