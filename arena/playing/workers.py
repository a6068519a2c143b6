"""Playing a run of pairings in a worker: compiled agents in one call, others move by move."""

import contextlib
import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents import Agent, AgentFailure, AgentSpec, Limit, build
from agents.compiled import CompiledAgent
from arena.keeping.game_blobs import encoded
from arena.planning.pairings import Block, Pairings
from arena.planning.records import Games, joined, pair_points
from arena.playing.compiled_loop import FastLoop, TooLong
from arena.playing.referee import CutOff
from arena.playing.referee_loop import SlowLoop, has_own_code
from arena.playing.repeats import Repeats
from arena.playing.watchdog import WHOLE, note
from games import Game

# A user's own evaluation is called from compiled code, where nobody sees which move it hangs
# at. So it gets few pairings a call, and none if they are slow enough to be played singly.
OWN_AT_ONCE = 16
SLOW_SECONDS = 0.1


class Job(NamedTuple):
    """Everything a worker needs; it travels by fork, once."""

    of: Game
    specs: tuple[AgentSpec, ...]
    schedule: Pairings
    openings: NDArray[np.int16]
    keep_moves: bool
    watch: Any  # shared rows that tell the parent who is being waited for
    always_slow: bool = False  # for the test that both loops give the same records


class Task(NamedTuple):
    """Pairings `start` to `stop` - 1, with the verdicts on games that were cut off."""

    start: int
    stop: int
    verdicts: Mapping[tuple[int, int], CutOff]


class Batch(NamedTuple):
    """The games of a task as a blob, the quarter points of each pairing, and the seconds."""

    start: int
    stop: int
    games: bytes
    points: NDArray[np.int8]
    seconds: float


class Worker:
    """The agents of one process, built when first needed, and the two loops they play in."""

    def __init__(self, job: Job) -> None:
        """Nothing is built yet."""
        self.job = job
        self.agents: dict[int, Agent] = {}
        self.fast = FastLoop(job.of, job.schedule, job.openings, job.keep_moves)
        self.slow = SlowLoop(
            job.of, job.schedule, job.openings, job.specs, self.agent, job.watch
        )  # fmt: skip
        self.repeats = Repeats(job.schedule)
        self.pairing_seconds: dict[tuple[int, int], float] = {}  # of own evaluations, by match

    def agent(self, place: int) -> Agent:
        """The agent at one place of the experiment."""
        if place not in self.agents:
            self.agents[place] = build(self.job.specs[place], self.job.of)
        return self.agents[place]

    def warm(self) -> None:
        """Build what is ours and compile it, so that processes forked from here need not."""
        for place, spec in enumerate(self.job.specs):
            if not spec.file:
                agent = self.agent(place)
                assert isinstance(agent, CompiledAgent)
                agent.start(0)
                with contextlib.suppress(AgentFailure):  # an own evaluation's, in a game a forfeit
                    agent.choose(self.job.of.start(), Limit(depth=1))
                self.fast.warm(agent)

    def play(self, task: Task) -> Games:
        """All games of the task, in schedule order, without the columns of the schedule."""
        parts: list[Games] = []
        for block in self.job.schedule.blocks(task.start, task.stop):
            parts += self.repeats.games(block, lambda piece: self._block(piece, task.verdicts))
        return joined(parts)

    def _block(self, block: Block, verdicts: Mapping[tuple[int, int], CutOff]) -> list[Games]:
        specs = self.job.specs[block.a], self.job.specs[block.b]
        if self.job.always_slow or any(spec.file for spec in specs):
            return [self._slowly(block, verdicts)]
        if any(has_own_code(spec) for spec in specs):
            return [self._own(piece, verdicts) for piece in block.pieces(OWN_AT_ONCE)]
        try:
            return [self._fast(block)]
        except TooLong:
            return [self._slowly(block, verdicts)]

    def _slowly(self, block: Block, verdicts: Mapping[tuple[int, int], CutOff]) -> Games:
        return self.slow.play(block, verdicts, self.job.keep_moves)

    def _fast(self, block: Block) -> Games:
        first, second = self.agent(block.a), self.agent(block.b)
        assert isinstance(first, CompiledAgent)
        assert isinstance(second, CompiledAgent)
        return self.fast.play(block, (first, second))

    def _own(self, block: Block, verdicts: Mapping[tuple[int, int], CutOff]) -> Games:
        """The compiled loop, unless an own evaluation is slow, raises, or was cut off in it."""
        match, pairings = (block.a, block.b), range(block.first, block.first + block.size)
        wary = self.pairing_seconds.get(match, SLOW_SECONDS) >= SLOW_SECONDS
        begun = time.perf_counter()
        if wary or any((pairing, WHOLE) in verdicts for pairing in pairings):
            games = self._slowly(block, verdicts)
        else:
            games = self._watched(block) or self._slowly(block, verdicts)
        self.pairing_seconds[match] = (time.perf_counter() - begun) / block.size
        return games

    def _watched(self, block: Block) -> Games | None:
        """The games of one compiled call that the watch may cut off; None if it raised."""
        asked = time.monotonic_ns()
        note(self.job.watch, (os.getpid(), block.first, WHOLE, block.size, 0, asked))
        try:
            return self._fast(block)
        except Exception:  # whatever a user's code raises: move by move it becomes a forfeit
            return None
        finally:
            note(self.job.watch, (os.getpid(), block.first, WHOLE, block.size, 0, 0))


_worker: list[Worker] = []


def install(worker: Worker) -> None:
    """Make `play_task` play with this worker, here and in every process forked from here."""
    _worker[:] = [worker]


def play_task(task: Task) -> Batch:
    """The games of the task, packed here so that the parent only has to keep them."""
    begun = time.perf_counter()
    games = _worker[0].play(task)
    blob = encoded(games)
    return Batch(task.start, task.stop, blob, pair_points(games), time.perf_counter() - begun)
