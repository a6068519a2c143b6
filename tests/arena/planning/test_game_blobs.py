"""Blobs: what goes in comes out, in few bytes, and damage is noticed."""

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


def placed(rows):
    return {name: np.arange(rows).astype(kind) for name, kind in SCHEDULE_COLUMNS.items()}


def numbers(draw, rows, kind):
    """A column of one number, of small ones, or of any: its bytes are drawn, which is quick."""
    kind = np.dtype(kind)
    size = rows * kind.itemsize
    any_number = np.frombuffer(draw(st.binary(min_size=size, max_size=size)), kind)
    return np.fmod(any_number, kind.type(draw(st.sampled_from([1, 4, np.iinfo(kind).max]))))


@st.composite
def games(draw, moves=None):
    rows = draw(st.integers(0, 12))
    columns = {name: numbers(draw, rows, kind) for name, kind in RESULT_COLUMNS.items()}
    columns["plies"] = np.array(
        draw(st.lists(st.integers(0, 5), min_size=rows, max_size=rows)), np.int32
    )
    keeps = draw(st.booleans()) if moves is None else moves
    total = int(columns["plies"].sum())
    move = st.integers(-1, 300)
    flat = np.array(draw(st.lists(move, min_size=total, max_size=total)), np.int16)
    traces = draw(st.dictionaries(st.integers(0, max(rows - 1, 0)), st.text(), max_size=2))
    return Games(columns, flat if keeps else None, traces if rows else {})


def same(one, other):
    for name in RESULT_COLUMNS:
        assert one.columns[name].tolist() == other.columns[name].tolist()
        assert other.columns[name].dtype == RESULT_COLUMNS[name]
    assert (one.moves is None) == (other.moves is None)
    if one.moves is not None:
        assert one.moves.tolist() == other.moves.tolist()
    assert one.traces == other.traces


@settings(max_examples=25)
@given(games())
def test_what_goes_in_comes_out(one):
    same(one, decode_games([encode_games(one)], placed(len(one))))


@settings(max_examples=25)
@given(games(moves=True), games(moves=True))
def test_blobs_that_follow_one_another_are_joined(one, other):
    whole = decode_games([encode_games(one), encode_games(other)], placed(len(one) + len(other)))
    same(concat_games([one, other]), whole)
    moves = [move for row in range(len(one)) for move in moves_of_game(whole, row)]
    assert moves == one.moves.tolist()


@settings(max_examples=25)
@given(games(), games(), st.data())
def test_games_past_the_placed_ones_do_not_count(one, other, data):
    counted = data.draw(st.integers(min(1, len(other)), len(other)))
    rows = len(one) + counted
    whole = decode_games([encode_games(one), encode_games(other)], placed(len(one) + len(other)))
    part = decode_games([encode_games(one), encode_games(other)], placed(rows))
    for name in RESULT_COLUMNS:
        assert part.columns[name].tolist() == whole.columns[name][:rows].tolist()
    assert (part.moves is None) == (whole.moves is None)
    if whole.moves is not None:
        assert part.moves.tolist() == whole.moves[: part.plies.sum()].tolist()
    assert part.traces == {row: text for row, text in whole.traces.items() if row < rows}


def test_a_whole_blob_too_many_is_noticed():
    none = Games({name: np.zeros(2, kind) for name, kind in RESULT_COLUMNS.items()}, None, {})
    with pytest.raises(CorruptDataError, match="more than the 2 games"):
        decode_games([encode_games(none)] * 2, placed(2))


@settings(max_examples=25)
@given(games(), st.data())
def test_a_flipped_bit_is_noticed(one, data):
    blob = bytearray(encode_games(one))
    blob[data.draw(st.integers(0, len(blob) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(CorruptDataError):
        decode_games([bytes(blob)], placed(len(one)))


def test_missing_games_are_noticed():
    none = Games({name: np.zeros(2, kind) for name, kind in RESULT_COLUMNS.items()}, None, {})
    with pytest.raises(CorruptDataError, match="2 games, 4 are scheduled"):
        decode_games([encode_games(none)], placed(4))


def test_random_games_take_few_bytes():
    rows, chance = 1000, np.random.default_rng(1)
    columns = {name: np.zeros(rows, kind) for name, kind in RESULT_COLUMNS.items()}
    columns["game_id"] = chance.integers(0, 2**63, rows).astype(np.uint64)
    for name in ("plies", "margin", "first_moves", "second_moves"):
        columns[name] = chance.integers(0, 100, rows).astype(RESULT_COLUMNS[name])
    assert len(encode_games(Games(columns, None, {}))) < 14 * rows


def test_points_are_those_of_agent_a():
    results = np.array([2, 0, 1, 1, 0, 2, 2, 2], np.int8)
    columns = {name: np.zeros(8, kind) for name, kind in RESULT_COLUMNS.items()} | {
        "result": results
    }
    assert pair_points(Games(columns, None, {})).tolist() == [4, 2, 0, 2]
