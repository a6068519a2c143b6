"""The tables of a run as parquet files: the only module that knows pyarrow."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, get_type_hints

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # likewise
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # likewise
from numpy.typing import NDArray

from arena.planning.openings import NO_MOVE, Openings
from arena.planning.records import WIN, Games, Termination, joined
from games import Game
from games.transcripts import written

Provenance = Mapping[str, Any]

UNFINISHED = ".part"
ROWS_AT_ONCE = 1 << 16
WORDS = [how.name.lower() for how in Termination]
NAMES = pa.dictionary(pa.int16(), pa.string())
DELTA = "DELTA_BINARY_PACKED"
# Ascending numbers take a bit or two as differences; hashes take what they take.
ENCODINGS = {"game": DELTA, "pair": DELTA, "opening": DELTA, "seed": "PLAIN", "game_id": "PLAIN"}

GAME_COLUMNS = {
    "game": pa.int64(),
    "pair": pa.int64(),
    "leg": pa.int8(),
    "opening": pa.int32(),
    "opening_moves": pa.string(),
    "first": NAMES,
    "second": NAMES,
    "seed": pa.uint64(),
    "game_id": pa.uint64(),
    "result": pa.float64(),
    "margin": pa.int32(),
    "plies": pa.int32(),
    "termination": pa.dictionary(pa.int8(), pa.string()),
    "repeat": pa.bool_(),
    "moves": pa.string(),
}


def write_games(
    path: Path,
    parts: Iterable[Games],
    repeat: NDArray[np.bool_],
    of: Game,
    agents: Sequence[str],
    openings: Openings,
    provenance: Provenance,
    *,
    moves: bool,
) -> None:
    """One row a game in schedule order; `parts` are all games, piece by piece.

    `repeat` is for all of them. `moves` asks for a column of moves, which the parts must keep.
    """
    names = [name for name in GAME_COLUMNS if moves or name != "moves"]
    schema = described(pa.schema([(name, GAME_COLUMNS[name]) for name in names]), provenance)
    words = _opening_words(of, openings)

    def tables() -> Iterator[pa.Table]:
        at = 0
        for part in _pieces(parts):
            columns = _game_columns(part, at, agents, words)
            columns["repeat"] = repeat[at : at + len(part)]
            if moves:
                assert part.moves is not None  # asked for only where they are kept
                columns["moves"] = _joined_words(of, part.moves, part.plies)
            yield pa.table(columns, schema=schema)
            at += len(part)

    write_atomically(path, schema, tables())


def write_atomically(path: Path, schema: pa.Schema, tables: Iterable[pa.Table]) -> None:
    """Write a file that is whole or not there, whatever happens; the old one stays until then."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}{UNFINISHED}")
    try:
        with unfinished.open("wb") as file:
            _write(file, schema, tables)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def remove_unfinished(directory: Path) -> None:
    """Delete what writers that were killed have left in a directory."""
    for path in directory.glob(f".*{UNFINISHED}"):
        path.unlink(missing_ok=True)


def described(schema: pa.Schema, provenance: Provenance) -> pa.Schema:
    """The schema with its provenance where pandas finds it, as `attrs` of the frame."""
    return schema.with_metadata({"PANDAS_ATTRS": json.dumps(provenance, sort_keys=True)})


def _write(file: IO[bytes], schema: pa.Schema, tables: Iterable[pa.Table]) -> None:
    dictionary = [name for name in schema.names if name not in (*ENCODINGS, "moves")]
    encodings = {name: how for name, how in ENCODINGS.items() if name in schema.names}
    with pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        compression_level=3,
        use_dictionary=dictionary,
        column_encoding=encodings,
    ) as writer:
        for table in tables:
            writer.write_table(table)


def _sync(directory: Path) -> None:
    """Make a new name in a directory outlive a power cut."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _pieces(parts: Iterable[Games]) -> Iterator[Games]:
    """The same games in row groups of one size: how they were cut must leave no trace."""
    waiting: list[Games] = []
    rows = 0
    for part in parts:
        waiting.append(part)
        rows += len(part)
        if rows >= ROWS_AT_ONCE:
            whole = part if len(waiting) == 1 else joined(waiting)
            done = rows - rows % ROWS_AT_ONCE
            for at in range(0, done, ROWS_AT_ONCE):
                yield _cut(whole, at, at + ROWS_AT_ONCE)
            waiting = [_cut(whole, done, rows)]
            rows -= done
    if rows:
        yield joined(waiting)


def _cut(games: Games, start: int, stop: int) -> Games:
    """Some of the rows, with their moves."""
    columns = {name: column[start:stop] for name, column in games.columns.items()}
    if games.moves is None:
        return Games(columns, None, {})
    begin = int(games.plies[:start].sum())
    end = begin + int(games.plies[start:stop].sum())
    return Games(columns, games.moves[begin:end], {})


def _game_columns(part: Games, at: int, agents: Sequence[str], words: pa.Array) -> dict[str, Any]:
    """The columns of `GAME_COLUMNS` but the last two; the first row is game `at`."""
    named = {
        name: pa.DictionaryArray.from_arrays(part.columns[name], list(agents))
        for name in ("first", "second")
    }
    plain = ("pair", "leg", "opening", "seed", "game_id", "margin", "plies")
    return (
        named
        | {name: part.columns[name] for name in plain}
        | {
            "game": np.arange(at, at + len(part)),
            "opening_moves": words.take(pa.array(part.opening)),
            "result": part.result / float(WIN),
            "termination": pa.DictionaryArray.from_arrays(part.termination, WORDS),
        }
    )


def _opening_words(of: Game, openings: Openings) -> pa.Array:
    """The moves of every opening as players write them."""
    words = [pa.array([], pa.string())]
    for at in range(0, len(openings), ROWS_AT_ONCE):
        slots = openings.slots[at : at + ROWS_AT_ONCE]
        inside = slots != NO_MOVE
        words.append(
            _joined_words(of, of.moves_of(slots[inside]), inside.sum(axis=1, dtype=np.int32))
        )
    return pa.concat_arrays(words)


def _joined_words(of: Game, moves: NDArray[np.int16], plies: NDArray[np.int32]) -> pa.Array:
    """Every game as one text, its moves set apart by blanks."""
    found = written(of, moves, plies)
    words = pa.array(found.words).take(pa.array(found.places))
    ends = np.concatenate([[0], np.cumsum(plies, dtype=np.int32)])
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(ends, pa.int32()), words), " ")


def write_rows(path: Path, kind: type[Any], rows: Sequence[Any], provenance: Provenance) -> None:
    """A table of typed rows: `kind` is their NamedTuple."""
    types = {int: pa.int64(), str: pa.string()}
    hints = get_type_hints(kind)
    schema = pa.schema([(name, types.get(hint, pa.float64())) for name, hint in hints.items()])
    schema = described(schema, provenance)
    columns = {name: [getattr(row, name) for row in rows] for name in hints}
    write_atomically(path, schema, [pa.table(columns, schema=schema)])
