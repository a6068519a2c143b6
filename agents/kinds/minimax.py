"""Depth-limited minimax."""

from agents.core import Agent, AgentSpec, Options
from agents.evaluation.weights import classroom_weights
from agents.options import NOISE, evaluation_options, limit_of, limit_options, users_code, varies
from agents.registry import option_values
from games import Game
from games.base.schema import Key

__all__ = ["NEEDS", "OPTIONS", "build", "unfit", "users_code", "varies"]

NEEDS = ("features",)
OPTIONS = (
    *limit_options(depth=6),
    *evaluation_options(classroom_weights),
    Key("collapse_turns", "bool", "a whole turn with its extra turns is one level", False),
    *NOISE,
)


def unfit(options: Options, of: Game) -> tuple[str, str] | None:
    """Whole turns where none has a second move."""
    known = of.source is None  # of a user's game nobody has said
    if options.get("collapse_turns") and known and getattr(of.rules, "extra_turn", "no") == "no":
        return "collapse_turns", f"has no effect: no turn of {of.name} has a second move"
    return None


def build(spec: AgentSpec, of: Game) -> Agent:
    """Minimax by plies, or by whole turns with `collapse_turns`."""
    from agents.search.compiled_agent import CompiledAgent  # noqa: PLC0415  # it loads the compiler

    chosen = option_values(OPTIONS, spec, of)
    search = "collapsed" if chosen["collapse_turns"] else "minimax"
    return CompiledAgent(spec, of, search, chosen, limit_of(chosen))
