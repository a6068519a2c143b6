"""Games as columns and as bytes."""

import enum
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.search_info import SearchInfo

GameColumn: TypeAlias = NDArray[Any]  # one number per game; the width depends on the column
WIN, DRAW, LOSS = 2, 1, 0
# The schedule gives the first columns of a game; playing it adds the others.
SCHEDULE_COLUMNS: Mapping[str, type[np.integer]] = {
    "pair": np.int64,
    "leg": np.int8,  # 0 or 1
    "opening": np.int32,
    "first_side": np.int8,  # the side to move after the opening: that of the first mover
    "first": np.int16,  # the place of the agent of side 0
    "second": np.int16,  # the place of the agent of side 1
    "seed": np.uint64,  # of the pair
}
RESULT_COLUMNS: Mapping[str, type[np.integer]] = {
    "game_id": np.uint64,  # a hash of all moves, including the opening
    "result": np.int8,  # WIN, DRAW or LOSS of agent `first`
    "margin": np.int32,  # its score minus the opponent's; after a forfeit, the score so far
    "plies": np.int32,  # moves and passes, including the opening
    "termination": np.int8,
    "first_nodes": np.int64,
    "second_nodes": np.int64,
    "first_nanoseconds": np.int64,  # thinking time
    "second_nanoseconds": np.int64,
    "first_longest": np.int64,  # nanoseconds of its longest move
    "second_longest": np.int64,
    "first_turn": np.int64,  # nanoseconds of its longest turn
    "second_turn": np.int64,
    "first_lag": np.int64,  # nanoseconds in which it was ready but could not run
    "second_lag": np.int64,
    "first_moves": np.int32,  # moves that it chose: neither opening nor forced pass
    "second_moves": np.int32,
}
# Times differ when a game is played again.
TIMING_COLUMNS = tuple(
    f"{seat}_{name}"
    for seat in ("first", "second")
    for name in ("nanoseconds", "longest", "turn", "lag")
)
COLUMNS: Mapping[str, type[np.integer]] = {**SCHEDULE_COLUMNS, **RESULT_COLUMNS}
SMALL_DTYPES = (np.int8, np.int16, np.int32)
CHUNK_ROWS = 1 << 16  # rows of a parquet row group; even, so that no pair is cut
PAIR_POINTS = 4.0  # points of both games of a pair, in quarters of the score


class Termination(enum.IntEnum):
    """How a game ended. All endings but the fair ones are forfeits by the losing side."""

    NORMAL = 0
    ILLEGAL = 1
    RAISED = 2
    TIMEOUT = 3
    UNLOADABLE = 4
    TOO_LONG = 5
    UNREADABLE = 6
    CRASHED = 7
    MEMORY = 8
    FLOODED = 9
    RESIGNED = 10

    @property
    def is_fair(self) -> bool:
        """Return whether the game ended without a fault."""
        return self in (Termination.NORMAL, Termination.TOO_LONG, Termination.RESIGNED)


_FAIR = [how for how in Termination if how.is_fair]


@dataclass(frozen=True, eq=False)
class Games:
    """Finished games as columns, in schedule order. Columns can be read as attributes."""

    columns: dict[str, GameColumn]
    moves: NDArray[np.int16] | None  # the move numbers of all games in a row; None: not kept
    traces: dict[int, str]  # reasons of forfeits, by row
    search_info: dict[int, str] = field(default_factory=dict)  # `encode_search_info`, by row

    def __len__(self) -> int:
        return len(self.columns["result"])

    def __getattr__(self, name: str) -> GameColumn:
        columns = self.__dict__.get("columns", {})  # missing during unpickling
        if name not in columns:
            raise AttributeError(name)
        column: GameColumn = columns[name]
        return column


def pair_points(games: Games) -> NDArray[np.int8]:
    """Return the score of agent `a` in each pair, in quarters from 0 to 4."""
    points: NDArray[np.int8] = games.result[0::2] + np.int8(WIN) - games.result[1::2]
    return points


def first_movers(games: Games) -> GameColumn:
    """Return the first mover of each game: the agent to move after the opening."""
    return np.where(games.first_side == 0, games.first, games.second)


def first_mover_results(games: Games) -> NDArray[np.int8]:
    """Return WIN, DRAW or LOSS of the first mover of each game."""
    return np.where(games.first_side == 0, games.result, np.int8(WIN) - games.result)


def fair_games(games: Games) -> NDArray[np.bool_]:
    """Return which games ended without a fault; the others are forfeits."""
    return np.isin(games.termination, _FAIR)


