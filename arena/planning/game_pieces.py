"""Games in pieces of one size, whatever the batches that they came in."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from arena.planning.records import Games, joined

# Of a table a row group; even, so that no pairing is cut.
ROWS_AT_ONCE = 1 << 16

# The games of a run in schedule order, as often as they are asked for; pairings are whole.
Parts: TypeAlias = Callable[[], Iterable[Games]]


def pieces(parts: Iterable[Games], size: int = ROWS_AT_ONCE) -> Iterator[Games]:
    """The same games `size` at a time: how they were batched leaves no trace."""
    waiting: list[Games] = []
    rows = 0
    for part in parts:
        waiting.append(part)
        rows += len(part)
        if rows >= size:
            whole = part if len(waiting) == 1 else joined(waiting)
            done = rows - rows % size
            for at in range(0, done, size):
                yield cut(whole, at, at + size)
            waiting = [cut(whole, done, rows)]
            rows -= done
    if rows:
        yield joined(waiting)


def cut(games: Games, start: int, stop: int) -> Games:
    """The games in rows `start` to `stop` - 1, with their moves, traces and thoughts."""
    columns = {name: column[start:stop] for name, column in games.columns.items()}
    traces = {row - start: text for row, text in games.traces.items() if start <= row < stop}
    thoughts = {row - start: text for row, text in games.thoughts.items() if start <= row < stop}
    if games.moves is None:
        return Games(columns, None, traces, thoughts)
    begin = int(games.plies[:start].sum())
    end = begin + int(games.plies[start:stop].sum())
    return Games(columns, games.moves[begin:end], traces, thoughts)
