"""Asking every agent for its move in the same positions, each agent behind its door."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from agents.core import Agent, AgentFailure, AgentSpec, Follower, Resigned, SpecError, Terms
from agents.create import agent_of
from agents.registry import kind_of, users_code
from agents.sandbox.protocol_agent import begins_anywhere
from agents.sandbox.sandbox import Wall
from agents.search.explanation import without_noise
from games import Game, Position

Answers = list[int] | str  # a move for every position, or why there is none
Way = Sequence[Position]  # from the start of a game to a position, which is the last of it


def asked(
    of: Game,
    specs: Mapping[str, AgentSpec],
    positions: Sequence[Position],
    seed: int,
    seconds: float,
    ways: Sequence[Way] | None = None,
) -> dict[str, Answers]:
    """The moves of every agent; ours are asked side by side, for kernels leave the interpreter.

    `ways` lead to the positions: who follows games move by move is told them.
    """
    wall = Wall()
    terms = Terms(wall, seconds)
    try:
        made = {name: _made(spec, of, terms, ways is not None) for name, spec in specs.items()}
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            jobs = {
                name: pool.submit(_moves, agent, of, positions, seed, None)
                for name, agent in made.items()
                if users_code(specs[name]) is None
            }
            # Bots share one connection to the wall: they are asked one after another.
            bots = {
                name: _moves(made[name], of, positions, seed, ways)
                for name in made
                if name not in jobs
            }
            ours = {name: job.result() for name, job in jobs.items()}
    finally:
        wall.close()
    return {name: (ours | bots)[name] for name in specs}


def _made(spec: AgentSpec, of: Game, terms: Terms, told: bool) -> Agent | str:
    try:
        agent = agent_of(without_noise(spec, kind_of(spec)), of, terms)
    except (AgentFailure, SpecError) as error:
        return str(error).partition("\n")[0]
    follows = "it follows games move by move and cannot be asked about positions"
    return agent if told or begins_anywhere(agent) else follows


def _moves(
    agent: Agent | str,
    of: Game,
    positions: Sequence[Position],
    seed: int,
    ways: Sequence[Way] | None,
) -> Answers:
    if isinstance(agent, str):
        return agent
    try:
        agent.start(seed)
        moves = []
        for place, position in enumerate(positions):
            if isinstance(agent, Follower):
                agent.start(seed)  # each position is a game of its own, with a side of its own
                if ways is not None and not begins_anywhere(agent):
                    _follow(agent, of, ways[place])
            moves.append(agent.choose(position).move)
        return moves
    except AgentFailure as error:
        return str(error).partition("\n")[0]
    except Resigned:
        return "it resigned instead of choosing a move"


def _follow(agent: Follower, of: Game, way: Way) -> None:
    """Tell the agent the moves that led to a position."""
    for before, after in pairwise(way):
        move = next(each for each in of.legal(before) if of.play(before, each) == after)
        agent.played(move, before, after)