def empty_games() -> Games:
    """Return no games."""
    columns = {name: np.empty(0, dtype) for name, dtype in COLUMNS.items()}
    return Games(columns, np.empty(0, np.int16), {})


def concat_games(parts: Sequence[Games]) -> Games:
    """Return the games of all parts, one part after another."""
    if not parts:
        return empty_games()
    if len(parts) == 1:
        return parts[0]
    columns = {name: np.concatenate([p.columns[name] for p in parts]) for name in parts[0].columns}
    moves = [part.moves for part in parts if part.moves is not None]
    traces: dict[int, str] = {}
    search_info: dict[int, str] = {}
    at = 0
    for part in parts:
        traces |= _shift_rows(part.traces, at)
        search_info |= _shift_rows(part.search_info, at)
        at += len(part)
    all_moves = np.concatenate(moves) if len(moves) == len(parts) else None
    return Games(columns, all_moves, traces, search_info)


def _shift_rows(texts: Mapping[int, str], offset: int) -> dict[int, str]:
    return {row + offset: text for row, text in texts.items()}


def take_games(games: Games, rows: NDArray[np.int64], with_traces: bool = False) -> Games:
    """Return the games of these rows, in this order, and their traces only `with_traces`."""
    columns = {name: column[rows] for name, column in games.columns.items()}
    info, traces = (
        {to: texts[row] for to, row in enumerate(rows.tolist()) if row in texts} if texts else {}
        for texts in (games.search_info, games.traces if with_traces else {})
    )
    if games.moves is None:
        return Games(columns, None, traces, info)
    starts, lengths = np.cumsum(games.plies) - games.plies, columns["plies"]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return Games(columns, games.moves[np.repeat(starts[rows], lengths) + within], traces, info)


def slice_games(games: Games, start: int, stop: int) -> Games:
    """Return the games in rows `start` to `stop` - 1, including their traces."""
    columns = {name: column[start:stop] for name, column in games.columns.items()}
    traces, search_info = (
        {row - start: text for row, text in texts.items() if start <= row < stop}
        for texts in (games.traces, games.search_info)
    )
    if games.moves is None:
        return Games(columns, None, traces, search_info)
    first = int(games.plies[:start].sum())
    last = first + int(games.plies[start:stop].sum())
    return Games(columns, games.moves[first:last], traces, search_info)


def moves_of_game(games: Games, row: int) -> list[int]:
    """Return the move numbers of one game; LookupError if moves were not kept."""
    if games.moves is None:
        raise LookupError("the moves of these games were not kept")
    stop = int(games.plies[: row + 1].sum())
    moves: list[int] = games.moves[stop - int(games.plies[row]) : stop].tolist()
    return moves


# Returns all games of a run in schedule order each time it is called; pairs are complete.
GameParts: TypeAlias = Callable[[], Iterable[Games]]


def rechunk_games(parts: Iterable[Games], size: int = CHUNK_ROWS) -> Iterator[Games]:
    """Yield the same games, `size` at a time, however they were batched."""
    waiting: list[Games] = []
    rows = 0
    for part in parts:
        waiting.append(part)
        rows += len(part)
        if rows >= size:
            whole = concat_games(waiting)
            done = rows - rows % size
            for at in range(0, done, size):
                yield slice_games(whole, at, at + size)
            waiting = [slice_games(whole, done, rows)]
            rows -= done
    if rows:
        yield concat_games(waiting)


class CorruptDataError(ValueError):
    """Stored data differs from what was written."""


class Batch(NamedTuple):
    """The games of a task as a blob, and the points of each pair in quarters.

    The blob may hold games past `stop`, after which a stop rule was reached. They do not count.
    """

    start: int  # the first pair
    stop: int  # the pair after the last one
    blob: bytes
    points: NDArray[np.int8]
    seconds: float
    worker: str = ""  # the worker that played it, on a cluster


class Blob(NamedTuple):
    """A decoded blob. A column is a single number if all rows have the same."""

    rows: int
    columns: dict[str, GameColumn | int]
    moves: GameColumn | None
    traces: dict[int, str]
    search_info: dict[int, str]


def make_batch(start: int, stop: int, games: Games, seconds: float, worker: str = "") -> Batch:
    """Return the games of these pairs as a batch."""
    return Batch(start, stop, encode_games(games), pair_points(games), seconds, worker)


