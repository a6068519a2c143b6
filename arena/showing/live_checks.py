"""What becomes of the checks so far, by bounds that stay true however often one looks."""

from collections.abc import Sequence
from typing import NamedTuple

from arena.analysis.checks.claims import FAILS, HOLDS, Check
from arena.playing.play import Tick
from arena.stats.elo import score_from_elo
from arena.stats.estimate import Estimate, EstimateKind
from arena.terminal.progress_line import MatchNow, at_level

LATER = "later"  # no verdict before the end


class CheckNow(NamedTuple):
    """A check so far; `settled` if no later look is expected to say otherwise."""

    check: Check
    status: str  # HOLDS, FAILS or LATER
    settled: bool
    words: str


def checks_now(checks: Sequence[Check], tick: Tick, names: Sequence[str]) -> list[CheckNow]:
    """Every check as far as the games so far say."""
    return [_check(check, tick, list(names)) for check in checks]


def _check(check: Check, tick: Tick, names: list[str]) -> CheckNow:
    if check.parties is None or any(name not in names for name in check.parties):
        return CheckNow(check, LATER, False, "Decided at the end.")
    a, b = (names.index(name) for name in check.parties)
    standing = tick.standings.get((min(a, b), max(a, b)))
    if standing is None or not standing.pairings:
        return CheckNow(check, LATER, False, "No games yet.")
    if check.values.get("always") is True:
        points = standing.points if a < b else standing.pairings - standing.points
        return _always(check, standing.pairings, points)
    asked = _asked(check)
    if asked is None:
        return CheckNow(check, LATER, False, "Decided at the end.")
    level = 1.0 - 2.0 * (1.0 - float(check.values["confidence"]))
    if not 0.0 < level < 1.0:
        return CheckNow(check, LATER, False, "Decided at the end.")
    match = MatchNow(min(a, b), max(a, b), at_level(standing, level), False)
    return _bounded(check, match.seen_by(a), asked)


def _always(check: Check, pairings: int, points: float) -> CheckNow:
    if points < pairings:
        return CheckNow(check, FAILS, True, "A game was not won.")
    return CheckNow(check, HOLDS, False, f"All {2 * pairings:,} games so far were won.")


def _asked(check: Check) -> float | None:
    """The score that a check on a score asks for."""
    if check.test == "score_at_least":
        return float(check.values["score_at_least"])
    if check.test == "elo_at_least":
        return score_from_elo(float(check.values["elo_at_least"]))
    return None


def _bounded(check: Check, score: Estimate, asked: float) -> CheckNow:
    """A score against the one asked for: both ends are one-sided bounds, true at every look."""
    if score.value is None or score.kind is EstimateKind.NONE:
        return CheckNow(check, LATER, False, f"Nothing to infer from: {score.reason}.")
    low = 0.0 if score.low is None else score.low
    high = 1.0 if score.high is None else score.high
    words = (
        f"Scored {100 * score.value:.1f}\u00a0%, between {100 * low:.1f} and "
        f"{100 * high:.1f}\u00a0%; {100 * asked:.1f}\u00a0% asked."
    )
    if low >= asked:
        return CheckNow(check, HOLDS, True, words)
    if high < asked:
        return CheckNow(check, FAILS, True, words)
    return CheckNow(check, HOLDS if score.value >= asked else FAILS, False, words)
