"""Batches of games as compact blobs, in which they travel and are kept: narrow columns."""

import json
import zlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.records import PLAYED, GameColumn, Games, pair_points

NARROW = (np.int8, np.int16, np.int32)


class Damaged(ValueError):  # noqa: N818  # a state of the file, not an error of the code
    """A blob that differs from the one that was written."""


class Batch(NamedTuple):
    """The games of a task as a blob, the quarter points of each pairing, and the seconds.

    Games of the blob past `stop` do not count: a stop rule was reached before them.
    """

    start: int
    stop: int
    games: bytes
    points: NDArray[np.int8]
    seconds: float
    worker: str = ""  # who played it, if it matters


class Blob(NamedTuple):
    """An opened blob: columns as stored, a single number where all rows have the same."""

    rows: int
    columns: dict[str, GameColumn | int]
    moves: GameColumn | None
    traces: dict[int, str]
    thoughts: dict[int, str]

    def first(self, rows: int) -> "Blob":
        """At most the first `rows` games."""
        if rows >= self.rows:
            return self
        plies = np.broadcast_to(self.columns["plies"], self.rows)[:rows]
        columns = {
            name: column if isinstance(column, int) else column[:rows]
            for name, column in self.columns.items()
        }
        moves = None if self.moves is None else self.moves[: int(plies.sum())]
        traces = {row: text for row, text in self.traces.items() if row < rows}
        thoughts = {row: text for row, text in self.thoughts.items() if row < rows}
        return Blob(rows, columns, moves, traces, thoughts)


def encoded(games: Games) -> bytes:
    """The games as one blob, without the columns of the schedule."""
    columns = {name: _narrowed(games.columns[name]) for name in PLAYED}
    moves = None if games.moves is None else _narrowest(games.moves)
    thoughts = zlib.compress(json.dumps(games.thoughts).encode(), 1) if games.thoughts else b""
    head = {
        "rows": len(games),
        "columns": {
            name: column if isinstance(column, int) else column.dtype.str
            for name, column in columns.items()
        },
        "moves": None if moves is None else moves.dtype.str,
        "traces": games.traces,
        "thoughts": len(thoughts),
    }
    arrays = [column for column in columns.values() if not isinstance(column, int)]
    if moves is not None:
        arrays.append(moves)
    text = json.dumps(head).encode()
    parts = [each.tobytes() for each in arrays]
    body = b"".join([len(text).to_bytes(4, "little"), text, *parts, thoughts])
    return zlib.crc32(body).to_bytes(4, "little") + body


def batched(start: int, stop: int, games: Games, seconds: float, worker: str = "") -> Batch:
    """The games of these pairings as a batch."""
    return Batch(start, stop, encoded(games), pair_points(games), seconds, worker)


def opened(blob: bytes) -> Blob:
    """The content of a blob; Damaged if it differs from what was written."""
    body = memoryview(blob)[4:]
    if zlib.crc32(body) != int.from_bytes(blob[:4], "little"):
        raise Damaged("some games in the journal are damaged")
    ends = 4 + int.from_bytes(body[:4], "little")
    head = json.loads(bytes(body[4:ends]))
    columns: dict[str, GameColumn | int] = {}
    for name, kind in head["columns"].items():
        columns[name] = kind
        if isinstance(kind, str):
            columns[name] = np.frombuffer(body, kind, head["rows"], ends)
            ends += head["rows"] * np.dtype(kind).itemsize
    last = len(body) - head.get("thoughts", 0)  # which a journal of an earlier version has not
    moves = None if head["moves"] is None else np.frombuffer(body[ends:last], head["moves"])
    traces = {int(row): text for row, text in head["traces"].items()}
    stored = json.loads(zlib.decompress(body[last:])) if last < len(body) else {}
    thoughts = {int(row): text for row, text in stored.items()}
    return Blob(head["rows"], columns, moves, traces, thoughts)


def decoded(blobs: Iterable[bytes], placed: dict[str, GameColumn]) -> Games:
    """The games of blobs that follow one another; `placed` are their columns of the schedule.

    The last blob may hold more games than that: those past a stop rule do not count.
    """
    rows, at = len(placed["pair"]), 0
    # Zeros that are never written cost no memory: agents that do not search have no costs.
    columns = placed | {name: np.zeros(rows, kind) for name, kind in PLAYED.items()}
    moves: list[GameColumn] | None = []
    traces: dict[int, str] = {}
    thoughts: dict[int, str] = {}
    for blob in blobs:
        whole = opened(blob)
        if at == rows and whole.rows:
            raise Damaged(f"the journal has more than the {rows} games that are scheduled so far")
        each = whole.first(rows - at)
        for name, column in each.columns.items():
            if not isinstance(column, int) or column != 0:
                columns[name][at : at + each.rows] = column
        traces |= {at + row: text for row, text in each.traces.items()}
        thoughts |= {at + row: text for row, text in each.thoughts.items()}
        moves = None if moves is None or each.moves is None else [*moves, each.moves]
        at += each.rows
    if at != rows:
        raise Damaged(f"the journal has {at} games, {rows} are scheduled so far")
    none = np.empty(0, np.int16)
    kept = None if moves is None else np.concatenate([none, *moves], dtype=np.int16)
    return Games(columns, kept, traces, thoughts)


def _narrowed(column: GameColumn) -> GameColumn | int:
    """The column in as few bytes as it needs; one number if all rows have the same."""
    if len(column) and (column == column[0]).all():
        return int(column[0])
    return column if column.dtype == np.uint64 else _narrowest(column)


def _narrowest(column: GameColumn) -> GameColumn:
    """Signed integers in the fewest bytes that hold them."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    for kind in NARROW:
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return column.astype(kind, copy=False)
    return column
