"""Games of a task in one process."""

import contextlib
import logging
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from multiprocessing.sharedctypes import RawArray
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import Agent, AgentFailure, AgentSpec, HostSettings, Limit
from agents.create import create_agent
from agents.registry import users_code
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
from arena.planning.pair_order import Block, PairOrder
from arena.planning.schedule import DrawnPlan, make_schedule
from arena.planning.tasks import BATCH_SECONDS, Cutoffs, Task, TaskQueue
from arena.playing import executor, process_pool
from arena.playing.clock import with_own_seconds
from arena.playing.cluster.package import WorkPackage, make_package
from arena.playing.compiled_loop import COST_FIELDS, CompiledLoop, GameTooLong, Pair
from arena.playing.early_faults import EarlyFault, EarlyFaults
from arena.playing.executor import ItemFailed, NextItem, run_in_order
from arena.playing.options import Interrupts
from arena.playing.process_pool import pin_to_core
from arena.playing.referee_loop import RefereeLoop, ignore, stored_cutoffs
from arena.playing.regular_lines import regular_lines
from arena.storage.game_cache import GameCache
from arena.storage.run_log import renew_logs
from games.base.errors import Unfinished

if TYPE_CHECKING:
    from arena.playing.cluster.connection import Cluster

MAX_REMEMBERED = 4096  # pairings that a process remembers; others it plays again
COST_COLUMNS = (*{*COST_FIELDS, *TIMING_COLUMNS}, "first_moves", "second_moves")
Play = Callable[[Block], list[Games]]
Key = tuple[int, int, int]  # both agents and the opening
log = logging.getLogger(__name__)
# A client and a scheduler do about 800 (docs/cluster.md): a quarter of that leaves them idle enough
# to answer at once.
MAX_TASKS_PER_SECOND = 200
RESUME_HINT = "what is finished is kept, the same command continues"


class DuplicateGames:
    """The games that one process remembers of matches that depend on nothing but the opening.

    All pairings of such a match that share an opening share a seed, so it does not matter which
    of them is played: the tables are the same for any number of processes.
    """

    def __init__(self, pairings: PairOrder) -> None:
        """Nothing is remembered yet."""
        self.pairings = pairings
        self.known: dict[Key, Games] = {}

    def games(self, block: Block, play: Play) -> list[Games]:
        """Both games of every pairing of the block; `play` plays those that are new."""
        openings = len(self.pairings.keys)
        once = concat_games(list(self._once(block._replace(size=min(block.size, openings)), play)))
        if block.size <= openings:
            return [once]
        return [once, copy_games(once, np.arange(openings, block.size) % openings)]

    def _once(self, block: Block, play: Play) -> Iterator[Games]:
        """The games of a block in which no opening comes twice."""
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
    """A copy of the games of some pairings, at no cost: no agent had to think."""
    rows = np.stack([2 * pairings, 2 * pairings + 1], axis=1).ravel()
    again = take_games(games, rows)
    for name in COST_COLUMNS:
        again.columns[name] = np.zeros_like(again.columns[name])
    return again


class Worker:
    """The agents of one process, built when first needed, and the two loops they play in."""

    def __init__(self, drawn: DrawnPlan, wall: Sandbox | None = None) -> None:
        """Nothing is built yet; bots live behind the wall, or behind one of its own."""
        self.drawn = drawn
        thoughts = drawn.plan.thoughts
        self.terms = HostSettings(wall or Sandbox(), thoughts=thoughts)
        self.homes: Mapping[str, str] = {}  # of paths here, how they are to be called
        self.workers = 0  # how many play beside each other; 0: nobody keeps to a core
        self.agents: dict[int, Agent] = {}
        self.starts_apart = False  # whether a batch's time is without the first start of its bots
        self.begun: set[int] = set()  # bots that were started apart
        self.compiled_loop = CompiledLoop(drawn)
        self.referee_loop = RefereeLoop(drawn, self.agent)
        self.repeats = DuplicateGames(drawn.pairings)

    def agent(self, place: int) -> Agent:
        """The agent at one place of the experiment."""
        if place not in self.agents:
            if users_code(self.drawn.specs[place]) and not self.terms.cores:
                self.terms = replace(self.terms, cores=pin_to_core(self.workers))
            self.agents[place] = self._built(self.drawn.specs[place])
        return self.agents[place]

    def renew(self, place: int, spec: AgentSpec) -> None:
        """Build the agent at a place anew, by another spec of the same kind."""
        old = self.agents.pop(place, None)
        if old is not None and hasattr(old, "close"):
            old.close()
        self.agents[place] = self._built(spec)

    def _built(self, spec: AgentSpec) -> Agent:
        return create_agent(
            spec, self.drawn.of, with_own_seconds(self.terms, self.drawn.plan, spec)
        )

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
        games = with_sender_paths(self.play(task), self.homes)
        batch = make_batch(task.start, task.stop, games, 0.0)
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
            if self.drawn.pairings.repeats(block) and not is_disqualified(block, task):
                parts += self.repeats.games(block, lambda piece: self._block(piece, task))
            else:
                parts += self._block(block, task)
        return concat_games(parts)

    def _block(self, block: Block, task: Task) -> list[Games]:
        self._end_restless_bots((block.a, block.b))
        if is_disqualified(block, task):
            return [self.referee_loop.play(block, task)]
        both = self.compiled(block)
        if both is None:
            return [self.referee_loop.play(block, task)]
        try:
            return [self.compiled_loop.play(block, both)]
        except GameTooLong:
            return [self.referee_loop.play(block, task)]

    def _end_restless_bots(self, places: tuple[int, int]) -> None:
        """End bots of other pairs that use the processor out of turn; the rest wait quietly."""
        for place, agent in self.agents.items():
            bot = getattr(agent, "bot", None)
            if place not in places and isinstance(bot, BotProcess) and bot.is_watched:
                bot.end()

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


