"""Where in a TOML text a key stands; `tomllib` keeps no lines."""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

Place = tuple[str | int, ...]  # keys and places in lists, from the top of the file
Node: TypeAlias = Any  # a value in a TOML text: a table, a list, or what stands in them

# Only such a line can end a value of several lines.
CLOSES = re.compile(r"""[\]}]|\"{3}|'{3}""")

FOLLOWS, INSIDE_A_KEY = re.compile(r"""["']?\s*[=.]"""), re.compile(r"[\w-]")


def line_numbers(text: str) -> dict[Place, int]:
    """The line, from 1, of every table, key and list item of a valid TOML text."""
    found: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    for number, lines, tree in statements(text.split("\n")):
        if lines[0].lstrip().startswith("["):
            table = header(tree, counts)
            for end in range(1, len(table) + 1):
                found.setdefault(table[:end], number)
        else:
            for place, offset in inside(tree, lines, 0):
                found.setdefault(table + place, number + offset)
    return found


def statements(lines: Sequence[str]) -> Iterator[tuple[int, Sequence[str], Node]]:
    """First line number, lines and meaning of every header and `key = value`."""
    begin = 0
    for end, line in enumerate(lines, 1):
        if end - begin > 1 and not CLOSES.search(line):
            continue
        try:
            tree = tomllib.loads("\n".join(lines[begin:end]))
        except tomllib.TOMLDecodeError:
            continue
        if tree:
            yield begin + 1, lines[begin:end], tree
        begin = end


def header(tree: Node, counts: dict[Place, int]) -> Place:
    """The place that a header opens; `counts` numbers the `[[tables]]` met so far."""
    place: Place = ()
    node = tree
    while node:
        key, node = next(iter(node.items()))
        place += (key,)
        if isinstance(node, list):
            counts[place] = counts.get(place, -1) + 1
            node = node[0]
        if place in counts:
            place += (counts[place],)
    return place


def inside(tree: Node, lines: Sequence[str], begin: int) -> Iterator[tuple[Place, int]]:
    """Every place in a statement, with the lines between its first line and that place."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    at = begin
    for key, value in items:
        at = sought(key, value, lines, begin if isinstance(tree, dict) else at)
        yield (key,), at
        if isinstance(value, dict | list):
            for place, offset in inside(value, lines, at):
                yield (key, *place), offset


def sought(key: str | int, value: Node, lines: Sequence[str], begin: int) -> int:
    """The first line from `begin` with this key or list item; `begin` if it is not recognised."""
    texts = forms(value) if isinstance(key, int) else ()
    for at in range(begin, len(lines)):
        line = lines[at]
        if any(text in line for text in texts) if isinstance(key, int) else names(line, key):
            return at
    return begin


def names(line: str, key: str) -> bool:
    """Whether a line gives a value to the key, or goes on to a key inside it."""
    at = line.find(key)
    while at >= 0:
        if FOLLOWS.match(line, at + len(key)) and not (at and INSIDE_A_KEY.match(line, at - 1)):
            return True
        at = line.find(key, at + 1)
    return False


def forms(value: Node) -> tuple[str, ...]:
    """How a list item may be written; a table is recognised by its first value."""
    while isinstance(value, dict | list) and value:
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False), repr(value)
    return (str(value),)
