"""Equal time without a clock: the share of nodes that the slower of two searches gets."""

import contextlib
import time
from collections.abc import Sequence
from typing import NamedTuple

from agents.core import Agent, AgentFailure, AgentSpec, HostSettings
from agents.create import create_agent
from agents.registry import is_search, kind_of, option_values
from agents.sandbox.sandbox import Sandbox
from agents.search.compiled_agent import decided
from arena.planning.openings.openings import Openings, moves_of
from games import Game, Position

ROUNDS = 3  # the best of so many counts
MOST_POSITIONS = 40
MOVE_SECONDS = 60.0
LEAST_SECONDS = 0.05  # of a round: less is measured by chance


class NodeSpeed(NamedTuple):
    """Nodes and seconds of some searches."""

    nodes: int
    seconds: float

    @property
    def per_node(self) -> float:
        """Seconds for one node."""
        return self.seconds / self.nodes


def is_limited_by_nodes(spec: AgentSpec, of: Game) -> bool:
    """Whether only nodes limit the agent: then it can be given as many as fit into a time."""
    if not is_search(spec):
        return False
    values = option_values(kind_of(spec).options, spec, of)
    return bool(values["nodes"]) and not values.get("depth") and not values.get("seconds")


def equal_time_node_ratio(
    tuned: AgentSpec, seed: AgentSpec, of: Game, openings: Openings, wall: Sandbox
) -> float:
    """How many nodes the tuned agent searches while the seed's searches one, measured in turn.

    One, where an agent fails in all positions.
    """
    positions = [p for p in start_positions(of, openings) if not of.over(p)]
    if not positions:
        return 1.0
    agents = [create_agent(spec, of, HostSettings(wall, MOVE_SECONDS)) for spec in (tuned, seed)]
    try:
        rounds = [[search_speed(agent, positions) for agent in agents] for _ in range(ROUNDS + 1)]
    finally:
        for agent in agents:
            if hasattr(agent, "close"):
                agent.close()
    if not all(each.nodes for pair in rounds for each in pair):
        return 1.0
    ours, theirs = (min(pair[side].per_node for pair in rounds[1:]) for side in (0, 1))
    return round(theirs / ours, 3)


def start_positions(of: Game, openings: Openings) -> list[Position]:
    """The positions after some openings."""
    found = []
    for slots in openings.slots[:MOST_POSITIONS]:
        position = of.start()
        for move in moves_of(of, slots):
            position = of.play(position, move)
        found.append(position)
    return found


def search_speed(agent: Agent, positions: Sequence[Position]) -> NodeSpeed:
    """The searches of these positions, again until they take long enough.

    A search in this thread is measured by the time that the thread has had, whatever else runs
    here; one behind the wall by the clock.
    """
    clock = time.perf_counter if hasattr(agent, "close") else time.thread_time
    nodes, begun, seconds = 0, clock(), 0.0
    agent.start(0)
    while seconds < LEAST_SECONDS:
        for position in positions:
            with contextlib.suppress(AgentFailure):  # in a game this is a forfeit
                nodes += decided(agent, position).nodes
        seconds = clock() - begun
    return NodeSpeed(nodes, seconds)
