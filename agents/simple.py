"""Agents that look at the board, not ahead: random, the BadPlayers, greedy."""

from agents.compiled import CompiledAgent
from agents.core import AgentSpec
from games import Game


def build(spec: AgentSpec, of: Game) -> CompiledAgent:
    """The agent of a kind whose name is also that of its policy."""
    return CompiledAgent(spec, of, spec.kind)
