"""Two by two, in the order of the file: the first meets the second, the third the fourth."""

from collections.abc import Iterator, Sequence

from arena.planning.schedules.registry import Matches
from games.base.schema import Fault, Key, KeyValues

KEYS = (
    Key(
        "couples", "bool", "agents meet two by two in the order of the file", True, choices=(True,)
    ),
)
WORD = True
EXAMPLES = ('"couples"',)


def faults(_: KeyValues, names: Sequence[str]) -> Iterator[Fault]:
    """An agent that is left over."""
    if len(names) % 2:
        message = f'schedule "couples" is for an even number of agents, got {len(names)}'
        yield (), f"{message}: {names[-1]} has nobody to meet"


def matches(_: KeyValues, names: Sequence[str]) -> Matches:
    """Neighbours of the file, each pair once."""
    return tuple((first, first + 1) for first in range(0, len(names) - 1, 2))
