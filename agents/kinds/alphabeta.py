"""Alpha-beta, and the shipped `smart`."""

from collections.abc import Callable

from agents.core import Agent, AgentSpec, Weights
from agents.evaluation.weights import (
    classroom_weights,
    default_endgame,
    default_probcut,
    default_weights,
    smart_weights,
)
from agents.options import (
    NOISE,
    evaluation_options,
    evaluation_reason,
    limit_of,
    limit_options,
    search_randomness_reason,
)
from agents.registry import Kind, option_values
from games import Game
from games.base.schema import Key


def alphabeta_options(
    weights: Callable[[Game], Weights | str], depth: int | None = None, nodes: int | None = None
) -> tuple[Key, ...]:
    """Return the options of a kind; kinds differ in default weights and limits."""
    return (
        *limit_options(depth, nodes),
        *evaluation_options(weights),
        Key(
            "endgame",
            "int",
            "beans in the rows, or empty squares, from which a budget solves the game",
            default_endgame,
            low=0,
            high=256,
            default_unless=("depth",),
        ),
        Key("table_bits", "int", "the table has 2 to this power entries", 16, low=1, high=26),
        *NOISE,
    )


SMART_OPTIONS = alphabeta_options(default_weights, nodes=20_000)
CLASSIC_OPTIONS = alphabeta_options(smart_weights, nodes=20_000)


def create_smart_classic(spec: AgentSpec, game: Game) -> Agent:
    """A `smart` that evaluates by weighted features, without learned weights."""
    return create_alphabeta(spec, game, CLASSIC_OPTIONS)


def create_smart(spec: AgentSpec, game: Game) -> Agent:
    """The shipped SmartPlayer: the best known weights, a node budget, solved endgames."""
    return create_alphabeta(spec, game, SMART_OPTIONS, default_probcut(game))


def create_alphabeta(
    spec: AgentSpec, game: Game, keys: tuple[Key, ...], probcut: float = 0.0
) -> Agent:
    """Create the agent with these options.

    With learned tables, ProbCut cuts if a shallow search is `probcut` errors beyond the window.
    """
    from agents.search.compiled_agent import CompiledAgent  # noqa: PLC0415  # it loads the compiler

    settings = {**option_values(keys, spec, game), "probcut": probcut}
    return CompiledAgent(spec, game, "alphabeta", settings, limit_of(settings))


OPTIONS = alphabeta_options(classroom_weights, depth=6)


def build(spec: AgentSpec, game: Game) -> Agent:
    """Alpha-beta; a depth is searched exactly, a budget also solves endgames."""
    return create_alphabeta(spec, game, OPTIONS)


REASONS = search_randomness_reason, evaluation_reason
KIND = Kind(build, OPTIONS, ("features",), *REASONS)
SMART = Kind(create_smart, SMART_OPTIONS, ("features", "defaults"), *REASONS)
SMART_CLASSIC = Kind(create_smart_classic, CLASSIC_OPTIONS, ("features", "defaults"), *REASONS)
