"""Kinds that do not search: random, first, last, greedy and others."""

from agents.core import Agent, AgentSpec
from agents.options import EPSILON, NOISE, search_randomness_reason
from agents.registry import Kind
from games import Game
from games.base.schema import Key


def build(spec: AgentSpec, game: Game) -> Agent:
    """The agent of a kind that has the name of its policy."""
    from agents.search.compiled_agent import CompiledAgent  # noqa: PLC0415  # it loads the compiler

    return CompiledAgent(spec, game, spec.kind, spec.options)


def _policy(options: tuple[Key, ...], summary: str, needs: tuple[str, ...] = ()) -> Kind:
    return Kind(build, options, needs, search_randomness_reason, summary=summary)


RANDOM = Kind(
    build, randomness_reason=lambda _: "its moves are random", summary="a random legal move"
)
FIRST = _policy((EPSILON,), "the legal move with the lowest number (`last`: the highest)")
NEAREST_POT = _policy((EPSILON,), "the hole next to the pot", ("hole_beans",))
FEWEST = _policy(NOISE, "the hole with the fewest beans", ("hole_beans",))
GREEDY = _policy(NOISE, "the largest immediate gain", ("move_ordering",))
