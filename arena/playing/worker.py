"""Play the games of a task in one process, and tasks as a job."""

import contextlib
import logging
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from multiprocessing.sharedctypes import RawArray

import numpy as np
from numpy.typing import NDArray

from agents.core import Agent, AgentFailure, AgentSpec, HostSettings, Limit
from agents.create import create_agent
from agents.registry import users_code
from agents.sandbox.sandbox import MAX_RESTARTS, Sandbox, SpawnerLost
from agents.search.compiled_agent import CompiledAgent
from arena.planning.games import (
    TIMING_COLUMNS,
    Batch,
    Games,
    concat_games,
    decode_games,
    make_batch,
    moves_of_game,
    take_games,
)
from arena.planning.schedule import Block, DrawnPlan, PairOrder, make_schedule
from arena.planning.tasks import Cutoffs, Task
from arena.playing.clock import with_own_seconds
from arena.playing.cluster.package import HERE, RemoteSite, WorkPackage, make_package
from arena.playing.compiled_loop import COST_FIELDS, CompiledLoop, GameTooLong, Pair
from arena.playing.executor import Job, NextItem, do_nothing, run_in_order
from arena.playing.options import Interrupts, PlayOptions
from arena.playing.process_pool import pin_to_core
from arena.playing.referee_loop import EarlyFault, EarlyFaults, RefereeLoop, ignore, stored_cutoffs
from games.base.progress import Progress, ShowProgress, ignore_progress, watch

MAX_REMEMBERED = 4096  # pairings that a process remembers; others it plays again
COST_COLUMNS = (*{*COST_FIELDS, *TIMING_COLUMNS}, "first_moves", "second_moves")
Play = Callable[[Block], list[Games]]
Key = tuple[int, int, int]  # both agents and the opening
log = logging.getLogger(__name__)
RESUME_HINT = "finished games are kept, and the same command continues"


class DuplicateGames:
    """Games of deterministic matches that one process remembers.

    All pairs of such a match with the same opening have the same seed, so it does not matter
    which of them is played: the tables are the same for any number of processes.
    """

    def __init__(self, pairings: PairOrder) -> None:
        """Start without games."""
        self.pairings = pairings
        self.known: dict[Key, Games] = {}

    def games(self, block: Block, play: Play) -> list[Games]:
        """Return both games of every pair of the block; `play` plays those that are new."""
        openings = len(self.pairings.keys)
        once = concat_games(list(self._once(block._replace(size=min(block.size, openings)), play)))
        if block.size <= openings:
            return [once]
        return [once, copy_games(once, np.arange(openings, block.size) % openings)]

    def _once(self, block: Block, play: Play) -> Iterator[Games]:
        """Yield the games of a block in which no opening comes twice."""
        keys = [(block.a, block.b, place) for place in self.pairings.openings(block).tolist()]
        at = 0
        while at < len(keys):
            if keys[at] in self.known:
                yield self.known[keys[at]]
                at += 1
                continue
            end = at
            while end < len(keys) and keys[end] not in self.known:
                end += 1
            piece = block._replace(first=block.first + at, number=block.number + at, size=end - at)
            played = concat_games(play(piece))
            self._remember(keys[at:end], played)
            yield played
            at = end

    def _remember(self, keys: list[Key], played: Games) -> None:
        for pairing, key in enumerate(keys[: MAX_REMEMBERED - len(self.known)]):
            self.known[key] = copy_games(played, np.array([pairing]))


def copy_games(games: Games, pairings: NDArray[np.int64]) -> Games:
    """Return a copy of the games of some pairs without cost: no agent had to think."""
    rows = np.stack([2 * pairings, 2 * pairings + 1], axis=1).ravel()
    again = take_games(games, rows)
    for name in COST_COLUMNS:
        again.columns[name] = np.zeros_like(again.columns[name])
    return again


