"""The table of checks: claims about a run, each with a verdict and a game against it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from arena.analysis.evidence import Evidence
from arena.planning.plan import Plan
from arena.planning.schedule import Schedule
from arena.stats.estimate import FEW_OPENINGS, few_openings_text
from arena.stats.score_checks import CheckStatus, ScoreCheck
from games.base.schema import Key, KeyValues, Problem
from games.solving.solution import remaining_units, unit_name

# The key that states a claim -> its `CheckKind`.
CHECKS: Mapping[str, str] = {
    "always": "arena.analysis.checks.always:KIND",
    "score_at_least": "arena.analysis.checks.score_at_least:KIND",
    "elo_at_least": "arena.analysis.checks.elo_at_least:KIND",
    "max_mean_loss": "arena.analysis.checks.max_mean_loss:KIND",
    "never_throws_away": "arena.analysis.checks.never_throws_away:KIND",
    "no_forfeits": "arena.analysis.checks.no_forfeits:KIND",
    "max_seconds": "arena.analysis.checks.max_seconds:KIND",
}
HOLDS, FAILS, VACUOUS = "holds", "fails", "vacuous"
STATUS = {CheckStatus.PASSED: HOLDS, CheckStatus.FAILED: FAILS, CheckStatus.VACUOUS: VACUOUS}
ALL = "all"  # the subject of a check on every agent
BEATS = " beats "
LIKE, THESE = "like these", "these"
OF = Key("of", "text", "openings like these, or exactly these", LIKE, choices=(LIKE, THESE))
COUNT_FORFEITS = Key("count_forfeits", "bool", "whether games that ended by a fault count", False)
MIN_DISTINCT = Key("min_distinct", "int", "openings below which it is vacuous", FEW_OPENINGS, low=1)
CONFIDENCE = Key("confidence", "float", "level of the one-sided bound", 0.95, low=0.5, below=1)
LAST_BEANS = Key(
    "last_beans", "int", "beans, or empty squares, from which moves are judged (0: usual)", 0, low=0
)


@dataclass(frozen=True, slots=True)
class Check:
    """One claim about the result; `values` has every key of its `test`."""

    that: str
    test: str
    values: KeyValues

    @property
    def parties(self) -> tuple[str, str] | None:
        """Return winner and loser of "A beats B"; None for a claim about single agents."""
        winner, beats, loser = self.that.partition(BEATS)
        return (winner.strip(), loser.strip()) if beats else None

    @property
    def subject(self) -> str | None:
        """Return the agent, or "all", of a claim about single agents."""
        return None if self.parties else self.that.strip()

    def about(self, evidence: Evidence) -> list[str]:
        """Return the agents of a claim about single agents."""
        return list(evidence.plan.names) if self.subject == ALL else [str(self.subject)]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one check; a vacuous one has too little evidence and does not hold.

    `test` is the key that states the claim. `replay` is a command that shows the shortest game
    against the claim, and `game` is its number. `measured` has the numbers behind a claim about a
    score.
    """

    that: str
    test: str
    status: str
    detail: str
    replay: str | None = None
    game: int | None = None
    measured: ScoreCheck | None = None

    @property
    def holds(self) -> bool:
        """Return whether the claim holds."""
        return self.status == HOLDS


@dataclass(frozen=True, kw_only=True)
class CheckKind:
    """A kind of check."""

    keys: Sequence[Key]  # the first has the check's name
    compares: bool  # whether it is about "A beats B"; else about "A" or "all"
    verdict: Callable[[Check, Evidence], Verdict]
    # Yields problems of a check in an experiment with these agents.
    problems: Callable[[Check, Mapping[str, AgentSpec]], Iterable[Problem]] = lambda _, __: ()
    # Returns why no result of these openings and pairs could satisfy a check; "" if one could.
    why_impossible: Callable[[Check, int, int], str] = lambda _, __, ___: ""
    # Returns why a check may be vacuous after all games; "" if it will not be.
    why_doubtful: Callable[[Check, Plan], str] = lambda _, __: ""


def check_kind(name: str) -> CheckKind:
    """Return the entry of `CHECKS`."""
    kind: CheckKind = resolve_name(CHECKS[name])
    return kind


def verdicts(checks: Sequence[Check], evidence: Evidence) -> list[Verdict]:
    """Return a verdict on every check."""
    return [check_kind(check.test).verdict(check, evidence) for check in checks]


def impossible_checks(checks: Sequence[Check], schedule: Schedule) -> Iterator[str]:
    """Yield a line for each check that will be vacuous whatever the results are."""
    if schedule.plan.rounds is not None:
        return  # the number of pairs per match is not known in advance
    # An exact check needs no other openings: all of a finite set, or exactly these.
    census, deterministic = (
        {frozenset(pair) for pair in pairs}
        for pairs in (schedule.census, schedule.deterministic_matches)
    )
    for check in checks:
        exact = deterministic if check.values.get("of") == THESE else census
        if check.parties is not None and frozenset(check.parties) in exact:
            continue
        if why := check_kind(check.test).why_impossible(
            check, len(schedule.openings), schedule.plan.pairs
        ):
            yield f"{check.that} ({check.test}) will be VACUOUS: {why}"


def doubtful_checks(checks: Sequence[Check], plan: Plan) -> Iterator[str]:
    """Yield a line with a remedy for each check that may be vacuous after all games."""
    for check in checks:
        if why := check_kind(check.test).why_doubtful(check, plan):
            yield f"{check.that} ({check.test}) may be VACUOUS: {why}"


def make_verdict(
    check: Check,
    status: str,
    detail: str,
    replay: str | None = None,
    game: int | None = None,
    measured: ScoreCheck | None = None,
) -> Verdict:
    """Return the verdict on a check."""
    return Verdict(check.that, check.test, status, detail, replay, game, measured)


def few_openings_verdict(check: Check, openings: int) -> Verdict | None:
    """Return a vacuous verdict if there are fewer distinct openings than the check demands."""
    needed = check.values["min_distinct"]
    if openings >= needed:
        return None
    return make_verdict(check, VACUOUS, few_openings_text(openings, needed))


def no_moves_reason(evidence: Evidence) -> str:
    """Return why the moves of a run cannot be judged; "" if they can."""
    if not evidence.keeps_moves:
        return "moves are judged only if they are stored: set keep_moves = true"
    return "" if evidence.games else "no games"


def judgement_text(
    evidence: Evidence, own: NDArray[np.bool_], known: NDArray[np.bool_], last: int | None
) -> str:
    """Return how many of the moves in `own` were judged (`known`)."""
    game = evidence.plan.game
    text = f"{int((own & known).sum()):,} of {int(own.sum()):,} moves judged"
    most = remaining_units(game, game.start())
    if last is None or most is None or last >= most:
        return text
    return f"{text}, from {last} {unit_name(game)} on"
