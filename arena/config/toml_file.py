"""Read TOML files, apply overrides, and report problems with their lines."""

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

from arena.planning.schedules.registry import unknown_agent_message
from games.base.errors import UserError, printable
from games.base.files import InputTooLarge, format_toml, parse_toml, read_with_limit, toml_key
from games.base.schema import Place
from games.base.text import did_you_mean_file, format_value

Node: TypeAlias = Any  # any value of a TOML text
# Only a line with one of these can end a value of several lines.
VALUE_END = re.compile(r"""[\]}]|\"{3}|'{3}""")
FOLLOWS, INSIDE_A_KEY = re.compile(r"""["']?\s*[=.]"""), re.compile(r"[\w-]")
NO_FILE = Path("experiment")  # the path of tables that a program passed
MOST_LINES = 30  # of problems
LONGEST_LINE = 600
MOST_CHARACTERS = 3_600  # of all lines together
LONGEST_PATH = 300  # characters of one in a message


def line_numbers(text: str) -> dict[Place, int]:
    """Return the line, from 1, of every table, key and list item of a valid TOML text."""
    found: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    for number, lines, tree in statements(text.split("\n")):
        if lines[0].lstrip().startswith("["):
            table = header_place(tree, counts)
            for end in range(1, len(table) + 1):
                found.setdefault(table[:end], number)
        else:
            for place, offset in places_in(tree, lines, 0):
                found.setdefault(table + place, number + offset)
    return found


def statements(lines: Sequence[str]) -> Iterator[tuple[int, Sequence[str], Node]]:
    """Yield first line number, lines and parsed value of every header and `key = value`."""
    begin = 0
    for end, line in enumerate(lines, 1):
        if end - begin > 1 and not VALUE_END.search(line):
            continue
        try:
            tree = tomllib.loads("\n".join(lines[begin:end]))
        except tomllib.TOMLDecodeError:
            continue
        if tree:
            yield begin + 1, lines[begin:end], tree
        begin = end


def header_place(tree: Node, counts: dict[Place, int]) -> Place:
    """Return the place of a header; `counts` numbers the earlier `[[tables]]`."""
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


def places_in(tree: Node, lines: Sequence[str], begin: int) -> Iterator[tuple[Place, int]]:
    """Yield every place in a statement, with its offset in lines."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    at = begin
    for key, value in items:
        at = find_line(key, value, lines, begin if isinstance(tree, dict) else at)
        yield (key,), at
        if isinstance(value, dict | list):
            for place, offset in places_in(value, lines, at):
                yield (key, *place), offset


def find_line(key: str | int, value: Node, lines: Sequence[str], begin: int) -> int:
    """Return the first line from `begin` with this key or list item; else `begin`."""
    texts = value_forms(value) if isinstance(key, int) else ()
    for at in range(begin, len(lines)):
        line = lines[at]
        if any(text in line for text in texts) if isinstance(key, int) else assigns_key(line, key):
            return at
    return begin


def assigns_key(line: str, key: str) -> bool:
    """Return whether a line assigns to the key, or to a key inside it."""
    at = line.find(key)
    while at >= 0:
        if FOLLOWS.match(line, at + len(key)) and not (at and INSIDE_A_KEY.match(line, at - 1)):
            return True
        at = line.find(key, at + 1)
    return False


def value_forms(value: Node) -> tuple[str, ...]:
    """Return the possible texts of a list item; a table is recognised by its first value."""
    while isinstance(value, dict | list) and value:
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    if isinstance(value, str):
        return format_toml(value), repr(value)
    return (str(value),)


class ExperimentError(UserError):
    """An experiment with problems, one line each."""

    has_place = several_lines = True

    def __init__(self, problems: Sequence[str]) -> None:
        """`problems` are complete lines, in the order of the file."""
        self.problems = [printable(line, LONGEST_LINE) for line in problems[:MOST_LINES]]
        if len(problems) > MOST_LINES:
            self.problems.append(f"... and {len(problems) - MOST_LINES:,} more like these")
        super().__init__("\n".join(self.problems))

    def __reduce__(self) -> tuple[type["ExperimentError"], tuple[list[str]]]:
        """Keep all lines when the error is pickled."""
        return type(self), (self.problems,)


@dataclass(frozen=True)
class Source:
    """The tables of an experiment file, with the values that the command line changed."""

    path: Path
    text: str | None  # None: the tables come from a program
    tables: dict[str, Any]
    changed: Mapping[Place, str] = field(default_factory=dict)  # place -> its `--set` text


class Problems:
    """The problems of one file, in the order in which they are found."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.found: list[tuple[float, str]] = []

    def add(self, place: Place, message: str, table: Place | None = None) -> None:
        """Add a problem with the key at `place`; `table` replaces the table in the message."""
        label = table_label(parent_table(place) if table is None else table)
        line, where = self._locate(place)
        self.found.append(
            (line, f"{where}: [{label}] {message}" if where else f"[{label}] {message}")
        )

    def add_override_problem(self, override: str, message: str) -> None:
        """Add a problem with a `--set` that has no place in the file."""
        self.found.append((math.inf, f"--set {override}: {message}"))

    def _locate(self, place: Place) -> tuple[float, str]:
        heads = [place[:end] for end in range(len(place), 0, -1)]
        for changed, text in self.source.changed.items():
            is_new = any(changed[: len(h)] == h for h in heads if h not in self.numbers)
            if is_new or changed in heads:
                return math.inf, f"--set {text}"
        if self.source.text is None:
            return 1, ""
        line = next((self.numbers[head] for head in heads if head in self.numbers), 1)
        return line, f"{self.source.path}:{line}"

    @cached_property
    def numbers(self) -> dict[Place, int]:
        """Return the line of every place in the file."""
        return line_numbers(self.source.text or "")

    def raise_if_any(self) -> None:
        """Raise an ExperimentError with all problems, in the order of the file."""
        if self.found:
            self.found.sort(key=lambda entry: entry[0])
            raise ExperimentError(limit_length(list(dict.fromkeys(line for _, line in self.found))))


