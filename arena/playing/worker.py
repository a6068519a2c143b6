"""A worker plays pairings in one process: compiled agents in one call, others by the referee."""

import contextlib
import os
import time

from agents import Agent, AgentFailure, Limit, build, outside, users_code
from agents.compiled import CompiledAgent
from arena.keeping.game_blobs import encoded
from arena.planning.drawing import DrawnPlan
from arena.planning.pairings import Block
from arena.planning.records import Games, joined, pair_points
from arena.planning.tasks import Batch, Task, Verdicts
from arena.playing.compiled_loop import CompiledLoop, Pair, TooLong
from arena.playing.referee_loop import RefereeLoop
from arena.playing.repeats import Repeats
from arena.playing.watchdog import WHOLE, Rows, note

# A user's own evaluation is called from compiled code, where nobody sees at which move it hangs.
# So a call plays few pairings; slow ones go through the referee.
OWN_AT_ONCE = 16
SLOW_SECONDS = 0.1


class Worker:
    """The agents of one process, built when first needed, and the two loops they play in."""

    def __init__(self, drawn: DrawnPlan, rows: Rows) -> None:
        """Nothing is built yet; `rows` show the parent who is being waited for."""
        self.drawn, self.rows = drawn, rows
        self.agents: dict[int, Agent] = {}
        self.compiled_loop = CompiledLoop(drawn)
        self.referee_loop = RefereeLoop(drawn, self.agent, rows)
        self.repeats = Repeats(drawn.pairings)
        self.pairing_seconds: dict[tuple[int, int], float] = {}  # of own evaluations, by match

    def agent(self, place: int) -> Agent:
        """The agent at one place of the experiment."""
        if place not in self.agents:
            self.agents[place] = build(self.drawn.specs[place], self.drawn.of)
        return self.agents[place]

    def warm(self) -> None:
        """Build and compile our own agents, so that processes forked from here need not."""
        for place, spec in enumerate(self.drawn.specs):
            # A bot lives only where it plays.
            if not outside(spec) and isinstance(agent := self.agent(place), CompiledAgent):
                agent.start(0)
                with contextlib.suppress(
                    AgentFailure
                ):  # of a user's evaluation: in a game it forfeits
                    agent.choose(self.drawn.of.start(), Limit(depth=1))
                self.compiled_loop.warm(agent)

    def batch(self, task: Task) -> Batch:
        """The games of the task, encoded here so that the parent only has to store them."""
        begun = time.perf_counter()
        games = self.play(task)
        blob = encoded(games)
        return Batch(task.start, task.stop, blob, pair_points(games), time.perf_counter() - begun)

    def play(self, task: Task) -> Games:
        """All games of the task, in schedule order, without the columns of the schedule."""
        parts: list[Games] = []
        for block in self.drawn.pairings.blocks(task.start, task.stop):
            if self.drawn.pairings.repeats(block):
                parts += self.repeats.games(block, lambda piece: self._block(piece, task.verdicts))
            else:
                parts += self._block(block, task.verdicts)
        return joined(parts)

    def _block(self, block: Block, verdicts: Verdicts) -> list[Games]:
        both = self.compiled(block)
        if both is None:
            return [self._refereed(block, verdicts)]
        if any(users_code(agent.spec) for agent in both):
            return [self._own(piece, both, verdicts) for piece in block.pieces(OWN_AT_ONCE)]
        try:
            return [self.compiled_loop.play(block, both)]
        except TooLong:
            return [self._refereed(block, verdicts)]

    def compiled(self, block: Block) -> Pair | None:
        """Both agents if they are compiled; a bot is built only where the watchdog sees it."""
        places = block.a, block.b
        if any(outside(self.drawn.specs[place]) for place in places):
            return None
        first, second = map(self.agent, places)
        if isinstance(first, CompiledAgent) and isinstance(second, CompiledAgent):
            return first, second
        return None

    def _refereed(self, block: Block, verdicts: Verdicts) -> Games:
        return self.referee_loop.play(block, verdicts)

    def _own(self, block: Block, both: Pair, verdicts: Verdicts) -> Games:
        """Games of a user's evaluation: compiled, unless it is slow, raises or was cut off."""
        match, pairings = (block.a, block.b), range(block.first, block.first + block.size)
        wary = self.pairing_seconds.get(match, SLOW_SECONDS) >= SLOW_SECONDS
        begun = time.perf_counter()
        if wary or any((pairing, WHOLE) in verdicts for pairing in pairings):
            games = self._refereed(block, verdicts)
        else:
            games = self._watched(block, both) or self._refereed(block, verdicts)
        self.pairing_seconds[match] = (time.perf_counter() - begun) / block.size
        return games

    def _watched(self, block: Block, both: Pair) -> Games | None:
        """The games of a compiled call that the watchdog sees; None if it raised."""
        since = time.monotonic_ns()
        note(self.rows, (os.getpid(), block.first, WHOLE, block.size, 0, since))
        try:
            return self.compiled_loop.play(block, both)
        except Exception:  # a user's code may raise anything: the referee makes it a forfeit
            return None
        finally:
            note(self.rows, (os.getpid(), block.first, WHOLE, block.size, 0, 0))
