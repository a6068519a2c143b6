"""Starting each user's agent once before any game counts, behind the wall like all of its games."""

import contextlib
from collections.abc import Sequence

from agents import AgentFailure, AgentSpec, Limit, users_code
from agents.door import agent_of
from agents.must_survive import failed_positions
from agents.wall.bot_terms import Terms
from agents.wall.driver import begins_anywhere
from arena.planning.drawing import DrawnPlan
from arena.planning.time_controls import with_own_seconds
from games import Game


def try_users(drawn: DrawnPlan, terms: Terms) -> None:
    """Start every agent of a plan that runs a user's code; AgentFailure or SpecError names one."""
    tried: list[AgentSpec] = []
    for spec in drawn.specs:
        if users_code(spec) and spec not in tried:
            try_out(spec, drawn.of, with_own_seconds(terms, drawn.plan, spec))
            tried.append(spec)


def try_out(spec: AgentSpec, of: Game, terms: Terms, positions: Sequence[str] = ()) -> str | None:
    """Start an agent and a game; AgentFailure or SpecError if that fails.

    Returns which of the positions it does not survive, if any, and how it fails there. A bot that
    follows a game move by move is not asked about them.
    """
    agent = agent_of(spec, of, terms)
    try:
        agent.start(0)
        hard = [of.parse(each) for each in positions] if begins_anywhere(agent) else []
        if found := next(failed_positions(agent, of, hard, 0), None):
            return f"{found[1]}\nthe position: {of.text(found[0])}"
        if "evaluate" in spec.options:
            with contextlib.suppress(AgentFailure):  # in a game this is a forfeit
                agent.choose(of.start(), Limit(depth=1))
        return None
    finally:
        if hasattr(agent, "close"):
            agent.close()
