"""Every user's agent asked once, before any game: whether it loads, and what it plays first."""

import time
from collections.abc import Iterator
from typing import NamedTuple

from agents import Agent, AgentFailure, AgentSpec, SpecError, users_code
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
    start_seconds: float = 0.0  # to start it and, where that is needed, to compile it
    move_seconds: float = 0.0  # of the same question in a second game, when all is loaded


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
    loads, begun, start_seconds = False, time.monotonic(), 0.0
    agent = None
    try:
        agent = agent_of(spec, of, terms)
        agent.start(0)
        loads, start_seconds = True, time.monotonic() - begun
        begun = time.monotonic()
        choice = agent.choose(of.start())
        seconds = time.monotonic() - begun
        move = of.move_text(of.start(), choice.move)
        again = seconds_again(agent, of, seconds)
        return FirstAnswer(name, move, seconds, start_seconds=start_seconds, move_seconds=again)
    except (AgentFailure, SpecError) as failure:
        loads &= getattr(failure, "kind", "") != "unloadable"
        fault, seconds = bounded(str(failure)), time.monotonic() - begun
        return FirstAnswer(name, "", seconds, fault, loads, start_seconds)
    finally:
        if agent is not None and hasattr(agent, "close"):
            agent.close()


def seconds_again(agent: Agent, of: Game, first: float) -> float:
    """The time of the first move in a second game; that of the first if the bot fails there."""
    try:
        agent.start(1)
        begun = time.monotonic()
        agent.choose(of.start())
        return time.monotonic() - begun
    except AgentFailure:
        return first
