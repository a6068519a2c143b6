"""Columns made without pyarrow's help are those that it makes, and say the same."""

import numpy as np
import pyarrow as pa
import pytest

from arena.storage.parquet import joined_words, numbers_of, taken, to_arrow, to_list, to_numpy

SIZES = (0, 1, 7, 8, 9, 100)  # bits of what is known are kept eight by eight
WORDS = ("", "a", "\u00df\u20ac", "d3 c3 c4")
KINDS = ("int8", "int16", "int32", "int64", "uint64", "double", "bool")


def same(ours, theirs):
    """Whether a column is whole in itself, and of the same type and values."""
    ours.validate(full=True)
    return ours.type == theirs.type and ours.equals(theirs)


def drawn(kind, size, rng):
    """An array of this type."""
    if kind == "bool":
        return rng.random(size) < 0.5
    return rng.integers(0, 100, size).astype("float64" if kind == "double" else kind)


def with_gaps(values, rng):
    return [None if rng.random() < 0.3 else value for value in values]


def pieces(column):
    """The column, parts of it that begin in the middle of a byte, and several in one."""
    yield from (column, column[1:], column[3:7], column[9:])
    yield pa.chunked_array([column, column[2:]])
    yield pa.chunked_array([], column.type)


def array_by_pyarrow(column):
    if isinstance(column, pa.ChunkedArray):
        return column.to_numpy()
    return column.to_numpy(zero_copy_only=False)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_those_of_pyarrow_there_and_back(kind):
    rng, of = np.random.default_rng(1), pa.type_for_alias(kind)
    for size in SIZES:
        values = drawn(kind, size, rng)
        listed, known = with_gaps(values.tolist(), rng), rng.random(size) < 0.5
        assert same(to_arrow(values, of), pa.array(values, of))
        assert same(to_arrow(listed, of), pa.array(listed, of))
        assert same(numbers_of(values, known), pa.array(values, of, mask=~known))
        for column in (*pieces(pa.array(values, of)), *pieces(pa.array(listed, of))):
            assert to_list(column) == column.to_pylist()
            if kind != "bool" or not column.null_count:
                ours, theirs = to_numpy(column), array_by_pyarrow(column)
                assert ours.dtype == theirs.dtype
                assert np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")


def test_texts_are_those_of_pyarrow_there_and_back():
    rng = np.random.default_rng(2)
    for size in SIZES:
        whole = [WORDS[place] for place in rng.integers(0, len(WORDS), size)]
        for texts in (whole, with_gaps(whole, rng), [None] * size):
            column = pa.array(texts, pa.string())
            assert same(to_arrow(texts, pa.string()), column)
            for each in (*pieces(column), *pieces(column.dictionary_encode())):
                assert to_list(each) == each.to_pylist()
                assert to_numpy(each).tolist() == each.to_pylist()
        assert same(to_arrow(np.array(whole, object), pa.string()), pa.array(whole, pa.string()))


def test_a_table_of_others_is_read_too():
    column = pa.array([[1, 2], None, []])
    assert to_list(column) == [[1, 2], None, []]
    assert to_list(pa.array([None, None])) == [None, None]


def test_a_number_that_does_not_fit_is_not_made_another():
    with pytest.raises(ValueError, match="of type int64 do not fit into int8"):
        to_arrow(np.array([1, 300]), pa.int8())
    with pytest.raises(ValueError, match="of type float64 do not fit into int32"):
        numbers_of(np.array([0.5]), None, pa.int32())


def test_sentences_take_as_many_words_as_they_are_long():
    made = joined_words(["a", "b"], np.array([0, 1, 1, 0]), np.array([3, 0, 1]))
    assert to_list(made) == ["a b b", "", "a"]
    assert to_list(taken(made, np.array([2, 0]))) == ["a", "a b b"]
