"""The strong agents: iterative deepening alpha-beta with a table, and `smart`, the shipped one."""

from dataclasses import replace

from agents.compiled import CompiledAgent
from agents.core import AgentSpec
from agents.defaults import SMART_NODES, classroom_weights, endgame_from, smart_weights
from games import Game


def build(spec: AgentSpec, of: Game) -> CompiledAgent:
    """Alpha-beta; a pure depth limit searches just that depth, a budget also solves endgames."""
    if spec.endgame is None and spec.depth is None and spec.limit is not None:
        spec = replace(spec, endgame=endgame_from(of))
    return CompiledAgent(spec, of, "alphabeta", classroom_weights(of))


def build_smart(spec: AgentSpec, of: Game) -> CompiledAgent:
    """The shipped SmartPlayer: the best known weights, a node budget, solved endgames."""
    if spec.limit is None:
        spec = replace(spec, nodes=SMART_NODES)
    if spec.endgame is None:
        spec = replace(spec, endgame=endgame_from(of))
    return CompiledAgent(spec, of, "alphabeta", smart_weights(of))
