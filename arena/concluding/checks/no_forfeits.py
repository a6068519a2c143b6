"""The claim that no game was lost by a fault."""

import numpy as np

from arena.concluding.checks.claims import FAILS, HOLDS, VACUOUS, Check, Verdict, verdict_on
from arena.concluding.evidence import Evidence, Rows, forfeited_rows
from arena.planning.records import Termination
from games.keys import Key

KEYS = (Key("no_forfeits", "bool", "no game was lost by a fault", choices=(True,)),)
COMPARES = False


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Whether none of the agents it is about forfeited a game."""
    places = {evidence.plan.names.index(name): name for name in check.about(evidence)}
    games = sum(2 * len(m.openings) for m in evidence.matches if {m.a, m.b} & set(places))
    faults = {name: _faults(evidence, place) for place, name in places.items()}
    counts = ", ".join(
        f"{name} forfeited {len(rows)}" for name, rows in faults.items() if len(rows)
    )
    if not counts:
        return verdict_on(check, HOLDS if games else VACUOUS, f"none in {games:,} games")
    row = evidence.shortest(np.concatenate(list(faults.values())))
    why = evidence.games.traces.get(row, "").partition("\n")[0]
    how = Termination(int(evidence.games.termination[row])).name.lower()
    detail = f"{counts}; the shortest is game {row}: {how}{', ' if why else ''}{why}"
    return verdict_on(check, FAILS, detail, evidence.command(row), row)


def _faults(evidence: Evidence, agent: int) -> Rows:
    """The games that an agent lost by a fault of its own."""
    own = [match for match in evidence.matches if agent in (match.a, match.b)]
    rows = [forfeited_rows(evidence.games, match, agent) for match in own]
    return np.concatenate([np.empty(0, np.int64), *rows])
