"""The claim that moves lose little against perfect play on average, by a one-sided bound."""

from typing import TYPE_CHECKING

from arena.analysis.checks.registry import (
    CONFIDENCE,
    FAILS,
    HOLDS,
    LAST_BEANS,
    MIN_DISTINCT,
    VACUOUS,
    Check,
    CheckKind,
    Verdict,
    judgement_text,
    make_verdict,
    no_moves_reason,
)
from arena.analysis.evidence import Evidence
from arena.stats.clustered_means import MeanBound, cluster_mean_upper_bound, min_clusters
from arena.stats.estimate import few_openings_text
from games.base.schema import Key

if TYPE_CHECKING:
    from arena.analysis.move_losses.judge import JudgedMoves

KEYS = (
    Key("max_mean_loss", "float", "margin that a move loses on average, at most", low=0),
    LAST_BEANS,
    CONFIDENCE,
    MIN_DISTINCT,
)


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Return whether the bound of each agent's mean loss is small enough."""
    if reason := no_moves_reason(evidence):
        return make_verdict(check, VACUOUS, reason)
    moves = evidence.judge_moves(check.values["last_beans"])
    found = [agent_verdict(check, evidence, moves, name) for name in check.about(evidence)]
    statuses = {status for status, _ in found}
    worst = next((each for each in (FAILS, VACUOUS) if each in statuses), HOLDS)
    return make_verdict(check, worst, "; ".join(text for status, text in found if status == worst))


def agent_verdict(
    check: Check, evidence: Evidence, moves: "JudgedMoves", name: str
) -> tuple[str, str]:
    """Return the status of one agent with its reason."""
    losses = moves.losses
    own = moves.mover == evidence.plan.names.index(name)
    judged = own & losses.known
    bound = cluster_mean_upper_bound(
        moves.opening[judged], losses.margin[judged], check.values["confidence"]
    )
    part = judgement_text(evidence, own, losses.known, moves.last)
    wanted = check.values["max_mean_loss"]
    if reason := vacuous_reason(check, bound):
        return VACUOUS, f"{name}: {reason} ({part})"
    assert bound is not None  # else there are too few openings
    text = f"{name} loses {bound.value:.3f} a move, at most {bound.high:.3f} ({part})"
    return (HOLDS if bound.high <= wanted else FAILS), f"{text}, {wanted:g} wanted"


def vacuous_reason(check: Check, bound: MeanBound | None) -> str:
    """Return why these openings bound nothing; "" if they are enough."""
    count = 0 if bound is None else bound.clusters
    wanted, needed = check.values["max_mean_loss"], check.values["min_distinct"]
    if bound is not None and bound.value <= wanted:
        # With fewer openings, not even perfect moves would pass.
        least = min_clusters(wanted, check.values["confidence"])
        if least is None:
            return f"no number of openings bounds a mean loss by {wanted:g}"
        needed = max(needed, least)
    return few_openings_text(count, needed) if count < needed else ""


KIND = CheckKind(
    keys=KEYS,
    compares=False,
    verdict=verdict,
)
