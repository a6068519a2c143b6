"""Items on a cluster."""

import logging
import pickle
import statistics
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from arena.playing.cluster.admission import WorkerAdmission
from arena.playing.cluster.connection import Call, Cluster, ClusterWorker
from arena.playing.cluster.package import WorkPackage
from arena.playing.cluster.remote_player import ItemReply
from arena.playing.cluster.remote_worker import run_item
from arena.playing.executor import WorkFailed

log = logging.getLogger(__name__)

TURN_SECONDS = 0.05
QUEUE_PER_SLOT = (
    3  # items for each of a worker's slots: one is worked on, the others hide the way there
)
MAX_AHEAD = 16  # items for each slot that may be finished before the oldest is
MOST_BYTES = 1 << 28  # of finished results that wait for the oldest
DEATHS = 2  # of workers, before an item is suspected
FAILURES = 4  # of whatever kind, before it is given up
# An item is late if it takes this many times as long as others, and at least these seconds.
LATE, LATE_SECONDS = 5.0, 2.0


class PendingItem:
    """An item whose result has not been yielded yet."""

    def __init__(self, item: bytes) -> None:
        """No worker has it yet."""
        self.item = item
        self.calls: dict[ClusterWorker, Call] = {}
        self.since = time.monotonic()
        self.tried: set[str] = set()
        self.deaths = self.failures = self.bytes = 0
        self.reply: ItemReply | None = None
        self.worker = ""  # the one that answered, or that was lost with it


class DaskExecutor:
    """Gives items to the workers of a cluster and takes the first result of each."""

    def __init__(
        self, cluster: Cluster, sent: WorkPackage, alone: bool, poll: Callable[[], None]
    ) -> None:
        """`alone`: one item at a time, and an item that loses its worker is not reassigned."""
        self.cluster, self.alone, self.poll = cluster, alone, poll
        self.admission, self.digest = WorkerAdmission(cluster, sent), sent.digest
        self.order: deque[PendingItem] = deque()
        self.loads: dict[ClusterWorker, list[PendingItem]] = {}  # the oldest first
        self.taken: deque[float] = deque(maxlen=99)  # seconds of the latest items
        self.next: ClusterWorker | None = None
        self.changes = -1
        self.waiting_bytes = 0

    def wanted(self) -> str | None:
        """The worker with the most room; None if the window is full."""
        while not self.order and not self._ready():
            self.poll()
            self._turn()
        slots = sum(each.slots for each in self._ready())
        most = 1 if self.alone else MAX_AHEAD * max(1, slots)
        room = len(self.order) < most and self.waiting_bytes < MOST_BYTES
        self.next = self._least_loaded(QUEUE_PER_SLOT) if room else None
        return None if self.next is None else self.next.address

    def submit(self, item: Any) -> None:
        """Give an item to the worker that it was wanted for."""
        opened = PendingItem(pickle.dumps(item))
        self.order.append(opened)
        if self.next is not None:
            self._give(opened, self.next)

    def next_result(self, poll: Callable[[], None]) -> Any | None:
        """Wait for the result of the oldest item; None if another item is wanted first."""
        while (reply := self.order[0].reply) is None:
            poll()
            if self._turn() and self.order[0].reply is None and self.wanted() is not None:
                return None
        if reply.failure is not None:
            raise WorkFailed(reply.failure, self.order[0].worker)
        self.waiting_bytes -= self.order.popleft().bytes
        return reply.result

    def close(self) -> None:
        """Drop all open items."""
        for opened in self.order:
            self._settle(opened)
        self.order.clear()

    # Giving out.

    def _ready(self) -> list[ClusterWorker]:
        return self.cluster.members.ready(self.digest)

    def _least_loaded(self, window: int, but: frozenset[str] = frozenset()) -> ClusterWorker | None:
        """The worker with the least to do for each slot, if it has room in its window."""
        load = {each: len(self.loads.get(each, ())) / each.slots for each in self._ready()}
        free = [each for each in load if load[each] < window and each.address not in but]
        return min(free, key=load.__getitem__, default=None)

    def _give(self, opened: PendingItem, worker: ClusterWorker) -> None:
        opened.since = time.monotonic()
        opened.tried.add(worker.address)
        self.loads.setdefault(worker, []).append(opened)
        then = partial(self._arrived, opened, worker)
        opened.calls[worker] = self.cluster.call(
            worker.address, then, run_item, self.digest, opened.item
        )

    def _turn(self) -> bool:
        """Wait a moment for an event; return whether there was one."""
        self.admission.admit_new_workers()
        happened = self.cluster.process_events(TURN_SECONDS)
        if self.changes != self.cluster.members.changes:
            self.changes = self.cluster.members.changes
            self._reassign_lost()
        for opened in self.order:
            if opened.reply is None and not opened.calls:
                worker = self._least_loaded(
                    QUEUE_PER_SLOT, frozenset(opened.tried)
                ) or self._least_loaded(QUEUE_PER_SLOT)
                if worker is None:
                    break
                self._give(opened, worker)
        self._duplicate_late()
        return happened

    # Taking in.

    def _arrived(self, opened: PendingItem, worker: ClusterWorker, done: "Future[Any]") -> None:
        """Take the outcome of a call."""
        if opened.calls.pop(worker, None) is None:
            return  # the item has a result already
        self.loads[worker].remove(opened)
        if self.cluster.cancelled(done):
            return
        if (error := done.exception()) is not None:
            self.cluster.members.count_failure(worker, repr(error))
            opened.failures += 1
            if opened.failures >= FAILURES:
                opened.reply, opened.worker = ItemReply(None, repr(error)), worker.name
        elif not (answer := done.result()):
            worker.prepared.discard(self.digest)
        elif opened.reply is None:
            opened.reply, opened.bytes = pickle.loads(answer), len(answer)
            opened.worker = worker.name
            if opened.reply.void:
                log.warning("games were void at worker %s: %s", worker.name, opened.reply.void)
            self.waiting_bytes += opened.bytes
            self.taken.append(time.monotonic() - opened.since)
            self._settle(opened)

    def _settle(self, opened: PendingItem) -> None:
        """Drop the calls that are no longer needed."""
        for worker, call in opened.calls.items():
            call.drop()
            self.loads[worker].remove(opened)
        opened.calls.clear()

    def _reassign_lost(self) -> None:
        """Take items back from lost workers; those that were being worked on become suspects."""
        there = set(self.cluster.members.there.values())
        for worker in [each for each in self.loads if each not in there]:
            for place, opened in enumerate(self.loads.pop(worker)):
                opened.calls.pop(worker).drop()
                opened.deaths += place < worker.slots
                opened.worker = worker.name
                if opened.deaths >= (1 if self.alone else DEATHS) and not opened.calls:
                    opened.reply = opened.reply or ItemReply(None, "")

    def _duplicate_late(self) -> None:
        """Give late items to idle workers too; the first result counts."""
        idle = [each for each in self._ready() if not self.loads.get(each)]
        late = max(LATE_SECONDS, LATE * statistics.median(self.taken)) if self.taken else None
        for opened in self.order:
            if not idle:
                return
            if opened.reply is None and len(opened.calls) == 1:
                (worker,) = opened.calls
                waits = time.monotonic() - opened.since
                if worker not in idle and (worker.silent or (late and waits > late)):
                    self._give(opened, idle.pop())
