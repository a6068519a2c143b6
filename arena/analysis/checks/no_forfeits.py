"""The claim that no game was lost by a fault."""

from agents.fault_text import fault_text
from arena.analysis.checks.registry import (
    FAILS,
    HOLDS,
    VACUOUS,
    Check,
    CheckKind,
    Verdict,
    make_verdict,
)
from arena.analysis.evidence import Evidence, is_forfeit_by
from arena.planning.games import LOSS, Termination
from games.base.schema import Key

KEYS = (Key("no_forfeits", "bool", "no game was lost by a fault", choices=(True,)),)


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Return whether none of the agents forfeited a game."""
    places = {evidence.plan.names.index(name): name for name in check.about(evidence)}
    games = sum(2 * match.pairs for match in evidence.matches if {match.a, match.b} & set(places))
    faults = dict.fromkeys(places, 0)
    for match in evidence.matches:
        for agent, count in zip((match.a, match.b), match.forfeits, strict=True):
            if agent in faults:
                faults[agent] += count
    counts = ", ".join(f"{places[each]} forfeited {n}" for each, n in faults.items() if n)
    if not counts:
        return make_verdict(check, HOLDS if games else VACUOUS, f"none in {games:,} games")
    row = evidence.shortest_game(lambda games: is_forfeit_by(games, list(places)))
    assert row is not None  # a forfeit was counted
    both, leg = evidence.pair_of(row)
    loser = evidence.plan.names[int((both.first if both.result[leg] == LOSS else both.second)[leg])]
    for each in evidence.excluded:
        if each.agent == loser and row >= each.since:  # none of these games was played
            return make_verdict(check, FAILS, f"{counts}; {each.agent} {each.reason}")
    how = Termination(int(both.termination[leg])).name.lower()
    detail = f"{counts}; the shortest is game {row}: {fault_text(how, both.traces.get(leg, ''))}"
    return make_verdict(check, FAILS, detail, evidence.command_of(row), row)


KIND = CheckKind(
    keys=KEYS,
    compares=False,
    verdict=verdict,
)
