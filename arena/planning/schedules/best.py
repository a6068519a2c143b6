"""The best agent, or the best few, from as few games as it takes: a race."""

from collections.abc import Iterator, Sequence

from arena.planning.rounds import Entrants, Tournament
from arena.planning.schedules.best_one import best_one
from arena.planning.schedules.best_several import best_several
from arena.planning.schedules.race_parts import DELTA, everybody, indifference
from games.keys import Fault, Key, KeyValues

KEYS = (Key("best", "int", "how many of the best are looked for", 1, low=1), DELTA, indifference(0))
WORD = True
EXAMPLES = ("{ best = 1 }",)
matches = everybody


def faults(values: KeyValues, names: Sequence[str]) -> Iterator[Fault]:
    """As many as there are agents, or more."""
    if len(names) > 1 and values["best"] >= len(names):
        most = len(names) - 1
        allowed = "1" if most == 1 else f"from 1 to {most}"
        yield ("best",), f"best must be {allowed} of {len(names)} agents, got {values['best']}"


def begin(values: KeyValues, entrants: Entrants) -> Tournament:
    """The race before its first round."""
    if values["best"] == 1:
        return best_one(values, entrants)
    return best_several(values, entrants)
