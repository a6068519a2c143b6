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
    """Where an agent is built, what a spec may set, the parts of a game's pack that it needs."""

    builder: str
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


LIMITS = ("depth", "nodes", "seconds")
NOISE = ("epsilon", "random_ties")
SEARCH = (*LIMITS, *NOISE, "weights", "evaluate", "compile")
TABLE = (*SEARCH, "endgame", "table_bits")

AGENTS: Mapping[str, AgentKind] = {
    "random": AgentKind("agents.simple:build"),
    "first": AgentKind("agents.simple:build", ("epsilon",)),
    "last": AgentKind("agents.simple:build", ("epsilon",)),
    "nearest_pot": AgentKind("agents.simple:build", ("epsilon",), ("hole_beans",)),
    "fewest": AgentKind("agents.simple:build", NOISE, ("hole_beans",)),
    "greedy": AgentKind("agents.simple:build", NOISE, ("knowledge",)),
    "minimax": AgentKind("agents.minimax:build", (*SEARCH, "collapse_turns"), ("features",)),
    "alphabeta": AgentKind("agents.alphabeta:build", TABLE, ("features",)),
    "smart": AgentKind("agents.alphabeta:build_smart", TABLE, ("features", "defaults")),
    "human": AgentKind("agents.human:build"),
    "python": AgentKind("agents.python:build", ("file", "options")),
}


def kinds_for(of: Game) -> tuple[str, ...]:
    """The kinds that play this game without further options."""
    return tuple(kind for kind in AGENTS if not parts_missing(AgentSpec(kind), of))


def parts_missing(spec: AgentSpec, of: Game) -> list[str]:
    """The parts of the game's pack that the agent needs and the pack does not have."""
    needs = () if spec.evaluate else AGENTS[spec.kind].needs
    return [role for role in needs if not of.has(role)]


def check_spec(spec: AgentSpec, of: Game) -> None:
    """Refuse a kind, or an option it does not have, in one line that says what there is."""
    if spec.kind not in AGENTS:
        raise SpecError(
            f'there is no agent kind "{spec.kind}" (there are {listed(AGENTS)})'
            f"{did_you_mean(spec.kind, AGENTS)}"
        )
    for role in parts_missing(spec, of):
        told = f"{spec.kind} does not play {of.name} (play it with {listed(kinds_for(of))})"
        evaluate = "set evaluate, or " if "evaluate" in AGENTS[spec.kind].options else ""
        remedy = of.missing(role).remedy
        raise SpecError(f"{told}: {evaluate}{remedy}" if remedy else told)
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
