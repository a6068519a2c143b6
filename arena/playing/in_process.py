"""The backend without processes: an item is worked on here when its result is due."""

import traceback
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic

from arena.playing.executor import Item, Result, WorkFailed


class InProcessExecutor(Generic[Item, Result]):
    """One item at a time; code that hangs or ends the process does so here."""

    def __init__(self, work: Callable[[Item], Result]) -> None:
        """`work` turns an item into its result."""
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
        """Forget the items that were not worked on."""
        self.items.clear()
