"""Work done in order by processes that may die: a bounded window, rebuilt after every death."""

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

TURN_SECONDS = 0.1
PATIENCE_SECONDS = 0.5


class WorkerDied(Exception):  # noqa: N818  # what happened, not an error of the code
    """One item killed the worker that played it alone."""

    def __init__(self, item: Any) -> None:
        """`item` is what it played."""
        super().__init__(f"the worker that played {item} died")
        self.item = item


def process_pool(workers: int) -> Executor:
    """Forked processes: they inherit compiled code, the job and the log handler."""
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork"))


class Mending(NamedTuple):
    """What to do about the work of a worker that died."""

    split: Callable[[Any], list[Any]]  # an item as the smallest items it is made of
    again: Callable[[Any], Any]  # an item prepared to be repeated
    excused: Callable[[Any], bool]  # whether the death is explained, and repeating will help
    after_death: Callable[[], None]  # mend what a death breaks


def in_order(
    work: Callable[[Item], Result],
    items: Iterator[Item],
    make_executor: Callable[[int], Executor],
    workers: int,
    mending: Mending,
    on_turn: Callable[[], None] = lambda: None,
) -> Iterator[Result]:
    """Results of `work` in the order of `items`, at most two a worker under way.

    After a worker's death all unfinished items are split and tried once more, one at
    a time: the one that kills its worker again is to blame, and WorkerDied names it.
    `on_turn` is called several times a second.
    """
    executor = make_executor(workers)
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    try:
        while True:
            try:
                yield from _until_broken(work, items, executor, waiting, workers, on_turn)
                return
            except BrokenProcessPool:
                end(executor)
                mending.after_death()
                unfinished = list(waiting)
                waiting.clear()
                yield from _one_by_one(work, unfinished, make_executor, mending, on_turn)
                executor = make_executor(workers)
    finally:
        for _, future in waiting:
            future.cancel()
        end(executor)


def _until_broken(
    work: Callable[[Item], Result],
    items: Iterator[Item],
    executor: Executor,
    waiting: deque[tuple[Item, Future[Result]]],
    workers: int,
    on_turn: Callable[[], None],
) -> Iterator[Result]:
    """Results in order; BrokenProcessPool leaves what is unfinished in `waiting`."""
    while True:
        while len(waiting) < 2 * workers:
            item = next(items, None)
            if item is None:
                break
            try:
                waiting.append((item, executor.submit(work, item)))
            except BrokenProcessPool:
                waiting.append((item, _broken()))
                break
        if not waiting:
            return
        result = _patiently(waiting[0][1], on_turn)
        waiting.popleft()
        yield result


def _broken() -> "Future[Any]":
    """A future that died before it was begun."""
    future: Future[Any] = Future()
    future.set_exception(BrokenProcessPool("the pool was broken when the item was given"))
    return future


def _patiently(future: "Future[Result]", on_turn: Callable[[], None]) -> Result:
    """The future's result, looking around while it is awaited."""
    while True:
        on_turn()
        try:
            return future.result(timeout=TURN_SECONDS)
        except TimeoutError:
            if future.done():
                raise


def _one_by_one(
    work: Callable[[Item], Result],
    unfinished: list[tuple[Item, "Future[Result]"]],
    make_executor: Callable[[int], Executor],
    mending: Mending,
    on_turn: Callable[[], None],
) -> Iterator[Result]:
    """The unfinished items in their smallest parts, one at a time in a pool of one worker."""
    lone = make_executor(1)
    try:
        for item, future in unfinished:
            if future.done() and not future.cancelled() and future.exception() is None:
                yield future.result()
                continue
            for part in mending.split(item):
                while True:
                    try:
                        result = _patiently(lone.submit(work, mending.again(part)), on_turn)
                        break
                    except BrokenProcessPool:
                        end(lone)
                        mending.after_death()
                        lone = make_executor(1)
                        if not mending.excused(part):
                            raise WorkerDied(part) from None
                yield result
    finally:
        end(lone)


def end(executor: Executor) -> None:
    """End the pool and what still runs in it: nobody waits for those results."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    deadline = time.monotonic() + PATIENCE_SECONDS
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
    for process in processes:
        if process.is_alive():
            process.kill()
