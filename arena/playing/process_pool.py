"""Forked workers: a pool of processes, and cores for workers that run bots."""

import ctypes
import multiprocessing
import os
import pickle
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any, Generic

from arena.playing.executor import Item, Result, WorkFailed

POLL_SECONDS = 0.05
CLOSE_SECONDS = 0.5  # for workers to end by themselves
# A pipe takes this much at once. A larger item waits until its worker is idle: if both sides send
# at the same time, both could block.
PREFETCH_BYTES = 1 << 14
PR_SET_PDEATHSIG = 1
PINNED = "each worker and its bots keep to one core; --no-pinning lets them move"
_worker_number = 0  # of this process in its pool, from 1; 0: it is not in a pool


class PoolWorker:
    """A forked process, the pipe to it, and the numbers of its items, the oldest first."""

    def __init__(self, others: "list[PoolWorker]", work: Callable[[Any], Any]) -> None:
        """Fork a worker, which closes its copies of the `others`' pipes."""
        self.pipe, theirs = multiprocessing.Pipe()
        fork = multiprocessing.get_context("fork")
        inherited = [self.pipe, *(each.pipe for each in others)]
        args = (len(others) + 1, os.getpid(), theirs, inherited, work)
        self.process = fork.Process(target=_run_worker, args=args, daemon=True)
        self.process.start()
        theirs.close()  # the worker has the only other end, so its death closes the pipe
        self.items: deque[int] = deque()


class ProcessExecutor(Generic[Item, Result]):
    """A pool of processes, forked from this one with everything that the work needs."""

    def __init__(self, work: Callable[[Item], Result], workers: int) -> None:
        """Start without processes: they are forked as items are submitted."""
        self.work, self.max_workers = work, workers
        self.workers: list[PoolWorker] = []
        self.submitted = self.returned = 0  # items
        self.queue: deque[tuple[int, bytes]] = deque()  # items that were not sent yet
        self.results: dict[int, bytes] = {}  # that arrived before the oldest item's
        self.is_broken = False

    def next_worker(self) -> str | None:
        """Return that there is room for two items per worker: one in work, one to follow."""
        return "" if self.submitted - self.returned < 2 * self.max_workers else None

    def submit(self, item: Item) -> None:
        """Queue an item, and send it if a worker has room."""
        self.queue.append((self.submitted, pickle.dumps(item)))
        self.submitted += 1
        self._send()

    def next_result(self, poll: Callable[[], None]) -> Result:
        """Wait for the result of the oldest item."""
        while self.returned not in self.results:
            poll()
            if self.is_broken:
                raise WorkFailed("")
            self._send()
            self._receive()
        failed, content = pickle.loads(self.results.pop(self.returned))
        if failed:
            raise WorkFailed(content)
        self.returned += 1
        result: Result = content
        return result

    def _send(self) -> None:
        """Send queued items to the workers that have the fewest."""
        while self.queue and not self.is_broken:
            number, content = self.queue[0]
            worker = min(self.workers, key=lambda each: len(each.items), default=None)
            if len(self.workers) < self.max_workers and (worker is None or worker.items):
                worker = PoolWorker(self.workers, self.work)
                self.workers.append(worker)
            assert worker is not None
            room = 2 if len(content) <= PREFETCH_BYTES else 1
            if len(worker.items) >= room:
                return
            try:
                worker.pipe.send_bytes(content)
            except OSError:
                self.is_broken = True
                return
            worker.items.append(number)
            self.queue.popleft()

    def _receive(self) -> None:
        """Take the results that arrive within a moment; a death breaks the pool."""
        pipes = {each.pipe: each for each in self.workers}
        deaths = {each.process.sentinel: each for each in self.workers}
        ready = wait([*pipes, *deaths], POLL_SECONDS)
        for pipe, worker in pipes.items():
            if pipe in ready:
                try:
                    self.results[worker.items[0]] = pipe.recv_bytes()
                    worker.items.popleft()
                except (EOFError, OSError):
                    self.is_broken = True
                    return
        # A worker that died after its last result: the results are read first.
        if not any(pipe in ready for pipe in pipes) and any(each in ready for each in deaths):
            self.is_broken = True

    def close(self) -> None:
        """Stop all processes, those that are busy by force."""
        for worker in self.workers:
            worker.pipe.close()
        deadline = time.monotonic() + CLOSE_SECONDS
        for worker in self.workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
        for worker in self.workers:
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.process.close()
        self.workers.clear()


def _run_worker(
    number: int,
    parent: int,
    pipe: Connection,
    inherited: list[Connection],
    work: Callable[[Any], Any],
) -> None:
    """Answer items until the pipe is closed."""
    global _worker_number  # noqa: PLW0603  # a fact about this process
    _worker_number = number
    for each in inherited:
        each.close()
    init_child(parent)
    while True:
        try:
            item = pickle.loads(pipe.recv_bytes())
        except (EOFError, OSError):
            return
        try:
            reply = pickle.dumps((False, work(item)), pickle.HIGHEST_PROTOCOL)
        except Exception:
            reply = pickle.dumps((True, traceback.format_exc().rstrip()))
        try:
            pipe.send_bytes(reply)
        except OSError:
            return


def init_child(parent: int) -> None:
    """Leave Ctrl-C to the parent, end with it, and send the output of bots to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent(parent)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr


def end_with_parent(parent: int) -> None:
    """Have the system end this process when its parent ends, where it can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)  # the parent died before that was set


def pinning_text(workers: int, keeps: bool) -> str:
    """Return in one line whether workers keep to cores; `keeps`: the user allows it."""
    if keeps and enough_cores(workers):
        return PINNED
    why = f": there are fewer cores than workers ({workers})" if keeps else ""
    return f"bots move between cores{why}"


def enough_cores(workers: int) -> bool:
    """Return whether there is a core for each of the workers."""
    return hasattr(os, "sched_setaffinity") and workers <= len(os.sched_getaffinity(0))


def pin_to_core(workers: int) -> tuple[int, ...]:
    """Keep this worker and its bots to one core: the worker waits while its bots think.

    Processes that are no workers, and those with fewer cores than workers, stay as they are.
    """
    if not _worker_number or not workers or not enough_cores(workers):
        return ()
    cores = sorted(os.sched_getaffinity(0))
    core = cores[(os.getppid() + _worker_number) % len(cores)]
    os.sched_setaffinity(0, (core,))
    return (core,)
