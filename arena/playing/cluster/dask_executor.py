"""Items on a cluster: which workers are admitted, and which items they get."""

import logging
import pickle
import statistics
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from arena.playing.cluster.connection import (
    REQUIRED_PACKAGES,
    Call,
    Cluster,
    ClusterLost,
    ClusterUnavailable,
    ClusterWorker,
    version_difference,
)
from arena.playing.cluster.package import WorkPackage
from arena.playing.cluster.remote_player import ItemReply
from arena.playing.cluster.remote_worker import AdmissionReply, prepare_worker, run_item
from arena.playing.executor import WorkFailed
from arena.storage import provenance

log = logging.getLogger(__name__)
WAIT_SECONDS = 60.0  # for workers that can play
EVENT_SECONDS = 0.05
QUEUE_PER_SLOT = 3  # items: a worker works on one, the others hide the way to it
MAX_AHEAD = 16  # items for each slot that may be finished before the oldest is
MAX_BYTES = 1 << 28  # of finished results that wait for the oldest
DEATHS = 2  # of workers, before an item is suspected
FAILURES = 4  # of any kind, before an item is given up
# An item is late if it takes this many times as long as others, and at least these seconds.
LATE, LATE_SECONDS = 5.0, 2.0


class WorkerAdmission:
    """Admits the workers of a cluster to one package, including those that join later.

    A worker gets the package, and answers whether its versions and sources match ours.
    """

    def __init__(self, cluster: Cluster, package: WorkPackage) -> None:
        self.cluster, self.workers = cluster, cluster.workers
        self.digest, self.equal_speed = package.digest, package.equal_speed
        self.package, self.code = pickle.dumps(package), provenance.code_digest()
        self.pending: set[ClusterWorker] = set()
        self.waiting: set[ClusterWorker] = set()  # until all are known to be equally fast
        self.last_hope = self.workers.clock.seconds  # when a worker could play or might become able

    def admit_new_workers(self) -> None:
        """Check new workers; raise errors that no other worker would avoid."""
        present = set(self.workers.present.values())
        for worker in self.workers.present.values():
            is_new = not worker.refusal and self.digest not in worker.prepared
            if is_new and worker not in self.pending | self.waiting:
                self.pending.add(worker)
                # A worker that cannot import a function dies: so its versions are read first.
                then = partial(self._send_package, worker)
                self.cluster.request_versions(worker.address, REQUIRED_PACKAGES, then)
        self.pending &= present
        self.waiting &= present
        if self.pending or self.workers.usable(self.digest):
            self.last_hope = self.workers.clock.seconds
        else:
            self._check_any_usable()

    def _send_package(self, worker: ClusterWorker, done: "Future[Any]") -> None:
        """Send the package to a worker whose versions match ours."""
        if self.cluster.has_no_result(done) or done.exception() is not None:
            self.pending.discard(worker)  # it is checked again if it is still there
            return
        (versions,) = done.result().values()
        if why := version_difference(versions):
            self.pending.discard(worker)
            self.workers.refuse(worker, why)
            return
        then = partial(self._handle_reply, worker)
        self.cluster.call(worker.address, then, prepare_worker, self.code, self.package)

    def _handle_reply(self, worker: ClusterWorker, done: "Future[Any]") -> None:
        """Admit a worker, or report why it cannot play."""
        self.pending.discard(worker)
        if self.cluster.has_no_result(done):
            return
        if (error := done.exception()) is not None:
            self.workers.count_failure(worker, f"it cannot begin ({error})")
            return
        reply: AdmissionReply = pickle.loads(done.result())
        if reply.calibration is None:
            self.workers.refuse(worker, reply.refusal)
            return
        self.workers.add_calibration(worker, reply.calibration)
        worker.isolation = reply.isolation or worker.isolation
        self.waiting.add(worker)
        if not self.equal_speed:
            self._admit()
        elif not self.pending:
            self._admit_equal(worker)

    def _admit(self) -> None:
        for worker in self.waiting:
            worker.prepared.add(self.digest)
        self.waiting.clear()

    def _admit_equal(self, latest: ClusterWorker) -> None:
        """Admit workers to games by the clock if they are equally fast."""
        if pair := self.workers.unequal_pair():
            slow, fast = pair
            speeds = self.workers.relative_speeds()
            ratio = speeds[fast.host] / speeds[slow.host]
            why = (
                f"{fast.address} is {ratio:.2g} times as fast as {slow.address}, and agents play "
                "by the clock; nodes in place of seconds, or machines of the same speed, help"
            )
            if not self.workers.usable(self.digest):
                raise ClusterUnavailable(why)
            self.waiting.discard(latest)
            self.workers.refuse(latest, why)
        self._admit()

    def _check_any_usable(self) -> None:
        """Raise if no worker can play and none joins in time."""
        refused = [each for each in self.workers.present.values() if each.refusal]
        if refused and len(refused) == len(self.workers.present):
            reason = refused[0].refusal
            raise ClusterUnavailable(f"no worker at {self.cluster.address} can play: {reason}")
        if self.workers.clock.seconds - self.last_hope > WAIT_SECONDS:
            what = f"has had no workers for {WAIT_SECONDS:g} s"
            raise ClusterLost(self.cluster.address, what)


