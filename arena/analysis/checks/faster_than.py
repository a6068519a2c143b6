"""The claim that the mean thinking time of a move is below a limit."""

from arena.analysis.checks.claims import FAILS, HOLDS, VACUOUS, Check, Verdict, make_verdict
from arena.analysis.evidence import Evidence
from games.base.schema import Key

KEYS = (Key("faster_than_seconds_per_move", "float", "mean seconds a move", above=0),)
COMPARES = False


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Whether each of the agents it is about is fast enough."""
    limit = check.values["faster_than_seconds_per_move"]
    times = evidence.timings
    words, status = [], HOLDS
    for name in check.about(evidence):
        moves = sum(each.moves for each in times if each.agent == name)
        if not moves:
            return make_verdict(check, VACUOUS, f"{name} chose no move")
        mean = sum(each.seconds for each in times if each.agent == name) / moves
        words.append(f"{name} {mean:.3g} s a move")
        status = status if mean < limit else FAILS
    return make_verdict(check, status, f"less than {limit:g} s wanted; {', '.join(words)}")