def limit_length(lines: list[str]) -> list[str]:
    """Return the first lines, and a line with the number of the others."""
    ends = accumulate(min(len(line), LONGEST_LINE) + 1 for line in lines)
    shown = max(1, sum(end <= MOST_CHARACTERS for end in ends))
    left = len(lines) - shown
    return [*lines[:shown], f"... and {left:,} more like these"] if left else lines


def parent_table(place: Place) -> Place:
    """Return the table of a key, or the key whose list holds an item."""
    while place and isinstance(place[-1], int):
        place = place[:-1]
    return place[:-1]


def table_label(table: Place) -> str:
    """Return a table as its header is written: `agents.smart`, or `[checks]` in a list."""
    if not table:
        return "top level"
    parts = [part for part in table if isinstance(part, str)]
    names = ".".join(toml_key(part) for part in parts)
    return f"[{names}]" if len(parts) < len(table) else names


def read_experiment_file(path: Path, overrides: Sequence[str]) -> tuple[Source, Problems]:
    """Read a file and apply the `--set` overrides; an ExperimentError if it is not TOML."""
    text = read_text(path)
    return apply_overrides(Source(path, text, toml_tables(path, text)), overrides)


def source_from_tables(
    tables: Mapping[str, object], overrides: Sequence[str] = ()
) -> tuple[Source, Problems]:
    """Return the source of tables that a program passed."""
    return apply_overrides(Source(NO_FILE, None, deepcopy(dict(tables))), overrides)


def apply_overrides(source: Source, overrides: Sequence[str]) -> tuple[Source, Problems]:
    """Apply the overrides to the tables of the source, in place."""
    tables = source.tables
    changed: dict[Place, str] = {}
    problems = Problems(replace(source, changed=changed))
    for override in overrides:
        try:
            changed[apply_override(tables, override)] = override
        except ValueError as error:
            problems.add_override_problem(override, str(error))
    return problems.source, problems


def toml_tables(path: Path, text: str) -> dict[str, Node]:
    """Parse a text; an ExperimentError names the line that is not TOML."""
    try:
        return parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        problem = syntax_message(path, text, str(error))
    except InputTooLarge as error:
        problem = f"{path}: {error}"
    raise ExperimentError([problem])


