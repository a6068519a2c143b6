"""The strong kinds: `alphabeta` deepens iteratively, `smart` is the shipped one."""

from agents.core import Agent, AgentSpec
from agents.deepening import SMART_OPTIONS, build_smart, built, options
from agents.evaluations.default_weights import classroom_weights
from agents.kinds import Kind
from agents.search_options import users_code, varies
from games import Game

__all__ = ["NEEDS", "OPTIONS", "SMART", "build", "users_code", "varies"]

NEEDS = ("features",)
OPTIONS = options(classroom_weights, depth=6)


def build(spec: AgentSpec, of: Game) -> Agent:
    """Alpha-beta; a depth is searched exactly, a budget also solves endgames."""
    return built(spec, of, OPTIONS)


SMART = Kind(build_smart, SMART_OPTIONS, (*NEEDS, "defaults"), varies, users_code)
