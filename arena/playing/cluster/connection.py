"""The Dask cluster and its workers."""

import asyncio
import contextlib
import itertools
import logging
import re
import signal
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple, TypeAlias

import distributed
from distributed.core import rpc
from distributed.versions import VersionMismatchWarning

from arena.playing.cluster.remote_player import Calibration
from arena.storage import provenance
from games.base.errors import Unfinished, UserError, print_error, printable
from games.base.text import quote

# A longer wait was none: this process itself was stopped, or had no processor.
LONGEST_SECONDS = 1.0
log = logging.getLogger(__name__)
# A worker that the scheduler has not heard from for this long may have stopped.
WORKER_SILENT_SECONDS = 10.0
# Machines are called alike if their processor seconds differ by less: what the clock itself and
# a busy neighbour make of the same games.
MAX_SPEED_RATIO = 1.25
MOST_STRIKES = 3
MOST_REASON = 300  # characters
CONNECT_SECONDS, ASK_SECONDS = 3.0, 5.0
SILENT_SECONDS = 30.0  # without an answer: the scheduler is gone
LOOK_SECONDS = 0.5
CLOSE_SECONDS = 5.0
# Packages that decide games, besides our sources.
REQUIRED_PACKAGES = ("python", "pitflip", "numba", "numpy")
LOCAL = re.compile(r"local:([0-9]{1,3})")
OfDask: TypeAlias = Any  # Dask gives its objects no types
Callback = Callable[["Future[OfDask]"], None]


class ListeningClock:
    """The seconds in which the cluster was listened to, entered again and again.

    A client that is busy elsewhere for a minute, with games to count or a machine to share,
    does not hear its workers then, and must not count them as lost.
    """

    def __init__(self) -> None:
        """Start with no time."""
        self.seconds = 0.0
        self._since = 0.0

    def __enter__(self) -> None:
        """Begin to listen."""
        self._since = time.monotonic()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Count what was listened."""
        self.seconds += min(time.monotonic() - self._since, LONGEST_SECONDS)


@dataclass(eq=False)
class ClusterWorker:
    """A Dask worker."""

    address: str
    name: str
    host: str
    slots: int
    attention: ListeningClock
    running: bool = True
    prepared: set[str] = field(default_factory=set)  # digests of parcels
    calibration: Calibration | None = None
    isolation: str = ""  # the walls that its bots play behind
    refusal: str = ""
    strikes: int = 0
    last_seen: float = 0.0  # by the scheduler's clock
    heard: float = 0.0  # when the scheduler last heard it, in seconds of attention

    @property
    def silent(self) -> bool:
        """Whether the scheduler has not heard from it for a long time."""
        return self.attention.seconds - self.heard > WORKER_SILENT_SECONDS


class WorkerRegistry:
    """All workers ever seen, and those that are there now."""

    def __init__(self) -> None:
        """No worker is known yet."""
        self.there: dict[str, ClusterWorker] = {}  # by address
        self.ever: list[ClusterWorker] = []
        self.changes = 0
        self.attention = ListeningClock()

    def update(self, workers: Mapping[str, Mapping[str, Any]]) -> None:
        """Update from what the scheduler reports."""
        for address in [each for each in self.there if each not in workers]:
            log.info("worker %s at %s is gone", self.there.pop(address).name, address)
            self.changes += 1
        for address, said in workers.items():
            if address not in self.there:
                name, host = str(said["name"]), str(said["host"])
                slots = int(said["nthreads"])
                self.there[address] = ClusterWorker(address, name, host, slots, self.attention)
                self.ever.append(self.there[address])
                log.info("worker %s at %s is there, with %s slots", name, address, said["nthreads"])
                self.changes += 1
            worker = self.there[address]
            worker.running = said["status"] == "running"
            if said["last_seen"] != worker.last_seen:
                worker.last_seen, worker.heard = said["last_seen"], self.attention.seconds

    def ready(self, digest: str) -> list[ClusterWorker]:
        """Those that can be given work of this parcel now."""
        return [
            each
            for each in self.there.values()
            if digest in each.prepared and each.running and not each.refusal and not each.silent
        ]

    def refuse(self, worker: ClusterWorker, why: str) -> None:
        """Exclude a worker from now on, and print that."""
        worker.refusal = printable(why, MOST_REASON)
        print_error(f"{worker.address} is left out: {worker.refusal}")
        log.warning("worker %s at %s is left out: %s", worker.name, worker.address, why)

    def count_failure(self, worker: ClusterWorker, why: str) -> None:
        """Count a failure of a worker; after too many it is excluded."""
        worker.strikes += 1
        log.warning("worker %s at %s failed: %s", worker.name, worker.address, why)
        if worker.strikes >= MOST_STRIKES and not worker.refusal:
            self.refuse(worker, why)

    def calibrated(self, worker: ClusterWorker, calibration: Calibration) -> None:
        """Note a worker's speed; exclude it if it plays other games than most."""
        worker.calibration = calibration
        log.info("worker %s at %s can play", worker.name, worker.address)
        played = Counter(each.calibration.games for each in self.ever if each.calibration)
        usual = played.most_common(1)[0][0]
        for each in self.there.values():
            if each.calibration and each.calibration.games != usual and not each.refusal:
                self.refuse(each, "it plays other games than the others from the same seeds")

    def factors(self) -> dict[str, float]:
        """Return the relative speed of each machine, by host: the fastest has 1.

        A machine is as fast as the fastest of its workers: the others were disturbed.
        """
        seconds: dict[str, float] = {}
        for each in self.ever:
            if each.calibration:
                latest = each.calibration.seconds
                seconds[each.host] = min(latest, seconds.get(each.host, latest))
        return {host: min(seconds.values()) / each for host, each in seconds.items()}

    def to_json(self) -> list[dict[str, object]]:
        """Every worker that has played, with its machine and that machine's speed."""
        factors = self.factors()
        return [
            {"worker": each.name, "host": each.host, "slots": each.slots,
             "speed": round(factors[each.host], 3)}
            | ({"isolation": each.isolation} if each.isolation else {})
            for each in self.ever
            if each.calibration
        ]  # fmt: skip

    def unequal_pair(self) -> tuple[ClusterWorker, ClusterWorker] | None:
        """Return a slow and a fast worker that may play, if their machines differ in speed."""
        factors = self.factors()
        known = [each for each in self.there.values() if each.calibration and not each.refusal]
        known.sort(key=lambda each: factors[each.host])
        if not known or factors[known[-1].host] <= MAX_SPEED_RATIO * factors[known[0].host]:
            return None
        return known[0], known[-1]


