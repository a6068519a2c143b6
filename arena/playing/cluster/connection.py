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
from typing import Any, NamedTuple, TypeAlias

import distributed
from distributed.core import rpc
from distributed.versions import VersionMismatchWarning

from arena.playing.cluster.remote_player import Calibration
from arena.storage import provenance
from games.base.errors import Unfinished, UserError, print_error, printable
from games.base.text import quote

log = logging.getLogger(__name__)
LONGEST_SECONDS = 1.0  # in longer waits this process itself was stopped, or had no processor
WORKER_SILENT_SECONDS = 10.0  # without a sign of life: the worker may have stopped
# Machines count as equally fast if their processor seconds differ by less. The clock itself and a
# busy neighbour cause such differences between runs of the same games.
MAX_SPEED_RATIO = 1.25
MAX_FAILURES = 3  # of a worker before it is excluded
MAX_REASON = 300  # characters
CONNECT_SECONDS, ASK_SECONDS = 3.0, 5.0
SILENT_SECONDS = 30.0  # without an answer: the scheduler is gone
REQUEST_SECONDS = 0.5  # between requests for the list of workers
CLOSE_SECONDS = 5.0
# Packages that decide games, besides our sources.
REQUIRED_PACKAGES = ("python", "pitflip", "numba", "numpy")
LOCAL = re.compile(r"local:([0-9]{1,3})")
DaskObject: TypeAlias = Any  # Dask has no types
Callback = Callable[["Future[DaskObject]"], None]


class ListeningClock:
    """The seconds in which this process listened to the cluster, as a context manager.

    A client that is busy for a minute, with games to count or on a shared machine, does not hear
    its workers then, and must not count them as lost.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._begun = 0.0

    def __enter__(self) -> None:
        self._begun = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self.seconds += min(time.monotonic() - self._begun, LONGEST_SECONDS)


@dataclass(eq=False)
class ClusterWorker:
    """A Dask worker."""

    address: str
    name: str
    host: str
    slots: int
    clock: ListeningClock
    is_running: bool = True
    prepared: set[str] = field(default_factory=set)  # digests of packages
    calibration: Calibration | None = None
    isolation: str = ""  # the sandbox level of its bots
    refusal: str = ""
    failures: int = 0
    last_seen: float = 0.0  # by the scheduler's clock
    heard: float = 0.0  # when the scheduler last heard it, by `clock`

    @property
    def is_silent(self) -> bool:
        """True if the scheduler has not heard from it for a long time."""
        return self.clock.seconds - self.heard > WORKER_SILENT_SECONDS


class WorkerRegistry:
    """All workers that ever joined, and those that are present."""

    def __init__(self) -> None:
        self.present: dict[str, ClusterWorker] = {}  # by address
        self.all_workers: list[ClusterWorker] = []
        self.changes = 0
        self.clock = ListeningClock()

    def update(self, workers: Mapping[str, Mapping[str, Any]]) -> None:
        """Update from the scheduler's list of workers."""
        for address in [each for each in self.present if each not in workers]:
            log.info("worker %s at %s is gone", self.present.pop(address).name, address)
            self.changes += 1
        for address, info in workers.items():
            if address not in self.present:
                name, host, slots = str(info["name"]), str(info["host"]), int(info["nthreads"])
                worker = ClusterWorker(address, name, host, slots, self.clock)
                self.present[address] = worker
                self.all_workers.append(worker)
                log.info("worker %s at %s is there, with %s slots", name, address, slots)
                self.changes += 1
            worker = self.present[address]
            worker.is_running = info["status"] == "running"
            if info["last_seen"] != worker.last_seen:
                worker.last_seen, worker.heard = info["last_seen"], self.clock.seconds

    def usable(self, digest: str) -> list[ClusterWorker]:
        """Return the workers that can get work of this package now."""
        return [
            each
            for each in self.present.values()
            if digest in each.prepared
            and each.is_running
            and not each.refusal
            and not each.is_silent
        ]

    def refuse(self, worker: ClusterWorker, why: str) -> None:
        """Exclude a worker from now on, and print that."""
        worker.refusal = printable(why, MAX_REASON)
        print_error(f"{worker.address} is left out: {worker.refusal}")
        log.warning("worker %s at %s is left out: %s", worker.name, worker.address, why)

    def count_failure(self, worker: ClusterWorker, why: str) -> None:
        """Count a failure of a worker; after too many it is excluded."""
        worker.failures += 1
        log.warning("worker %s at %s failed: %s", worker.name, worker.address, why)
        if worker.failures >= MAX_FAILURES and not worker.refusal:
            self.refuse(worker, why)

    def add_calibration(self, worker: ClusterWorker, calibration: Calibration) -> None:
        """Note a worker's speed; exclude workers that play other games than most."""
        worker.calibration = calibration
        log.info("worker %s at %s can play", worker.name, worker.address)
        known = [each.calibration.games_digest for each in self.all_workers if each.calibration]
        usual = Counter(known).most_common(1)[0][0]
        for each in self.present.values():
            if each.calibration and each.calibration.games_digest != usual and not each.refusal:
                self.refuse(each, "it plays other games than the others from the same seeds")

    def relative_speeds(self) -> dict[str, float]:
        """Return the speed of each machine, by host, relative to the fastest one.

        A machine is as fast as the fastest of its workers: the others were disturbed.
        """
        seconds: dict[str, float] = {}
        for each in self.all_workers:
            if each.calibration:
                latest = each.calibration.seconds
                seconds[each.host] = min(latest, seconds.get(each.host, latest))
        return {host: min(seconds.values()) / each for host, each in seconds.items()}

    def to_json(self) -> list[dict[str, object]]:
        """Return every worker that has played, with its machine and that machine's speed."""
        speeds = self.relative_speeds()
        return [
            {"worker": each.name, "host": each.host, "slots": each.slots,
             "speed": round(speeds[each.host], 3)}
            | ({"isolation": each.isolation} if each.isolation else {})
            for each in self.all_workers
            if each.calibration
        ]  # fmt: skip

    def unequal_pair(self) -> tuple[ClusterWorker, ClusterWorker] | None:
        """Return a slow and a fast worker that may play, if their machines differ in speed."""
        speeds = self.relative_speeds()
        known = [each for each in self.present.values() if each.calibration and not each.refusal]
        known.sort(key=lambda each: speeds[each.host])
        if not known or speeds[known[-1].host] <= MAX_SPEED_RATIO * speeds[known[0].host]:
            return None
        return known[0], known[-1]


