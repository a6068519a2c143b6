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
from games.base.files import parse_toml, read_with_limit
from games.base.schema import Key
from games.base.text import did_you_mean, did_you_mean_file, join_names, quote

PATH_TYPES = ("path", "paths", "command")
ENTRY_NAMES = ("bot", "main")  # of files that start the bot of a directory
BOT_FILE = "bot.toml"  # a bot's table, in the directory of the bot
# Maps a word and its directory to the path of an earlier file version, or returns the word.
Versions = Callable[[str, Path], str]


def is_bot_file(path: Path) -> bool:
    """Return whether a file has the suffix of a known language or is executable."""
    return path.suffix.lower() in LANGUAGES or (path.is_file() and os.access(path, os.X_OK))


def bot_spec(path: Path) -> AgentSpec:
    """Return the agent of a file; SpecError for a missing file or an unknown language.

    A Python file with `choose` is a bot. One with `evaluate` becomes a search with this evaluation.
    Any other file is a program that uses the protocol `lines`.
    """
    path = Path(os.path.normpath(path.expanduser().absolute()))  # the sandbox has no `..`
    if path.exists() and not path.is_file():
        raise SpecError(f"{quote(str(path))} is not a file")
    if not path.is_file():
        raise SpecError(f"there is no file {quote(str(path))}{did_you_mean_file(path)}")
    language = LANGUAGES.get(path.suffix.lower())
    if language and language.name == "python":
        if name := entry_name(path):
            kind, option = ("alphabeta", "evaluate") if name == "evaluate" else ("python", "file")
            return AgentSpec(kind, {option: f"{path}:{name}"})
    elif language is None and not os.access(path, os.X_OK):
        raise SpecError(
            f"{quote(path.name)} is not executable, and its suffix belongs to no known language "
            f"(known: {join_names(LANGUAGES)})"
        )
    return AgentSpec("lines", command=[str(path)])


def entry_file(directory: Path) -> Path:
    """Return the file of a bot's directory that starts it; SpecError if there is none.

    It is bot.toml, else the only file called bot or main in a known language, else the only file
    in one.
    """
    if (directory / BOT_FILE).is_file():
        return directory / BOT_FILE
    files = [
        each for each in sorted(directory.iterdir())
        if each.suffix.lower() in LANGUAGES and each.is_file() and each.name[0] not in "._"
    ]  # fmt: skip
    named = [each for each in files if each.stem.lower() in ENTRY_NAMES]
    for found in (named, files):
        if len(found) == 1:
            return found[0]
    have = join_names([each.name for each in named or files]) or "none"
    raise SpecError(
        f"the directory {quote(directory.name)} needs one entry file, called bot or main as in "
        f"bot.py, or {BOT_FILE} with kind and command (it has {have})"
    )


def entry_name(path: Path) -> str:
    """Return `choose`, `evaluate`, or the first class with a method `choose`; empty if none."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return "choose"  # loading it reports the problem
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    for name in ("choose", "evaluate"):
        if name in functions:
            return name
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(
            isinstance(part, ast.FunctionDef) and part.name == "choose" for part in node.body
        ):
            return node.name
    return ""


def current_version(word: str, _: Path) -> str:
    """Return the name of a file unchanged: the current version."""
    return word


def spec_from_file(path: Path, name: str, versions: Versions = current_version) -> AgentSpec:
    """Return the agent with this name in an experiment file.

    The name is optional if the file has one agent, or is the table of one bot.
    """
    tables = read_tables(path)
    if "kind" in tables and "agents" not in tables and not name:
        return spec_from_table(tables, path.parent, str(path), versions)
    table = tables.get("agents")
    if not isinstance(table, dict) or not table:
        raise SpecError(f"{path}: there are no agents in this file")
    if not name and len(table) == 1:
        name = next(iter(table))
    if name not in table:
        raise SpecError(
            f"{path}: there is no agent {quote(name)} (there are {join_names(table)})"
            f"{did_you_mean(name, table)}"
        )
    return spec_from_table(table[name], path.parent, f"{path}: agents.{name}", versions)


def read_tables(path: Path) -> Mapping[str, object]:
    """Return the content of a TOML file; SpecError if it cannot be read."""
    try:
        return parse_toml(read_with_limit(path).decode("utf-8-sig"))
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # not TOML, not text, or too large
        raise SpecError(f"{path}: not valid TOML: {error}") from None


def spec_from_table(
    table: object, directory: Path, place: str, versions: Versions = current_version
) -> AgentSpec:
    """Return the spec of a table; `agents.build` checks the values."""
    own = resolve_options(table, directory, place, versions)
    return AgentSpec(own["kind"], {key: own[key] for key in own if key != "kind"})


def resolve_options(
    table: object, directory: Path, place: str, versions: Versions = current_version
) -> dict[str, Any]:
    """Return the table with absolute paths in place of those relative to its directory."""
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
    """Return the value of an option: the absolute path of a file, or the content of weights."""
    if option is None:
        return value
    if option.type in PATH_TYPES:
        return resolve_paths(option, value, directory, versions)
    if not isinstance(value, str) or option.type not in ("file", "weights"):
        return value
    value = versions(value, directory)
    file = find_file(value, option.default_function, directory)
    if file is None:
        raise SpecError(f"{option.name}: there is no file {quote(value)}")
    return read_weights(file[0]) if option.type == "weights" else ":".join(map(str, file))


def resolve_paths(
    option: Key, value: object, directory: Path, versions: Versions = current_version
) -> object:
    """Return the value of a path option with absolute paths.

    A word of a command is replaced only if it names an existing file.
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
    """Return the absolute path and the name in `bots/mine.py:name`; None if there is no such file.

    The path is relative to the experiment's directory, or else to the working directory.
    """
    for base in (directory, Path()):
        try:
            path, name = split_reference(str(base / Path(written).expanduser()), default)
            if path.is_file():
                return path, name
        except (OSError, RuntimeError, ValueError):  # an invalid file name
            return None
    return None


