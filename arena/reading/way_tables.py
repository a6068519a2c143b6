"""`schedule` and `openings` of an experiment file: one of several ways, with its own keys."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from arena.planning.openings import OPENINGS, SHARED, way
from arena.planning.openings_spec import RANDOM_OPENINGS, OpeningsSpec
from arena.planning.rounds import RoundsSpec
from arena.planning.schedules import SCHEDULES, Matches, rounds_of, schedule
from arena.reading.key_reader import read_table
from arena.reading.problems import Problems, near
from games import Game
from games.keys import Key, defaults
from games.names import listed, shown


class Entry(Protocol):
    """What the module of a way has for its reader."""

    KEYS: Sequence[Key]
    WORD: bool
    EXAMPLES: Sequence[str]


class Ways(NamedTuple):
    """The ways that a key of the file may be written in, and the keys that they share."""

    key: str
    entries: Mapping[str, Entry]
    shared: Sequence[Key] = ()


class Meets(NamedTuple):
    """Who meets whom; by which rounds, if the schedule goes by rounds."""

    matches: Matches
    rounds: RoundsSpec | None


def read_schedule(written: object, names: Sequence[str], problems: Problems) -> Meets | None:
    """Who meets whom; None if the schedule is not right or does not fit the agents."""
    ways = Ways("schedule", {name: schedule(name) for name in SCHEDULES})
    chosen = _read(written, ways, problems)
    if len(names) < 2:
        problems.say(("agents",), f"at least two agents must play, got {len(names)}")
        return None
    if chosen is None:
        return None
    name, values = chosen
    faults = list(schedule(name).faults(values, names))
    for inside, message in faults:
        problems.say(("schedule", *inside), message, ("schedule",) if inside else None)
    if faults:
        return None
    return Meets(schedule(name).matches(values, names), rounds_of(name, values))


def read_openings(written: object, of: Game | None, problems: Problems) -> OpeningsSpec:
    """The recipe of the openings; the usual one if what is written is not right."""
    ways = Ways("openings", {name: way(name) for name in OPENINGS}, SHARED)
    chosen = _read(written, ways, problems)
    if chosen is None:
        return RANDOM_OPENINGS
    name, values = chosen
    shared = {key.name: values.pop(key.name) for key in SHARED}
    spec = OpeningsSpec(name, values, **shared)
    for inside, message in way(name).faults(spec, of):
        problems.say(("openings", *inside), message, ("openings",))
    return spec


def _read(written: object, ways: Ways, problems: Problems) -> tuple[str, dict[str, Any]] | None:
    """The way and the values of all its keys; None if it is not right, which is said."""
    words = [name for name, entry in ways.entries.items() if entry.WORD]
    if isinstance(written, str) and written in words:
        return written, defaults([*ways.entries[written].KEYS, *ways.shared])
    if not isinstance(written, dict):
        *most, last = [text for entry in ways.entries.values() for text in entry.EXAMPLES]
        form = f"{', '.join(most)} or {last}"
        message = f"{ways.key} must be {form}, got {shown(written)}{near(written, words)}"
        problems.say((ways.key,), message)
        return None
    count, firsts = len(problems.found), {e.KEYS[0].name: n for n, e in ways.entries.items()}
    asked = named(written, ways, firsts)
    keys = [key for name in asked or ways.entries for key in ways.entries[name].KEYS]
    values = read_table(written, (ways.key,), [*keys, *ways.shared], problems)
    if len(problems.found) > count:
        return None
    if len(asked) != 1:
        got = listed(key for key in firsts if key in written) or "none of them"
        message = f"exactly one of {listed(firsts)} must be given, got {got}"
        problems.say((ways.key,), message, (ways.key,))
        return None
    return asked[0], values


def named(written: Mapping[str, object], ways: Ways, firsts: Mapping[str, str]) -> list[str]:
    """The ways that are asked for; a way that knows all that is written is the one meant."""
    asked = [name for key, name in firsts.items() if key in written]
    shared = {key.name for key in ways.shared}
    whole = [
        name
        for name in asked
        if set(written) <= shared | {key.name for key in ways.entries[name].KEYS}
    ]
    return whole if len(whole) == 1 else asked
