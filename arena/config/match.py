"""An experiment of two agents that is made without a file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.core import AgentSpec
from agents.spec import spec_from_table, spec_from_text
from arena.config.sweep import format_toml

AgentLike = str | Path | Mapping[str, object]  # a kind, a bot's file, FILE.toml:NAME, or a table
LONGEST_NAME = 30


def agent_spec(agent: AgentLike) -> AgentSpec:
    """Return the spec of an agent; a SpecError says what is wrong with it."""
    if isinstance(agent, Mapping):
        return spec_from_table(dict(agent), Path(), "the agent")
    return spec_from_text(str(agent), {})


def agent_name(agent: AgentLike) -> str:
    """Return a name for an agent: of its kind, its file, or as in the file."""
    if isinstance(agent, Mapping):
        return str(agent.get("kind", "agent"))
    text = str(agent).partition(" ")[0]
    path, found, name = text.rpartition(":")
    if found and path.endswith(".toml"):
        return name
    stem = Path(path if found else text).stem
    return Path(text).parent.name if stem == "bot" else stem or "agent"


def match_tables(
    first: AgentLike, second: AgentLike, game: str, settings: Mapping[str, object]
) -> dict[str, Any]:
    """Return the tables of an experiment in which two agents play; `settings` are further keys."""
    names = [agent_name(each)[:LONGEST_NAME] for each in (first, second)]
    if names[0] == names[1]:
        names[1] += "-2"
    specs = map(agent_spec, (first, second))
    return {
        "name": "-vs-".join(names),
        "game": game,
        **{key: value for key, value in settings.items() if value is not None},
        "agents": {name: spec.to_json() for name, spec in zip(names, specs, strict=True)},
    }


def experiment_text(tables: Mapping[str, Any]) -> str:
    """Return the tables of a match as the text of an experiment file."""
    lines = [f"{key} = {format_toml(tables[key])}" for key in tables if key != "agents"]
    for name, table in tables["agents"].items():
        lines += ["", f"[agents.{json.dumps(name, ensure_ascii=False)}]"]
        lines += [f"{key} = {format_toml(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"
