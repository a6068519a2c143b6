"""The claim that an Elo difference reaches a number, by the bound on the score."""

import math

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
from arena.stats.elo import elo_from_score, score_from_elo
from arena.stats.text import percent_text, signed_text
from games.base.schema import Key

KEYS = (
    Key("elo_at_least", "float", "Elo above the other agent"),
    CONFIDENCE,
    MIN_DISTINCT,
    OF,
    COUNT_FORFEITS,
)
COMPARES = True


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Whether the bound on the score reaches the score at that difference."""
    wanted = check.values["elo_at_least"]
    result = check_score_bound(check, evidence, score_from_elo(wanted))
    if result.score is None or result.bound is None:
        return make_verdict(check, STATUS[result.verdict], result.reason, measured=result)
    detail = look_count_text(check, evidence) + (
        f"at least {signed_text(wanted)} Elo wanted, found {_elo(result.score)}, "
        f"bound {_elo(result.bound, down=True)} ({result.reason}), K = {result.openings}"
    )
    return make_verdict(check, STATUS[result.verdict], detail, measured=result)


def hopeless(check: Check, openings: int, pairs: int) -> str:
    """Why no result of so many openings and pairs could satisfy it; empty if one could."""
    return impossible(check, score_from_elo(check.values["elo_at_least"]), openings, pairs)


def _elo(score: float, down: bool = False) -> str:
    """The Elo of a score, rounded down if it is a bound."""
    if score in (0.0, 1.0):
        return percent_text(score)
    elo = elo_from_score(score)
    return signed_text(math.floor(elo) if down else elo)
