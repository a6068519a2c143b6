"""Everybody meets everybody."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from arena.planning.schedules import Matches
from games.keys import Fault, Key

KEYS = (Key("round_robin", "bool", "everybody meets everybody", True, choices=(True,)),)
WORD = True
EXAMPLES = ('"round_robin"',)


def faults(_: Mapping[str, Any], __: Sequence[str]) -> Iterator[Fault]:
    """Nothing: it fits all agents."""
    yield from ()


def matches(_: Mapping[str, Any], names: Sequence[str]) -> Matches:
    """Every pair once, in the order of the file."""
    return tuple(combinations(range(len(names)), 2))
