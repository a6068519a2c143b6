"""Specs from tables, files and command-line words, and their problems."""

import ast
import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agents.core import AgentSpec, SpecError
from agents.evaluation.weights import read_weights
from agents.languages import LANGUAGES
from agents.protocols import PROTOCOLS
from agents.registry import AGENTS, kind_of
from agents.user_files import split_reference
from games.base.files import parsed_toml, read_limited
from games.base.schema import Key
from games.base.text import did_you_mean, listed, quote

PATH_TYPES = ("path", "paths", "command")
BOT_FILE = "bot.toml"  # the table of the bot in whose directory it lies
# Where the version of a file lies that a word names, seen from a directory; else the word itself.
Versions = Callable[[str, Path], str]


def is_bot_file(path: Path) -> bool:
    """Whether a file is a bot by its ending, or a program by its mode."""
    return path.suffix.lower() in LANGUAGES or (path.is_file() and os.access(path, os.X_OK))


def bot_spec(path: Path) -> AgentSpec:
    """The agent of a file: a Python bot if it has `choose`, a search if it has `evaluate`, else a
    program that speaks lines.

    SpecError if there is no such file or its language is not known.
    """
    path = Path(os.path.normpath(path.expanduser().absolute()))  # the sandbox has no `..`
    if path.exists() and not path.is_file():
        raise SpecError(f"{quote(str(path))} is no file")
    if not path.is_file():
        near = [each.name for each in path.parent.glob("*")] if path.parent.is_dir() else []
        raise SpecError(f"there is no file {quote(str(path))}{did_you_mean(path.name, near)}")
    language = LANGUAGES.get(path.suffix.lower())
    if language and language.name == "python":
        if name := chooser(path):
            kind, option = ("alphabeta", "evaluate") if name == "evaluate" else ("python", "file")
            return AgentSpec(kind, {option: f"{path}:{name}"})
    elif language is None and not os.access(path, os.X_OK):
        raise SpecError(
            f"{quote(path.name)} is no program, and its ending names no language "
            f"(known are {listed(LANGUAGES)})"
        )
    return AgentSpec("lines", command=[str(path)])


