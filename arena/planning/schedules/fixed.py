"""Schedules in which every match plays all its pairs."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from arena.planning.schedules.registry import Matches, ScheduleMethod, unknown_agent_message
from games.base.schema import Key, KeyValues, Problem
from games.base.text import format_value, quote


def all_matches(_: KeyValues, names: Sequence[str]) -> Matches:
    """Return every match once, in the order of the file."""
    return tuple(combinations(range(len(names)), 2))


ROUND_ROBIN = ScheduleMethod(
    keys=(), examples=('"round_robin"',), matches=all_matches, name_suffices=True
)


def gauntlet_problems(values: KeyValues, names: Sequence[str]) -> Iterator[Problem]:
    """Yield an agent that the file does not define."""
    if values["gauntlet"] not in names:
        yield ("gauntlet",), unknown_agent_message(values["gauntlet"], names)


def gauntlet_matches(values: KeyValues, names: Sequence[str]) -> Matches:
    """Return the matches of one agent against the others, in the order of the file."""
    one = names.index(values["gauntlet"])
    return tuple((one, other) for other in range(len(names)) if other != one)


GAUNTLET = ScheduleMethod(
    keys=(Key("gauntlet", "text", "the agent that meets each of the others"),),
    examples=('{ gauntlet = "a" }',),
    matches=gauntlet_matches,
    problems=gauntlet_problems,
)


def match_problems(values: KeyValues, names: Sequence[str]) -> Iterator[Problem]:
    """Yield anything but pairs of two agents of the file, each pair once."""
    value = values["match"]
    if not value:
        if len(names) > 2:
            message = f'{len(names)} agents: name two, as in schedule = {{ match = ["a", "b"] }}'
            yield (), f'schedule "match" is for a file of two agents, got {message}'
    elif is_list_of_pairs(value):
        earlier: set[frozenset[str]] = set()
        for item, pair in enumerate(value):
            place = ("match", item)
            wrong = [((*place, *inside), text) for inside, text in pair_problems(pair, names)]
            yield from wrong
            if not wrong and frozenset(pair) in earlier:
                yield place, f"match must name each pair once, got {format_value(pair)} twice"
            elif not wrong:
                earlier.add(frozenset(pair))
    else:
        yield from ((("match", *inside), text) for inside, text in pair_problems(value, names))


def is_list_of_pairs(value: Sequence[object]) -> bool:
    """Return whether the value lists several pairs; otherwise it is one pair."""
    return any(isinstance(each, list | tuple) for each in value)


def pair_problems(pair: object, names: Sequence[str]) -> Iterator[Problem]:
    """Yield anything but two different agents of the file."""
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


def match_list(values: KeyValues, names: Sequence[str]) -> Matches:
    """Return the matches as they are written, or the one of the only two agents."""
    value = values["match"] or names
    pairs = value if is_list_of_pairs(value) else [value]
    return tuple((names.index(first), names.index(second)) for first, second in pairs)


MATCH = ScheduleMethod(
    keys=(Key("match", "list", "the two agents that meet, or a list of such pairs", ()),),
    examples=('"match"', '{ match = ["a", "b"] }', '{ match = [["a", "b"], ["c", "d"]] }'),
    matches=match_list,
    problems=match_problems,
    name_suffices=True,
)
