"""Given a position and a limit, choose a move: the table of agents, and how they are built."""

import importlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from agents.core import (
    Agent,
    AgentFailure,
    AgentSpec,
    Choice,
    GameOver,
    Limit,
    SpecError,
)
from games import Game
from games.names import did_you_mean, listed

__all__ = [
    "AGENTS",
    "Agent",
    "AgentFailure",
    "AgentSpec",
    "Choice",
    "GameOver",
    "Limit",
    "SpecError",
    "build",
    "kinds_for",
]


class AgentKind(NamedTuple):
    """Where an agent is built, what a spec may set, and the games it plays (all if empty)."""

    builder: str
    options: tuple[str, ...] = ()
    games: tuple[str, ...] = ()


LIMITS = ("depth", "nodes", "seconds")
NOISE = ("epsilon", "random_ties")
SEARCH = (*LIMITS, *NOISE, "weights", "evaluate", "compile")
TABLE = (*SEARCH, "endgame", "table_bits")

AGENTS: Mapping[str, AgentKind] = {
    "random": AgentKind("agents.simple:build"),
    "first": AgentKind("agents.simple:build", ("epsilon",)),
    "last": AgentKind("agents.simple:build", ("epsilon",)),
    "nearest_pot": AgentKind("agents.simple:build", ("epsilon",), ("sowing",)),
    "fewest": AgentKind("agents.simple:build", NOISE, ("sowing",)),
    "greedy": AgentKind("agents.simple:build", NOISE),
    "minimax": AgentKind("agents.minimax:build", (*SEARCH, "collapse_turns")),
    "alphabeta": AgentKind("agents.alphabeta:build", TABLE),
    "smart": AgentKind("agents.alphabeta:build_smart", TABLE),
    "human": AgentKind("agents.human:build"),
    "python": AgentKind("agents.python:build", ("file", "options")),
}


def kinds_for(of: Game) -> tuple[str, ...]:
    """The kinds that play this game."""
    package = of.family_name.split(".")[1]
    return tuple(kind for kind, entry in AGENTS.items() if package in (entry.games or (package,)))


def check_spec(spec: AgentSpec, of: Game) -> None:
    """Refuse a kind, or an option it does not have, in one line that says what there is."""
    if spec.kind not in AGENTS:
        raise SpecError(
            f'there is no agent kind "{spec.kind}" (there are {listed(AGENTS)})'
            f"{did_you_mean(spec.kind, AGENTS)}"
        )
    if spec.kind not in kinds_for(of):
        raise SpecError(
            f"{spec.kind} does not play {of.name} (play it with {listed(kinds_for(of))})"
        )
    allowed = AGENTS[spec.kind].options
    for name in options_set(spec):
        if name not in allowed:
            has = f"it has {listed(allowed)}" if allowed else "it has none"
            raise SpecError(
                f"{spec.kind} has no option {name} ({has}){did_you_mean(name, allowed)}"
            )
    check_numbers(spec)


def options_set(spec: AgentSpec) -> list[str]:
    """The fields in which a spec differs from its kind's defaults."""
    plain = AgentSpec(spec.kind)
    return [f.name for f in fields(spec) if getattr(spec, f.name) != getattr(plain, f.name)]


RANGES: Mapping[str, tuple[float, float]] = {
    "depth": (1, 100),
    "nodes": (1, 10**15),
    "seconds": (0.001, 86_400),
    "endgame": (0, 256),
    "table_bits": (1, 26),
    "epsilon": (0, 1),
}
FRACTIONS = ("seconds", "epsilon")


def check_numbers(spec: AgentSpec) -> None:
    """Refuse what is no number, or out of range."""
    for name, (low, high) in RANGES.items():
        value: Any = getattr(spec, name)
        whole = name not in FRACTIONS
        kind: Any = int if whole else int | float
        is_number = isinstance(value, kind) and not isinstance(value, bool)
        if value is not None and not (is_number and low <= value <= high):
            what = "a whole number" if whole else "a number"
            raise SpecError(f"{name} must be {what} from {low:g} to {high:g}, got {value!r}")


def build(spec: AgentSpec, of: Game) -> Agent:
    """The agent that the spec describes, for this game."""
    check_spec(spec, of)
    module, name = AGENTS[spec.kind].builder.split(":")
    agent: Agent = getattr(importlib.import_module(module), name)(spec, of)
    return agent
