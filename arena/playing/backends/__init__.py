"""Where tasks are played: the table of backends."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Item_contra = TypeVar("Item_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)

# A module with `begin(work, workers) -> Backend`.
BACKENDS: Mapping[str, str] = {
    "processes": "arena.playing.backends.processes",
    "here": "arena.playing.backends.here",
}


class Backend(Protocol[Item_contra, Result_co]):
    """Does the same work on item after item, several at a time, until it is closed."""

    def wanted(self) -> str | None:
        """The worker that should get another item, "" for any; None if none has room."""

    def submit(self, item: Item_contra) -> None:
        """Have an item worked on, by whom it was wanted for."""

    def results(self, look: Callable[[], None]) -> Iterator["Result_co | Room"]:
        """The results in the order in which items were submitted, as long as there are any.

        Room among them says that somebody has some before the next result is there. WorkFailed
        ends them. `look` is called many times a second and may raise.
        """

    def close(self) -> None:
        """End what still runs; its results are lost."""


class Room:
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


def begin(name: str, work: Callable[[Item], Result], workers: int) -> Backend[Item, Result]:
    """Start a backend of the table; `work` turns an item into its result."""
    backend: Backend[Item, Result] = importlib.import_module(BACKENDS[name]).begin(work, workers)
    return backend
