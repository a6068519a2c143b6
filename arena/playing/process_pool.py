"""Forked workers."""

import ctypes
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from typing import Any, Generic

from arena.playing.executor import Executor, Item, Result, WorkFailed
from arena.playing.in_process import InProcessExecutor

TURN_SECONDS = 0.05
PATIENCE_SECONDS = 0.5
STUCK_SECONDS = 2.0
PR_SET_PDEATHSIG = 1
PINNED = "each worker keeps to a core of its own with its bots; --no-pinning lets them move"


class ProcessExecutor(Generic[Item, Result]):
    """A pool of processes, forked from here with the work they do."""

    def __init__(self, work: Callable[[Item], Result], workers: int) -> None:
        """The processes are forked when the first item is submitted."""
        self.workers = workers
        self.pool = ProcessPoolExecutor(
            workers,
            multiprocessing.get_context("fork"),
            initializer=_init_worker,
            initargs=(os.getpid(), work),
        )
        self.waiting: deque[Future[Result]] = deque()

    def wanted(self) -> str | None:
        """Two items a worker: one to work on, one to follow."""
        return "" if len(self.waiting) < 2 * self.workers else None

    def submit(self, item: Item) -> None:
        """Take an item to work on; if the pool is broken already, its result is a failure."""
        try:
            future: Future[Result] = self.pool.submit(_run_item, item)
        except BrokenProcessPool as error:
            future = Future()
            future.set_exception(error)
        self.waiting.append(future)

    def results(self, look: Callable[[], None]) -> Iterator[Result]:
        """The results in order, calling `look` while each is awaited."""
        while self.waiting:
            if error := self._failure(self.waiting[0], look):
                raise WorkFailed(traceback_text(error))
            yield self.waiting.popleft().result()

    def _failure(self, future: "Future[Result]", look: Callable[[], None]) -> BaseException | None:
        """The exception of the work; None if it has a result."""
        stuck_since = None
        while True:
            look()
            try:
                return future.exception(timeout=TURN_SECONDS)
            except TimeoutError:
                # A worker killed in the middle of a result leaves its pool waiting for the rest.
                if not any(process.exitcode is not None for process in self._processes()):
                    stuck_since = None
                elif stuck_since is None:
                    stuck_since = time.monotonic()
                elif time.monotonic() - stuck_since > STUCK_SECONDS:
                    return BrokenProcessPool("a worker died, and its pool did not notice")

    def _processes(self) -> list[BaseProcess]:
        return list((getattr(self.pool, "_processes", None) or {}).values())

    def close(self) -> None:
        """End the pool with all its processes."""
        processes = self._processes()
        manager = getattr(self.pool, "_executor_manager_thread", None)
        results = getattr(self.pool, "_result_queue", None)
        self.pool.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + PATIENCE_SECONDS
        for process in processes:
            process.join(max(0.0, deadline - time.monotonic()))
        for process in processes:
            if process.is_alive():
                process.kill()
        if manager is not None:
            manager.join(PATIENCE_SECONDS)
            if manager.is_alive() and results is not None:
                results._writer.close()  # it waits for the rest of a result: now it reads the end


def begin(work: Callable[[Item], Result], workers: int) -> Executor[Item, Result]:
    """Start this many processes; with none, this process does the work."""
    return ProcessExecutor(work, workers) if workers else InProcessExecutor(work)


def traceback_text(error: BaseException) -> str:
    """The traceback in the worker; empty if it died."""
    if isinstance(error, BrokenProcessPool):
        return ""
    return "".join(traceback.format_exception(error)).rstrip()


def init_child(parent: int) -> None:
    """Leave Ctrl-C to the parent, end when it ends, send what bots print to standard error."""
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


def _init_worker(parent: int, work: Callable[[Item], Result]) -> None:
    init_child(parent)
    process: Any = multiprocessing.current_process()
    process.work = work  # inherited, never pickled: only items and results travel


def _run_item(item: Any) -> Any:
    process: Any = multiprocessing.current_process()
    return process.work(item)


def pinning_text(workers: int, keeps: bool) -> str:
    """What becomes of the cores, in one line; `keeps`: they could be kept to."""
    if keeps and enough_cores(workers):
        return PINNED
    why = f": there are fewer cores than workers ({workers})" if keeps else ""
    return f"bots move between cores{why}"


def enough_cores(workers: int) -> bool:
    """Whether each of so many workers can keep to a core of its own."""
    return hasattr(os, "sched_setaffinity") and workers <= len(os.sched_getaffinity(0))


def pin_to_core(workers: int) -> tuple[int, ...]:
    """Keep this process to a core, for it waits while its bots think; they get the same one.

    Where there are fewer cores than workers, and in a process that is no worker, nothing is kept.
    """
    number = multiprocessing.current_process()._identity  # counts the children of one parent
    if not number or not workers or not enough_cores(workers):
        return ()
    cores = sorted(os.sched_getaffinity(0))
    core = cores[(os.getppid() + number[-1]) % len(cores)]
    os.sched_setaffinity(0, (core,))
    return (core,)
