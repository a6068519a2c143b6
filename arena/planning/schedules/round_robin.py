"""Every agent meets every other one."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from arena.planning.schedules.registry import Matches
from games.base.schema import Fault, Key, KeyValues

KEYS = (Key("round_robin", "bool", "everybody meets everybody", True, choices=(True,)),)
WORD = True
EXAMPLES = ('"round_robin"',)


def faults(_: KeyValues, __: Sequence[str]) -> Iterator[Fault]:
    """None: it fits any agents."""
    yield from ()


def matches(_: KeyValues, names: Sequence[str]) -> Matches:
    """Every pair once, in the order of the file."""
    return tuple(combinations(range(len(names)), 2))
