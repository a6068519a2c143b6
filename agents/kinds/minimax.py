"""Depth-limited minimax."""

from agents.core import Agent, AgentSpec, Options
from agents.evaluation.weights import classroom_weights
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

OPTIONS = (
    *limit_options(depth=6),
    *evaluation_options(classroom_weights),
    Key("collapse_turns", "bool", "a whole turn with its extra turns is one level", False),
    *NOISE,
)


def ineffective_option(options: Options, game: Game) -> tuple[str, str] | None:
    """Return `collapse_turns` with a reason if no turn of the game has a second move."""
    known = game.source is None  # unknown for games from users' files
    if options.get("collapse_turns") and known and getattr(game.rules, "extra_turn", "no") == "no":
        return "collapse_turns", f"has no effect: no turn of {game.name} has a second move"
    return None


def build(spec: AgentSpec, game: Game) -> Agent:
    """Minimax by plies, or by whole turns with `collapse_turns`."""
    from agents.search.compiled_agent import CompiledAgent  # noqa: PLC0415  # it loads the compiler

    settings = option_values(OPTIONS, spec, game)
    search = "collapsed" if settings["collapse_turns"] else "minimax"
    return CompiledAgent(spec, game, search, settings, limit_of(settings))


KIND = Kind(
    build,
    OPTIONS,
    ("features",),
    search_randomness_reason,
    evaluation_reason,
    ineffective_option=ineffective_option,
)