def find_path(word: str, directory: Path) -> str:
    """Return the absolute path of a file in the experiment's, or else in the working directory.

    A missing relative path is relative to the experiment. Any other word is returned unchanged.
    """
    for base in (directory, Path()):
        try:
            path = base / Path(word).expanduser()
            if word.strip(".") and path.exists():
                return os.path.normpath(path.absolute())
        except (OSError, RuntimeError, ValueError):  # an invalid file name
            return word
    if word.startswith(("./", "../")):
        return os.path.normpath(directory.absolute() / word)
    return word


def spec_from_text(
    text: str, limits: Mapping[str, float | str], versions: Versions = current_version
) -> AgentSpec:
    """Return the agent of a command-line word.

    The word is a kind, with options if needed (`minimax:depth=3,epsilon=0.1`), a bot's file, its
    directory or `bot.toml`, an evaluation in a file (`path.py:evaluate`), an agent of an experiment
    (`path.toml:name`), or a protocol and a command (`gtp gtp-rhino -l 1`). `versions` finds other
    versions of files.
    """
    text = text if text.partition(" ")[0] in PROTOCOLS else bot_table_file(versions(text, Path()))
    kind, colon, written = text.partition(":")
    if kind in AGENTS and colon:
        return with_limits(spec_with_options(kind, written, versions), limits)
    if ".py:" in text:
        evaluates = text.endswith(":evaluate")
        options = {"evaluate": text, **limits} if evaluates else {"file": text}
        return AgentSpec("alphabeta" if evaluates else "python", options)
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


def spec_with_options(kind: str, options: str, versions: Versions) -> AgentSpec:
    """Return the agent of `kind:option=value,option=value`; text needs no quotes in a value."""
    table: dict[str, object] = {"kind": kind}
    for part in options.split(","):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not name or not equals or not value:
            raise SpecError(
                f"{quote(part)} after {kind}: must be option=value, "
                "as in minimax:depth=3,epsilon=0.1"
            )
        try:
            table[name] = parse_toml(f"value = {value}")["value"]
        except ValueError:
            table[name] = value
    return spec_from_table(table, Path(), f"{kind}:{options}", versions)


def bot_table_file(text: str) -> str:
    """Return the `bot.toml` of a directory; any other word unchanged."""
    directory = Path(text).expanduser()
    if text in AGENTS or not directory.is_dir():
        return text
    if not (directory / BOT_FILE).is_file():
        raise SpecError(f"the directory {quote(text)} has no {BOT_FILE} with the bot's table")
    return str(directory / BOT_FILE)


def usage_hint(kind: str) -> str:
    """Describe how to write a bot of the kind on a command line."""
    if kind == "python":
        return ": path.py or path.py:name"
    return f", or its command behind the protocol, as in {quote(f'{kind} ./my_engine')}"


def split_command(command: str) -> list[str]:
    """Split a command like a shell; names of existing files become absolute paths."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise SpecError(f"the command {quote(command)} cannot be read: {error}") from None
    return [find_path(word, Path()) for word in words]


def with_limits(spec: AgentSpec, limits: Mapping[str, float | str]) -> AgentSpec:
    """Return the spec with those of the limits that its kind accepts."""
    kind = kind_of(spec)
    if not any(kind.option(name) for name in limits):
        return spec
    rest = {name: None for name in ("depth", "nodes", "seconds") if kind.option(name)}
    return spec.replace(**{**rest, **{name: limits[name] for name in limits if kind.option(name)}})
