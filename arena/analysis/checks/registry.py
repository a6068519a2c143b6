"""Checks: claims about a run, each with a verdict and, if it fails, a game to look at."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, cast

from arena.analysis.checks.claims import FAILS, HOLDS, VACUOUS, Check, Verdict
from arena.analysis.checks.score_bound import THESE
from arena.analysis.evidence import Evidence
from arena.planning.plan import Plan
from arena.planning.schedule import DrawnPlan
from games.base.schema import Key

__all__ = [
    "CHECKS",
    "FAILS",
    "HOLDS",
    "VACUOUS",
    "Check",
    "CheckModule",
    "Verdict",
    "claim",
    "hopeless",
    "verdicts",
]
# The key that states a claim -> the module that knows it.
CHECKS: Mapping[str, str] = {
    "always": "arena.analysis.checks.always",
    "score_at_least": "arena.analysis.checks.score_at_least",
    "elo_at_least": "arena.analysis.checks.elo_at_least",
    "max_mean_loss": "arena.analysis.checks.max_mean_loss",
    "never_throws_away": "arena.analysis.checks.never_throws_away",
    "no_forfeits": "arena.analysis.checks.no_forfeits",
    "max_seconds": "arena.analysis.checks.max_seconds",
}


class CheckModule(Protocol):
    """What the module of a check defines.

    It may also define `faults(check, agents)`, `hopeless(check, openings, pairs)`, and
    `doubt(check, plan)`.
    """

    KEYS: Sequence[Key]  # the first has the check's name
    COMPARES: bool  # whether it is about "A beats B"; else about "A" or "all"

    def verdict(self, check: Check, evidence: Evidence) -> Verdict:
        """The verdict on the claim."""


def claim(name: str) -> CheckModule:
    """The module behind a name in `CHECKS`."""
    return cast(CheckModule, importlib.import_module(CHECKS[name]))


def verdicts(checks: Sequence[Check], evidence: Evidence) -> list[Verdict]:
    """A verdict on every check."""
    return [claim(check.test).verdict(check, evidence) for check in checks]


def hopeless(check: Check, openings: int, pairs: int) -> str:
    """Why no result of so many openings and pairs could satisfy a check; empty if one could."""
    asked = getattr(claim(check.test), "hopeless", None)
    return asked(check, openings, pairs) if asked is not None else ""


def impossible_checks(checks: Sequence[Check], drawn: DrawnPlan) -> Iterator[str]:
    """A line for each check that will be vacuous whatever is played."""
    if drawn.plan.rounds is not None:
        return  # how many pairings meet is not known beforehand
    # What is exact needs no openings but those there are: all of a finite set, or just these.
    census, steady = (
        {frozenset(pair) for pair in pairs} for pairs in (drawn.census, drawn.without_chance)
    )
    for check in checks:
        exact = steady if check.values.get("of") == THESE else census
        if check.parties is not None and frozenset(check.parties) in exact:
            continue
        if why := hopeless(check, len(drawn.openings), drawn.plan.pairs):
            yield f"{check.that} ({check.test}) will be VACUOUS: {why}"


def doubtful_checks(checks: Sequence[Check], plan: Plan) -> Iterator[str]:
    """A line for each check that may be vacuous after all games, with what helps."""
    for check in checks:
        doubt = getattr(claim(check.test), "doubt", None)
        if doubt is not None and (why := doubt(check, plan)):
            yield f"{check.that} ({check.test}) may be VACUOUS: {why}"