def with_sender_paths(games: Games, homes: Mapping[str, str]) -> Games:
    """The games, in whose traces paths of this machine are called what the client calls them."""
    if not (homes and games.traces):
        return games
    traces = dict(games.traces)
    for here, there in homes.items():
        traces = {row: text.replace(here, there) for row, text in traces.items()}
    return replace(games, traces=traces)


def is_disqualified(block: Block, task: Task) -> bool:
    """Whether one of both agents is not asked any more."""
    return any(place in (block.a, block.b) for place, _ in task.out)


def play_pair(drawn: DrawnPlan, pairing: int, verdicts: Cutoffs, wall: Sandbox) -> Games:
    """Both games of the pairing with their moves."""
    blocks = drawn.pairings.carried(pairing, pairing + 1)
    drawn = make_schedule(
        replace(drawn.plan, keep_moves=True), drawn.openings, drawn.pairings.fixed
    )
    task = Task(pairing, pairing + 1, verdicts, blocks)
    return wall.with_restarts(lambda: Worker(drawn, wall).play(task))


def make_move_replayer(drawn: DrawnPlan, wall: Sandbox) -> Callable[[int, Games], list[int]]:
    """A function that plays the game of a row again, for runs that kept no moves.

    It takes both games of the pairing, too.
    """

    def moves(row: int, games: Games) -> list[int]:
        pairing, leg = divmod(row, 2)
        verdicts = stored_cutoffs(games, [pairing], first=pairing)
        return moves_of_game(play_pair(drawn, pairing, verdicts, wall), leg)

    return moves


class PlayOptions(NamedTuple):
    """Where games are played, by how many workers, and what may interrupt them."""

    workers: int  # processes; 0: games are played in this one
    interrupts: Interrupts
    cluster: "Cluster | None" = None  # in place of processes
    wall: Sandbox | None = None  # None: one for each crew
    known: GameCache | None = None  # games that need not be played
    pinned: bool = True  # whether a worker keeps to a core with its bots, where there are enough

    @property
    def at_once(self) -> int:
        """How many games are played at a time."""
        return max(1, self.workers)

    @property
    def batch_seconds(self) -> float:
        """How long a task should take: with many workers one scheduler hands them out."""
        slots = 0 if self.cluster is None else self.cluster.slots
        return max(BATCH_SECONDS, slots / MAX_TASKS_PER_SECOND)

    def speeds(self, tasks: TaskQueue) -> dict[str, float]:
        """How many games each worker of the cluster plays a second, by what it played last."""
        if self.cluster is None:
            return {}
        there = self.cluster.members.there.values()
        speed = tasks.speeds
        return {
            each.name: 2 * speed[each.address] * each.slots
            for each in there
            if each.address in speed
        }

    def begin(
        self,
        work: Callable[[], Callable[[executor.Item], executor.Result]],
        sent: Callable[[], WorkPackage],
        look: Callable[[], None],
        workers: int | None,
    ) -> executor.Executor[executor.Item, executor.Result]:
        """A backend for work done in processes forked from here, or sent elsewhere as a parcel."""
        if self.cluster is None:
            most = self.workers if workers is None else min(workers, self.workers)
            return process_pool.begin(work(), most)
        from arena.playing.cluster.dask_executor import DaskExecutor  # noqa: PLC0415  # it loads Dask

        return DaskExecutor(self.cluster, sent(), workers is not None, look)


class PairFailed(Unfinished):  # the run ends here; the games already played are kept
    """A pairing that cannot be played; `pairing` is its number."""

    def __init__(self, pairing: int, message: str) -> None:
        """`message` says who played and what happened."""
        super().__init__(f"pairing {pairing} {message}")
        self.pairing = pairing


def nothing() -> None:
    """Do nothing while results are awaited."""


