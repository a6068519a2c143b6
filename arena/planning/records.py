"""The records of finished games, as columns that travel through the arena."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

GameColumn: TypeAlias = NDArray[Any]  # one number a game, of a type as wide as it needs


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
        """Whether the game was won, lost or drawn without a fault."""
        return self in (Termination.NORMAL, Termination.TOO_LONG, Termination.RESIGNED)


WIN, DRAW, LOSS = 2, 1, 0

# The columns that the schedule knows of a game, then those that playing it adds.
PLACED: Mapping[str, type[np.integer]] = {
    "pair": np.int64,  # id of the pairing
    "leg": np.int8,  # 0 or 1
    "opening": np.int32,
    "first_side": np.int8,  # to move after the opening: the side of the first mover
    "first": np.int16,  # the agent of side 0, by its place
    "second": np.int16,  # the agent of side 1
    "seed": np.uint64,  # of the pairing
}
PLAYED: Mapping[str, type[np.integer]] = {
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
# What clocks say of a game: a second run does not repeat it.
CLOCKED = tuple(
    f"{seat}_{name}"
    for seat in ("first", "second")
    for name in ("nanoseconds", "longest", "turn", "lag")
)
COLUMNS: Mapping[str, type[np.integer]] = {**PLACED, **PLAYED}


@dataclass(frozen=True, eq=False)
class Games:
    """Finished games as columns, in schedule order; moves only where they are kept."""

    columns: dict[str, GameColumn]
    moves: NDArray[np.int16] | None  # move numbers of all games, one after another
    traces: dict[int, str]  # why games were forfeited, by row
    # What agents thought of their moves, by row, where that is kept (`thought_rows`).
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


def no_games(keep_moves: bool = True) -> Games:
    """An empty set of games."""
    columns = {name: np.empty(0, kind) for name, kind in COLUMNS.items()}
    return Games(columns, np.empty(0, np.int16) if keep_moves else None, {})


def joined(parts: Sequence[Games]) -> Games:
    """The games of all parts, one after another."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return no_games()
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


def games_of_rows(games: Games, rows: NDArray[np.int64]) -> Games:
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


def moves_of(games: Games, row: int) -> list[int]:
    """The move numbers of one game whose moves are kept."""
    if games.moves is None:
        raise LookupError("the moves of these games were not kept")
    ends = np.cumsum(games.plies[: row + 1])
    begin = int(ends[-1] - games.plies[row])
    return [int(move) for move in games.moves[begin : int(ends[-1])]]