class Worker:
    """The agents of one process, built when first needed, and the two loops they play in."""

    def __init__(self, drawn: DrawnPlan, wall: Sandbox | None = None) -> None:
        """Bots run in this sandbox, or in a new one."""
        self.drawn = drawn
        thoughts = drawn.plan.thoughts
        self.terms = HostSettings(wall or Sandbox(), thoughts=thoughts)
        self.homes: Mapping[str, str] = {}  # of paths here, how they are to be called
        self.workers = 0  # that play at the same time; 0: none keeps to a core
        self.agents: dict[int, Agent] = {}
        self.starts_apart = False  # whether a batch's time is without the first start of its bots
        self.begun: set[int] = set()  # bots that were started apart
        self.compiled_loop = CompiledLoop(drawn)
        self.referee_loop = RefereeLoop(drawn, self.agent)
        self.repeats = DuplicateGames(drawn.pairings)

    def agent(self, place: int) -> Agent:
        """Return the agent at one place of the experiment."""
        if place not in self.agents:
            if users_code(self.drawn.specs[place]) and not self.terms.cores:
                self.terms = replace(self.terms, cores=pin_to_core(self.workers))
            self.agents[place] = self._built(self.drawn.specs[place])
        return self.agents[place]

    def renew(self, place: int, spec: AgentSpec) -> None:
        """Replace the agent at a place by one with another spec of the same kind."""
        old = self.agents.pop(place, None)
        if old is not None and hasattr(old, "close"):
            old.close()
        self.agents[place] = self._built(spec)

    def _built(self, spec: AgentSpec) -> Agent:
        return create_agent(
            spec, self.drawn.of, with_own_seconds(self.terms, self.drawn.plan, spec)
        )

    def warm(self) -> None:
        """Build and compile built-in agents, so that forked processes inherit them."""
        for place, spec in enumerate(self.drawn.specs):
            if users_code(spec) is None and isinstance(agent := self.agent(place), CompiledAgent):
                agent.start(0)
                agent.choose(self.drawn.of.start(), Limit(depth=1))
                self.compiled_loop.warm(agent)

    def batch(self, task: Task) -> Batch:
        """Return the games of the task, encoded here so that the parent only has to store them."""
        if self.starts_apart:
            self._start_bots(task)
        begun = time.perf_counter()
        games = with_sender_paths(self.play(task), self.homes)
        batch = make_batch(task.start, task.stop, games, 0.0)
        return batch._replace(seconds=time.perf_counter() - begun)

    def _start_bots(self, task: Task) -> None:
        """Start the new bots of a task, which also compiles their evaluations.

        A bot that fails here fails again in its game, where it counts.
        """
        blocks = self.drawn.pairings.with_blocks(task.blocks).blocks(task.start, task.stop)
        for place in sorted({place for block in blocks for place in (block.a, block.b)}):
            if users_code(self.drawn.specs[place]) and place not in self.begun:
                self.begun.add(place)
                with contextlib.suppress(AgentFailure):
                    self.agent(place).start(0)

    def play(self, task: Task) -> Games:
        """Return all games of the task, in schedule order, without the columns of the schedule."""
        parts: list[Games] = []
        pairings = self.drawn.pairings.with_blocks(task.blocks)
        for block in pairings.blocks(task.start, task.stop):
            if self.drawn.pairings.repeats(block) and not is_disqualified(block, task):
                parts += self.repeats.games(block, lambda piece: self._block(piece, task))
            else:
                parts += self._block(block, task)
        return concat_games(parts)

    def _block(self, block: Block, task: Task) -> list[Games]:
        if is_disqualified(block, task):
            return [self.referee_loop.play(block, task)]
        both = self.compiled(block)
        if both is None:
            return [self.referee_loop.play(block, task)]
        try:
            return [self.compiled_loop.play(block, both)]
        except GameTooLong:
            return [self.referee_loop.play(block, task)]

    def compiled(self, block: Block) -> Pair | None:
        """Return both agents if one compiled call can play them; None if the referee must."""
        if self.drawn.plan.thoughts:  # the referee alone asks for them
            return None
        places, controls = (block.a, block.b), self.referee_loop.controls
        if any(
            users_code(self.drawn.specs[place]) or controls[place].has_shared_clock
            for place in places
        ):
            return None
        first, second = map(self.agent, places)
        if isinstance(first, CompiledAgent) and isinstance(second, CompiledAgent):
            return first, second
        return None


def with_sender_paths(games: Games, homes: Mapping[str, str]) -> Games:
    """Return the games with the sender's paths in their traces."""
    if not (homes and games.traces):
        return games
    traces = dict(games.traces)
    for here, there in homes.items():
        traces = {row: text.replace(here, there) for row, text in traces.items()}
    return replace(games, traces=traces)


def is_disqualified(block: Block, task: Task) -> bool:
    """Return whether one of both agents is excluded."""
    return any(place in (block.a, block.b) for place in task.out or ())


def play_pair(drawn: DrawnPlan, pairing: int, verdicts: Cutoffs, wall: Sandbox) -> Games:
    """Play both games of the pair, with their moves."""
    blocks = drawn.pairings.blocks_for_task(pairing, pairing + 1)
    drawn = make_schedule(
        replace(drawn.plan, keep_moves=True), drawn.openings, drawn.pairings.fixed
    )
    task = Task(pairing, pairing + 1, verdicts, blocks)
    return wall.with_restarts(lambda: Worker(drawn, wall).play(task))


