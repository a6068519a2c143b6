"""Tables as parquet."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias, TypeVar, get_type_hints

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # likewise
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # likewise

from arena.planning.games import GameColumn
from games.base.errors import printable
from games.base.files import atomic_write
from games.base.schema import KeyValues

Column: TypeAlias = Any  # of pyarrow, or what it turns into a column
Values: TypeAlias = GameColumn
BITS: Literal["little"] = "little"  # the order of the bits in a byte
TableMetadata = Mapping[str, object]
RowType = TypeVar("RowType")
# The types of columns with few different words, stored as places in a list of words.
DICTIONARY_TYPES = {"int8 words": pa.int8(), "int16 words": pa.int16()}
TYPED_ROWS_AT_ONCE = 1 << 12
SOURCE = b"PANDAS_ATTRS"
# Without it most bits that flip on a disk would become another number in silence.
CHECKED = {"page_checksum_verification": True}
# What a field of a row may be, by its hint; numbers that may be none have no hint of their own.
FITTING: Mapping[object, Column] = {
    int: pa.types.is_integer,
    str: pa.types.is_string,
    bool: pa.types.is_boolean,
}


def to_arrow(given: Column, kind: Column) -> Column:
    """A column of this type from an array, a list in which None is no value, or a column."""
    if isinstance(given, pa.Array | pa.ChunkedArray):
        return given if given.type == kind else given.cast(kind)
    if not isinstance(given, np.ndarray):
        known = np.array([value is not None for value in given], np.bool_)
        if pa.types.is_string(kind):
            return _texts([value or "" for value in given], known)
        given = np.array([0 if value is None else value for value in given], _dtype(kind))
        return numbers_of(given, None if known.all() else known, kind)
    if given.dtype == object or given.dtype.kind == "U":
        return to_arrow(given.tolist(), kind)
    return numbers_of(given, None, kind)


def numbers_of(values: Values, known: Values | None = None, kind: Column = None) -> Column:
    """A column of numbers or of yes and no; it has none where they are not known."""
    kind = kind or _kind(values.dtype)
    if values.dtype != (dtype := _dtype(kind)):
        values = _cast(values, dtype)
    bits = np.packbits(values, bitorder=BITS) if dtype == np.bool_ else np.ascontiguousarray(values)
    valid = None if known is None else pa.py_buffer(np.packbits(known, bitorder=BITS))
    return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(bits)])


def _cast(values: Values, dtype: "np.dtype[np.generic]") -> Values:
    """Numbers of another type; ValueError if one of them would be another number."""
    cast = values.astype(dtype)
    if dtype.kind == "f":
        return cast
    if not np.array_equal(cast, values):
        raise ValueError(f"numbers of type {values.dtype} do not fit into {dtype}")
    return cast


def _texts(texts: Sequence[str], known: Values) -> Column:
    encoded = [text.encode() for text in texts]
    ends = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(each) for each in encoded], out=ends[1:])
    offsets = pa.py_buffer(_cast(ends, np.dtype(np.int32)))
    valid = None if known.all() else pa.py_buffer(np.packbits(known, bitorder=BITS))
    whole = pa.py_buffer(b"".join(encoded))
    return pa.Array.from_buffers(pa.string(), len(encoded), [valid, offsets, whole])


def _dtype(kind: Column) -> "np.dtype[np.generic]":
    return np.dtype("float64" if kind == pa.float64() else str(kind))


def _kind(dtype: "np.dtype[np.generic]") -> Column:
    return pa.type_for_alias(dtype.name)


def dictionary_column(places: Values, words: Sequence[str]) -> Column:
    """A column of words, given by their places in a list of them; none where that is negative."""
    missing = places < 0
    given = numbers_of(places, ~missing if missing.any() else None)
    return pa.DictionaryArray.from_arrays(given, to_arrow(list(words), pa.string()))


def where(values: Values, known: Values) -> Column:
    """A column of numbers that has none where they are not known."""
    return numbers_of(values, known)


def joined_words(words: Sequence[str], places: Values, lengths: Values) -> Column:
    """A column of texts; each takes the next words, as many as `lengths` says, blanks between."""
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int32)])
    chosen = taken(to_arrow(words, pa.string()), places)
    texts = pa.ListArray.from_arrays(numbers_of(ends, None, pa.int32()), chosen)
    return pc.binary_join(texts, to_arrow([" "], pa.string())[0])


def taken(column: Column, places: Values) -> Column:
    """The values of a column at these places."""
    return column.take(numbers_of(places))


# --------------------------------------------------------------------------- back


def to_numpy(column: Column) -> Values:
    """A column as an array: numbers that are not there are nan, words are objects."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if not _has_numbers(column.type):
        objects = np.empty(len(column), object)
        objects[:] = to_list(column)
        return objects
    if not chunks:
        return np.empty(0, _dtype(column.type))
    parts = [_numbers(chunk) for chunk in chunks]
    if column.null_count:
        pairs = zip(parts, chunks, strict=True)
        parts = [np.where(_known(chunk), part, np.nan) for part, chunk in pairs]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def to_list(column: Column) -> list[Column]:
    """A column as a list, None where there is no value."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [value for chunk in chunks for value in _reader(chunk.type)(chunk)]


def _has_numbers(kind: Column) -> bool:
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return plain and str(kind) != "halffloat"


def _reader(kind: Column) -> Callable[[Column], list[Column]]:
    if _has_numbers(kind):
        return lambda chunk: _with_gaps(_numbers(chunk).tolist(), chunk)
    if pa.types.is_string(kind):
        return lambda chunk: _with_gaps(_words(chunk), chunk)
    if pa.types.is_dictionary(kind):
        return _looked_up
    return lambda chunk: list(chunk.to_pylist())  # of a table that is not ours


def _with_gaps(values: list[Column], chunk: Column) -> list[Column]:
    if not chunk.null_count:
        return values
    pairs = zip(values, _known(chunk).tolist(), strict=True)
    return [value if known else None for value, known in pairs]


def _looked_up(chunk: Column) -> list[Column]:
    words = to_list(chunk.dictionary)
    return [None if place is None else words[place] for place in to_list(chunk.indices)]


def _words(chunk: Column) -> list[str]:
    _, offsets, whole = chunk.buffers()
    if not len(chunk):
        return []
    ends = np.frombuffer(offsets, np.int32)[chunk.offset :][: len(chunk) + 1]
    text = b"" if whole is None else whole[ends[0] : ends[-1]].to_pybytes()
    return [text[begin:end].decode() for begin, end in pairwise((ends - ends[0]).tolist())]


def _numbers(chunk: Column) -> Values:
    dtype, start, stop = _dtype(chunk.type), chunk.offset, chunk.offset + len(chunk)
    stored = chunk.buffers()[1]
    if stored is None:
        return np.zeros(len(chunk), dtype)
    if dtype == np.bool_:
        return _bits(stored, start, stop)
    return np.frombuffer(stored, dtype, stop)[start:]


def _known(chunk: Column) -> Values:
    stored = chunk.buffers()[0]
    if stored is None:
        return np.ones(len(chunk), np.bool_)
    return _bits(stored, chunk.offset, chunk.offset + len(chunk))


def _bits(stored: Column, start: int, stop: int) -> Values:
    bits = np.unpackbits(np.frombuffer(stored, np.uint8), count=stop, bitorder=BITS)
    return np.asarray(bits[start:], np.bool_)


class TableError(ValueError):
    """A file is not a parquet table with the right columns; one line."""


def write_columns(
    path: Path,
    types: Mapping[str, str],
    parts: Iterable[Mapping[str, Column]],
    provenance: TableMetadata,
    encodings: Mapping[str, str] | None = None,
) -> None:
    """Write a table part by part; `types` are pyarrow's names of types, or those in CODED.

    `encodings` are for columns whose values repeat too little for a dictionary.
    """
    fields = [(name, _type_of(kind)) for name, kind in types.items()]
    schema = with_metadata(pa.schema(fields), provenance)
    tables = (_table(columns, schema) for columns in parts)
    with atomic_write(path) as file:
        _write(file, schema, tables, encodings or {})


def _type_of(kind: str) -> pa.DataType:
    return (
        pa.dictionary(DICTIONARY_TYPES[kind], pa.string())
        if kind in DICTIONARY_TYPES
        else pa.type_for_alias(kind)
    )


def _table(columns: Mapping[str, Column], schema: pa.Schema) -> pa.Table:
    made = [to_arrow(columns[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(made, schema=schema)


def write_rows(
    path: Path, kind: type[object], rows: Iterable[object], provenance: TableMetadata
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
    return {name: to_numpy(column) for name, column in _whole(path, wanted).items()}


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
    """Return the metadata of a table (`described`); empty without any."""
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
            _check_type(columns[name], name, hint)
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
        return to_list(column)
    known: dict[str, str] = {}
    return [known.setdefault(text, text) for text in to_list(column)]


def _check_type(column: Column, name: str, hint: object) -> None:
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
    """Return pyarrow's error in one line."""
    return printable(str(error).split("\n")[0])


