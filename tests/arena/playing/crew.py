"""A crew for tests of work in order: whatever the work, with functions in place of what it asks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from arena.playing import process_pool


@dataclass
class AnyCrew:
    work: Callable[[Any], Any]
    workers: int
    split: Callable[[Any], list[Any]] = lambda item: [item]
    excused: Callable[[Any], bool] = lambda _: False
    mend: Callable[[], None] = lambda: None
    look: Callable[[], None] = lambda: None

    def begin(self, workers=None):
        most = self.workers if workers is None else min(workers, self.workers)
        return process_pool.begin(self.work, most)
