"""The search that `alphabeta` and `smart` share, built from its options."""

from collections.abc import Callable

from agents.core import Agent, AgentSpec, Weights
from agents.evaluation.weights import (
    best_weights,
    classroom_weights,
    endgame_from,
    smart_weights,
    usual_probcut,
)
from agents.options import NOISE, evaluation_options, limit_of, limit_options, users_code, varies
from agents.registry import Kind, option_values
from games import Game
from games.base.schema import Key

__all__ = ["NEEDS", "OPTIONS", "SMART", "SMART_CLASSIC", "build", "users_code", "varies"]
NEEDS = ("features",)


def alphabeta_options(
    weights: Callable[[Game], Weights | str],
    depth: int | None = None,
    nodes: int | None = None,
) -> tuple[Key, ...]:
    """Return the options of a kind of it; kinds differ in default weights and limits."""
    return (
        *limit_options(depth, nodes),
        *evaluation_options(weights),
        Key(
            "endgame",
            "int",
            "beans in the rows, or empty squares, from which a budget solves the game",
            endgame_from,
            low=0,
            high=256,
            beside=("depth",),
        ),
        Key("table_bits", "int", "2 to this power positions are remembered", 16, low=1, high=26),
        *NOISE,
    )


SMART_OPTIONS = alphabeta_options(best_weights, nodes=20_000)
CLASSIC_OPTIONS = alphabeta_options(smart_weights, nodes=20_000)


def create_smart_classic(spec: AgentSpec, of: Game) -> Agent:
    """The SmartPlayer of weighted features, as it was before weights were learned."""
    return create_alphabeta(spec, of, CLASSIC_OPTIONS)


def create_smart(spec: AgentSpec, of: Game) -> Agent:
    """The shipped SmartPlayer: the best known weights, a node budget, solved endgames."""
    return create_alphabeta(spec, of, SMART_OPTIONS, usual_probcut(of))


def create_alphabeta(
    spec: AgentSpec, of: Game, keys: tuple[Key, ...], probcut: float = 0.0
) -> Agent:
    """Return the agent with these options.

    With learned tables, a shallow search that is `probcut` of its errors beyond the bound cuts.
    """
    from agents.search.compiled_agent import CompiledAgent  # noqa: PLC0415  # it loads the compiler

    chosen = {**option_values(keys, spec, of), "probcut": probcut}
    return CompiledAgent(spec, of, "alphabeta", chosen, limit_of(chosen))


OPTIONS = alphabeta_options(classroom_weights, depth=6)


def build(spec: AgentSpec, of: Game) -> Agent:
    """Alpha-beta; a depth is searched exactly, a budget also solves endgames."""
    return create_alphabeta(spec, of, OPTIONS)


SMART_CLASSIC = Kind(
    create_smart_classic, CLASSIC_OPTIONS, (*NEEDS, "defaults"), varies, users_code
)
SMART = Kind(create_smart, SMART_OPTIONS, (*NEEDS, "defaults"), varies, users_code)
