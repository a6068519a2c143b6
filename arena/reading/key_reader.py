"""Reading a table by its keys, with a line for every problem."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from arena.reading.file_tables import TOP_NAMES
from arena.reading.problems import Problems
from arena.reading.toml_lines import Place
from games.keys import ITEMS, Key
from games.names import listed, quoted
from games.other_words import NO_KEYS, meant

NEAR = 0.6  # how alike two words must be
MOST_UNKNOWN = 20


def in_no_table(_: str) -> str:
    """What is said of an unknown key where nobody knows a table that could have it."""
    return ""


def read_table(
    written: Mapping[str, object],
    place: Place,
    keys: Sequence[Key],
    problems: Problems,
    in_another: Callable[[str], str] = in_no_table,
) -> dict[str, Any]:
    """The values of all keys, defaults where nothing is written; without those that are wrong.

    A key with `keys` of its own has as its value what is right in its table. `in_another` says to
    which table a key belongs that this one cannot have.
    """
    names = [key.name for key in keys]
    unknown = [name for name in written if name not in names]
    likely, there = set(), f" (there are {listed(names)})"
    for name in unknown[:MOST_UNKNOWN]:  # more than these are not typing errors
        message, near = unknown_key(name, names, written, in_another)
        problems.say((*place, name), message + ("" if near else there))
        likely.add(near)
        there = there if near else ""  # which keys there are is said once for a table
    if len(unknown) > MOST_UNKNOWN:
        message = f"{len(unknown) - MOST_UNKNOWN:,} more keys that it cannot have"
        problems.say((*place, unknown[MOST_UNKNOWN]), message)
    values: dict[str, Any] = {}
    for key in keys:
        if key.name in written:
            values |= _read(key, written[key.name], (*place, key.name), problems)
        elif not key.required:
            values[key.name] = key.default
        elif key.name not in likely:  # one that was only misspelt is not reported twice
            problems.say((*place, key.name), f"{key.name} is missing{key.example}")
    return values


def _read(key: Key, value: Any, place: Place, problems: Problems) -> dict[str, Any]:
    """The key with its value; empty if that is wrong, which is said."""
    faults = list(key.faults(value))
    for inside, message in faults:
        problems.say((*place, *inside), message)
    if faults:
        return {}
    if key.keys:
        return {key.name: read_table(value, place, key.keys, problems)}
    if key.type == "float":
        value = float(value)
    return {key.name: tuple(value) if key.type in ITEMS else value}


def unknown_key(
    key: str,
    names: Sequence[str],
    written: Iterable[str],
    in_another: Callable[[str], str] = in_no_table,
) -> tuple[str, str | None]:
    """What to say of a key that a table cannot have, and what was meant, if anybody can say.

    `written` are the keys that the table has.
    """
    message = f"unknown key {quoted(key)}"
    if key in TOP_NAMES:
        return f"{message}; it belongs above the first [table] of the file", key
    likely = meant(key, names)
    instead = in_another(key) or NO_KEYS.get(key.lower(), "")
    if not likely and instead:
        return f"{message}; {instead}", key
    free = [name for name in names if name not in written]
    if likely := likely or _closest(key, free) or _closest(key, names):
        return f'{message}; did you mean "{likely}"?', likely
    return message, None


def _closest(word: str, names: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(word, list(names), 1, NEAR)), None)