class ClusterUnavailable(UserError):  # noqa: N818  # a state, not a fault
    """There is no usable cluster at the address; one line says why."""

    has_place = True


class ClusterLost(Unfinished):
    """The scheduler can no longer be reached, or has no workers left."""

    def __init__(self, address: str, message: str) -> None:
        super().__init__(
            f"the cluster at {address} {message}; "
            "finished games are kept, and the same command continues"
        )


class Call(NamedTuple):
    """A function call on a worker: Dask's future, and the one that waits for it."""

    future: DaskObject
    outcome: "Future[DaskObject]"

    def drop(self) -> None:
        """Drop the call; the worker need not begin it."""
        self.outcome.cancel()
        self.future.release()


class Cluster:
    """A running Dask cluster, or one that is started here and stopped at the end."""

    def __init__(self, address: str) -> None:
        """Connect; ClusterUnavailable says why that failed."""
        silence_dask()
        self.local_cluster: DaskObject = None
        if local := LOCAL.fullmatch(address):
            self.local_cluster = start_local_cluster(int(local[1]))
            address = self.local_cluster.scheduler_address
        else:
            check_scheduler(address)
        self.address = address
        self.client: DaskObject = distributed.Client(
            address, timeout=SILENT_SECONDS, set_as_default=False
        )
        self._check_scheduler_versions()
        self.workers = WorkerRegistry()
        self.name = f"pitflip-{uuid.uuid4().hex}"
        self.numbers = itertools.count()
        self.events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.is_asking = False
        self.last_request, self.last_answer = time.monotonic(), self.workers.clock.seconds
        self.workers.update(self.client.scheduler_info(n_workers=-1)["workers"])

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the cluster; one that was started here is stopped.

        A busy one may not close in time. That does no harm: it ends with this process.
        """
        for each in (self.client, self.local_cluster):
            if each is not None:
                with contextlib.suppress(OSError):  # TimeoutError is one
                    each.close(timeout=CLOSE_SECONDS)

    def _check_scheduler_versions(self) -> None:
        """Raise ClusterUnavailable if the scheduler could not open what is sent to its workers."""
        versions = self.client.sync(self.client.scheduler.versions, packages=["pitflip"])
        if why := version_difference(versions, ("pitflip",)):
            self.__exit__()
            needs = "a scheduler needs what its workers need"
            raise ClusterUnavailable(
                f"the scheduler at {self.address} cannot be used: {why}; {needs}"
            )

    @property
    def slots(self) -> int:
        """The number of items that the known workers can work on at once."""
        return sum(each.slots for each in self.workers.present.values())

    def call(
        self, worker: str, then: Callback, function: Callable[..., Any], *arguments: Any
    ) -> Call:
        """Call a function on one worker; `process_events` passes the outcome to `then`."""
        future = self.client.submit(
            function, *arguments, key=(self.name, next(self.numbers)), workers=[worker],
            allow_other_workers=False, pure=False, retries=0,
        )  # fmt: skip
        return Call(future, self._run_then(_result(future), then))

    def request_versions(self, worker: str, packages: Sequence[str], then: Callback) -> None:
        """Ask which versions a worker has installed; this needs no package of ours there."""
        message = {"op": "versions", "packages": list(packages)}
        self._run_then(self.client.scheduler.broadcast(msg=message, workers=[worker]), then)

    def process_events(self, seconds: float) -> bool:
        """Handle the events so far, or wait for one; return whether there was one."""
        self._request_identity()
        happened = False
        with self.workers.clock:
            while True:
                try:
                    event = self.events.get(timeout=0 if happened else seconds)
                except Empty:
                    return happened
                event()
                happened = True

    def has_no_result(self, done: "Future[DaskObject]") -> bool:
        """Return whether a call was cancelled; ClusterLost if the scheduler is gone."""
        if not (done.cancelled() or isinstance(done.exception(), distributed.CancelledError)):
            return False
        if self.client.status != "running":
            raise ClusterLost(self.address, "has lost its scheduler")
        return True

    def _run_then(self, work: Coroutine[Any, Any, Any], then: Callback) -> "Future[DaskObject]":
        future = asyncio.run_coroutine_threadsafe(work, self.client.loop.asyncio_loop)
        future.add_done_callback(lambda done: self.events.put(partial(then, done)))
        return future

    def _request_identity(self) -> None:
        """Ask the scheduler now and then for its list of workers."""
        now = time.monotonic()
        if self.workers.clock.seconds - self.last_answer > SILENT_SECONDS:
            raise ClusterLost(self.address, f"has not answered for {SILENT_SECONDS:g} s")
        if not self.is_asking and now - self.last_request > REQUEST_SECONDS:
            self.is_asking, self.last_request = True, now
            self._run_then(self.client.scheduler.identity(n_workers=-1), self._handle_identity)

    def _handle_identity(self, done: "Future[DaskObject]") -> None:
        self.is_asking = False
        if done.cancelled() or done.exception() is not None:
            raise ClusterLost(self.address, "has lost its scheduler")
        self.last_answer = self.workers.clock.seconds
        self.workers.update(done.result()["workers"])


def silence_dask() -> None:
    """Silence Dask: our own messages report what matters in one line."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore", VersionMismatchWarning)


