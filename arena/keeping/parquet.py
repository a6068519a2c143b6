"""Tables as parquet files: what is in their columns is for `arrow_columns` alone."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeVar, get_type_hints

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # likewise

from arena.keeping.arrow_columns import Column, array_of, column_of, list_of, taken
from arena.planning.records import GameColumn
from games.keys import KeyValues
from games.terminal import printable
from games.whole_files import whole_file

Provenance = Mapping[str, object]
RowType = TypeVar("RowType")

# The types of columns with few different words, stored as places in a list of words.
CODED = {"int8 words": pa.int8(), "int16 words": pa.int16()}
TYPED_ROWS_AT_ONCE = 1 << 12
SOURCE = b"PANDAS_ATTRS"
# Without it most bits that flip on a disk would become another number in silence.
CHECKED = {"page_checksum_verification": True}


class TableError(ValueError):
    """A file is not a parquet table with the right columns; one line."""


def write_columns(
    path: Path,
    types: Mapping[str, str],
    parts: Iterable[Mapping[str, Column]],
    provenance: Provenance,
    encodings: Mapping[str, str] | None = None,
) -> None:
    """Write a table part by part; `types` are pyarrow's names of types, or those in CODED.

    `encodings` are for columns whose values repeat too little for a dictionary.
    """
    fields = [(name, _type_of(kind)) for name, kind in types.items()]
    schema = described(pa.schema(fields), provenance)
    tables = (_table(columns, schema) for columns in parts)
    with whole_file(path) as file:
        _write(file, schema, tables, encodings or {})


def _type_of(kind: str) -> pa.DataType:
    return pa.dictionary(CODED[kind], pa.string()) if kind in CODED else pa.type_for_alias(kind)


def _table(columns: Mapping[str, Column], schema: pa.Schema) -> pa.Table:
    made = [column_of(columns[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(made, schema=schema)


def write_rows(
    path: Path, kind: type[object], rows: Iterable[object], provenance: Provenance
) -> None:
    """Write a table of typed rows, some at a time; `kind` is their NamedTuple."""
    hints = get_type_hints(kind)
    known = {int: "int64", str: "string", bool: "bool"}
    types = {name: known.get(hint, "double") for name, hint in hints.items()}
    write_columns(path, types, _row_parts(rows, tuple(hints)), provenance)


def _row_parts(rows: Iterable[object], names: Sequence[str]) -> Iterator[Mapping[str, Column]]:
    """The columns of the next rows; once where there are none."""
    rest, first = iter(rows), True
    while (part := list(islice(rest, TYPED_ROWS_AT_ONCE))) or first:
        first = False
        yield {name: [getattr(row, name) for row in part] for name in names}


def read_columns(
    path: Path, names: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, GameColumn]:
    """Columns of a table by name, with the `optional` ones that it has."""
    there = column_names(path) if optional else ()
    wanted = [*names, *(name for name in optional if name in there)]
    return {name: array_of(column) for name, column in _whole(path, wanted).items()}


def _whole(path: Path, names: Sequence[str]) -> dict[str, Column]:
    """Columns of a table, which `read_table` of pyarrow reads too, but not without pandas."""
    try:
        with pq.ParquetFile(table_file(path), **CHECKED) as file:
            there = file.schema_arrow.names
            for name in names:
                if name not in there:
                    raise TableError(
                        f"it has no column {name}; was it written by another version of pitflip?"
                    )
            table = file.read(columns=list(names))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(_reason(error)) from None
    return {name: table[name] for name in names}


def column_names(path: Path) -> list[str]:
    """The columns of a table; TableError says why it cannot be read."""
    try:
        return list(pq.read_schema(table_file(path)).names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(_reason(error)) from None


def read_source(path: Path) -> KeyValues:
    """What a table says of its origin (`described`); empty if it says nothing."""
    try:
        metadata = pq.read_schema(table_file(path)).metadata or {}
        stored = json.loads(metadata.get(SOURCE, b"{}"))
    except (pa.ArrowException, OSError, ValueError, RecursionError) as error:
        raise TableError(_reason(error)) from None
    return stored if isinstance(stored, dict) else {}


def read_rows(path: Path, kind: type[RowType]) -> list[RowType]:
    """The rows of a table that `write_rows` wrote."""
    hints = get_type_hints(kind)
    columns = _whole(path, list(hints))
    try:
        for name, hint in hints.items():
            _fits(columns[name], name, hint)
    except ValueError as error:
        raise TableError(_reason(error)) from None
    rows: list[RowType] = []
    for start in range(0, len(columns[next(iter(hints))]), TYPED_ROWS_AT_ONCE):
        parts = [_values(each.slice(start, TYPED_ROWS_AT_ONCE)) for each in columns.values()]
        rows += [kind(*row) for row in zip(*parts, strict=True)]
    return rows


def _values(column: Column) -> list[Column]:
    """The values of a column; equal texts are one in memory."""
    if not pa.types.is_string(column.type):
        return list_of(column)
    known: dict[str, str] = {}
    return [known.setdefault(text, text) for text in list_of(column)]


# What a field of a row may be, by its hint; numbers that may be none have no hint of their own.
FITTING: Mapping[object, Column] = {
    int: pa.types.is_integer,
    str: pa.types.is_string,
    bool: pa.types.is_boolean,
}


def _fits(column: Column, name: str, hint: object) -> None:
    """A ValueError if a column cannot have been written from fields of this hint."""
    known = FITTING.get(hint, lambda kind: pa.types.is_floating(kind) or pa.types.is_null(kind))
    if not known(column.type):
        raise ValueError(f"its column {name} is of type {column.type}")
    if column.null_count and (hint in FITTING or hint is float):
        raise ValueError(f"its column {name} has gaps")


def table_file(path: Path) -> Path:
    """The path, unless it is a pipe or a device, which would be waited for; TableError then."""
    if path.exists() and not path.is_file():
        raise TableError("it is no file")
    return path


def _reason(error: Exception) -> str:
    """What pyarrow complains of, in one line."""
    return printable(str(error).split("\n")[0])


def rows_of(path: Path) -> int:
    """How many rows a table has."""
    try:
        rows: int = pq.read_metadata(table_file(path)).num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(_reason(error)) from None
    return rows


def words_of(path: Path, name: str) -> list[str]:
    """The different words of a column, in the order in which they first come."""
    found: dict[str, None] = {}
    for columns in _groups(path, [name], [name]):
        for chunk in columns[name].chunks:
            found |= dict.fromkeys(list_of(chunk.dictionary))
    return list(found)


def read_pieces(
    path: Path, names: Sequence[str], words: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, GameColumn]]:
    """Columns of numbers, and columns of words as places among `words`, some rows at a time."""
    for table in _groups(path, [*names, *words], list(words)):
        columns = {name: array_of(table[name]) for name in names}
        try:
            columns |= {name: _places(table[name], words[name]) for name in words}
        except ValueError as error:  # a word that is none of these
            raise TableError(_reason(error)) from None
        yield columns


def read_lists(path: Path, names: Sequence[str]) -> Iterator[dict[str, list[Any]]]:
    """Columns of a table as lists, None where there is no value, some rows at a time."""
    for table in _groups(path, names, []):
        yield {name: list_of(table[name]) for name in names}


def _groups(path: Path, names: Sequence[str], coded_names: Sequence[str]) -> Iterator[pa.Table]:
    """The row groups of a table, one after another."""
    try:
        with pq.ParquetFile(
            table_file(path), read_dictionary=list(coded_names), pre_buffer=False, **CHECKED
        ) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, columns=list(names), use_threads=False)
                for name in names:
                    table[name]  # KeyError if it is not there
                yield table
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise TableError(_reason(error)) from None


def _places(column: Column, words: Sequence[str]) -> GameColumn:
    """A column of words as places in a list of words; ValueError for one that is not there."""
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # older versions of pyarrow, and a table without rows
        if not whole.num_chunks:
            return np.empty(0, np.int64)
        whole = whole.chunk(0)
    order = np.array([words.index(word) for word in list_of(whole.dictionary)], np.int64)
    return order[array_of(whole.indices)] if len(order) else np.empty(0, np.int64)


def read_texts(path: Path, name: str, rows: Sequence[int]) -> list[str] | None:
    """Some rows of a column of texts; None if the table does not have it."""
    with pq.ParquetFile(table_file(path), pre_buffer=False, **CHECKED) as file:
        if name not in file.schema_arrow.names:
            return None
        wanted, start = np.array(rows, np.int64), 0
        texts = np.empty(len(wanted), object)
        for group in range(file.num_row_groups):
            stop = start + file.metadata.row_group(group).num_rows
            own = np.flatnonzero((wanted >= start) & (wanted < stop))
            if len(own):
                column = file.read_row_group(group, columns=[name], use_threads=False)[name]
                texts[own] = list_of(taken(column, wanted[own] - start))
            start = stop
    return list(texts)


def group_sizes(path: Path) -> list[int]:
    """How many rows each row group of a table has."""
    try:
        known = pq.read_metadata(table_file(path))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(_reason(error)) from None
    return [known.row_group(group).num_rows for group in range(known.num_row_groups)]


def group_texts(path: Path, name: str, group: int) -> list[str]:
    """A column of texts in one row group."""
    try:
        with pq.ParquetFile(path, pre_buffer=False, **CHECKED) as file:
            read = file.read_row_group(group, columns=[name], use_threads=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(_reason(error)) from None
    return list_of(read[name])


def described(schema: pa.Schema, provenance: Provenance) -> pa.Schema:
    """The schema with its provenance where pandas finds it, as `attrs` of the frame."""
    return schema.with_metadata({SOURCE: json.dumps(provenance, sort_keys=True)})


def _write(
    file: IO[bytes], schema: pa.Schema, tables: Iterable[pa.Table], encodings: Mapping[str, str]
) -> None:
    writer = pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        compression_level=3,
        use_dictionary=[name for name in schema.names if name not in encodings],
        column_encoding={name: how for name, how in encodings.items() if name in schema.names},
        write_page_checksum=True,
    )
    try:
        for table in tables:
            writer.write_table(table)
        writer.close()
    finally:
        writer.is_open = False  # interrupted, it would write into the closed file when it goes
