"""Tables as parquet, read and written some rows at a time."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, get_type_hints

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # likewise
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # likewise

from arena.planning.games import GameColumn
from games.base.errors import printable
from games.base.files import atomic_write
from games.base.schema import KeyValues

Column: TypeAlias = Any  # of pyarrow, or values that it turns into a column
TableMetadata = Mapping[str, object]
RowType = TypeVar("RowType")
# Types of columns with few different texts, stored as places in a list of texts.
DICTIONARY_TYPES = {
    name: pa.dictionary(places, pa.string())
    for name, places in {"int8 words": pa.int8(), "int16 words": pa.int16()}.items()
}
ROWS_AT_ONCE = 1 << 12
METADATA = b"PANDAS_ATTRS"  # pandas reads it as `attrs` of the frame
# Without it most bits that flip on a disk would silently become another number.
CHECKED = {"page_checksum_verification": True}
# Tests of a column's type, by the hint of a field; numbers that may be missing have no hint here.
FITTING: Mapping[object, Column] = {
    int: pa.types.is_integer,
    str: pa.types.is_string,
    bool: pa.types.is_boolean,
}


class TableError(ValueError):
    """A file is not a parquet table with the right columns; one line says why."""


@contextlib.contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except TableError:
        raise
    except (pa.ArrowException, OSError, KeyError, ValueError, RecursionError) as error:
        raise TableError(printable(str(error).split("\n")[0])) from None


def to_arrow(values: Column, dtype: Column) -> Column:
    """Return values, or a column of another type, as a column; ValueError if one does not fit."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values if values.type == dtype else values.cast(dtype)
    return pa.array(values, dtype)


def dictionary_column(places: GameColumn, texts: Sequence[str]) -> Column:
    """Return a column of texts by their places in a list; None where a place is negative."""
    return pa.DictionaryArray.from_arrays(
        pa.array(places, mask=places < 0), pa.array(texts, pa.string())
    )


def numbers_where(values: GameColumn, known: GameColumn) -> Column:
    """Return a column of numbers that is empty where they are not known."""
    return pa.array(values, mask=~known)


def join_words(words: Sequence[str], places: GameColumn, lengths: GameColumn) -> Column:
    """Return a column of texts; each joins the next words, `lengths` of them, by blanks."""
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int32)])
    chosen = pa.array(words, pa.string()).take(pa.array(places))
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(ends, pa.int32()), chosen), " ")


def to_numpy(column: Column) -> GameColumn:
    """Return a column as an array: missing numbers are NaN, texts are objects."""
    if pa.types.is_boolean(column.type) and column.null_count:
        column = column.cast(pa.float64())
    if isinstance(column, pa.ChunkedArray):
        array: GameColumn = column.to_numpy()
    else:
        array = column.to_numpy(zero_copy_only=False)
    return array


def to_list(column: Column) -> list[Any]:
    """Return a column as a list, None where there is no value."""
    values: list[Any]
    is_plain = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if pa.types.is_string(column.type) or (is_plain and not column.null_count):
        values = to_numpy(column).tolist()  # many times faster than `to_pylist`
    elif pa.types.is_dictionary(column.type):
        values = to_list(column.cast(column.type.value_type))
    else:
        values = column.to_pylist()
    return values


def write_columns(
    path: Path,
    types: Mapping[str, str],
    parts: Iterable[Mapping[str, Column]],
    provenance: TableMetadata,
    encodings: Mapping[str, str] | None = None,
) -> None:
    """Write a table part by part; `types` are pyarrow's names, or those in DICTIONARY_TYPES.

    `encodings` are for columns whose values repeat too little for a dictionary.
    """
    schema = pa.schema([
        (name, DICTIONARY_TYPES.get(dtype) or pa.type_for_alias(dtype))
        for name, dtype in types.items()
    ]).with_metadata({METADATA: json.dumps(provenance, sort_keys=True)})  # fmt: skip
    encodings = encodings or {}
    with atomic_write(path) as file:
        writer = pq.ParquetWriter(
            file,
            schema,
            compression="zstd",
            compression_level=3,
            use_dictionary=[name for name in types if name not in encodings],
            column_encoding={name: how for name, how in encodings.items() if name in types},
            write_page_checksum=True,
        )
        try:
            for columns in parts:
                arrays = [to_arrow(columns[field.name], field.type) for field in schema]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            writer.close()
        finally:
            writer.is_open = False  # an interrupted writer would write when it is deleted