async def _result(future: DaskObject) -> DaskObject:
    return await future


def start_local_cluster(workers: int) -> DaskObject:
    """Start a cluster of processes of this machine; ClusterUnavailable if it does not start.

    Its processes never see Ctrl-C, which is meant for this one. Here it is blocked until they are
    there, because a cluster that has started in part cannot be closed.
    """
    resource_tracker.ensure_running()  # started later, it would unblock the signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        return distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1",
            # Any free port: the default may be in use by another run.
            dashboard_address="127.0.0.1:0", worker_dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )  # fmt: skip
    except (OSError, RuntimeError) as error:
        reason = printable(str(error), MAX_REASON)
        raise ClusterUnavailable(
            f"--cluster local:{workers}: the cluster does not start ({reason})"
        ) from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def check_scheduler(address: str) -> None:
    """Raise ClusterUnavailable unless a Dask scheduler answers at the address."""
    try:
        kind = asyncio.run(_kind_of(address))
    except TypeError:
        message = "requires certificates: set Dask's own TLS keys, see docs/how-to/use-a-cluster.md"
    except TimeoutError:
        message = f"does not answer like a Dask scheduler within {ASK_SECONDS:g} s"
    except OSError as error:
        message = f"cannot be reached ({str(error).partition(chr(10))[0][:200]})"
    except Exception as error:  # any other protocol may cause any exception
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
        identity = await asyncio.wait_for(remote.identity(), ASK_SECONDS)
        return str(identity["type"])
    finally:
        await remote.close_rpc()


def version_difference(
    versions: Mapping[str, Any], names: tuple[str, ...] = REQUIRED_PACKAGES
) -> str | None:
    """Return how another machine differs from this one; None if it does not."""
    ours = provenance.package_versions()
    for name in names:
        theirs = versions["packages"].get(name)
        if name == "python":
            theirs = ".".join(versions["host"]["python"].split(".")[:3])
        if theirs != ours[name]:
            what = f"{name} {theirs}" if theirs else f"no {name}"
            return f"it has {what}, here it is {ours[name]}"
    return None
