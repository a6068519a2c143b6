"""The claim that no game was lost by a fault."""

from agents.fault_text import fault_text
from arena.analysis.checks.claims import FAILS, HOLDS, VACUOUS, Check, Verdict, make_verdict
from arena.analysis.evidence import Evidence, forfeited_games
from arena.planning.games import LOSS, Termination
from games.base.schema import Key

KEYS = (Key("no_forfeits", "bool", "no game was lost by a fault", choices=(True,)),)
COMPARES = False


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Whether none of the agents it is about forfeited a game."""
    places = {evidence.plan.names.index(name): name for name in check.about(evidence)}
    games = sum(2 * m.pairings for m in evidence.matches if {m.a, m.b} & set(places))
    faults = {name: _faults(evidence, place) for place, name in places.items()}
    counts = ", ".join(f"{name} forfeited {number}" for name, number in faults.items() if number)
    row = evidence.shortest(lambda games: forfeited_games(games, list(places))) if counts else None
    if row is None:
        return make_verdict(check, HOLDS if games else VACUOUS, f"none in {games:,} games")
    both, leg = evidence.game(row)
    loser = evidence.plan.names[int((both.first if both.result[leg] == LOSS else both.second)[leg])]
    for each in evidence.excluded:
        if each.agent == loser and row >= each.since:  # none of these games was played
            return make_verdict(check, FAILS, f"{counts}; {each.agent} {each.reason}")
    how = Termination(int(both.termination[leg])).name.lower()
    detail = f"{counts}; the shortest is game {row}: {fault_text(how, both.traces.get(leg, ''))}"
    return make_verdict(check, FAILS, detail, evidence.command(row), row)


def _faults(evidence: Evidence, agent: int) -> int:
    """How many games an agent lost by a fault of its own."""
    own = (match for match in evidence.matches if agent in (match.a, match.b))
    return sum(match.forfeits[0 if agent == match.a else 1] for match in own)
