"""The agent that a word on a command line means."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from agents import AGENTS, kind_of
from agents.bot_files import bot_spec, is_bot_file
from agents.core import AgentSpec, SpecError
from agents.protocols import PROTOCOLS
from agents.spec_tables import BOT_FILE, Versions, found_path, no_versions, spec_in
from games.names import quoted


def player_spec(
    text: str, limits: Mapping[str, float | str], versions: Versions = no_versions
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
        return limited(spec_in(Path(f"{path}.toml").expanduser(), name[1:], versions), limits)
    kind, _, command = text.partition(" ")
    if kind in PROTOCOLS and command.strip():
        words = [versions(word, Path()) for word in words_of_command(command)]
        return AgentSpec(kind, command=words)
    if text in ("python", *PROTOCOLS):
        raise SpecError(f"write the file of your bot instead of {text}{hint(text)}")
    if text not in AGENTS and ("/" in text or Path(text).suffix or is_bot_file(Path(text))):
        return bot_spec(Path(text))
    return limited(AgentSpec(text), limits)


def table_file(text: str) -> str:
    """The `bot.toml` of a directory; another word as it is."""
    directory = Path(text).expanduser()
    if text in AGENTS or not directory.is_dir():
        return text
    if not (directory / BOT_FILE).is_file():
        raise SpecError(f"the directory {quoted(text)} has no {BOT_FILE} with the bot's table")
    return str(directory / BOT_FILE)


def hint(kind: str) -> str:
    """How a bot of the kind is written on a command line."""
    if kind == "python":
        return ": path.py or path.py:name"
    return f", or its command behind the protocol, as in {quoted(f'{kind} ./my_engine')}"


def words_of_command(command: str) -> list[str]:
    """The words as a shell splits them; those that name files from here become whole paths."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise SpecError(f"the command {quoted(command)} cannot be read: {error}") from None
    return [found_path(word, Path()) for word in words]


def limited(spec: AgentSpec, limits: Mapping[str, float | str]) -> AgentSpec:
    """The spec with those of the limits that its kind has."""
    kind = kind_of(spec)
    if not any(kind.option(name) for name in limits):
        return spec
    rest = {name: None for name in ("depth", "nodes", "seconds") if kind.option(name)}
    return spec.changed(**{**rest, **{name: limits[name] for name in limits if kind.option(name)}})
