"""Agents as tables of TOML have them: paths become absolute, weights in a file are read."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agents import AgentSpec, SpecError, kind_of
from agents.evaluations.weight_files import read_weights
from agents.user_files import split_reference
from games.keys import Key
from games.limited_files import parsed_toml, read_bytes
from games.names import did_you_mean, listed, quoted

PATH_TYPES = ("path", "paths", "command")
BOT_FILE = "bot.toml"  # the table of the bot in whose directory it lies
# Where the version of a file lies that a word names, seen from a directory; else the word itself.
Versions = Callable[[str, Path], str]


def no_versions(word: str, _: Path) -> str:
    """Names of files mean what lies there now."""
    return word


def spec_in(path: Path, name: str, versions: Versions = no_versions) -> AgentSpec:
    """The agent of this name in an experiment file; where it has only one, no name is needed.

    A file that is the table of one bot, as a `bot.toml` in a class is, needs no name either.
    """
    tables = tables_of(path)
    if "kind" in tables and "agents" not in tables and not name:
        return spec_of_table(tables, path.parent, str(path), versions)
    table = tables.get("agents")
    if not isinstance(table, dict) or not table:
        raise SpecError(f"{path}: there are no agents in this file")
    if not name and len(table) == 1:
        name = next(iter(table))
    if name not in table:
        raise SpecError(
            f"{path}: there is no agent {quoted(name)} (there are {listed(table)})"
            f"{did_you_mean(name, table)}"
        )
    return spec_of_table(table[name], path.parent, f"{path}: agents.{name}", versions)


def tables_of(path: Path) -> Mapping[str, object]:
    """What a file of TOML holds; SpecError if it cannot be read."""
    try:
        return parsed_toml(read_bytes(path).decode("utf-8-sig"))
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # no text, no TOML, or too much of it
        raise SpecError(f"{path}: not valid TOML: {error}") from None


def spec_of_table(
    table: object, directory: Path, place: str, versions: Versions = no_versions
) -> AgentSpec:
    """The spec that a table describes; what is wrong with its values is said by `agents.build`."""
    own = loaded_options(table, directory, place, versions)
    return AgentSpec(own["kind"], {key: own[key] for key in own if key != "kind"})


def loaded_options(
    table: object, directory: Path, place: str, versions: Versions = no_versions
) -> dict[str, Any]:
    """The table with whole paths in place of those that are seen from its directory."""
    if not isinstance(table, dict) or not isinstance(table.get("kind"), str):
        raise SpecError(f'{place} must be a table with a kind, as in kind = "smart"')
    try:
        kind = kind_of(table["kind"])
    except SpecError as error:
        raise SpecError(f"{place}: {error}") from None
    return {
        key: value if key == "kind" else loaded(kind.option(key), value, directory, versions)
        for key, value in table.items()
    }


def loaded(option: Key | None, value: object, directory: Path, versions: Versions) -> object:
    """The value of an option: of a file its whole path, of a file of weights what it holds."""
    if option is None:
        return value
    if option.type in PATH_TYPES:
        return path_words(option, value, directory, versions)
    if not isinstance(value, str) or option.type not in ("file", "weights"):
        return value
    value = versions(value, directory)
    file = found_file(value, option.entry, directory)
    if file is None:
        raise SpecError(f"{option.name}: there is no file {quoted(value)}")
    return read_weights(file[0]) if option.type == "weights" else ":".join(map(str, file))


def path_words(
    option: Key, value: object, directory: Path, versions: Versions = no_versions
) -> object:
    """The value of a path option, seen from the directory, with whole paths.

    A word of a command becomes one only if it names something.
    """
    if isinstance(value, list):
        return [path_words(option, each, directory, versions) for each in value]
    if not isinstance(value, str):
        return value
    word = versions(value, directory)
    whole = found_path(word, directory)
    if option.type == "command" or whole == "":
        return whole
    return os.path.normpath(directory.absolute() / Path(whole).expanduser())


def found_file(written: str, default: str, directory: Path) -> tuple[Path, str] | None:
    """The file of `bots/mine.py:name`, absolute: beside the experiment, else from here."""
    for base in (directory, Path()):
        try:
            path, name = split_reference(str(base / Path(written).expanduser()), default)
            if path.is_file():
                return path, name
        except (OSError, RuntimeError, ValueError):  # a name that no file can have
            return None
    return None


def found_path(word: str, directory: Path) -> str:
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
