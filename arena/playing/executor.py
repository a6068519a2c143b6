"""Jobs in order, with retries."""

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Item_contra = TypeVar("Item_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
log = logging.getLogger(__name__)
MAX_TRIES = 2
# The next item, sized for the worker of this name; None if there is none now.
NextItem = Callable[[str], Item | None]


class Executor(Protocol[Item_contra, Result_co]):
    """Does the same work on item after item, several at a time, until it is closed."""

    def wanted(self) -> str | None:
        """The worker that should get another item, "" for any; None if none has room."""

    def submit(self, item: Item_contra) -> None:
        """Have an item worked on, by whom it was wanted for."""

    def results(self, look: Callable[[], None]) -> Iterator["Result_co | CapacityFree"]:
        """The results in the order in which items were submitted, as long as there are any.

        CapacityFree among them says that somebody has some before the next result. WorkFailed
        ends them. `look` is called many times a second and may raise.
        """

    def close(self) -> None:
        """End what still runs; its results are lost."""


class CapacityFree:
    """In place of a result: nothing is finished yet, but another item is wanted."""


class WorkFailed(Exception):  # noqa: N818  # what happened, not an error of the code
    """The oldest item failed; `trace` is its traceback, empty if its worker died.

    `worker` names who failed, where workers have names.
    """

    def __init__(self, trace: str, worker: str = "") -> None:
        """After a death the backend cannot be used again."""
        super().__init__(trace)
        self.trace, self.worker = trace, worker

    @property
    def words(self) -> str:
        """Who failed and how."""
        who = f"at worker {self.worker}: " if self.worker else ""
        return f"{who}{self.trace or 'the process that did the work died'}"


class Crew(Protocol[Item, Result_co]):
    """Those who do the work, with the answers to its failures."""

    def begin(self, workers: int | None = None) -> Executor[Item, Result_co]:
        """Start a new backend, by default with all the workers it may have."""

    def look(self) -> None:
        """Called often while a result is awaited; an exception of it ends the work."""

    def split(self, item: Item) -> list[Item]:
        """The smallest items that an item is made of."""

    def excused(self, item: Item) -> bool:
        """Whether the failure is explained, so that repeating the item will help."""

    def mend(self) -> None:
        """Repair what the death of a worker broke."""


class ItemFailed(Exception):  # noqa: N818  # what happened, not an error of the code
    """One item failed again when it was repeated alone."""

    def __init__(self, item: Any, trace: str, worker: str = "") -> None:
        """`trace` is empty if the worker died; `worker` is its name, if it has one."""
        super().__init__(f"{item} failed again when it was repeated alone")
        self.item, self.trace, self.worker = item, trace, worker


def iterate_items(items: Iterable[Item]) -> NextItem[Item]:
    """The items one after another, whichever worker asks."""
    rest = iter(items)
    return lambda _: next(rest, None)


def log_failure(failure: WorkFailed) -> None:
    """Keep in the log how work failed that is done again."""
    log.warning("games are void and played again, %s", failure.words)


def run_in_order(
    crew: Crew[Item, Result],
    next_item: NextItem[Item],
    failed: Callable[[WorkFailed], None] = log_failure,
) -> Generator[Result, None, None]:
    """The results in the order of the items, as many under way as the backend has room for.

    After a failure all unfinished items are split and done one at a time; the one that fails
    again is to blame, and ItemFailed names it. `failed` gets every failure.
    """
    waiting: deque[Item] = deque()
    while True:
        backend = crew.begin()
        try:
            yield from _until_failed(crew, backend, next_item, waiting)
            return
        except WorkFailed as failure:
            failed(failure)
        finally:
            backend.close()
        crew.mend()
        yield from _one_by_one(crew, waiting, failed)


def _until_failed(
    crew: Crew[Item, Result],
    backend: Executor[Item, Result],
    next_item: NextItem[Item],
    waiting: deque[Item],
) -> Iterator[Result]:
    """Results in order until one fails; the unfinished items are then left in `waiting`."""
    results = backend.results(crew.look)
    while True:
        while (worker := backend.wanted()) is not None:
            item = next_item(worker)
            if item is None:
                break
            backend.submit(item)
            waiting.append(item)
        if not waiting:
            return
        result = next(results)
        if not isinstance(result, CapacityFree):
            waiting.popleft()
            yield result


def _one_by_one(
    crew: Crew[Item, Result], waiting: deque[Item], failed: Callable[[WorkFailed], None]
) -> Iterator[Result]:
    """The unfinished items in their smallest parts, one at a time by one worker."""
    backend = crew.begin(1)
    try:
        while waiting:
            for part in crew.split(waiting[0]):
                tries = 0
                while True:
                    backend.submit(part)
                    try:
                        result = _next_result(backend, crew)
                        break
                    except WorkFailed as failure:
                        failed(failure)
                        backend.close()
                        if not failure.trace:
                            crew.mend()
                        backend = crew.begin(1)
                        tries += not crew.excused(part)
                        if tries == MAX_TRIES:
                            raise ItemFailed(part, failure.trace, failure.worker) from None
                yield result
            waiting.popleft()
    finally:
        backend.close()


def _next_result(backend: Executor[Item, Result], crew: Crew[Item, Result]) -> Result:
    """The result of the only item under way, even if other workers have room."""
    return next(each for each in backend.results(crew.look) if not isinstance(each, CapacityFree))