class GameJob:
    """The crew that plays the tasks of a plan; its worker is made here and forked."""

    def __init__(self, drawn: DrawnPlan, options: PlayOptions) -> None:
        """Nothing is built yet."""
        self.drawn, self.options = drawn, options
        self.name = ""  # of the Dask worker that these play for
        self.homes: Mapping[
            str, str
        ] = {}  # its paths of users' files, and what the client calls them
        self.wall = options.wall or Sandbox()
        self.worker = Worker(drawn, self.wall)
        self.worker.workers = options.workers if options.pinned else 0
        self.early = EarlyFaults()
        self.worker.referee_loop.report = self.early.send
        self.tell(ignore, nothing, log.info)
        # Shared with forked workers: bots that are excluded while tasks are under way.
        self.excluded = RawArray("b", len(drawn.specs))
        self.worker.referee_loop.excluded = self.excluded
        self.lost = 0  # spawners of bots
        self.excuse = False  # whether what failed last may have failed for want of a spawner

    def tell(
        self,
        on_fault: Callable[[EarlyFault], object],
        on_wait: Callable[[], object],
        notify: Callable[[str], object],
    ) -> None:
        """Call these while results are awaited: with faults as they happen; to show progress.

        `notify` gets a line every few seconds while workers are made ready.
        """
        self.on_fault, self.on_wait, self.notify = on_fault, on_wait, notify

    def exclude(self, places: Iterable[int]) -> None:
        """Have workers leave out these bots, also in tasks that are under way."""
        for place in places:
            self.excluded[place] = 1

    def get_ready(self) -> None:
        """Begin the wall, where somebody needs it, and compile what forks inherit."""
        if any(map(users_code, self.drawn.specs)):
            self.wall.required |= self.drawn.plan.walls_required
            self.wall.open()
        self.worker.warm()

    @property
    def isolation(self) -> str:
        """The walls that bots play behind here; empty if there are no bots."""
        return self.wall.level.name if any(map(users_code, self.drawn.specs)) else ""

    def batches(self, next_task: NextItem[Task]) -> Generator[Batch, None, None]:
        """What `Worker.batch` makes of tasks, in order; RunFailed names a pairing that fails."""
        if self.options.cluster is None:
            with regular_lines(lambda: "getting ready: compiling", self.notify):
                self.get_ready()
        try:
            with self.options.interrupts.wait_for_look():
                yield from run_in_order(self, next_task)
        except ItemFailed as failure:
            raise self._blamed(failure) from None
        finally:
            if self.options.wall is None:
                self.wall.close()

    def _blamed(self, failure: ItemFailed) -> PairFailed:
        """The failure that names the pairing and what happened."""
        pairing = failure.item.start
        pairings = self.drawn.pairings.carrying(failure.item.blocks)
        block = next(pairings.blocks(pairing, pairing + 1))
        names = self.drawn.plan.names
        at = f" at worker {failure.worker}" if failure.worker else ""
        if failure.trace:
            log.error("pairing %d is void%s: %s", pairing, at, failure.trace)
        what = failure.trace.rpartition("\n")[2] or "ended its worker"
        who = f"{names[block.a]} against {names[block.b]}"
        return PairFailed(pairing, f"({who}): {what}, and again when played alone{at}")

    # What `in_order` needs of a crew.

    def begin(self, workers: int | None = None) -> executor.Executor[Task, Batch]:
        """A new backend whose workers play as this one does.

        A spawner of bots that was lost is begun again; SpawnerLost if that happens all the time.
        """
        self.excuse = self.wall.restart_if_lost()
        if self.excuse:
            self.lost += 1
            log.warning("the spawner of bots was lost, and is begun again")
            if self.lost > MAX_RESTARTS:
                raise SpawnerLost(f"the spawner of bots was lost {self.lost} times: {RESUME_HINT}")
        self.worker.homes = self.homes
        return self.options.begin(lambda: self.worker.batch, self.parcel, self.look, workers)

    def parcel(self) -> WorkPackage:
        """The plan, to be played by others."""
        maker = "arena.playing.worker:remote_game_job"
        return make_package(maker, (self.drawn,), self.wall.required)

    def look(self) -> None:
        """Raise if a signal arrived; pass on what happened meanwhile."""
        self.options.interrupts.look()
        for fault in self.early.receive():
            self.on_fault(fault)
        self.on_wait()

    def split(self, task: Task) -> list[Task]:
        """The task as one task for each pairing."""
        return task.split()

    def excused(self, task: Task) -> bool:
        """Only a lost spawner explains the failure of a pairing: we end no workers ourselves."""
        return self.excuse

    def mend(self) -> None:
        """Give the log a new queue: a worker that died may hold the lock of the old one."""
        renew_logs()

    def whole(self, task: Task, parts: list[Batch]) -> Batch | None:
        """The batch of a task from those of its pairings; None while some are missing."""
        if parts[-1].stop < task.stop:
            return None
        if len(parts) == 1:
            return parts[0]._replace(worker=self.name)
        placed = self.drawn.pairings.carrying(task.blocks).columns(task.start, task.stop)
        games = decode_games([part.games for part in parts], placed)
        seconds = sum(part.seconds for part in parts)
        return make_batch(task.start, task.stop, games, seconds, self.name)


def remote_game_job(plans: tuple[DrawnPlan, ...], required: bool) -> GameJob:
    """The workers of a plan on a machine of a cluster, where one item is played at a time.

    Its bots play behind its own wall; `required` refuses a weak one.
    """
    return GameJob(plans[0], PlayOptions(1, Interrupts(), wall=Sandbox(required)))
