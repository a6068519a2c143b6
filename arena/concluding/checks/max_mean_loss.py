"""The claim that moves lose little against perfect play on average, by a one-sided bound."""

from arena.concluding.checks.claims import (
    CONFIDENCE,
    FAILS,
    HOLDS,
    LAST_BEANS,
    MIN_DISTINCT,
    VACUOUS,
    Check,
    Verdict,
    judged_part,
    no_moves,
    verdict_on,
)
from arena.concluding.evidence import Evidence
from arena.concluding.judged_moves import JudgedMoves
from arena.stats.ratio import ratio_bound
from games.keys import Key

KEYS = (
    Key("max_mean_loss", "float", "margin that a move loses on average, at most", low=0),
    LAST_BEANS,
    CONFIDENCE,
    MIN_DISTINCT,
)
COMPARES = False


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Whether the bound of each agent's mean loss is small enough."""
    if reason := no_moves(evidence):
        return verdict_on(check, VACUOUS, reason)
    moves = evidence.judged(check.values["last_beans"])
    found = [about(check, evidence, moves, name) for name in check.about(evidence)]
    for status in (FAILS, VACUOUS):
        for each in found:
            if each[0] == status:
                return verdict_on(check, *each)
    words = "; ".join(words for _, words in found)
    return verdict_on(check, HOLDS, words)


def about(check: Check, evidence: Evidence, moves: JudgedMoves, name: str) -> tuple[str, str]:
    """The status of one agent with its reason."""
    losses = moves.losses
    own = moves.mover == evidence.plan.names.index(name)
    judged = own & losses.known
    bound = ratio_bound(moves.opening[judged], losses.margin[judged], check.values["confidence"])
    part = judged_part(evidence, moves, own)
    if bound is None or bound.clusters < check.values["min_distinct"]:
        count = 0 if bound is None else bound.clusters
        needed = f"at least {check.values['min_distinct']} needed"
        return VACUOUS, f"{name}: {count} distinct openings, {needed} ({part})"
    wanted = check.values["max_mean_loss"]
    words = f"{name} loses {bound.value:.3f} a move, at most {bound.high:.3f} ({part})"
    return (HOLDS if bound.high <= wanted else FAILS), f"{words}, {wanted:g} wanted"