class PendingItem:
    """An item whose result has not been returned yet."""

    def __init__(self, item: bytes) -> None:
        self.item = item
        self.calls: dict[ClusterWorker, Call] = {}
        self.sent_at = time.monotonic()
        self.tried_workers: set[str] = set()
        self.deaths = self.failures = self.bytes = 0
        self.reply: ItemReply | None = None
        self.worker = ""  # the one that answered, or that was lost with the item


class DaskExecutor:
    """Gives items to the workers of a cluster and takes the first result of each."""

    def __init__(
        self, cluster: Cluster, package: WorkPackage, alone: bool, poll: Callable[[], None]
    ) -> None:
        """`alone`: one item at a time, and an item that loses its worker is not reassigned."""
        self.cluster, self.alone, self.poll = cluster, alone, poll
        self.admission, self.digest = WorkerAdmission(cluster, package), package.digest
        self.pending: deque[PendingItem] = deque()  # the oldest first
        self.loads: dict[ClusterWorker, list[PendingItem]] = {}  # the oldest first
        self.durations: deque[float] = deque(maxlen=99)  # seconds of the latest items
        self.target: ClusterWorker | None = None  # the worker for the next item
        self.changes = -1
        self.waiting_bytes = 0

    def next_worker(self) -> str | None:
        """Return the worker with the most room; None if enough items are pending."""
        while not self.pending and not self._usable():
            self.poll()
            self._step()
        slots = sum(each.slots for each in self._usable())
        most = 1 if self.alone else MAX_AHEAD * max(1, slots)
        has_room = len(self.pending) < most and self.waiting_bytes < MAX_BYTES
        self.target = self._worker_with_room() if has_room else None
        return None if self.target is None else self.target.address

    def submit(self, item: Any) -> None:
        """Give an item to the worker that `next_worker` returned."""
        pending = PendingItem(pickle.dumps(item))
        self.pending.append(pending)
        if self.target is not None:
            self._assign(pending, self.target)

    def next_result(self, poll: Callable[[], None]) -> Any | None:
        """Wait for the result of the oldest item; None if a worker needs another item first."""
        while (reply := self.pending[0].reply) is None:
            poll()
            if self._step() and self.pending[0].reply is None and self.next_worker() is not None:
                return None
        if reply.failure is not None:
            raise WorkFailed(reply.failure, self.pending[0].worker)
        self.waiting_bytes -= self.pending.popleft().bytes
        return reply.result

    def close(self) -> None:
        """Drop all pending items."""
        for pending in self.pending:
            self._drop_calls(pending)
        self.pending.clear()

    def _usable(self) -> list[ClusterWorker]:
        return self.cluster.workers.usable(self.digest)

    def _worker_with_room(self, but: frozenset[str] = frozenset()) -> ClusterWorker | None:
        """Return the worker with the least to do for each slot, if it has room."""
        load = {each: len(self.loads.get(each, ())) / each.slots for each in self._usable()}
        free = [each for each in load if load[each] < QUEUE_PER_SLOT and each.address not in but]
        return min(free, key=load.__getitem__, default=None)

    def _assign(self, pending: PendingItem, worker: ClusterWorker) -> None:
        pending.sent_at = time.monotonic()
        pending.tried_workers.add(worker.address)
        self.loads.setdefault(worker, []).append(pending)
        then = partial(self._handle_outcome, pending, worker)
        pending.calls[worker] = self.cluster.call(
            worker.address, then, run_item, self.digest, pending.item
        )

    def _step(self) -> bool:
        """Wait a moment for an event; return whether there was one."""
        self.admission.admit_new_workers()
        happened = self.cluster.process_events(EVENT_SECONDS)
        if self.changes != self.cluster.workers.changes:
            self.changes = self.cluster.workers.changes
            self._reassign_lost_items()
        for pending in self.pending:
            if pending.reply is None and not pending.calls:
                other = self._worker_with_room(frozenset(pending.tried_workers))
                worker = other or self._worker_with_room()
                if worker is None:
                    break
                self._assign(pending, worker)
        self._duplicate_late_items()
        return happened

    def _handle_outcome(
        self, pending: PendingItem, worker: ClusterWorker, done: "Future[Any]"
    ) -> None:
        """Take the outcome of a call."""
        if pending.calls.pop(worker, None) is None:
            return  # the item has a result already
        self.loads[worker].remove(pending)
        if self.cluster.has_no_result(done):
            return
        if (error := done.exception()) is not None:
            self.cluster.workers.count_failure(worker, repr(error))
            pending.failures += 1
            if pending.failures >= FAILURES:
                pending.reply, pending.worker = ItemReply(None, repr(error)), worker.name
        elif not (answer := done.result()):  # the worker does not have the package any more
            worker.prepared.discard(self.digest)
        elif pending.reply is None:
            pending.reply, pending.bytes = pickle.loads(answer), len(answer)
            pending.worker = worker.name
            if pending.reply.void_failure:
                failure = pending.reply.void_failure
                log.warning("games were void at worker %s: %s", worker.name, failure)
            self.waiting_bytes += pending.bytes
            self.durations.append(time.monotonic() - pending.sent_at)
            self._drop_calls(pending)

    def _drop_calls(self, pending: PendingItem) -> None:
        """Drop the calls that are no longer needed."""
        for worker, call in pending.calls.items():
            call.drop()
            self.loads[worker].remove(pending)
        pending.calls.clear()

    def _reassign_lost_items(self) -> None:
        """Take items back from lost workers; those that were being worked on become suspects."""
        present = set(self.cluster.workers.present.values())
        for worker in [each for each in self.loads if each not in present]:
            for place, pending in enumerate(self.loads.pop(worker)):
                pending.calls.pop(worker).drop()
                pending.deaths += place < worker.slots
                pending.worker = worker.name
                if pending.deaths >= (1 if self.alone else DEATHS) and not pending.calls:
                    pending.reply = pending.reply or ItemReply(None, "")

    def _duplicate_late_items(self) -> None:
        """Give late items to idle workers too; the first result counts."""
        idle = [each for each in self._usable() if not self.loads.get(each)]
        late = LATE_SECONDS
        if self.durations:
            late = max(late, LATE * statistics.median(self.durations))
        for pending in self.pending:
            if not idle:
                return
            if pending.reply is None and len(pending.calls) == 1:
                (worker,) = pending.calls
                is_late = bool(self.durations) and time.monotonic() - pending.sent_at > late
                if worker not in idle and (worker.is_silent or is_late):
                    self._assign(pending, idle.pop())
