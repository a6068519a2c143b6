"""Two agents meet each other."""

from collections.abc import Iterator, Sequence

from arena.planning.schedules.registry import Matches, no_agent
from games.base.schema import Fault, Key, KeyValues
from games.base.text import quoted, shown

KEYS = (Key("match", "texts", "the two agents that meet (the only two of the file)", ()),)
WORD = True
EXAMPLES = ('"match"', '{ match = ["a", "b"] }')


def faults(values: KeyValues, names: Sequence[str]) -> Iterator[Fault]:
    """Anything but two agents of the file."""
    pair = values["match"]
    if len(pair) not in (0, 2):
        yield ("match",), f"match must name two agents, got {shown(pair)}"
        return
    for item, name in enumerate(pair):
        if name not in names:
            yield ("match", item), no_agent(name, names)
    if pair and len(set(pair)) == 1:
        yield ("match",), f"match must name two different agents, got {quoted(pair[0])} twice"
    if not pair and len(names) > 2:
        message = f'{len(names)} agents: name two, as in schedule = {{ match = ["a", "b"] }}'
        yield (), f'schedule "match" is for a file of two agents, got {message}'


def matches(values: KeyValues, names: Sequence[str]) -> Matches:
    """The two agents, or the only two of the file."""
    first, second = (names.index(name) for name in values["match"] or names)
    return ((first, second),)
