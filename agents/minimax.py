"""Plain depth-limited minimax with weighted features, turn by turn if turns are collapsed."""

from agents.compiled import CompiledAgent
from agents.core import AgentSpec
from games import Game


def build(spec: AgentSpec, of: Game) -> CompiledAgent:
    """Minimax by plies, or by whole turns with `collapse_turns`."""
    kind = "collapsed" if spec.collapse_turns else "minimax"
    return CompiledAgent(spec, of, kind)