def make_move_replayer(drawn: DrawnPlan, wall: Sandbox) -> Callable[[int, Games], list[int]]:
    """Return a function that plays the game of a row again, for runs that kept no moves.

    It also takes both games of the pair.
    """

    def moves(row: int, games: Games) -> list[int]:
        pairing, leg = divmod(row, 2)
        verdicts = stored_cutoffs(games, [pairing], first=pairing)
        return moves_of_game(play_pair(drawn, pairing, verdicts, wall), leg)

    return moves


class GameJob:
    """Plays the tasks of a plan; its worker is built here and inherited by forked processes."""

    def __init__(self, drawn: DrawnPlan, options: PlayOptions, site: RemoteSite = HERE) -> None:
        """`site` is the machine that plays for another one."""
        self.drawn, self.options, self.site = drawn, options, site
        self.wall = options.wall or Sandbox()
        self.worker = Worker(drawn, self.wall)
        self.worker.homes = site.sender_paths
        self.worker.workers = options.workers if options.pinned else 0
        self.early = EarlyFaults()
        self.worker.referee_loop.report = self.early.send
        # Called while results are awaited: with faults as they happen; to show progress.
        self.on_fault: Callable[[EarlyFault], object] = ignore
        self.on_wait: Callable[[], object] = do_nothing
        self.show: ShowProgress = ignore_progress  # called while workers are prepared
        # Shared with forked workers: bots that are excluded while tasks are under way.
        self.excluded = RawArray("b", len(drawn.specs))
        self.worker.referee_loop.excluded = self.excluded
        self.lost = 0  # spawners of bots
        self.was_lost = False  # whether the latest failure may be that of a lost spawner

    def exclude(self, places: Iterable[int]) -> None:
        """Have workers leave out these bots, also in tasks that are under way."""
        for place in places:
            self.excluded[place] = 1

    def batches(self, next_task: NextItem[Task]) -> Generator[Batch, None, None]:
        """Play tasks; the batches come in their order, and ItemFailed names a failed pairing."""
        try:
            yield from run_in_order(self.job, next_task, self.options)
        finally:
            if self.options.wall is None:
                self.wall.close()

    @property
    def job(self) -> Job[Task, Batch]:
        """How tasks are played."""
        return Job(
            self.worker.batch,
            describe=self._describe,
            prepare=self.prepare,
            split=Task.split,
            merge=self._merge,
            package=self._package,
            before_workers=self._restart_spawner,
            poll=self._poll,
            is_excused=lambda _: self.was_lost,  # nothing else ends workers from outside
            isolation=lambda: self.wall.level.name if self._has_bots else "",
        )

    @property
    def _has_bots(self) -> bool:
        return any(map(users_code, self.drawn.specs))

    def prepare(self) -> None:
        """Open the sandbox if there are bots, and compile what forked workers inherit."""
        with watch(self.show, lambda: Progress("compiling")):
            if self._has_bots:
                self.wall.required |= self.drawn.plan.walls_required
                self.wall.open()
            self.worker.warm()

    def _describe(self, task: Task) -> str:
        pairings = self.drawn.pairings.with_blocks(task.blocks)
        block = next(pairings.blocks(task.start, task.start + 1))
        names = self.drawn.plan.names
        return f"pairing {task.start} ({names[block.a]} against {names[block.b]})"

    def _package(self) -> WorkPackage:
        maker = "arena.playing.worker:remote_game_job"
        return make_package(maker, (self.drawn,), self.wall.required)

    def _restart_spawner(self) -> None:
        """Start the spawner of bots again if it was lost; SpawnerLost if that happens too often."""
        self.was_lost = self.wall.restart_if_lost()
        if self.was_lost:
            self.lost += 1
            log.warning("the spawner of bots was lost, and is started again")
            if self.lost > MAX_RESTARTS:
                raise SpawnerLost(f"the spawner of bots was lost {self.lost} times: {RESUME_HINT}")

    def _poll(self) -> None:
        for fault in self.early.receive():
            self.on_fault(fault)
        self.on_wait()

    def _merge(self, task: Task, parts: list[Batch]) -> Batch | None:
        """The batch of a task from those of its pairings; None while some are missing."""
        if parts[-1].stop < task.stop:
            return None
        if len(parts) == 1:
            return parts[0]._replace(worker=self.site.worker)
        placed = self.drawn.pairings.with_blocks(task.blocks).columns(task.start, task.stop)
        games = decode_games([part.games for part in parts], placed)
        seconds = sum(part.seconds for part in parts)
        return make_batch(task.start, task.stop, games, seconds, self.site.worker)


def remote_game_job(
    site: RemoteSite, plans: tuple[DrawnPlan, ...], required: bool
) -> Job[Task, Batch]:
    """Play for another machine, in a new sandbox; `required` refuses a weak one."""
    options = PlayOptions(1, Interrupts(), wall=Sandbox(required))
    return GameJob(plans[0], options, site).job
