"""The kinds that do not look ahead: random, the BadPlayers, greedy."""

from agents.core import Agent, AgentSpec
from agents.kinds import Kind
from agents.search_options import EPSILON, NOISE, varies
from games import Game


def build(spec: AgentSpec, of: Game) -> Agent:
    """The agent of a kind that is named like its policy."""
    from agents.compiled import CompiledAgent  # noqa: PLC0415  # it loads the compiler

    return CompiledAgent(spec, of, spec.kind, spec.options)


RANDOM = Kind(build, varies=lambda _: "its moves are random")
FIRST = Kind(build, (EPSILON,), varies=varies)
NEAREST_POT = Kind(build, (EPSILON,), ("hole_beans",), varies)
FEWEST = Kind(build, NOISE, ("hole_beans",), varies)
GREEDY = Kind(build, NOISE, ("knowledge",), varies)
