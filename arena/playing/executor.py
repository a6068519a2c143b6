"""Jobs in order: items in, results out, on any workers, with retries after failures."""

import logging
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from games.base.errors import Unfinished

if TYPE_CHECKING:
    from arena.playing.cluster.package import WorkPackage
    from arena.playing.options import PlayOptions

Item = TypeVar("Item")
Result = TypeVar("Result")
Item_contra = TypeVar("Item_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
log = logging.getLogger(__name__)
MAX_TRIES = 2
# Returns the next item, sized for the worker of this name; None if there is none now.
NextItem = Callable[[str], Item | None]


class Executor(Protocol[Item_contra, Result_co]):
    """Works on several items at a time and returns their results in order."""

    def next_worker(self) -> str | None:
        """Return the worker that needs another item, "" for any; None if no worker has room."""

    def submit(self, item: Item_contra) -> None:
        """Give an item to the worker that `next_worker` returned."""

    def next_result(self, poll: Callable[[], None]) -> Result_co | None:
        """Wait for the result of the oldest item; None if a worker needs another item first.

        WorkFailed says that the item failed. `poll` is called many times a second and may raise.
        """

    def close(self) -> None:
        """Stop all workers; unfinished results are lost."""


class WorkFailed(Exception):  # noqa: N818  # an event, not an error of the code
    """The oldest item failed. After the death of a worker the executor cannot be used."""

    def __init__(self, trace: str, worker: str = "") -> None:
        """`trace` is the traceback, "" if the worker died."""
        super().__init__(trace)
        self.trace, self.worker = trace, worker

    @property
    def text(self) -> str:
        """The worker that failed, and the reason."""
        worker = f"at worker {self.worker}: " if self.worker else ""
        return f"{worker}{self.trace or 'the process that did the work died'}"


class ItemFailed(Unfinished):
    """An item failed again when it was repeated alone; the message names the item."""

    def __init__(self, message: str, item: Any, failure: WorkFailed) -> None:
        reason = failure.trace.rpartition("\n")[2] or "ended its worker"
        at = f" at worker {failure.worker}" if failure.worker else ""
        super().__init__(f"{message}: {reason}, and again when it was repeated alone{at}")
        self.item, self.trace, self.worker = item, failure.trace, failure.worker


def do_nothing() -> None:
    """Do nothing, as the default of hooks."""


@dataclass(frozen=True)
class Job(Generic[Item, Result]):
    """Work that is done item by item, in this process, in forked workers or on a cluster.

    `work` must give the same result for an item in any process, after any other items; not None.
    """

    work: Callable[[Item], Result]
    describe: Callable[[Item], str] = str  # for the message about an item that fails twice
    prepare: Callable[[], None] = do_nothing  # builds and compiles what forked workers inherit
    # Returns the smallest items that an item consists of, and its result from those of its parts;
    # None while some are missing.
    split: Callable[[Item], list[Item]] = lambda item: [item]
    merge: Callable[[Item, list[Result]], Result | None] = lambda _, results: results[-1]
    package: "Callable[[], WorkPackage] | None" = None  # the job for other machines
    before_workers: Callable[[], object] = do_nothing  # called each time workers are started
    poll: Callable[[], object] = do_nothing  # called while the job waits for results; may raise
    # Returns whether a failure does not count, because something else ended the worker.
    is_excused: Callable[[Item], bool] = lambda _: False
    isolation: Callable[[], str] = lambda: ""  # the sandbox of this machine, "" without bots


def iterate_items(items: Iterable[Item]) -> NextItem[Item]:
    """Return a function that returns the items one after another, for any worker."""
    rest = iter(items)
    return lambda _: next(rest, None)


def log_failure(failure: WorkFailed) -> None:
    """Log a failure of work that will be repeated."""
    log.warning("games are void and played again, %s", failure.text)


def run_in_order(
    job: Job[Item, Result],
    next_item: NextItem[Item],
    options: "PlayOptions",
    on_failure: Callable[[WorkFailed], object] = log_failure,
) -> Generator[Result, None, None]:
    """Yield results in the order of the items, while workers do as many items as they can.

    After a failure all unfinished items are split and repeated one at a time; ItemFailed names the
    one that fails again. `on_failure` gets every failure. Signals wait for the next poll, so that
    callers store each result completely.
    """
    if options.cluster is None:
        job.prepare()
    waiting: deque[Item] = deque()

    def poll() -> None:
        options.interrupts.check()
        job.poll()

    with options.interrupts.defer():
        while True:
            job.before_workers()
            executor = options.open_executor(job, poll)
            try:
                yield from _until_failure(executor, next_item, waiting, poll)
                return
            except WorkFailed as failure:
                on_failure(failure)
            finally:
                executor.close()
            yield from _one_by_one(job, waiting, options, poll, on_failure)


def _until_failure(
    executor: Executor[Item, Result],
    next_item: NextItem[Item],
    waiting: deque[Item],
    poll: Callable[[], None],
) -> Iterator[Result]:
    """Yield results until an item fails; `waiting` then has the unfinished items."""
    while True:
        while (worker := executor.next_worker()) is not None:
            item = next_item(worker)
            if item is None:
                break
            executor.submit(item)
            waiting.append(item)
        if not waiting:
            return
        result = executor.next_result(poll)
        if result is not None:
            waiting.popleft()
            yield result


def _one_by_one(
    job: Job[Item, Result],
    waiting: deque[Item],
    options: "PlayOptions",
    poll: Callable[[], None],
    on_failure: Callable[[WorkFailed], object],
) -> Iterator[Result]:
    """Yield the results of the smallest parts of unfinished items, one at a time by one worker."""

    def start() -> Executor[Item, Result]:
        job.before_workers()
        return options.open_executor(job, poll, alone=True)

    executor = start()
    try:
        while waiting:
            for part in job.split(waiting[0]):
                tries = 0
                while True:
                    executor.submit(part)
                    try:
                        result = None
                        while result is None:
                            result = executor.next_result(poll)
                        break
                    except WorkFailed as failure:
                        on_failure(failure)
                        executor.close()
                        executor = start()
                        tries += not job.is_excused(part)
                        if tries == MAX_TRIES:
                            raise ItemFailed(job.describe(part), part, failure) from None
                yield result
            waiting.popleft()
    finally:
        executor.close()


class InProcessExecutor(Generic[Item, Result]):
    """Works on one item at a time in this process, when its result is due."""

    def __init__(self, work: Callable[[Item], Result]) -> None:
        self.work = work
        self.items: deque[Item] = deque()

    def next_worker(self) -> str | None:
        """Return that there is room for one item and the next."""
        return "" if len(self.items) < 2 else None

    def submit(self, item: Item) -> None:
        """Remember the item."""
        self.items.append(item)

    def next_result(self, poll: Callable[[], None]) -> Result:
        """Work on the oldest item."""
        poll()
        try:
            result = self.work(self.items[0])
        except Exception:
            raise WorkFailed(traceback.format_exc().rstrip()) from None
        self.items.popleft()
        return result

    def close(self) -> None:
        """Forget the remaining items."""
        self.items.clear()
