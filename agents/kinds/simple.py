"""Kinds that do not search: random, first, last, greedy and others."""

from agents.core import Agent, AgentSpec
from agents.options import EPSILON, NOISE, varies
from agents.registry import Kind
from games import Game


def build(spec: AgentSpec, of: Game) -> Agent:
    """The agent of a kind that is named like its policy."""
    from agents.search.compiled_agent import CompiledAgent  # noqa: PLC0415  # it loads the compiler

    return CompiledAgent(spec, of, spec.kind, spec.options)


RANDOM = Kind(build, varies=lambda _: "its moves are random", summary="a random legal move")
FIRST = Kind(
    build, (EPSILON,), varies=varies, summary="the legal move with the lowest or highest number"
)
NEAREST_POT = Kind(build, (EPSILON,), ("hole_beans",), varies, summary="the hole next to the pot")
FEWEST = Kind(build, NOISE, ("hole_beans",), varies, summary="the hole with the fewest beans")
GREEDY = Kind(build, NOISE, ("move_ordering",), varies, summary="the largest immediate gain")
