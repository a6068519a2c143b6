"""One agent meets each of the others."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.planning.schedules import Matches, no_agent
from games.keys import Fault, Key

KEYS = (Key("gauntlet", "text", "the agent that meets each of the others"),)
WORD = False
EXAMPLES = ('{ gauntlet = "a" }',)


def faults(values: Mapping[str, Any], names: Sequence[str]) -> Iterator[Fault]:
    """An agent that is not there."""
    if values["gauntlet"] not in names:
        yield ("gauntlet",), no_agent(values["gauntlet"], names)


def matches(values: Mapping[str, Any], names: Sequence[str]) -> Matches:
    """The one against the others, in the order of the file."""
    one = names.index(values["gauntlet"])
    return tuple((one, other) for other in range(len(names)) if other != one)
