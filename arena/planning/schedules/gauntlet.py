"""One agent meets each of the others."""

from collections.abc import Iterator, Sequence

from arena.planning.schedules.registry import Matches, unknown_agent_message
from games.base.schema import Fault, Key, KeyValues

KEYS = (Key("gauntlet", "text", "the agent that meets each of the others"),)
WORD = False
EXAMPLES = ('{ gauntlet = "a" }',)


def faults(values: KeyValues, names: Sequence[str]) -> Iterator[Fault]:
    """An agent that the file does not define."""
    if values["gauntlet"] not in names:
        yield ("gauntlet",), unknown_agent_message(values["gauntlet"], names)


def matches(values: KeyValues, names: Sequence[str]) -> Matches:
    """The one agent against the others, in the order of the file."""
    one = names.index(values["gauntlet"])
    return tuple((one, other) for other in range(len(names)) if other != one)
