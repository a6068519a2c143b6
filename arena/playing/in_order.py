"""Work done in order by processes that may die: a bounded window, rebuilt after every death."""

import ctypes
import os
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, NamedTuple, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

TURN_SECONDS = 0.05
PATIENCE_SECONDS = 0.5
STUCK_SECONDS = 2.0
TRIES_ALONE = 2
PR_SET_PDEATHSIG = 1


class ItemFailed(Exception):  # noqa: N818  # what happened, not an error of the code
    """One item failed again when it was repeated alone."""

    def __init__(self, item: Any, trace: str) -> None:
        """`trace` is empty if the worker died."""
        super().__init__(f"{item} failed again when it was repeated alone")
        self.item, self.trace = item, trace


class Recovery(NamedTuple):
    """What to do about work that failed."""

    split: Callable[[Any], list[Any]]  # an item as the smallest items it is made of
    again: Callable[[Any], Any]  # an item prepared to be repeated
    excused: Callable[[Any], bool]  # whether the death is explained, and repeating will help
    after_death: Callable[[], None]  # mend what a death breaks


def process_pool(workers: int) -> Executor:
    """Forked processes: they inherit compiled code, the job and the log handler."""
    return ProcessPoolExecutor(
        workers, get_context("fork"), initializer=begin_child, initargs=(os.getpid(),)
    )


def begin_child(parent: int) -> None:
    """Leave Ctrl-C to the parent, end when it ends, and keep what bots print out of the tables."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)  # it died before that was set
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr


def in_order(
    work: Callable[[Item], Result],
    items: Iterator[Item],
    workers: int,
    mending: Recovery,
    on_turn: Callable[[], None] = lambda: None,
    make_executor: Callable[[int], Executor] = process_pool,
) -> Iterator[Result]:
    """Results of `work` in the order of `items`, at most two a worker under way.

    After a failure all unfinished items are split and played one at a time: the one that
    fails again is to blame, and ItemFailed names it. `on_turn` is called many times a second.
    """
    executor = make_executor(workers)
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    try:
        while True:
            yield from _until_failed(work, items, executor, waiting, workers, on_turn)
            if not waiting:
                return
            end(executor)
            mending.after_death()
            yield from _one_by_one(work, waiting, make_executor, mending, on_turn)
            executor = make_executor(workers)
    finally:
        for _, future in waiting:
            future.cancel()
        end(executor)


def _until_failed(
    work: Callable[[Item], Result],
    items: Iterator[Item],
    executor: Executor,
    waiting: deque[tuple[Item, Future[Result]]],
    workers: int,
    on_turn: Callable[[], None],
) -> Iterator[Result]:
    """Results in order until one fails; what is unfinished then is left in `waiting`."""
    while True:
        while len(waiting) < 2 * workers and (item := next(items, None)) is not None:
            waiting.append((item, _submitted(executor, work, item)))
        if not waiting or failed(waiting[0][1], on_turn, executor):
            return
        yield waiting.popleft()[1].result()


def _submitted(executor: Executor, work: Callable[[Item], Result], item: Item) -> "Future[Result]":
    """The item under way; a future that failed if the pool is broken already."""
    try:
        return executor.submit(work, item)
    except BrokenProcessPool as error:
        future: Future[Result] = Future()
        future.set_exception(error)
        return future


def failed(
    future: "Future[Any]", on_turn: Callable[[], None], executor: Executor
) -> BaseException | None:
    """How the work failed, looking around while it is awaited; None if it did not."""
    stuck_since = None
    while True:
        on_turn()
        try:
            return future.exception(timeout=TURN_SECONDS)
        except TimeoutError:
            # A worker killed in the middle of a result leaves its pool waiting for the rest.
            if not any(process.exitcode is not None for process in processes_of(executor)):
                stuck_since = None
            elif stuck_since is None:
                stuck_since = time.monotonic()
            elif time.monotonic() - stuck_since > STUCK_SECONDS:
                return BrokenProcessPool("a worker died, and its pool did not notice")


def processes_of(executor: Executor) -> list[Any]:
    """The processes of a pool."""
    return list((getattr(executor, "_processes", None) or {}).values())


def _one_by_one(
    work: Callable[[Item], Result],
    waiting: deque[tuple[Item, "Future[Result]"]],
    make_executor: Callable[[int], Executor],
    mending: Recovery,
    on_turn: Callable[[], None],
) -> Iterator[Result]:
    """The unfinished items in their smallest parts, one at a time in a pool of one worker."""
    lone = make_executor(1)
    try:
        while waiting:
            item, future = waiting[0]
            if future.done() and not future.cancelled() and future.exception() is None:
                yield waiting.popleft()[1].result()
                continue
            for part in mending.split(item):
                tries = 0
                while True:
                    done = _submitted(lone, work, mending.again(part))
                    if (error := failed(done, on_turn, lone)) is None:
                        break
                    if isinstance(error, BrokenProcessPool):
                        end(lone)
                        mending.after_death()
                        lone = make_executor(1)
                    tries += not mending.excused(part)
                    if tries == TRIES_ALONE:
                        raise ItemFailed(part, trace_of(error))
                yield done.result()
            waiting.popleft()
    finally:
        end(lone)


def trace_of(error: BaseException) -> str:
    """The traceback in the worker; empty if it died."""
    if isinstance(error, BrokenProcessPool):
        return ""
    return "".join(traceback.format_exception(error)).rstrip()


def end(executor: Executor) -> None:
    """End the pool and what still runs in it: nobody waits for those results."""
    processes = processes_of(executor)
    manager = getattr(executor, "_executor_manager_thread", None)
    results = getattr(executor, "_result_queue", None)
    executor.shutdown(wait=False, cancel_futures=True)
    deadline = time.monotonic() + PATIENCE_SECONDS
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
    for process in processes:
        if process.is_alive():
            process.kill()
    if manager is not None:
        manager.join(PATIENCE_SECONDS)
        if manager.is_alive() and results is not None:
            results._writer.close()  # it reads half a result: now it sees that no more will come
