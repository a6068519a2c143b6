"""The strong agents: iterative deepening alpha-beta with a table, and `smart`, the shipped one."""

from dataclasses import replace

from agents.compiled import CompiledAgent
from agents.core import AgentSpec
from agents.evaluations.default_weights import (
    SMART_NODES,
    endgame_from,
    smart_weights,
)
from games import Game


def build(spec: AgentSpec, of: Game) -> CompiledAgent:
    """Alpha-beta; by depth it searches just that depth, by a budget it also solves endgames."""
    return CompiledAgent(spec, of, "alphabeta", endgame=endgame_from(of))


def build_smart(spec: AgentSpec, of: Game) -> CompiledAgent:
    """The shipped SmartPlayer: the best known weights, a node budget, solved endgames."""
    if spec.limit is None:
        spec = replace(spec, nodes=SMART_NODES)
    return CompiledAgent(spec, of, "alphabeta", smart_weights, endgame_from(of))