class ClusterUnavailable(UserError):  # noqa: N818  # a state, not a fault
    """There is no usable cluster at the address; one line says why."""

    has_place = True


class ClusterLost(Unfinished):
    """The scheduler can no longer be reached, or has no workers left."""

    def __init__(self, address: str, message: str) -> None:
        """`message` says what happened to it."""
        super().__init__(
            f"the cluster at {address} {message}; "
            "what is finished is kept, and the same command continues"
        )


class Call(NamedTuple):
    """A function that is called on a worker: Dask's future, and ours that waits for it."""

    future: OfDask
    waiting: "Future[OfDask]"

    def drop(self) -> None:
        """Drop the call, which the worker need not begin."""
        self.waiting.cancel()
        self.future.release()


class Cluster:
    """A running Dask cluster, or one that is started here and stopped at the end."""

    def __init__(self, address: str) -> None:
        """Connect; ClusterUnavailable says why that failed."""
        silence_dask()
        self.own: OfDask = None
        if local := LOCAL.fullmatch(address):
            self.own = start_local_cluster(int(local[1]))
            address = self.own.scheduler_address
        else:
            check_scheduler(address)
        self.address = address
        self.client: OfDask = distributed.Client(
            address, timeout=SILENT_SECONDS, set_as_default=False
        )
        self._check_scheduler_versions()
        self.members = WorkerRegistry()
        self.name = f"pitflip-{uuid.uuid4().hex}"
        self.numbers = itertools.count()
        self.events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.asking = False
        self.looked, self.heard = time.monotonic(), self.members.attention.seconds
        self.members.update(self.client.scheduler_info(n_workers=-1)["workers"])

    def __enter__(self) -> "Cluster":
        """The cluster itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the cluster; one that was started here is stopped.

        A busy one may take longer than we wait: all that counts is there, and it ends with us.
        """
        for each in (self.client, self.own):
            if each is not None:
                with contextlib.suppress(OSError):  # so is a TimeoutError
                    each.close(timeout=CLOSE_SECONDS)

    def _check_scheduler_versions(self) -> None:
        """Raise ClusterUnavailable if the scheduler could not open what is sent to its workers."""
        said = self.client.sync(self.client.scheduler.versions, packages=["pitflip"])
        if why := version_difference(said, ("pitflip",)):
            self.__exit__(None, None, None)
            needs = "a scheduler needs what its workers need"
            raise ClusterUnavailable(
                f"the scheduler at {self.address} cannot be used: {why}; {needs}"
            )

    @property
    def slots(self) -> int:
        """The number of items that the known workers can work on at once."""
        return sum(each.slots for each in self.members.there.values())

    def call(self, worker: str, then: Callback, function: Callable[..., Any], *words: Any) -> Call:
        """Call a function on one worker; `pump` passes the outcome to `then`."""
        future = self.client.submit(
            function, *words, key=(self.name, next(self.numbers)), workers=[worker],
            allow_other_workers=False, pure=False, retries=0,
        )  # fmt: skip
        return Call(future, self._when_done(_result(future), then))

    def versions(self, worker: str, packages: Sequence[str], then: Callback) -> None:
        """Ask what a worker has installed, which works without our packages there."""
        asked = {"op": "versions", "packages": list(packages)}
        self._when_done(self.client.scheduler.broadcast(msg=asked, workers=[worker]), then)

    def process_events(self, seconds: float) -> bool:
        """Handle what has happened, waiting for it if need be; whether anything has."""
        self._look()
        happened = False
        with self.members.attention:
            while True:
                try:
                    event = self.events.get(timeout=0 if happened else seconds)
                except Empty:
                    return happened
                event()
                happened = True

    def cancelled(self, done: "Future[OfDask]") -> bool:
        """Return whether a call was cancelled; ClusterLost if the scheduler is gone."""
        if not (done.cancelled() or isinstance(done.exception(), distributed.CancelledError)):
            return False
        if self.client.status != "running":
            raise ClusterLost(self.address, "has lost its scheduler")
        return True

    def _when_done(self, work: Coroutine[Any, Any, Any], then: Callback) -> "Future[OfDask]":
        future = asyncio.run_coroutine_threadsafe(work, self.client.loop.asyncio_loop)
        future.add_done_callback(lambda done: self.events.put(partial(then, done)))
        return future

    def _look(self) -> None:
        """Ask the scheduler now and then which workers there are."""
        now = time.monotonic()
        if self.members.attention.seconds - self.heard > SILENT_SECONDS:
            raise ClusterLost(self.address, f"has not answered for {SILENT_SECONDS:g} s")
        if not self.asking and now - self.looked > LOOK_SECONDS:
            self.asking, self.looked = True, now
            self._when_done(self.client.scheduler.identity(n_workers=-1), self._answered)

    def _answered(self, done: "Future[OfDask]") -> None:
        self.asking = False
        if done.cancelled() or done.exception() is not None:
            raise ClusterLost(self.address, "has lost its scheduler")
        self.heard = self.members.attention.seconds
        self.members.update(done.result()["workers"])


