"""The backend without processes: items are worked on in this one, when their results are due."""

import traceback
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic

from arena.playing.backends import Item, Result, WorkFailed


class Here(Generic[Item, Result]):
    """One item at a time; code that hangs or ends the process does so here."""

    def __init__(self, work: Callable[[Item], Result]) -> None:
        """Nothing is submitted yet."""
        self.work = work
        self.items: deque[Item] = deque()

    def wanted(self) -> str | None:
        """One item and the next."""
        return "" if len(self.items) < 2 else None

    def submit(self, item: Item) -> None:
        """Remember the item."""
        self.items.append(item)

    def results(self, look: Callable[[], None]) -> Iterator[Result]:
        """Work on one item after the other."""
        while self.items:
            look()
            try:
                result = self.work(self.items[0])
            except Exception:
                raise WorkFailed(traceback.format_exc().rstrip()) from None
            self.items.popleft()
            yield result

    def close(self) -> None:
        """Forget what was not begun."""
        self.items.clear()


def begin(work: Callable[[Item], Result], _workers: int) -> Here[Item, Result]:
    """The backend; it has one worker however many are asked for."""
    return Here(work)
