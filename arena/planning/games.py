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

GameColumn: TypeAlias = NDArray[Any]  # one number a game, of a type as wide as it needs
WIN, DRAW, LOSS = 2, 1, 0
# The columns that the schedule knows of a game, then those that playing it adds.
SCHEDULE_COLUMNS: Mapping[str, type[np.integer]] = {
    "pair": np.int64,  # id of the pairing
    "leg": np.int8,  # 0 or 1
    "opening": np.int32,
    "first_side": np.int8,  # to move after the opening: the side of the first mover
    "first": np.int16,  # the agent of side 0, by its place
    "second": np.int16,  # the agent of side 1
    "seed": np.uint64,  # of the pairing
}
RESULT_COLUMNS: Mapping[str, type[np.integer]] = {
    "game_id": np.uint64,  # hash of the moves from the start, opening included
    "result": np.int8,  # WIN, DRAW or LOSS of agent `first`
    "margin": np.int32,  # its final score minus the other's; after a forfeit, the score so far
    "plies": np.int32,  # moves and passes, the opening included
    "termination": np.int8,
    "first_nodes": np.int64,
    "second_nodes": np.int64,
    "first_nanoseconds": np.int64,  # thinking time
    "second_nanoseconds": np.int64,
    "first_longest": np.int64,  # nanoseconds of its longest move
    "second_longest": np.int64,
    "first_turn": np.int64,  # of its longest turn
    "second_turn": np.int64,
    "first_lag": np.int64,  # for which it was ready but could not run
    "second_lag": np.int64,
    "first_moves": np.int32,  # moves it chose: neither opening nor forced pass
    "second_moves": np.int32,
}
# Times of a game: a second run does not repeat them.
TIMING_COLUMNS = tuple(
    f"{seat}_{name}"
    for seat in ("first", "second")
    for name in ("nanoseconds", "longest", "turn", "lag")
)
COLUMNS: Mapping[str, type[np.integer]] = {**SCHEDULE_COLUMNS, **RESULT_COLUMNS}
NARROW = (np.int8, np.int16, np.int32)
# Of a table a row group; even, so that no pairing is cut.
CHUNK_ROWS = 1 << 16


class Termination(enum.IntEnum):
    """How a game ended; whatever is not fair is a forfeit by the side that lost."""

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
    def fair(self) -> bool:
        """True if the game was won, lost or drawn without a fault."""
        return self in (Termination.NORMAL, Termination.TOO_LONG, Termination.RESIGNED)


_FAIR = [how for how in Termination if how.fair]


@dataclass(frozen=True, eq=False)
class Games:
    """Finished games as columns, in schedule order; moves only where they are kept."""

    columns: dict[str, GameColumn]
    moves: NDArray[np.int16] | None  # move numbers of all games, one after another
    traces: dict[int, str]  # why games were forfeited, by row
    # Search information of moves, by row, if it is kept (`search_info_rows`).
    thoughts: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of games."""
        return len(self.columns["result"])

    def __getattr__(self, name: str) -> GameColumn:
        """Read a column as an attribute."""
        columns = self.__dict__.get("columns", {})  # missing while a game is being unpickled
        if name not in columns:
            raise AttributeError(name)
        column: GameColumn = columns[name]
        return column


PAIR_POINTS = 4.0  # of both games of a pair, in quarters of the score


def pair_points(games: "Games") -> NDArray[np.int8]:
    """The score of agent `a` in each pairing, in quarters from 0 to 4."""
    points: NDArray[np.int8] = games.result[0::2] + np.int8(WIN) - games.result[1::2]
    return points


def first_movers(games: "Games") -> GameColumn:
    """Return the first mover of each game: the agent to move after the opening."""
    return np.where(games.first_side == 0, games.first, games.second)


def first_mover_results(games: "Games") -> NDArray[np.int8]:
    """Return WIN, DRAW or LOSS of the first mover of each game."""
    return np.where(games.first_side == 0, games.result, np.int8(WIN) - games.result)


def fair_games(games: "Games") -> NDArray[np.bool_]:
    """Return which games were played and ended without a fault; the others are forfeits."""
    return np.isin(games.termination, _FAIR)


def empty_games(keep_moves: bool = True) -> Games:
    """An empty set of games."""
    columns = {name: np.empty(0, kind) for name, kind in COLUMNS.items()}
    return Games(columns, np.empty(0, np.int16) if keep_moves else None, {})


def concat_games(parts: Sequence[Games]) -> Games:
    """The games of all parts, one after another."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return empty_games()
    columns = {name: np.concatenate([p.columns[name] for p in parts]) for name in parts[0].columns}
    complete = all(p.moves is not None for p in parts)
    moves = np.concatenate([p.moves for p in parts if p.moves is not None]) if complete else None
    traces: dict[int, str] = {}
    thoughts: dict[int, str] = {}
    at = 0
    for part in parts:
        traces |= {at + row: text for row, text in part.traces.items()}
        thoughts |= {at + row: text for row, text in part.thoughts.items()}
        at += len(part)
    return Games(columns, moves, traces, thoughts)


