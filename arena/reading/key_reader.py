"""A written table read by its keys: its values, and every problem said."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from arena.reading.problems import Problems, unknown_key
from arena.reading.toml_lines import Place
from games.keys import Key


def read_table(
    written: Mapping[str, Any],
    place: Place,
    keys: Sequence[Key],
    problems: Problems,
    top: Iterable[str] = (),
) -> dict[str, Any]:
    """The values of all keys, defaults where nothing is written; without those that are wrong.

    `top` are the keys that stand above all tables of the file.
    """
    names = [key.name for key in keys]
    meant = set()
    for name in written:
        if name not in names:
            message, likely = unknown_key(name, names, written, top)
            problems.say((*place, name), message)
            meant.add(likely)
    values = {}
    for key in keys:
        faults = list(key.faults(written[key.name])) if key.name in written else []
        for inside, message in faults:
            problems.say((*place, key.name, *inside), message)
        if key.required and key.name not in written:
            # A key that was only misspelt is not reported twice.
            if key.name not in meant:
                problems.say((*place, key.name), f"{key.name} is missing{key.example}")
        elif not faults:
            value = written.get(key.name, key.default)
            values[key.name] = tuple(value) if isinstance(value, list) else value
    return values