def write_rows(
    path: Path, row_type: type[object], rows: Iterable[object], provenance: TableMetadata
) -> None:
    """Write a table of typed rows, some at a time; `row_type` is their NamedTuple."""
    hints = get_type_hints(row_type)
    known = {int: "int64", str: "string", bool: "bool"}
    types = {name: known.get(hint, "double") for name, hint in hints.items()}

    def parts() -> Iterator[Mapping[str, Column]]:
        rest, is_first = iter(rows), True  # a table without rows has one empty part
        while (part := list(islice(rest, ROWS_AT_ONCE))) or is_first:
            is_first = False
            yield {name: [getattr(row, name) for row in part] for name in hints}

    write_columns(path, types, parts(), provenance)


def table_file(path: Path) -> Path:
    """Return the path; TableError if it is a pipe or a device, which would block."""
    if path.exists() and not path.is_file():
        raise TableError("it is no file")
    return path


def column_names(path: Path) -> list[str]:
    """Return the columns of a table; TableError says why it cannot be read."""
    with _translate_errors():
        return list(pq.read_schema(table_file(path)).names)


def count_rows(path: Path) -> int:
    """Return the number of rows of a table."""
    with _translate_errors():
        rows: int = pq.read_metadata(table_file(path)).num_rows
        return rows


def read_source(path: Path) -> KeyValues:
    """Return the metadata of a table; empty without any."""
    with _translate_errors():
        metadata = pq.read_schema(table_file(path)).metadata or {}
        stored = json.loads(metadata.get(METADATA, b"{}"))
    return stored if isinstance(stored, dict) else {}


def read_columns(
    path: Path, names: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, GameColumn]:
    """Return columns of a table by name, with the `optional` ones that it has."""
    there = column_names(path) if optional else ()
    table = _read_table(path, [*names, *(name for name in optional if name in there)])
    return {name: to_numpy(table[name]) for name in table.column_names}


def _read_table(path: Path, names: Sequence[str]) -> pa.Table:
    with _translate_errors(), pq.ParquetFile(table_file(path), **CHECKED) as file:
        for name in names:
            if name not in file.schema_arrow.names:
                raise TableError(
                    f"it has no column {name}; was it written by another version of pitflip?"
                )
        return file.read(columns=list(names))


def read_rows(path: Path, row_type: type[RowType]) -> list[RowType]:
    """Return the rows of a table that `write_rows` wrote."""
    hints = get_type_hints(row_type)
    table = _read_table(path, list(hints))
    for name, hint in hints.items():
        _check_type(table[name], name, hint)
    known: dict[str, str] = {}  # equal texts become one object
    rows: list[RowType] = []
    for start in range(0, len(table), ROWS_AT_ONCE):
        part = table.slice(start, ROWS_AT_ONCE)
        columns = [to_list(part[name]) for name in hints]
        for at, hint in enumerate(hints.values()):
            if hint is str:
                columns[at] = [known.setdefault(text, text) for text in columns[at]]
        rows += [row_type(*row) for row in zip(*columns, strict=True)]
    return rows


def _check_type(column: Column, name: str, hint: object) -> None:
    """Raise TableError if a column cannot have been written from fields of this hint."""
    fits = FITTING.get(hint, lambda dtype: pa.types.is_floating(dtype) or pa.types.is_null(dtype))
    if not fits(column.type):
        raise TableError(f"its column {name} is of type {column.type}")
    if column.null_count and (hint in FITTING or hint is float):
        raise TableError(f"its column {name} has gaps")