def read_text(path: Path) -> str:
    """Return the text of the file without its byte order mark."""
    try:
        return read_with_limit(path).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problem = f"{path}:{line}: [top level] this line is not UTF-8 text"
    except FileNotFoundError:
        near = did_you_mean_file(path, "*.toml")
        problem = f"{shorten_path(path)}: there is no such file{near}"
    except OSError as error:
        problem = f"{shorten_path(path)}: cannot be read: {error.strerror}"
    except InputTooLarge as error:
        problem = f"{path}: {error}"
    except ValueError:  # a null character in its name
        problem = f"{path}: this is not a valid file name"
    raise ExperimentError([problem])


def shorten_path(path: Path) -> str:
    """Return a path for a message, shortened to its end if it is very long."""
    text = str(path)
    return text if len(text) <= LONGEST_PATH else f"...{text[3 - LONGEST_PATH :]}"


def syntax_message(path: Path, text: str, message: str) -> str:
    """Return an error of tomllib in the form of other problems."""
    lines = text.split("\n")
    found = re.search(r"at line (\d+), column (\d+)", message)
    line, column = (int(found[1]), int(found[2])) if found else (len(lines), len(lines[-1]) + 1)
    headers = re.findall(r"^\s*(\[.*\])\s*(?:#.*)?$", "\n".join(lines[:line]), re.MULTILINE)
    table = headers[-1][1:-1] if headers else "top level"
    reason = re.sub(r" \(at .*\)$", "", message)
    if reason == "Cannot overwrite a value":
        reason = f"{lines[line - 1].partition('=')[0].strip()} is given twice"
    elif reason.startswith("Cannot declare"):
        reason = "this table is defined twice"
    elif word := find_bare_word(lines[line - 1], reason):
        reason = f'text needs quotes: {word[1]} = "{word[2]}"'
    else:
        reason = f"not valid TOML at column {column}: {reason}"
    return f"{path}:{line}: [{table}] {reason}"


def find_bare_word(line: str, reason: str) -> re.Match[str] | None:
    """Match a line such as `kind = smart`, whose error is that quotes are missing."""
    if not reason.startswith("Invalid value"):
        return None
    return re.fullmatch(r"\s*([\w.-]{1,60})\s*=\s*([A-Za-z][^\s\"'#=]{0,60})\s*(?:#.*)?", line)


def apply_override(tables: Node, override: str) -> Place:
    """Set the value of `agents.smart.depth=6`; return its place."""
    keys, value = parse_override(override)
    agents = tables.get("agents")
    if keys[0] == "agents" and len(keys) > 2 and isinstance(agents, dict) and keys[1] not in agents:
        raise ValueError(f"[agents] {unknown_agent_message(keys[1], agents)}")
    place: Place = ()
    node = tables
    for depth, key in enumerate(keys):
        part = child_key(node, key, keys[:depth])
        place += (part,)
        if len(place) == len(keys):
            node[part] = value
        else:
            node = node.setdefault(part, {}) if isinstance(node, dict) else node[part]
    return place


def child_key(node: Node, key: str, above: Sequence[str]) -> str | int:
    """Return the key of a table or the index in a list; a ValueError if there is none."""
    name = ".".join(above)
    if isinstance(node, dict):
        return key
    if not isinstance(node, list):
        raise ValueError(f"[top level] {name} is {format_value(node)}, not a table")
    if not key.isdecimal() or int(key) >= len(node):
        raise ValueError(f"[{name}] items are numbered from 0 to {len(node) - 1}, got {key}")
    return int(key)


def parse_override(override: str) -> tuple[list[str], Node]:
    """Return the keys and the value of `key.key=value`; a value that is not TOML is text."""
    key, equals, value = override.partition("=")
    quoted_value = format_toml(value.strip())
    for text in (f"{key} = {value}", f"{key} = {quoted_value}"):
        try:
            tree = parse_toml(text)
        except InputTooLarge as error:
            raise ValueError(f"[--set] {error}") from None
        except tomllib.TOMLDecodeError:
            continue
        if equals and len(tree) == 1:
            return keys_and_value(tree, key)
    raise ValueError("[--set] must be written key=value, as in agents.smart.depth=6")


def keys_and_value(tree: Node, key: str) -> tuple[list[str], Node]:
    """Return the parts of `key` in a parsed line, and the value there."""
    spelt: Node = parse_toml(f"{key} = 0")
    keys: list[str] = []
    while isinstance(spelt, dict):
        name = next(iter(spelt))
        keys.append(name)
        spelt, tree = spelt[name], tree[name]
    return keys, tree