def silence_dask() -> None:
    """Silence Dask: we report what matters in one line."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore", VersionMismatchWarning)


async def _result(future: OfDask) -> OfDask:
    return await future


def start_local_cluster(workers: int) -> OfDask:
    """A cluster of processes of this machine; ClusterUnavailable if it does not start.

    Its processes never see Ctrl-C, which is for us; here it waits until they are there, for one
    that is half begun cannot be closed.
    """
    resource_tracker.ensure_running()  # begun later, it would let signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        return distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1",
            # Any free port: without an address it would be one that another run may have.
            dashboard_address="127.0.0.1:0", worker_dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )  # fmt: skip
    except (OSError, RuntimeError) as error:
        reason = printable(str(error), MOST_REASON)
        raise ClusterUnavailable(
            f"--cluster local:{workers}: the cluster does not start ({reason})"
        ) from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def check_scheduler(address: str) -> None:
    """Raise ClusterUnavailable unless a Dask scheduler answers there."""
    try:
        kind = asyncio.run(_kind_of(address))
    except TypeError:
        message = "is spoken to with certificates: set Dask's own TLS keys, see docs/cluster.md"
    except TimeoutError:
        message = f"does not answer like a Dask scheduler within {ASK_SECONDS:g} s"
    except OSError as error:
        message = f"nobody can be reached there ({str(error).partition(chr(10))[0][:200]})"
    except Exception as error:  # whatever bytes that are none of Dask's lead to
        message = f"is not a Dask scheduler ({type(error).__name__})"
    else:
        if kind == "Scheduler":
            return
        message = f"is not a Dask scheduler but a {kind}"
    raise ClusterUnavailable(f"--cluster {quote(address)}: {message}")


async def _kind_of(address: str) -> str:
    security = distributed.Security()
    encrypted = security.get_connection_args("client")
    remote = rpc(address, timeout=CONNECT_SECONDS, connection_args=encrypted)
    try:
        said = await asyncio.wait_for(remote.identity(), ASK_SECONDS)
        return str(said["type"])
    finally:
        await remote.close_rpc()


def version_difference(
    said: Mapping[str, Any], names: tuple[str, ...] = REQUIRED_PACKAGES
) -> str | None:
    """Return how another machine differs from this one; None if it does not."""
    known = provenance.versions()
    for name in names:
        there = said["packages"].get(name)
        if name == "python":
            there = ".".join(said["host"]["python"].split(".")[:3])
        if there != known[name]:
            what = f"{name} {there}" if there else f"no {name}"
            return f"it has {what}, here it is {known[name]}"
    return None
