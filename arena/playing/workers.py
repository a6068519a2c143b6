"""The workers of a run: they play its tasks, though one may hang, fail or die."""

import logging
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from agents import users_code
from agents.wall.running_spawner import SpawnerLost
from agents.wall.wall import MOST_LOST, Wall
from arena.keeping.known_games import KnownGames
from arena.keeping.run_log import renew_logs
from arena.planning.drawing import DrawnPlan
from arena.planning.game_blobs import Batch, batched, decoded
from arena.planning.tasks import BATCH_SECONDS, Task, Tasks
from arena.playing import backends
from arena.playing.cluster.parcel import Parcel, parcel
from arena.playing.in_order import ItemFailed, NextItem, in_order
from arena.playing.interrupts import Interrupts
from arena.playing.worker import Worker
from games.terminal import Unfinished

if TYPE_CHECKING:
    from arena.playing.cluster.connection import Cluster

log = logging.getLogger(__name__)

# A client and a scheduler do about 800 (docs/cluster.md): a quarter of that leaves them idle enough
# to answer at once.
TASKS_A_SECOND = 200
KEPT = "what is finished is kept, the same command continues"


class PlayOptions(NamedTuple):
    """Where games are played, by how many workers, and what may interrupt them."""

    workers: int
    interrupts: Interrupts
    backend: str = "processes"
    cluster: "Cluster | None" = None  # in place of the backend
    wall: Wall | None = None  # None: one for each crew
    known: KnownGames | None = None  # games that need not be played
    pinned: bool = True  # whether a worker keeps to a core with its bots, where there are enough

    @property
    def batch_seconds(self) -> float:
        """How long a task should take: with many workers one scheduler hands them out."""
        slots = 0 if self.cluster is None else self.cluster.slots
        return max(BATCH_SECONDS, slots / TASKS_A_SECOND)

    def speeds(self, tasks: Tasks) -> dict[str, float]:
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
        work: Callable[[], Callable[[backends.Item], backends.Result]],
        sent: Callable[[], Parcel],
        look: Callable[[], None],
        workers: int | None,
    ) -> backends.Backend[backends.Item, backends.Result]:
        """A backend for work done in processes forked from here, or sent elsewhere as a parcel."""
        if self.cluster is None:
            return backends.begin(self.backend, work(), workers or self.workers)
        from arena.playing.cluster.farm import Farm  # noqa: PLC0415  # it loads Dask

        return Farm(self.cluster, sent(), workers is not None, look)


class RunFailed(Unfinished):  # the run ends here; the games already played are kept
    """A pairing that cannot be played; `pairing` is its number."""

    def __init__(self, pairing: int, message: str) -> None:
        """`message` says who played and what happened."""
        super().__init__(f"pairing {pairing} {message}")
        self.pairing = pairing


def nothing() -> None:
    """Do nothing while results are awaited."""


class Workers:
    """The crew that plays the tasks of a plan; its worker is made here and forked."""

    def __init__(self, drawn: DrawnPlan, options: PlayOptions) -> None:
        """Nothing is built yet."""
        self.drawn, self.options = drawn, options
        self.name = ""  # of the Dask worker that these play for
        self.homes: Mapping[
            str, str
        ] = {}  # its paths of users' files, and what the client calls them
        self.wall = options.wall or Wall()
        self.worker = Worker(drawn, self.wall)
        self.worker.workers = options.workers if options.pinned else 0
        # Called while results are awaited, to show progress.
        self.on_wait: Callable[[], object] = nothing
        self.lost = 0  # spawners of bots
        self.excuse = False  # whether what failed last may have failed for want of a spawner

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
            self.get_ready()
        try:
            with self.options.interrupts.wait_for_look():
                yield from in_order(self, next_task)
        except ItemFailed as failure:
            raise self._blamed(failure) from None
        finally:
            if self.options.wall is None:
                self.wall.close()

    def _blamed(self, failure: ItemFailed) -> RunFailed:
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
        return RunFailed(pairing, f"({who}): {what}, and again when played alone{at}")

    # What `in_order` needs of a crew.

    def begin(self, workers: int | None = None) -> backends.Backend[Task, Batch]:
        """A new backend whose workers play as this one does.

        There is one worker where a client connects to a port of ours: it cannot connect to two.
        A spawner of bots that was lost is begun again; SpawnerLost if that happens all the time.
        """
        self.excuse = self.wall.renewed()
        if self.excuse:
            self.lost += 1
            log.warning("the spawner of bots was lost, and is begun again")
            if self.lost > MOST_LOST:
                raise SpawnerLost(f"the spawner of bots was lost {self.lost} times: {KEPT}")
        if any("port" in spec.options for spec in self.drawn.specs):
            workers = 1
        self.worker.homes = self.homes
        return self.options.begin(lambda: self.worker.batch, self.parcel, self.look, workers)

    def parcel(self) -> Parcel:
        """The plan, to be played by others."""
        maker = "arena.playing.workers:far_workers"
        return parcel(maker, (self.drawn,), self.wall.required)

    def look(self) -> None:
        """Raise if a signal arrived; show progress."""
        self.options.interrupts.look()
        self.on_wait()

    def split(self, task: Task) -> list[Task]:
        """The task as one task for each pairing."""
        return task.singles()

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
        games = decoded([part.games for part in parts], placed)
        seconds = sum(part.seconds for part in parts)
        return batched(task.start, task.stop, games, seconds, self.name)


def far_workers(plans: tuple[DrawnPlan, ...], required: bool) -> Workers:
    """The workers of a plan on a machine of a cluster, where one item is played at a time.

    Its bots play behind its own wall; `required` refuses a weak one.
    """
    return Workers(plans[0], PlayOptions(1, Interrupts(), wall=Wall(required)))
