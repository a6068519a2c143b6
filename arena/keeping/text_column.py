"""A column of texts of a table, of which little is in memory."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from arena.keeping.parquet import group_sizes, group_texts


class TextColumn:
    """A column of texts of which one row group is in memory: rows that ascend are quick."""

    def __init__(self, path: Path, name: str) -> None:
        """TableError if the table cannot be read."""
        self.path, self.name = path, name
        self._start, self._texts = 0, list[str]()
        self.starts = np.cumsum([0, *group_sizes(path)])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def pieces(self) -> Iterator[tuple[int, list[str]]]:
        """All texts, some at a time, each piece with its first row."""
        for start in self.starts[:-1].tolist():
            self._reach(start)
            yield start, self._texts

    def rows(self, start: int, stop: int) -> list[str]:
        """The texts of rows `start` to `stop` - 1, as far as there are any."""
        found: list[str] = []
        while start + len(found) < min(stop, len(self)):
            self._reach(start + len(found))
            at = start + len(found) - self._start
            found += self._texts[at : at + stop - start - len(found)]
        return found

    def _reach(self, row: int) -> None:
        """Have the row group of a row in memory."""
        if self._start <= row < self._start + len(self._texts):
            return
        group = int(np.searchsorted(self.starts, row, side="right")) - 1
        self._start = int(self.starts[group])
        self._texts = group_texts(self.path, self.name, group)
