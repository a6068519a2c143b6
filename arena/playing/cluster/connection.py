"""The connection to a Dask cluster, checked before it is used, its workers watched."""

import asyncio
import contextlib
import itertools
import logging
import re
import signal
import time
import uuid
import warnings
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from functools import partial
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple, TypeAlias

import distributed
from distributed.core import rpc
from distributed.versions import VersionMismatchWarning

from arena.playing.cluster.members import MOST_REASON, Members
from arena.playing.cluster.required_versions import difference
from games.names import quoted
from games.terminal import Mistake, Unfinished, printable

CONNECT_SECONDS, ASK_SECONDS = 3.0, 5.0
SILENT_SECONDS = 30.0  # a scheduler that does not answer for so long is gone
LOOK_SECONDS = 0.5
CLOSE_SECONDS = 5.0
WAIT_SECONDS = 60.0
LOCAL = re.compile(r"local:([0-9]{1,3})")

OfDask: TypeAlias = Any  # Dask gives its objects no types
Then = Callable[["Future[OfDask]"], None]


class NoCluster(Mistake):
    """The address is not that of a usable cluster; one line says what is there."""

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

    def __init__(self, address: str, wait_seconds: float = WAIT_SECONDS) -> None:
        """Connect, waiting at most `wait_seconds`; NoCluster says why that failed."""
        hush()
        self.own: OfDask = None
        if local := LOCAL.fullmatch(address):
            self.own = _started(int(local[1]))
            address = self.own.scheduler_address
        else:
            refuse_strangers(address)
        self.address, self.wait_seconds = address, wait_seconds
        self.client: OfDask = distributed.Client(
            address, timeout=SILENT_SECONDS, set_as_default=False
        )
        self._refuse_a_bare_scheduler()
        self.members = Members()
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

    def _refuse_a_bare_scheduler(self) -> None:
        """Raise NoCluster if the scheduler could not open what is sent to its workers."""
        said = self.client.sync(self.client.scheduler.versions, packages=["pitflip"])
        if why := difference(said, ("pitflip",)):
            self.__exit__(None, None, None)
            needs = "a scheduler needs what its workers need"
            raise NoCluster(f"the scheduler at {self.address} cannot be used: {why}; {needs}")

    @property
    def slots(self) -> int:
        """The number of items that the known workers can work on at once."""
        return sum(each.slots for each in self.members.there.values())

    def call(self, worker: str, then: Then, function: Callable[..., Any], *words: Any) -> Call:
        """Call a function on one worker; `pump` passes the outcome to `then`."""
        future = self.client.submit(
            function, *words, key=(self.name, next(self.numbers)), workers=[worker],
            allow_other_workers=False, pure=False, retries=0,
        )  # fmt: skip
        return Call(future, self._when_done(_result(future), then))

    def versions(self, worker: str, packages: Sequence[str], then: Then) -> None:
        """Ask what a worker has installed, which works without our packages there."""
        asked = {"op": "versions", "packages": list(packages)}
        self._when_done(self.client.scheduler.broadcast(msg=asked, workers=[worker]), then)

    def pump(self, seconds: float) -> bool:
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
        """Whether a call was cancelled; ClusterLost if that is because the scheduler is gone."""
        if not (done.cancelled() or isinstance(done.exception(), distributed.CancelledError)):
            return False
        if self.client.status != "running":
            raise ClusterLost(self.address, "has lost its scheduler")
        return True

    def _when_done(self, work: Coroutine[Any, Any, Any], then: Then) -> "Future[OfDask]":
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


def hush() -> None:
    """Silence Dask: we report what matters in one line."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore", VersionMismatchWarning)


async def _result(future: OfDask) -> OfDask:
    return await future


def _started(workers: int) -> OfDask:
    """A cluster of processes of this machine; NoCluster if it does not start.

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
        raise NoCluster(f"--on local:{workers}: the cluster does not start ({reason})") from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def refuse_strangers(address: str) -> None:
    """Raise NoCluster unless a Dask scheduler answers there."""
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
    raise NoCluster(f"--on {quoted(address)}: {message}")


async def _kind_of(address: str) -> str:
    security = distributed.Security()
    encrypted = security.get_connection_args("client")
    remote = rpc(address, timeout=CONNECT_SECONDS, connection_args=encrypted)
    try:
        said = await asyncio.wait_for(remote.identity(), ASK_SECONDS)
        return str(said["type"])
    finally:
        await remote.close_rpc()
