"""Columns of pyarrow made from lists and arrays, and back, without its help.

Its own ways there and back, `array`, `table`, `to_numpy` and `to_pylist`, ask whether something is
of pandas, and load all of pandas to find out: a fifth of what a small run takes.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # likewise

from arena.planning.records import GameColumn

Column: TypeAlias = Any  # of pyarrow, or what it turns into a column
Values: TypeAlias = GameColumn

BITS: Literal["little"] = "little"  # the order of the bits in a byte


def column_of(given: Column, kind: Column) -> Column:
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
        return column_of(given.tolist(), kind)
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


def coded(places: Values, words: Sequence[str]) -> Column:
    """A column of words, given by their places in a list of them; none where that is negative."""
    missing = places < 0
    given = numbers_of(places, ~missing if missing.any() else None)
    return pa.DictionaryArray.from_arrays(given, column_of(list(words), pa.string()))


def where(values: Values, known: Values) -> Column:
    """A column of numbers that has none where they are not known."""
    return numbers_of(values, known)


def sentences(words: Sequence[str], places: Values, lengths: Values) -> Column:
    """A column of texts; each takes the next words, as many as `lengths` says, blanks between."""
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int32)])
    chosen = taken(column_of(words, pa.string()), places)
    texts = pa.ListArray.from_arrays(numbers_of(ends, None, pa.int32()), chosen)
    return pc.binary_join(texts, column_of([" "], pa.string())[0])


def taken(column: Column, places: Values) -> Column:
    """The values of a column at these places."""
    return column.take(numbers_of(places))


# --------------------------------------------------------------------------- back


def array_of(column: Column) -> Values:
    """A column as an array: numbers that are not there are nan, words are objects."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if not _has_numbers(column.type):
        objects = np.empty(len(column), object)
        objects[:] = list_of(column)
        return objects
    if not chunks:
        return np.empty(0, _dtype(column.type))
    parts = [_numbers(chunk) for chunk in chunks]
    if column.null_count:
        pairs = zip(parts, chunks, strict=True)
        parts = [np.where(_known(chunk), part, np.nan) for part, chunk in pairs]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def list_of(column: Column) -> list[Column]:
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
    words = list_of(chunk.dictionary)
    return [None if place is None else words[place] for place in list_of(chunk.indices)]


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
