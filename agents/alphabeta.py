"""The strong kinds: `alphabeta`, the shipped `smart`, and `smart_classic` with six weights."""

from agents.core import Agent, AgentSpec
from agents.deepening import (
    CLASSIC_OPTIONS,
    SMART_OPTIONS,
    build_classic,
    build_smart,
    built,
    options,
)
from agents.evaluations.default_weights import classroom_weights
from agents.kinds import Kind
from agents.search_options import users_code, varies
from games import Game

__all__ = ["NEEDS", "OPTIONS", "SMART", "SMART_CLASSIC", "build", "users_code", "varies"]

NEEDS = ("features",)
OPTIONS = options(classroom_weights, depth=6)


def build(spec: AgentSpec, of: Game) -> Agent:
    """Alpha-beta; a depth is searched exactly, a budget also solves endgames."""
    return built(spec, of, OPTIONS)


SMART_CLASSIC = Kind(build_classic, CLASSIC_OPTIONS, (*NEEDS, "defaults"), varies, users_code)
SMART = Kind(build_smart, SMART_OPTIONS, (*NEEDS, "defaults"), varies, users_code)