def encode_games(games: Games) -> bytes:
    """Return the games as one blob, without the columns of the schedule."""
    columns = {name: _compact_column(games.columns[name]) for name in RESULT_COLUMNS}
    moves = None if games.moves is None else _smallest_dtype(games.moves)
    info = zlib.compress(json.dumps(games.search_info).encode(), 1) if games.search_info else b""
    # The journals of earlier versions have the same names.
    head = {
        "rows": len(games),
        "columns": {
            name: column if isinstance(column, int) else column.dtype.str
            for name, column in columns.items()
        },
        "moves": None if moves is None else moves.dtype.str,
        "traces": games.traces,
        "thoughts": len(info),
    }
    arrays = [column for column in columns.values() if not isinstance(column, int)]
    if moves is not None:
        arrays.append(moves)
    text = json.dumps(head).encode()
    parts = [each.tobytes() for each in arrays]
    body = b"".join([len(text).to_bytes(4, "little"), text, *parts, info])
    return zlib.crc32(body).to_bytes(4, "little") + body


def _compact_column(column: GameColumn) -> GameColumn | int:
    if len(column) and (column == column[0]).all():
        return int(column[0])
    return column if column.dtype == np.uint64 else _smallest_dtype(column)


def _smallest_dtype(column: GameColumn) -> GameColumn:
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    for dtype in SMALL_DTYPES:
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return column.astype(dtype, copy=False)
    return column


def decode_blob(blob: bytes) -> Blob:
    """Return the content of a blob; CorruptDataError if its checksum is wrong."""
    body = memoryview(blob)[4:]
    if zlib.crc32(body) != int.from_bytes(blob[:4], "little"):
        raise CorruptDataError("some games in the journal are damaged")
    at = 4 + int.from_bytes(body[:4], "little")
    head = json.loads(bytes(body[4:at]))
    columns: dict[str, GameColumn | int] = {}
    for name, dtype in head["columns"].items():
        columns[name] = dtype
        if isinstance(dtype, str):
            columns[name] = np.frombuffer(body, dtype, head["rows"], at)
            at += head["rows"] * np.dtype(dtype).itemsize
    end = len(body) - head["thoughts"]
    moves = None if head["moves"] is None else np.frombuffer(body[at:end], head["moves"])
    traces = {int(row): text for row, text in head["traces"].items()}
    stored = json.loads(zlib.decompress(body[end:])) if end < len(body) else {}
    return Blob(head["rows"], columns, moves, traces, {int(row): stored[row] for row in stored})


def decode_games(blobs: Iterable[bytes], schedule_columns: dict[str, GameColumn]) -> Games:
    """Return the games of consecutive blobs, with their columns of the schedule.

    The last blob may hold more games than are scheduled: those past a stop rule do not count.
    """
    rows, at = len(schedule_columns["pair"]), 0
    # Zeros that are never written cost no memory: agents that do not search have no costs.
    columns = schedule_columns | {
        name: np.zeros(rows, dtype) for name, dtype in RESULT_COLUMNS.items()
    }
    moves: list[GameColumn] | None = []
    traces: dict[int, str] = {}
    search_info: dict[int, str] = {}
    for blob in blobs:
        part = decode_blob(blob)
        if at == rows and part.rows:
            raise CorruptDataError(
                f"the journal has more than the {rows} games that are scheduled so far"
            )
        size = min(part.rows, rows - at)
        for name, column in part.columns.items():
            if not isinstance(column, int):
                columns[name][at : at + size] = column[:size]
            elif column:
                columns[name][at : at + size] = column
        traces |= {at + row: text for row, text in part.traces.items() if row < size}
        search_info |= {at + row: text for row, text in part.search_info.items() if row < size}
        if moves is None or part.moves is None:
            moves = None
        else:
            moves.append(part.moves[: int(columns["plies"][at : at + size].sum())])
        at += size
    if at != rows:
        raise CorruptDataError(f"the journal has {at} games, {rows} are scheduled so far")
    none = np.empty(0, np.int16)
    kept = None if moves is None else np.concatenate([none, *moves], dtype=np.int16)
    return Games(columns, kept, traces, search_info)


class MoveInfo(NamedTuple):
    """The search information of one move."""

    ply: int  # 1 is the first move of the game, including the opening
    side: int  # the side that moved; 0 moved first in the game
    nanoseconds: int
    info: SearchInfo


def encode_search_info(moves: Iterable[MoveInfo]) -> str:
    """Return the search information of one game as JSON."""
    return json.dumps(
        [[*each[:3], *each.info[:4], dict(each.info.data)] for each in moves],
        separators=(",", ":"),
    )


def decode_search_info(text: str) -> Iterator[MoveInfo]:
    """Yield what `encode_search_info` wrote."""
    for ply, side, nanoseconds, value, depth, nodes, line, data in json.loads(text):
        yield MoveInfo(ply, side, nanoseconds, SearchInfo(value, depth, nodes, line, data))
