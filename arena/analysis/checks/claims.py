"""Checks and verdicts: what all kinds of checks share."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.analysis.evidence import Evidence
from arena.stats.score_checks import CheckStatus, ScoreCheck
from games.base.schema import Key, KeyValues
from games.solving.solution import still_open, what_is_open

HOLDS, FAILS, VACUOUS = "holds", "fails", "vacuous"
STATUS = {CheckStatus.PASSED: HOLDS, CheckStatus.FAILED: FAILS, CheckStatus.VACUOUS: VACUOUS}
ALL = "all"  # the subject of a check on every agent
BEATS = " beats "
MIN_DISTINCT = Key("min_distinct", "int", "openings below which it is vacuous", 10, low=1)
CONFIDENCE = Key("confidence", "float", "level of the one-sided bound", 0.95, low=0.5, under=1)

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
        """Winner and loser of "A beats B"; `None` for a claim on single agents."""
        winner, beats, loser = self.that.partition(BEATS)
        return (winner.strip(), loser.strip()) if beats else None

    @property
    def subject(self) -> str | None:
        """The agent, or "all", that a claim on single agents is about."""
        return None if self.parties else self.that.strip()

    def about(self, evidence: Evidence) -> list[str]:
        """The agents that a claim on single agents is about."""
        return list(evidence.plan.names) if self.subject == ALL else [str(self.subject)]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one check; a vacuous one rests on too little and does not hold.

    `test` is the key that states the claim. `replay` is a command that shows the shortest
    game that speaks against it, `game` that game's number; `measured` is what a claim about a
    score was decided by.
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
        """Whether the claim holds."""
        return self.status == HOLDS


def make_verdict(
    check: Check,
    status: str,
    detail: str,
    replay: str | None = None,
    game: int | None = None,
    measured: ScoreCheck | None = None,
) -> Verdict:
    """The verdict on a check."""
    return Verdict(check.that, check.test, status, detail, replay, game, measured)


def why_no_moves(evidence: Evidence) -> str:
    """Why the moves of a run cannot be judged; empty if they can."""
    if not evidence.keeps_moves:
        return "moves are judged where they are kept: keep_moves = true"
    return "" if evidence.games else "no games"


def judged_share_text(
    evidence: Evidence, own: NDArray[np.bool_], known: NDArray[np.bool_], last: int | None
) -> str:
    """Which of the moves marked in `own` are `known`, having been judged, in words."""
    of = evidence.plan.of
    words = f"{int((own & known).sum()):,} of {int(own.sum()):,} moves judged"
    most = still_open(of, of.start())
    if last is None or most is None or last >= most:
        return words
    return f"{words}, from {last} {what_is_open(of)} on"
