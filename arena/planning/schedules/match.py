"""Two agents meet each other, or each two of a list of pairs."""

from collections.abc import Iterator, Sequence

from arena.planning.schedules.registry import Matches, unknown_agent_message
from games.base.schema import Fault, Key, KeyValues
from games.base.text import format_value, quote

KEYS = (Key("match", "list", "the two agents that meet, or a list of such pairs", ()),)
WORD = True
EXAMPLES = ('"match"', '{ match = ["a", "b"] }', '{ match = [["a", "b"], ["c", "d"]] }')


def faults(values: KeyValues, names: Sequence[str]) -> Iterator[Fault]:
    """Anything but pairs of two agents of the file."""
    written = values["match"]
    if not written:
        if len(names) > 2:
            message = f'{len(names)} agents: name two, as in schedule = {{ match = ["a", "b"] }}'
            yield (), f'schedule "match" is for a file of two agents, got {message}'
    elif is_list_of_pairs(written):
        earlier: set[frozenset[str]] = set()
        for item, pair in enumerate(written):
            place = ("match", item)
            wrong = [((*place, *inside), text) for inside, text in pair_faults(pair, names)]
            yield from wrong
            if not wrong and frozenset(pair) in earlier:
                yield place, f"match must name each pair once, got {format_value(pair)} twice"
            elif not wrong:
                earlier.add(frozenset(pair))
    else:
        yield from ((("match", *inside), text) for inside, text in pair_faults(written, names))


def is_list_of_pairs(written: Sequence[object]) -> bool:
    """Return whether pairs are listed; otherwise it is one pair."""
    return any(isinstance(each, list | tuple) for each in written)


def pair_faults(pair: object, names: Sequence[str]) -> Iterator[Fault]:
    """Anything but two agents of the file."""
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        yield (), f"match must name two agents, got {format_value(pair)}"
        return
    for item, name in enumerate(pair):
        if not isinstance(name, str):
            yield (item,), f"match must name agents by text in quotes, got {format_value(name)}"
        elif name not in names:
            yield (item,), unknown_agent_message(name, names)
    if pair[0] == pair[1]:
        yield (), f"match must name two different agents, got {quote(str(pair[0]))} twice"


def matches(values: KeyValues, names: Sequence[str]) -> Matches:
    """The pairs as they are written, or the only two agents of the file."""
    written = values["match"] or names
    pairs = written if is_list_of_pairs(written) else [written]
    return tuple((names.index(first), names.index(second)) for first, second in pairs)
