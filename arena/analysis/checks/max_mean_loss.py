"""The claim that moves lose little against perfect play on average, by a one-sided bound."""

from typing import TYPE_CHECKING

from arena.analysis.checks.claims import (
    CONFIDENCE,
    FAILS,
    HOLDS,
    LAST_BEANS,
    MIN_DISTINCT,
    VACUOUS,
    Check,
    Verdict,
    judged_share_text,
    make_verdict,
    why_no_moves,
)
from arena.analysis.evidence import Evidence
from arena.stats.clustered_means import MeanBound, clustered_mean_upper_bound, clusters_needed
from games.base.schema import Key

if TYPE_CHECKING:
    from arena.analysis.move_losses.judge import JudgedMoves

KEYS = (
    Key("max_mean_loss", "float", "margin that a move loses on average, at most", low=0),
    LAST_BEANS,
    CONFIDENCE,
    MIN_DISTINCT,
)
COMPARES = False


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Whether the bound of each agent's mean loss is small enough."""
    if reason := why_no_moves(evidence):
        return make_verdict(check, VACUOUS, reason)
    moves = evidence.judged(check.values["last_beans"])
    found = [agent_verdict(check, evidence, moves, name) for name in check.about(evidence)]
    statuses = {status for status, _ in found}
    worst = next((each for each in (FAILS, VACUOUS) if each in statuses), HOLDS)
    words = [words for status, words in found if status == worst]
    return make_verdict(check, worst, "; ".join(words))


def agent_verdict(
    check: Check, evidence: Evidence, moves: "JudgedMoves", name: str
) -> tuple[str, str]:
    """The status of one agent with its reason."""
    losses = moves.losses
    own = moves.mover == evidence.plan.names.index(name)
    judged = own & losses.known
    bound = clustered_mean_upper_bound(
        moves.opening[judged], losses.margin[judged], check.values["confidence"]
    )
    part = judged_share_text(evidence, own, losses.known, moves.last)
    wanted = check.values["max_mean_loss"]
    if reason := why_vacuous(check, bound):
        return VACUOUS, f"{name}: {reason} ({part})"
    assert bound is not None  # that would be too few
    words = f"{name} loses {bound.value:.3f} a move, at most {bound.high:.3f} ({part})"
    return (HOLDS if bound.high <= wanted else FAILS), f"{words}, {wanted:g} wanted"


def why_vacuous(check: Check, bound: MeanBound | None) -> str:
    """Why these openings bound nothing; "" if they are enough."""
    count = 0 if bound is None else bound.clusters
    wanted, needed = check.values["max_mean_loss"], check.values["min_distinct"]
    if bound is not None and bound.value <= wanted:
        # With fewer than these, not even perfect moves would hold.
        least = clusters_needed(wanted, check.values["confidence"])
        if least is None:
            return (
                f"{count:,} distinct openings, no number of them bounds a mean loss by {wanted:g}"
            )
        needed = max(needed, least)
    return f"{count:,} distinct openings, at least {needed:,} needed" if count < needed else ""
