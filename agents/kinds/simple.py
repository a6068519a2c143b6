"""Kinds that do not search: random, first, last, greedy and others."""

from agents.core import Agent, AgentSpec
from agents.options import EPSILON, NOISE, varies
from agents.registry import Kind
from games import Game


def build(spec: AgentSpec, of: Game) -> Agent:
    """The agent of a kind that is named like its policy."""
    from agents.search.compiled_agent import CompiledAgent  # noqa: PLC0415  # it loads the compiler

    return CompiledAgent(spec, of, spec.kind, spec.options)


RANDOM = Kind(build, varies=lambda _: "its moves are random")
FIRST = Kind(build, (EPSILON,), varies=varies)
NEAREST_POT = Kind(build, (EPSILON,), ("hole_beans",), varies)
FEWEST = Kind(build, NOISE, ("hole_beans",), varies)
GREEDY = Kind(build, NOISE, ("move_ordering",), varies)
