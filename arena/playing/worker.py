"""The games of a task in one process, and tasks as a job."""

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
from agents.registry import user_code_reason
from agents.sandbox.sandbox import MAX_RESTARTS, Sandbox, SpawnerLost
from agents.sandbox.transports import BotProcess
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
from arena.planning.schedule import Block, PairOrder, Schedule, make_schedule
from arena.planning.tasks import Cutoffs, Task
from arena.playing.clock import agent_settings
from arena.playing.cluster.package import HERE, RemoteSite, WorkPackage, make_package
from arena.playing.compiled_loop import COST_FIELDS, AgentPair, CompiledLoop, GameTooLong
from arena.playing.executor import Job, NextItem, do_nothing, run_in_order
from arena.playing.options import Interrupts, PlayOptions
from arena.playing.process_pool import pin_to_core
from arena.playing.referee_loop import (
    EarlyFault,
    EarlyFaults,
    RefereeLoop,
    cutoffs_of_games,
    ignore,
)
from games.base.progress import Progress, ShowProgress, ignore_progress, watch

MAX_REMEMBERED = 4096  # pairs whose games a process remembers; others it plays again
COST_COLUMNS = (*{*COST_FIELDS, *TIMING_COLUMNS}, "first_moves", "second_moves")
RESUME_HINT = "finished games are kept, and the same command continues"
PlayBlock = Callable[[Block], list[Games]]
GameKey = tuple[int, int, int]  # both agents and the opening
log = logging.getLogger(__name__)


class DuplicateGames:
    """Games of deterministic matches that one process remembers.

    All pairs of such a match on the same opening have the same seed, so that the tables are the
    same whichever of them is played.
    """

    def __init__(self, pairs: PairOrder) -> None:
        self.pairs = pairs
        self.games_by_key: dict[GameKey, Games] = {}

    def games(self, block: Block, play: PlayBlock) -> list[Games]:
        """Return both games of every pair of the block; `play` plays those that are new."""
        openings = len(self.pairs.opening_keys)
        first = block._replace(size=min(block.size, openings))
        once = concat_games(list(self._distinct_games(first, play)))
        if block.size <= openings:
            return [once]
        return [once, copy_games(once, np.arange(openings, block.size) % openings)]

    def _distinct_games(self, block: Block, play: PlayBlock) -> Iterator[Games]:
        """Yield the games of a block in which no opening comes twice."""
        openings = self.pairs.opening_numbers(block).tolist()
        keys = [(block.a, block.b, opening) for opening in openings]
        at = 0
        while at < len(keys):
            if keys[at] in self.games_by_key:
                yield self.games_by_key[keys[at]]
                at += 1
                continue
            end = at
            while end < len(keys) and keys[end] not in self.games_by_key:
                end += 1
            part = block._replace(first=block.first + at, number=block.number + at, size=end - at)
            games = concat_games(play(part))
            for pair, key in enumerate(keys[at:end][: MAX_REMEMBERED - len(self.games_by_key)]):
                self.games_by_key[key] = copy_games(games, np.array([pair]))
            yield games
            at = end


def copy_games(games: Games, pairs: NDArray[np.int64]) -> Games:
    """Return a copy of the games of some pairs without costs: no agent had to think."""
    copy = take_games(games, np.stack([2 * pairs, 2 * pairs + 1], axis=1).ravel())
    for name in COST_COLUMNS:
        copy.columns[name] = np.zeros_like(copy.columns[name])
    return copy