def take_games(games: Games, rows: NDArray[np.int64]) -> Games:
    """The games in these rows, in their order, without traces."""
    columns = {name: column[rows] for name, column in games.columns.items()}
    thought, thoughts = games.thoughts, dict[int, str]()
    if thought:
        thoughts = {to: thought[row] for to, row in enumerate(rows.tolist()) if row in thought}
    if games.moves is None:
        return Games(columns, None, {}, thoughts)
    begins, lengths = np.cumsum(games.plies) - games.plies, columns["plies"]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    moves = games.moves[np.repeat(begins[rows], lengths) + within]
    return Games(columns, moves, {}, thoughts)


def moves_of_game(games: Games, row: int) -> list[int]:
    """The move numbers of one game whose moves are kept."""
    if games.moves is None:
        raise LookupError("the moves of these games were not kept")
    ends = np.cumsum(games.plies[: row + 1])
    begin = int(ends[-1] - games.plies[row])
    return [int(move) for move in games.moves[begin : int(ends[-1])]]


class CorruptDataError(ValueError):  # a state of the file, not an error of the code
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


def encode_games(games: Games) -> bytes:
    """The games as one blob, without the columns of the schedule."""
    columns = {name: _compact_column(games.columns[name]) for name in RESULT_COLUMNS}
    moves = None if games.moves is None else _smallest_dtype(games.moves)
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


def make_batch(start: int, stop: int, games: Games, seconds: float, worker: str = "") -> Batch:
    """The games of these pairings as a batch."""
    return Batch(start, stop, encode_games(games), pair_points(games), seconds, worker)


def decode_blob(blob: bytes) -> Blob:
    """Return the content of a blob; raise CorruptDataError if its checksum is wrong."""
    body = memoryview(blob)[4:]
    if zlib.crc32(body) != int.from_bytes(blob[:4], "little"):
        raise CorruptDataError("some games in the journal are damaged")
    ends = 4 + int.from_bytes(body[:4], "little")
    head = json.loads(bytes(body[4:ends]))
    columns: dict[str, GameColumn | int] = {}
    for name, kind in head["columns"].items():
        columns[name] = kind
        if isinstance(kind, str):
            columns[name] = np.frombuffer(body, kind, head["rows"], ends)
            ends += head["rows"] * np.dtype(kind).itemsize
    last = len(body) - head["thoughts"]
    moves = None if head["moves"] is None else np.frombuffer(body[ends:last], head["moves"])
    traces = {int(row): text for row, text in head["traces"].items()}
    stored = json.loads(zlib.decompress(body[last:])) if last < len(body) else {}
    thoughts = {int(row): text for row, text in stored.items()}
    return Blob(head["rows"], columns, moves, traces, thoughts)