def chooser(path: Path) -> str:
    """The function `choose` or `evaluate`, or the first class that has `choose`; empty if none."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return "choose"  # what is wrong with it is said when it is loaded
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    for name in ("choose", "evaluate"):
        if name in functions:
            return name
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(
            isinstance(each, ast.FunctionDef) and each.name == "choose" for each in node.body
        ):
            return node.name
    return ""


def current_version(word: str, _: Path) -> str:
    """Names of files mean what lies there now."""
    return word


def spec_from_file(path: Path, name: str, versions: Versions = current_version) -> AgentSpec:
    """The agent of this name in an experiment file; where it has only one, no name is needed.

    A file that is the table of one bot, as a `bot.toml` in a class is, needs no name either.
    """
    tables = tables_of(path)
    if "kind" in tables and "agents" not in tables and not name:
        return spec_from_table(tables, path.parent, str(path), versions)
    table = tables.get("agents")
    if not isinstance(table, dict) or not table:
        raise SpecError(f"{path}: there are no agents in this file")
    if not name and len(table) == 1:
        name = next(iter(table))
    if name not in table:
        raise SpecError(
            f"{path}: there is no agent {quote(name)} (there are {listed(table)})"
            f"{did_you_mean(name, table)}"
        )
    return spec_from_table(table[name], path.parent, f"{path}: agents.{name}", versions)


def tables_of(path: Path) -> Mapping[str, object]:
    """What a file of TOML holds; SpecError if it cannot be read."""
    try:
        return parsed_toml(read_limited(path).decode("utf-8-sig"))
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # no text, no TOML, or too much of it
        raise SpecError(f"{path}: not valid TOML: {error}") from None


def spec_from_table(
    table: object, directory: Path, place: str, versions: Versions = current_version
) -> AgentSpec:
    """The spec that a table describes; what is wrong with its values is said by `agents.build`."""
    own = resolve_options(table, directory, place, versions)
    return AgentSpec(own["kind"], {key: own[key] for key in own if key != "kind"})


def resolve_options(
    table: object, directory: Path, place: str, versions: Versions = current_version
) -> dict[str, Any]:
    """The table with whole paths in place of those that are seen from its directory."""
    if not isinstance(table, dict) or not isinstance(table.get("kind"), str):
        raise SpecError(f'{place} must be a table with a kind, as in kind = "smart"')
    try:
        kind = kind_of(table["kind"])
    except SpecError as error:
        raise SpecError(f"{place}: {error}") from None
    return {
        key: value
        if key == "kind"
        else resolve_option(kind.option(key), value, directory, versions)
        for key, value in table.items()
    }


def resolve_option(
    option: Key | None, value: object, directory: Path, versions: Versions
) -> object:
    """The value of an option: of a file its whole path, of a file of weights what it holds."""
    if option is None:
        return value
    if option.type in PATH_TYPES:
        return resolve_paths(option, value, directory, versions)
    if not isinstance(value, str) or option.type not in ("file", "weights"):
        return value
    value = versions(value, directory)
    file = find_file(value, option.entry, directory)
    if file is None:
        raise SpecError(f"{option.name}: there is no file {quote(value)}")
    return read_weights(file[0]) if option.type == "weights" else ":".join(map(str, file))


def resolve_paths(
    option: Key, value: object, directory: Path, versions: Versions = current_version
) -> object:
    """The value of a path option, seen from the directory, with whole paths.

    A word of a command becomes one only if it names something.
    """
    if isinstance(value, list):
        return [resolve_paths(option, each, directory, versions) for each in value]
    if not isinstance(value, str):
        return value
    word = versions(value, directory)
    whole = find_path(word, directory)
    if option.type == "command" or whole == "":
        return whole
    return os.path.normpath(directory.absolute() / Path(whole).expanduser())


def find_file(written: str, default: str, directory: Path) -> tuple[Path, str] | None:
    """The file of `bots/mine.py:name`, absolute: beside the experiment, else from here."""
    for base in (directory, Path()):
        try:
            path, name = split_reference(str(base / Path(written).expanduser()), default)
            if path.is_file():
                return path, name
        except (OSError, RuntimeError, ValueError):  # a name that no file can have
            return None
    return None


def find_path(word: str, directory: Path) -> str:
    """The absolute path of what a word names beside the experiment, else from here, else the word.

    A path that leads nowhere is one beside the experiment.
    """
    for base in (directory, Path()):
        try:
            path = base / Path(word).expanduser()
            if word.strip(".") and path.exists():
                return os.path.normpath(path.absolute())
        except (OSError, RuntimeError, ValueError):  # a name that no file can have
            return word
    if word.startswith(("./", "../")):
        return os.path.normpath(directory.absolute() / word)
    return word


def spec_from_text(
    text: str, limits: Mapping[str, float | str], versions: Versions = current_version
) -> AgentSpec:
    """The agent of a word; `versions` finds a version of a file, where names may have one.

    It is a kind's name, a bot's file, its directory or the `bot.toml` in it, an evaluation in a
    file (`path.py:evaluate`), an agent of an experiment (`path.toml:name`), or a protocol and a
    command (`gtp gtp-rhino -l 1`).
    """
    text = text if text.partition(" ")[0] in PROTOCOLS else table_file(versions(text, Path()))
    if text.endswith(".py:evaluate"):
        return AgentSpec("alphabeta", {"evaluate": text, **limits})
    if ".py:" in text:
        return AgentSpec("python", {"file": text})
    path, _, name = text.partition(".toml")
    if name[:1] in ("", ":") and text.startswith(f"{path}.toml"):
        return with_limits(
            spec_from_file(Path(f"{path}.toml").expanduser(), name[1:], versions), limits
        )
    kind, _, command = text.partition(" ")
    if kind in PROTOCOLS and command.strip():
        words = [versions(word, Path()) for word in split_command(command)]
        return AgentSpec(kind, command=words)
    if text in ("python", *PROTOCOLS):
        raise SpecError(f"write the file of your bot instead of {text}{usage_hint(text)}")
    if text not in AGENTS and ("/" in text or Path(text).suffix or is_bot_file(Path(text))):
        return bot_spec(Path(text))
    return with_limits(AgentSpec(text), limits)


def table_file(text: str) -> str:
    """The `bot.toml` of a directory; another word as it is."""
    directory = Path(text).expanduser()
    if text in AGENTS or not directory.is_dir():
        return text
    if not (directory / BOT_FILE).is_file():
        raise SpecError(f"the directory {quote(text)} has no {BOT_FILE} with the bot's table")
    return str(directory / BOT_FILE)


def usage_hint(kind: str) -> str:
    """How a bot of the kind is written on a command line."""
    if kind == "python":
        return ": path.py or path.py:name"
    return f", or its command behind the protocol, as in {quote(f'{kind} ./my_engine')}"


def split_command(command: str) -> list[str]:
    """The words as a shell splits them; those that name files from here become whole paths."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise SpecError(f"the command {quote(command)} cannot be read: {error}") from None
    return [find_path(word, Path()) for word in words]


def with_limits(spec: AgentSpec, limits: Mapping[str, float | str]) -> AgentSpec:
    """The spec with those of the limits that its kind has."""
    kind = kind_of(spec)
    if not any(kind.option(name) for name in limits):
        return spec
    rest = {name: None for name in ("depth", "nodes", "seconds") if kind.option(name)}
    return spec.replace(**{**rest, **{name: limits[name] for name in limits if kind.option(name)}})