class Worker:
    """The agents of one process, built when first needed, and the two loops that play them."""

    def __init__(self, schedule: Schedule, sandbox: Sandbox | None = None) -> None:
        """Bots run in this sandbox, or in a new one."""
        self.schedule = schedule
        keep_info = schedule.plan.keep_search_info
        self.host_settings = HostSettings(sandbox or Sandbox(), search_info=keep_info)
        self.sender_paths: Mapping[str, str] = {}  # of users' files, by their paths here
        self.worker_count = 0  # workers that play at the same time; 0: none is pinned to a core
        self.agents: dict[int, Agent] = {}
        self.start_bots_first = False  # whether the time of a batch excludes the start of its bots
        self.bots_started: set[int] = set()  # bots that were started before their first batch
        self.compiled_loop = CompiledLoop(schedule)
        self.referee_loop = RefereeLoop(schedule, self.agent)
        self.duplicates = DuplicateGames(schedule.pairs)

    def agent(self, place: int) -> Agent:
        """Return the agent at one place of the experiment."""
        if place not in self.agents:
            spec = self.schedule.specs[place]
            if user_code_reason(spec) and not self.host_settings.cores:
                cores = pin_to_core(self.worker_count)
                self.host_settings = replace(self.host_settings, cores=cores)
            self.agents[place] = self._create_agent(place, spec)
        return self.agents[place]

    def replace_agent(self, place: int, spec: AgentSpec) -> None:
        """Replace the agent at a place by one with another spec of the same kind."""
        old = self.agents.pop(place, None)
        if old is not None and hasattr(old, "close"):
            old.close()
        self.agents[place] = self._create_agent(place, spec)

    def _create_agent(self, place: int, spec: AgentSpec) -> Agent:
        plan = self.schedule.plan
        host = agent_settings(self.host_settings, plan, plan.names[place], spec)
        return create_agent(spec, self.schedule.game, host)

    def compile_agents(self) -> None:
        """Build and compile built-in agents, so that forked processes inherit them."""
        for place, spec in enumerate(self.schedule.specs):
            if user_code_reason(spec) is not None:
                continue
            agent = self.agent(place)
            agent.start(0)
            agent.choose(self.schedule.game.start(), Limit(depth=1, nodes=2))
            if isinstance(agent, CompiledAgent):
                self.compiled_loop.compile(agent)

    def play_batch(self, task: Task) -> Batch:
        """Return the games of the task, encoded here so that the parent only has to store them."""
        if self.start_bots_first:
            self._start_bots(task)
        begun = time.perf_counter()
        games = with_sender_paths(self.play(task), self.sender_paths)
        batch = make_batch(task.start, task.stop, games, 0.0)
        return batch._replace(seconds=time.perf_counter() - begun)

    def _start_bots(self, task: Task) -> None:
        """Start the new bots of a task, which also compiles their evaluations.

        A bot that fails here fails again in its game, where it counts.
        """
        blocks = self.schedule.pairs.with_blocks(task.blocks).blocks(task.start, task.stop)
        for place in sorted({place for block in blocks for place in (block.a, block.b)}):
            is_new = place not in self.bots_started
            if is_new and user_code_reason(self.schedule.specs[place]):
                self.bots_started.add(place)
                with contextlib.suppress(AgentFailure):
                    self.agent(place).start(0)

    def play(self, task: Task) -> Games:
        """Return all games of the task, in schedule order, without the columns of the schedule."""
        parts: list[Games] = []
        pairs = self.schedule.pairs.with_blocks(task.blocks)
        for block in pairs.blocks(task.start, task.stop):
            if self.schedule.pairs.has_duplicates(block) and not has_disqualified_agent(
                block, task
            ):
                parts += self.duplicates.games(block, lambda part: self._play_block(part, task))
            else:
                parts += self._play_block(block, task)
        return concat_games(parts)

    def _play_block(self, block: Block, task: Task) -> list[Games]:
        self._end_busy_bots((block.a, block.b))
        if not has_disqualified_agent(block, task) and (agents := self.kernel_agents(block)):
            with contextlib.suppress(GameTooLong):
                return [self.compiled_loop.play(block, agents)]
        return [self.referee_loop.play(block, task)]

    def _end_busy_bots(self, places: tuple[int, int]) -> None:
        """End bots of other matches that use the processor out of turn; the others are idle."""
        for place, agent in self.agents.items():
            bot = getattr(agent, "bot", None)
            if place not in places and isinstance(bot, BotProcess) and bot.needs_pauses:
                bot.end()

    def kernel_agents(self, block: Block) -> AgentPair | None:
        """Return both agents if one compiled call can play them; None if the referee must."""
        if self.schedule.plan.keep_search_info:  # the referee alone reads it
            return None
        places, controls = (block.a, block.b), self.referee_loop.controls
        if any(
            user_code_reason(self.schedule.specs[place]) or controls[place].has_shared_clock
            for place in places
        ):
            return None
        first, second = map(self.agent, places)
        if isinstance(first, CompiledAgent) and isinstance(second, CompiledAgent):
            return first, second
        return None


def with_sender_paths(games: Games, sender_paths: Mapping[str, str]) -> Games:
    """Return the games with the sender's paths in their traces."""
    if not (sender_paths and games.traces):
        return games
    traces = dict(games.traces)
    for here, there in sender_paths.items():
        traces = {row: text.replace(here, there) for row, text in traces.items()}
    return replace(games, traces=traces)


def has_disqualified_agent(block: Block, task: Task) -> bool:
    """Return whether one of the agents is disqualified."""
    return any(place in (block.a, block.b) for place in task.disqualified or ())


def play_pair(schedule: Schedule, pair: int, cutoffs: Cutoffs, sandbox: Sandbox) -> Games:
    """Play both games of a pair, and keep their moves."""
    blocks = schedule.pairs.blocks_for_task(pair, pair + 1)
    schedule = make_schedule(
        replace(schedule.plan, keep_moves=True), schedule.openings, schedule.pairs.deterministic
    )
    task = Task(pair, pair + 1, cutoffs, blocks)
    return sandbox.with_restarts(lambda: Worker(schedule, sandbox).play(task))


