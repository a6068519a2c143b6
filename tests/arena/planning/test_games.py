"""Blobs of games: they return what was encoded, take few bytes, and notice damage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.planning.games import (
    RESULT_COLUMNS,
    SCHEDULE_COLUMNS,
    CorruptDataError,
    Games,
    concat_games,
    decode_games,
    encode_games,
    moves_of_game,
    pair_points,
)


def schedule_columns(rows):
    return {name: np.arange(rows).astype(dtype) for name, dtype in SCHEDULE_COLUMNS.items()}


def zeros(rows, **columns):
    columns = {name: np.asarray(values, RESULT_COLUMNS[name]) for name, values in columns.items()}
    return Games({n: np.zeros(rows, t) for n, t in RESULT_COLUMNS.items()} | columns, None, {})


def numbers(draw, rows, dtype):
    """A column of one number, of small ones, or of any; drawn as bytes, which is quick."""
    dtype = np.dtype(dtype)
    size = rows * dtype.itemsize
    any_number = np.frombuffer(draw(st.binary(min_size=size, max_size=size)), dtype)
    return np.fmod(any_number, dtype.type(draw(st.sampled_from([1, 4, np.iinfo(dtype).max]))))


@st.composite
def games(draw, moves=None):
    rows = draw(st.integers(0, 12))
    columns = {name: numbers(draw, rows, dtype) for name, dtype in RESULT_COLUMNS.items()}
    plies = draw(st.lists(st.integers(0, 5), min_size=rows, max_size=rows))
    columns["plies"] = np.array(plies, np.int32)
    keep_moves = draw(st.booleans()) if moves is None else moves
    flat = draw(st.lists(st.integers(-1, 300), min_size=sum(plies), max_size=sum(plies)))
    traces = draw(st.dictionaries(st.integers(0, max(rows - 1, 0)), st.text(), max_size=2))
    moves = np.array(flat, np.int16) if keep_moves else None
    return Games(columns, moves, traces if rows else {})


def assert_same(one, other):
    for name in RESULT_COLUMNS:
        assert one.columns[name].tolist() == other.columns[name].tolist()
        assert other.columns[name].dtype == RESULT_COLUMNS[name]
    assert (one.moves is None) == (other.moves is None)
    assert one.moves is None or one.moves.tolist() == other.moves.tolist()
    assert one.traces == other.traces


@settings(max_examples=25)
@given(games())
def test_decoded_games_equal_encoded_ones(one):
    assert_same(one, decode_games([encode_games(one)], schedule_columns(len(one))))


@settings(max_examples=25)
@given(games(moves=True), games(moves=True))
def test_consecutive_blobs_are_joined(one, other):
    columns = schedule_columns(len(one) + len(other))
    whole = decode_games([encode_games(one), encode_games(other)], columns)
    assert_same(concat_games([one, other]), whole)
    moves = [move for row in range(len(one)) for move in moves_of_game(whole, row)]
    assert moves == one.moves.tolist()


@settings(max_examples=25)
@given(games(), games(), st.data())
def test_games_after_the_scheduled_ones_do_not_count(one, other, data):
    rows = len(one) + data.draw(st.integers(min(1, len(other)), len(other)))
    blobs = [encode_games(one), encode_games(other)]
    whole = decode_games(blobs, schedule_columns(len(one) + len(other)))
    part = decode_games(blobs, schedule_columns(rows))
    for name in RESULT_COLUMNS:
        assert part.columns[name].tolist() == whole.columns[name][:rows].tolist()
    assert (part.moves is None) == (whole.moves is None)
    if whole.moves is not None:
        assert part.moves.tolist() == whole.moves[: part.plies.sum()].tolist()
    assert part.traces == {row: text for row, text in whole.traces.items() if row < rows}


@settings(max_examples=25)
@given(games(), st.data())
def test_flipped_bit_is_noticed(one, data):
    blob = bytearray(encode_games(one))
    blob[data.draw(st.integers(0, len(blob) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(CorruptDataError):
        decode_games([bytes(blob)], schedule_columns(len(one)))


@pytest.mark.parametrize(
    ("blobs", "rows", "message"),
    [(2, 2, "more than the 2 games"), (1, 4, "2 games, 4 are scheduled")],
)
def test_missing_and_surplus_blobs_are_noticed(blobs, rows, message):
    with pytest.raises(CorruptDataError, match=message):
        decode_games([encode_games(zeros(2))] * blobs, schedule_columns(rows))


def test_random_games_take_few_bytes():
    rows, rng = 1000, np.random.default_rng(1)
    columns = {name: rng.integers(0, 100, rows)
               for name in ("plies", "margin", "first_moves", "second_moves")}  # fmt: skip
    columns["game_id"] = rng.integers(0, 2**63, rows).astype(np.uint64)
    assert len(encode_games(zeros(rows, **columns))) < 14 * rows


def test_points_are_those_of_agent_a():
    assert pair_points(zeros(8, result=[2, 0, 1, 1, 0, 2, 2, 2])).tolist() == [4, 2, 0, 2]
