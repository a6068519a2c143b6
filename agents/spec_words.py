"""The agent that a word on a command line means."""

from collections.abc import Mapping

from agents import kind_of
from agents.core import AgentSpec, SpecError


def player_spec(text: str, limits: Mapping[str, float | str]) -> AgentSpec:
    """A kind's name, or a user's file: a bot, or an evaluation if it is called `evaluate`."""
    if text.endswith(".py:evaluate"):
        return AgentSpec("alphabeta", {"evaluate": text, **limits})
    if text.endswith(".py") or ".py:" in text:
        return AgentSpec("python", {"file": text})
    if text == "python":
        raise SpecError("write the file of your bot instead of python: path.py or path.py:name")
    kind = kind_of(text)
    return AgentSpec(text, {name: limits[name] for name in limits if kind.option(name)})