def make_move_replayer(schedule: Schedule, sandbox: Sandbox) -> Callable[[int, Games], list[int]]:
    """Return a function that plays the game of a row again, for runs that kept no moves.

    Its arguments are the row and both games of the pair.
    """

    def moves(row: int, games: Games) -> list[int]:
        pair, leg = divmod(row, 2)
        cutoffs = cutoffs_of_games(games, [pair], first=pair)
        return moves_of_game(play_pair(schedule, pair, cutoffs, sandbox), leg)

    return moves


class GameJob:
    """Plays the tasks of a plan; its worker is built here and inherited by forked processes."""

    def __init__(self, schedule: Schedule, options: PlayOptions, site: RemoteSite = HERE) -> None:
        """`site` is the machine that plays for another one."""
        self.schedule, self.options, self.site = schedule, options, site
        self.sandbox = options.sandbox or Sandbox()
        self.worker = Worker(schedule, self.sandbox)
        self.worker.sender_paths = site.sender_paths
        self.worker.worker_count = options.workers if options.pin_cores else 0
        self.early_faults = EarlyFaults()
        self.worker.referee_loop.report = self.early_faults.send
        # Called while the job waits for results: with faults as they happen; to show progress.
        self.on_fault: Callable[[EarlyFault], object] = ignore
        self.on_wait: Callable[[], object] = do_nothing
        self.show: ShowProgress = ignore_progress  # called while workers are prepared
        # Shared with forked workers: bots that are disqualified while tasks are under way.
        self.disqualified = RawArray("b", len(schedule.specs))
        self.worker.referee_loop.disqualified = self.disqualified
        self.spawner_losses = 0
        self.spawner_was_lost = False  # whether it may be the reason of the latest failure

    def disqualify(self, places: Iterable[int]) -> None:
        """Have workers leave out these bots, also in tasks that are under way."""
        for place in places:
            self.disqualified[place] = 1

    def batches(self, next_task: NextItem[Task]) -> Generator[Batch, None, None]:
        """Play tasks and yield the batches in their order; ItemFailed names a pair that fails."""
        try:
            yield from run_in_order(self.job, next_task, self.options)
        finally:
            if self.options.sandbox is None:
                self.sandbox.close()

    @property
    def job(self) -> Job[Task, Batch]:
        """How tasks are played."""
        return Job(
            self.worker.play_batch,
            describe=self._describe,
            prepare=self.prepare,
            split=Task.split,
            merge=self._merge,
            package=self._package,
            before_workers=self._restart_spawner,
            poll=self._poll,
            is_excused=lambda _: self.spawner_was_lost,  # nothing else ends workers from outside
            isolation=lambda: self.sandbox.level.name if self._has_bots else "",
        )

    @property
    def _has_bots(self) -> bool:
        return any(map(user_code_reason, self.schedule.specs))

    def prepare(self) -> None:
        """Open the sandbox if there are bots, and compile what forked workers inherit."""
        with watch(self.show, lambda: Progress("compiling")):
            if self._has_bots:
                self.sandbox.required |= self.schedule.plan.sandbox_required
                self.sandbox.open()
            self.worker.compile_agents()

    def _describe(self, task: Task) -> str:
        pairs = self.schedule.pairs.with_blocks(task.blocks)
        block = next(pairs.blocks(task.start, task.start + 1))
        names = self.schedule.plan.names
        return f"pair {task.start} ({names[block.a]} against {names[block.b]})"

    def _package(self) -> WorkPackage:
        maker = "arena.playing.worker:remote_game_job"
        return make_package(maker, (self.schedule,), self.sandbox.required)

    def _restart_spawner(self) -> None:
        """Replace the spawner of bots if it was lost; SpawnerLost if that happens too often."""
        self.spawner_was_lost = self.sandbox.replace_lost_spawner()
        if self.spawner_was_lost:
            self.spawner_losses += 1
            log.warning("the spawner of bots was lost, and is started again")
            if self.spawner_losses > MAX_RESTARTS:
                times = self.spawner_losses
                raise SpawnerLost(f"the spawner of bots was lost {times} times: {RESUME_HINT}")

    def _poll(self) -> None:
        for fault in self.early_faults.receive():
            self.on_fault(fault)
        self.on_wait()

    def _merge(self, task: Task, parts: list[Batch]) -> Batch | None:
        """Return the batch of a task from those of its pairs; None while some are missing."""
        if parts[-1].stop < task.stop:
            return None
        if len(parts) == 1:
            return parts[0]._replace(worker=self.site.worker)
        columns = self.schedule.pairs.with_blocks(task.blocks).columns(task.start, task.stop)
        games = decode_games([part.blob for part in parts], columns)
        seconds = sum(part.seconds for part in parts)
        return make_batch(task.start, task.stop, games, seconds, self.site.worker)


def remote_game_job(
    site: RemoteSite, schedules: tuple[Schedule, ...], required: bool
) -> Job[Task, Batch]:
    """Return the job of another machine, in a new sandbox; `required` refuses a weak one."""
    options = PlayOptions(1, Interrupts(), sandbox=Sandbox(required))
    return GameJob(schedules[0], options, site).job
