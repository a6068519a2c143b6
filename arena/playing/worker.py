"""A worker plays pairings in one process: compiled agents in one call, others by the referee."""

import contextlib
import time
from collections.abc import Mapping
from dataclasses import replace

from agents import Agent, AgentFailure, AgentSpec, Limit, users_code
from agents.compiled import CompiledAgent
from agents.door import agent_of
from agents.wall.bot_terms import Terms
from agents.wall.wall import Wall
from arena.planning.drawing import DrawnPlan
from arena.planning.game_blobs import Batch, batched
from arena.planning.pairings import Block
from arena.planning.records import Games, joined
from arena.planning.tasks import Task
from arena.planning.time_controls import with_own_seconds
from arena.playing.compiled_loop import CompiledLoop, Pair, TooLong
from arena.playing.pinning import own_core
from arena.playing.referee_loop import RefereeLoop
from arena.playing.repeats import Repeats


class Worker:
    """The agents of one process, built when first needed, and the two loops they play in."""

    def __init__(self, drawn: DrawnPlan, wall: Wall | None = None) -> None:
        """Nothing is built yet; bots live behind the wall, or behind one of its own."""
        self.drawn = drawn
        thoughts = drawn.plan.thoughts
        self.terms = Terms(wall or Wall(), thoughts=thoughts)
        self.homes: Mapping[str, str] = {}  # of paths here, how they are to be called
        self.workers = 0  # how many play beside each other; 0: nobody keeps to a core
        self.agents: dict[int, Agent] = {}
        self.starts_apart = False  # whether a batch's time is without the first start of its bots
        self.begun: set[int] = set()  # bots that were started apart
        self.compiled_loop = CompiledLoop(drawn)
        self.referee_loop = RefereeLoop(drawn, self.agent)
        self.repeats = Repeats(drawn.pairings)

    def agent(self, place: int) -> Agent:
        """The agent at one place of the experiment."""
        if place not in self.agents:
            if users_code(self.drawn.specs[place]) and not self.terms.cores:
                self.terms = replace(self.terms, cores=own_core(self.workers))
            self.agents[place] = self._built(self.drawn.specs[place])
        return self.agents[place]

    def renew(self, place: int, spec: AgentSpec) -> None:
        """Build the agent at a place anew, by another spec of the same kind."""
        old = self.agents.pop(place, None)
        if old is not None and hasattr(old, "close"):
            old.close()
        self.agents[place] = self._built(spec)

    def _built(self, spec: AgentSpec) -> Agent:
        return agent_of(spec, self.drawn.of, with_own_seconds(self.terms, self.drawn.plan, spec))

    def warm(self) -> None:
        """Build and compile our own agents, so that processes forked from here need not."""
        for place, spec in enumerate(self.drawn.specs):
            if users_code(spec) is None and isinstance(agent := self.agent(place), CompiledAgent):
                agent.start(0)
                agent.choose(self.drawn.of.start(), Limit(depth=1))
                self.compiled_loop.warm(agent)

    def batch(self, task: Task) -> Batch:
        """The games of the task, encoded here so that the parent only has to store them."""
        if self.starts_apart:
            self._start_bots(task)
        begun = time.perf_counter()
        games = called_at_home(self.play(task), self.homes)
        batch = batched(task.start, task.stop, games, 0.0)
        return batch._replace(seconds=time.perf_counter() - begun)

    def _start_bots(self, task: Task) -> None:
        """Start the bots of a task that have not been, which also compiles evaluations.

        A bot that fails does so again in its game, which is where it counts.
        """
        blocks = self.drawn.pairings.carrying(task.blocks).blocks(task.start, task.stop)
        for place in sorted({place for block in blocks for place in (block.a, block.b)}):
            if users_code(self.drawn.specs[place]) and place not in self.begun:
                self.begun.add(place)
                with contextlib.suppress(AgentFailure):
                    self.agent(place).start(0)

    def play(self, task: Task) -> Games:
        """All games of the task, in schedule order, without the columns of the schedule."""
        parts: list[Games] = []
        pairings = self.drawn.pairings.carrying(task.blocks)
        for block in pairings.blocks(task.start, task.stop):
            if self.drawn.pairings.repeats(block) and not left_out(block, task):
                parts += self.repeats.games(block, lambda piece: self._block(piece, task))
            else:
                parts += self._block(block, task)
        return joined(parts)

    def _block(self, block: Block, task: Task) -> list[Games]:
        if left_out(block, task):
            return [self.referee_loop.play(block, task)]
        both = self.compiled(block)
        if both is None:
            return [self.referee_loop.play(block, task)]
        try:
            return [self.compiled_loop.play(block, both)]
        except TooLong:
            return [self.referee_loop.play(block, task)]

    def compiled(self, block: Block) -> Pair | None:
        """Both agents if they are compiled, in this process, and not by the game's clock."""
        if self.drawn.plan.thoughts:  # the referee alone asks for them
            return None
        places, controls = (block.a, block.b), self.referee_loop.controls
        if any(
            users_code(self.drawn.specs[place]) or controls[place].by_the_clock for place in places
        ):
            return None
        first, second = map(self.agent, places)
        if isinstance(first, CompiledAgent) and isinstance(second, CompiledAgent):
            return first, second
        return None


def called_at_home(games: Games, homes: Mapping[str, str]) -> Games:
    """The games, in whose traces paths of this machine are called what the client calls them."""
    if not (homes and games.traces):
        return games
    traces = dict(games.traces)
    for here, there in homes.items():
        traces = {row: text.replace(here, there) for row, text in traces.items()}
    return replace(games, traces=traces)


def left_out(block: Block, task: Task) -> bool:
    """Whether one of both agents is not asked any more."""
    return any(place in (block.a, block.b) for place, _ in task.out)