def distinct_values(path: Path, name: str) -> list[str]:
    """Return the different texts of a column, in the order in which they first come."""
    found: dict[str, None] = {}
    for columns in _row_groups(path, [name], [name]):
        for chunk in columns[name].chunks:
            found |= dict.fromkeys(to_list(chunk.dictionary))
    return list(found)


def iter_columns(
    path: Path, names: Sequence[str], texts: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, GameColumn]]:
    """Yield columns of numbers, and columns of texts as places among `texts`, by row groups."""
    for table in _row_groups(path, [*names, *texts], list(texts)):
        columns = {name: to_numpy(table[name]) for name in names}
        with _translate_errors():  # a text that is not among these
            columns |= {name: _places(table[name], texts[name]) for name in texts}
        yield columns


def _places(column: Column, texts: Sequence[str]) -> GameColumn:
    """Return a column of texts as places in a list; ValueError for a text that is not there."""
    parts = [np.empty(0, np.int64)]
    for chunk in column.chunks:
        order = np.array([texts.index(text) for text in to_list(chunk.dictionary)], np.int64)
        parts.append(order[to_numpy(chunk.indices)] if len(order) else order)
    return np.concatenate(parts)


def iter_rows(path: Path, names: Sequence[str]) -> Iterator[dict[str, list[Any]]]:
    """Yield columns of a table as lists, None where there is no value, by row groups."""
    for table in _row_groups(path, names, []):
        yield {name: to_list(table[name]) for name in names}


def _row_groups(path: Path, names: Sequence[str], coded_names: Sequence[str]) -> Iterator[pa.Table]:
    with (
        _translate_errors(),
        pq.ParquetFile(
            table_file(path), read_dictionary=list(coded_names), pre_buffer=False, **CHECKED
        ) as file,
    ):
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=list(names), use_threads=False)
            for name in names:
                table[name]  # KeyError if it is not there
            yield table


def take_texts(path: Path, name: str, rows: Sequence[int]) -> list[str] | None:
    """Return some rows of a column of texts; None if the table does not have it."""
    if name not in column_names(path):
        return None
    wanted, start = np.array(rows, np.int64), 0
    texts = np.empty(len(wanted), object)
    for group, size in enumerate(group_sizes(path)):
        own = np.flatnonzero((wanted >= start) & (wanted < start + size))
        if len(own):
            found = group_texts(path, name, group)
            texts[own] = [found[row] for row in (wanted[own] - start).tolist()]
        start += size
    return list(texts)


def group_sizes(path: Path) -> list[int]:
    """Return the number of rows of each row group of a table."""
    with _translate_errors():
        metadata = pq.read_metadata(table_file(path))
        return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


def group_texts(path: Path, name: str, group: int) -> list[str]:
    """Return a column of texts in one row group."""
    with _translate_errors(), pq.ParquetFile(path, pre_buffer=False, **CHECKED) as file:
        table = file.read_row_group(group, columns=[name], use_threads=False)
        return to_list(table[name])


class TextColumn:
    """A column of texts of which one row group is in memory: ascending rows are read quickly."""

    def __init__(self, path: Path, name: str) -> None:
        """TableError if the table cannot be read."""
        self.path, self.name = path, name
        self._start, self._texts = 0, list[str]()
        self.starts = np.cumsum([0, *group_sizes(path)])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def pieces(self) -> Iterator[tuple[int, list[str]]]:
        """Yield all texts, one row group at a time, with the first row of each."""
        for start in self.starts[:-1].tolist():
            self._load_group(start)
            yield start, self._texts

    def rows(self, start: int, stop: int) -> list[str]:
        """Return the texts of rows `start` to `stop` - 1, as far as there are any."""
        found: list[str] = []
        while start + len(found) < min(stop, len(self)):
            self._load_group(start + len(found))
            at = start + len(found) - self._start
            found += self._texts[at : at + stop - start - len(found)]
        return found

    def _load_group(self, row: int) -> None:
        """Load the row group of a row."""
        if self._start <= row < self._start + len(self._texts):
            return
        group = int(np.searchsorted(self.starts, row, side="right")) - 1
        self._start = int(self.starts[group])
        self._texts = group_texts(self.path, self.name, group)
