"""Every user's agent asked once, before any game: whether it loads, and what it plays first."""

import time
from collections.abc import Iterator
from typing import NamedTuple

from agents import AgentFailure, AgentSpec, SpecError, users_code
from agents.door import agent_of
from agents.wall.bot_terms import Terms
from agents.wall.wall import Wall
from arena.planning.plan import Plan
from arena.planning.time_controls import with_own_seconds
from arena.playing.referee import bounded
from games import Game


class FirstAnswer(NamedTuple):
    """What a bot said to the first position: its move, or why there is none."""

    name: str
    move: str
    seconds: float  # of thought
    fault: str = ""
    loads: bool = True


def first_answers(plan: Plan, wall: Wall) -> Iterator[FirstAnswer]:
    """The answer of each agent that runs a user's code; equal ones are asked once."""
    known = dict[str, FirstAnswer]()
    for name, spec in plan.agents.items():
        if users_code(spec):
            if str(spec) not in known:
                terms = with_own_seconds(Terms(wall), plan, spec)
                known[str(spec)] = first_answer(name, spec, plan.of, terms)
            yield known[str(spec)]._replace(name=name)


def first_answer(name: str, spec: AgentSpec, of: Game, terms: Terms) -> FirstAnswer:
    """Start an agent and ask it for its first move."""
    loads, begun = False, time.monotonic()
    agent = None
    try:
        agent = agent_of(spec, of, terms)
        agent.start(0)
        loads, begun = True, time.monotonic()
        choice = agent.choose(of.start())
    except (AgentFailure, SpecError) as failure:
        loads &= getattr(failure, "kind", "") != "unloadable"
        return FirstAnswer(name, "", time.monotonic() - begun, bounded(str(failure)), loads)
    finally:
        if agent is not None and hasattr(agent, "close"):
            agent.close()
    return FirstAnswer(name, of.move_text(of.start(), choice.move), time.monotonic() - begun)
