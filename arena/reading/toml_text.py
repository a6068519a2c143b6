"""Reading an experiment file as plain TOML, with the values that `--set` changes."""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from arena.planning.schedules import no_agent
from arena.reading.problems import ExperimentError, Problems, Source
from arena.reading.toml_lines import Node, Place
from games.limited_files import TooMuch, parsed_toml, read_bytes
from games.names import did_you_mean, shown

LONGEST_PATH = 300  # characters of one in a message


def read(path: Path, overrides: Sequence[str]) -> tuple[Source, Problems]:
    """The file with the `--set` values put in, or why they cannot; ExperimentError if no TOML."""
    return read_again(path, read_text(path), overrides)


def read_again(path: Path, text: str, overrides: Sequence[str]) -> tuple[Source, Problems]:
    """The same of a text that was read from the file."""
    tables = toml_tables(path, text)
    changed: dict[Place, str] = {}
    problems = Problems(Source(path, text, tables, changed))
    for override in overrides:
        try:
            changed[change(tables, override)] = override
        except ValueError as error:
            problems.say_of_set(override, str(error))
    return problems.source, problems


def toml_tables(path: Path, text: str) -> dict[str, Node]:
    """The tables in the text of a file; ExperimentError says where it is not TOML."""
    try:
        return parsed_toml(text)
    except tomllib.TOMLDecodeError as error:
        told = syntax_problem(path, text, str(error))
    except TooMuch as error:
        told = f"{path}: {error}"
    raise ExperimentError([told])


def read_text(path: Path) -> str:
    """The text of the file; a byte order mark is skipped."""
    try:
        return read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        told = f"{path}:{line}: [top level] this line is not UTF-8 text"
    except FileNotFoundError:
        names = [each.name for each in path.parent.glob("*.toml")]
        told = f"{named(path)}: there is no such file{did_you_mean(path.name, names)}"
    except OSError as error:
        told = f"{named(path)}: cannot be read: {error.strerror}"
    except TooMuch as error:
        told = f"{path}: {error}"
    except ValueError:  # a zero byte in its name
        told = f"{path}: no file can be called so"
    raise ExperimentError([told])


def named(path: Path) -> str:
    """A path for a message: of a very long one its end, so that what is wrong is read too."""
    text = str(path)
    return text if len(text) <= LONGEST_PATH else f"...{text[3 - LONGEST_PATH :]}"


def syntax_problem(path: Path, text: str, told: str) -> str:
    """tomllib's complaint, with its line and column where ours stand."""
    lines = text.split("\n")
    found = re.search(r"at line (\d+), column (\d+)", told)
    line, column = (int(found[1]), int(found[2])) if found else (len(lines), len(lines[-1]) + 1)
    headers = re.findall(r"^\s*(\[.*\])\s*(?:#.*)?$", "\n".join(lines[:line]), re.MULTILINE)
    table = headers[-1][1:-1] if headers else "top level"
    reason = re.sub(r" \(at .*\)$", "", told)
    if reason == "Cannot overwrite a value":
        reason = f"{lines[line - 1].partition('=')[0].strip()} is given twice"
    elif reason.startswith("Cannot declare"):
        reason = "this table is defined twice"
    elif word := bare_word(lines[line - 1], reason):
        reason = f'text stands in quotes: {word[1]} = "{word[2]}"'
    else:
        reason = f"not valid TOML at column {column}: {reason}"
    return f"{path}:{line}: [{table}] {reason}"


def bare_word(line: str, reason: str) -> re.Match[str] | None:
    """The key and the word of a line such as `kind = smart`, if that is what is wrong with it."""
    if not reason.startswith("Invalid value"):
        return None
    return re.fullmatch(r"\s*([\w.-]{1,60})\s*=\s*([A-Za-z][^\s\"'#=]{0,60})\s*(?:#.*)?", line)


def change(tables: Node, override: str) -> Place:
    """Put the value of `agents.smart.depth=6` in its place, which is returned."""
    keys, value = parsed(override)
    agents = tables.get("agents")
    if keys[0] == "agents" and len(keys) > 2 and isinstance(agents, dict) and keys[1] not in agents:
        raise ValueError(f"[agents] {no_agent(keys[1], agents)}")
    place: Place = ()
    node = tables
    for depth, key in enumerate(keys):
        part = part_of(node, key, keys[:depth])
        place += (part,)
        if len(place) == len(keys):
            node[part] = value
        else:
            node = node.setdefault(part, {}) if isinstance(node, dict) else node[part]
    return place


def part_of(node: Node, key: str, above: Sequence[str]) -> str | int:
    """The key of a table or the place in a list; a ValueError says why there is none."""
    name = ".".join(above)
    if isinstance(node, dict):
        return key
    if not isinstance(node, list):
        raise ValueError(f"[top level] {name} is {shown(node)}, not a table")
    if not key.isdecimal() or int(key) >= len(node):
        raise ValueError(f"[{name}] items are numbered from 0 to {len(node) - 1}, got {key}")
    return int(key)


def parsed(override: str) -> tuple[list[str], Node]:
    """The keys and the value of `key.key=value`; anything but a TOML value is text."""
    key, equals, value = override.partition("=")
    quoted_value = json.dumps(value.strip(), ensure_ascii=False)
    for text in (f"{key} = {value}", f"{key} = {quoted_value}"):
        try:
            tree = parsed_toml(text)
        except TooMuch as error:
            raise ValueError(f"[--set] {error}") from None
        except tomllib.TOMLDecodeError:
            continue
        if equals and len(tree) == 1:
            return keys_and_value(tree, key)
    raise ValueError("[--set] must be written key=value, as in agents.smart.depth=6")


def keys_and_value(tree: Node, key: str) -> tuple[list[str], Node]:
    """The path that `key` spells through a parsed line, and what lies at its end."""
    spelt: Node = parsed_toml(f"{key} = 0")
    keys: list[str] = []
    while isinstance(spelt, dict):
        name = next(iter(spelt))
        keys.append(name)
        spelt, tree = spelt[name], tree[name]
    return keys, tree