def decode_games(blobs: Iterable[bytes], placed: dict[str, GameColumn]) -> Games:
    """The games of blobs that follow one another; `placed` are their columns of the schedule.

    The last blob may hold more games than that: those past a stop rule do not count.
    """
    rows, at = len(placed["pair"]), 0
    # Zeros that are never written cost no memory: agents that do not search have no costs.
    columns = placed | {name: np.zeros(rows, kind) for name, kind in RESULT_COLUMNS.items()}
    moves: list[GameColumn] | None = []
    traces: dict[int, str] = {}
    thoughts: dict[int, str] = {}
    for blob in blobs:
        whole = decode_blob(blob)
        if at == rows and whole.rows:
            raise CorruptDataError(
                f"the journal has more than the {rows} games that are scheduled so far"
            )
        each = whole.first(rows - at)
        for name, column in each.columns.items():
            if not isinstance(column, int) or column != 0:
                columns[name][at : at + each.rows] = column
        traces |= {at + row: text for row, text in each.traces.items()}
        thoughts |= {at + row: text for row, text in each.thoughts.items()}
        moves = None if moves is None or each.moves is None else [*moves, each.moves]
        at += each.rows
    if at != rows:
        raise CorruptDataError(f"the journal has {at} games, {rows} are scheduled so far")
    none = np.empty(0, np.int16)
    kept = None if moves is None else np.concatenate([none, *moves], dtype=np.int16)
    return Games(columns, kept, traces, thoughts)


def _compact_column(column: GameColumn) -> GameColumn | int:
    """The column in as few bytes as it needs; one number if all rows have the same."""
    if len(column) and (column == column[0]).all():
        return int(column[0])
    return column if column.dtype == np.uint64 else _smallest_dtype(column)


def _smallest_dtype(column: GameColumn) -> GameColumn:
    """Signed integers in the fewest bytes that hold them."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    for kind in NARROW:
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return column.astype(kind, copy=False)
    return column


# Returns the games of a run in schedule order, each time it is called; pairs are complete.
GameParts: TypeAlias = Callable[[], Iterable[Games]]


def pieces(parts: Iterable[Games], size: int = CHUNK_ROWS) -> Iterator[Games]:
    """The same games `size` at a time: how they were batched leaves no trace."""
    waiting: list[Games] = []
    rows = 0
    for part in parts:
        waiting.append(part)
        rows += len(part)
        if rows >= size:
            whole = part if len(waiting) == 1 else concat_games(waiting)
            done = rows - rows % size
            for at in range(0, done, size):
                yield slice_games(whole, at, at + size)
            waiting = [slice_games(whole, done, rows)]
            rows -= done
    if rows:
        yield concat_games(waiting)


def slice_games(games: Games, start: int, stop: int) -> Games:
    """The games in rows `start` to `stop` - 1, with their moves, traces and thoughts."""
    columns = {name: column[start:stop] for name, column in games.columns.items()}
    traces = {row - start: text for row, text in games.traces.items() if start <= row < stop}
    thoughts = {row - start: text for row, text in games.thoughts.items() if start <= row < stop}
    if games.moves is None:
        return Games(columns, None, traces, thoughts)
    begin = int(games.plies[:start].sum())
    end = begin + int(games.plies[start:stop].sum())
    return Games(columns, games.moves[begin:end], traces, thoughts)


class MoveInfo(NamedTuple):
    """Search information of the move at this ply, and its nanoseconds."""

    ply: int  # 1 is the first move of the game, the opening's included
    side: int  # that moved: 0 moved first in the game
    nanoseconds: int
    thought: SearchInfo


def encode_search_info(thoughts: Iterable[MoveInfo]) -> str:
    """Return the search information of one game as JSON."""
    return json.dumps(
        [[*each[:3], *each.thought[:4], dict(each.thought.data)] for each in thoughts],
        separators=(",", ":"),
    )


def decode_search_info(text: str) -> Iterator[MoveInfo]:
    """Yield what `encode_search_info` wrote."""
    for ply, side, nanoseconds, value, depth, nodes, line, data in json.loads(text):
        yield MoveInfo(ply, side, nanoseconds, SearchInfo(value, depth, nodes, line, data))


def json_or_empty(data: Mapping[str, str]) -> str:
    """Return a bot's own data as JSON; "" without data."""
    return json.dumps(data, ensure_ascii=False) if data else ""