def count_rows(path: Path) -> int:
    """Return the number of rows of a table."""
    try:
        rows: int = pq.read_metadata(table_file(path)).num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(_reason(error)) from None
    return rows


def distinct_values(path: Path, name: str) -> list[str]:
    """The different words of a column, in the order in which they first come."""
    found: dict[str, None] = {}
    for columns in _groups(path, [name], [name]):
        for chunk in columns[name].chunks:
            found |= dict.fromkeys(to_list(chunk.dictionary))
    return list(found)


def iter_columns(
    path: Path, names: Sequence[str], words: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, GameColumn]]:
    """Columns of numbers, and columns of words as places among `words`, some rows at a time."""
    for table in _groups(path, [*names, *words], list(words)):
        columns = {name: to_numpy(table[name]) for name in names}
        try:
            columns |= {name: _places(table[name], words[name]) for name in words}
        except ValueError as error:  # a word that is none of these
            raise TableError(_reason(error)) from None
        yield columns


def iter_rows(path: Path, names: Sequence[str]) -> Iterator[dict[str, list[Any]]]:
    """Columns of a table as lists, None where there is no value, some rows at a time."""
    for table in _groups(path, names, []):
        yield {name: to_list(table[name]) for name in names}


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
    order = np.array([words.index(word) for word in to_list(whole.dictionary)], np.int64)
    return order[to_numpy(whole.indices)] if len(order) else np.empty(0, np.int64)


def take_texts(path: Path, name: str, rows: Sequence[int]) -> list[str] | None:
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
                try:
                    column = file.read_row_group(group, columns=[name], use_threads=False)[name]
                    texts[own] = to_list(taken(column, wanted[own] - start))
                except (pa.ArrowException, OSError, ValueError) as error:
                    raise TableError(_reason(error)) from None
            start = stop
    return list(texts)


def group_sizes(path: Path) -> list[int]:
    """Return the number of rows of each row group of a table."""
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
    return to_list(read[name])


def with_metadata(schema: pa.Schema, provenance: TableMetadata) -> pa.Schema:
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
