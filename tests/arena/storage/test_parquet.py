"""Tables: readable by pandas, the same bytes for the same games, written atomically."""

import gc
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agents.core import AgentSpec
from arena.analysis.duplicates import flag_repeats, repeat_keys
from arena.analysis.tables import EloRow, WinRateRow, elo_rows, win_rate_rows
from arena.analysis.timings import Timing, TimingCounter
from arena.planning.games import COLUMNS, Games, moves_of_game
from arena.planning.openings.openings import Openings
from arena.storage import game_table, parquet
from arena.storage.game_table import GAME_SCHEMA, write_games
from arena.storage.parquet import TableError, TextColumn, write_columns, write_rows
from arena.storage.provenance import load_run_file
from games import game
from tests.arena.played import (
    FORFEIT,
    experiment,
    games_by_hand,
    openings_of,
    play_lines,
    summarise_games,
)

ORIGIN = {"experiment": "demo", "seed": 1, "versions": {"pitflip": "0"}}
AGENTS = {"hasty": AgentSpec("first"), "noisy": AgentSpec("random")}
LINES = [(0, 1), (2, 3), (4, 5)]


def written(path, asked, games, openings, parts=None, moves=True):
    of, names, found = asked.plan.game, asked.plan.names, flag_repeats([games], repeat_keys)
    write_games(path, parts or [games], found, of, names, openings, ORIGIN, moves=moves)
    return pd.read_parquet(path)


@pytest.fixture(scope="module")
def run():
    asked = experiment(AGENTS, of="kalah(6,4)")
    return asked, *play_lines(asked, LINES)


def cut(games, *ends):
    """The games in parts, like batches."""
    pieces, begin = [], 0
    for end in (*ends, len(games)):
        columns = {name: column[begin:end] for name, column in games.columns.items()}
        moves = [move for row in range(begin, end) for move in moves_of_game(games, row)]
        pieces.append(Games(columns, np.array(moves, np.int16), {}))
        begin = end
    return pieces


def test_pandas_reads_every_column_of_a_game(run, tmp_path):
    asked, games, openings = run
    frame = written(tmp_path / "games.parquet", asked, games, openings)
    assert list(frame) == list(GAME_SCHEMA)
    assert frame.attrs == ORIGIN
    assert frame["game"].tolist() == list(range(len(games)))
    assert frame["first"].tolist() == ["hasty", "noisy"] * 3
    assert frame["second"].tolist() == ["noisy", "hasty"] * 3
    assert frame["result"].tolist() == (games.result / 2).tolist()
    assert set(frame["termination"]) == {"normal"}
    for name in ("pair", "leg", "opening", "seed", "game_id", "margin", "plies"):
        assert frame[name].tolist() == games.columns[name].tolist()


@pytest.mark.parametrize("name", ["kalah(6,4)", "owari", "othello(6)"])
def test_moves_are_in_the_notation_of_players(name, tmp_path):
    asked = experiment(AGENTS, of=name)
    of = game(name)
    lines = [of.legal(of.start())[:1], of.legal(of.start())[-1:]]
    games, openings = play_lines(asked, lines)
    frame = written(tmp_path / "games.parquet", asked, games, openings)
    for row, text in enumerate(frame["moves"]):
        assert text == of.write(moves_of_game(games, row))
        assert len(of.replay(text)) == len(moves_of_game(games, row)) + 1
    assert frame["opening_moves"].tolist() == [of.write(lines[o]) for o in games.opening]
    assert all(
        text.startswith(begun)
        for text, begun in zip(frame["moves"], frame["opening_moves"], strict=True)
    )


def test_game_without_opening_has_an_empty_text(tmp_path):
    asked = experiment(AGENTS)
    games, openings = play_lines(asked, [()])
    frame = written(tmp_path / "games.parquet", asked, games, openings)
    assert frame["opening_moves"].tolist() == ["", ""]


def test_table_without_moves_has_no_such_column(run, tmp_path):
    asked, games, openings = run
    without = Games(games.columns, None, {})
    frame = written(tmp_path / "games.parquet", asked, without, openings, moves=False)
    assert list(frame) == [name for name in GAME_SCHEMA if name != "moves"]


def test_batches_do_not_change_the_bytes_of_the_table(run, tmp_path, monkeypatch):
    monkeypatch.setattr(game_table, "CHUNK_ROWS", 4)
    asked, games, openings = run
    whole, pieces = tmp_path / "whole.parquet", tmp_path / "pieces.parquet"
    written(whole, asked, games, openings)
    for ends in ((2,), (2, 4), (1, 2, 3, 4, 5), (5,)):
        frame = written(pieces, asked, games, openings, cut(games, *ends))
        assert pieces.read_bytes() == whole.read_bytes()
        assert len(frame) == len(games)


def test_forfeits_and_duplicates_are_marked(tmp_path):
    games = games_by_hand((0, 1, [(0, "WL", 1, 2), (0, "WL", 1, 2)]), faults={3: FORFEIT})
    openings = openings_of(game("kalah(6,4)"), [()])
    asked = experiment(AGENTS)
    frame = written(tmp_path / "games.parquet", asked, games, openings, moves=False)
    assert frame["termination"].tolist() == ["normal", "normal", "normal", "raised"]
    assert frame["repeat"].tolist() == [False, False, True, True]


def test_game_takes_few_bytes(tmp_path):
    rng, size = np.random.default_rng(1), 200_000
    columns = {name: np.zeros(size, kind) for name, kind in COLUMNS.items()}
    columns["game_id"] = rng.integers(0, 2**63, size).astype(np.uint64)
    columns["seed"] = np.repeat(rng.integers(0, 2**63, size // 2).astype(np.uint64), 2)
    columns["pair"] = np.repeat(np.arange(size // 2), 2)
    columns["opening"] = np.repeat(np.arange(size // 2, dtype=np.int32) % 50_000, 2)
    columns["first"] = np.tile([0, 1], size // 2).astype(np.int16)
    columns["second"] = 1 - columns["first"]
    columns["result"] = rng.integers(0, 3, size).astype(np.int8)
    columns["margin"] = rng.integers(-40, 40, size).astype(np.int32)
    columns["plies"] = rng.integers(20, 60, size).astype(np.int32)
    of = game("kalah(6,4)")
    slots = np.array(of.slots, np.int16)[rng.integers(0, 6, (50_000, 8))]
    openings = Openings(slots, np.zeros(50_000, np.uint64), False)
    path = tmp_path / "games.parquet"
    written(path, experiment(AGENTS), Games(columns, None, {}), openings, moves=False)
    assert path.stat().st_size / size < 25


def test_typed_tables_have_columns_and_metadata(run, tmp_path):
    asked, games, _ = run
    summary = summarise_games(games, asked.plan, name=asked.name)
    write_rows(tmp_path / "elo.parquet", EloRow, elo_rows(summary), ORIGIN)
    write_rows(tmp_path / "win_rates.parquet", WinRateRow, win_rate_rows(summary), ORIGIN)
    elo = pd.read_parquet(tmp_path / "elo.parquet")
    rates = pd.read_parquet(tmp_path / "win_rates.parquet")
    assert (list(elo), list(rates)) == (list(EloRow._fields), list(WinRateRow._fields))
    assert elo.attrs == rates.attrs == ORIGIN
    assert rates[["agent", "opponent"]].to_numpy().tolist() == [
        ["hasty", "noisy"],
        ["noisy", "hasty"],
    ]
    assert rates["games"].tolist() == [6, 6]
    assert str(elo["elo"].dtype) == "float64"
    results = rates[[f"{seat}_{r}" for seat in ("first", "second") for r in ("wins", "losses")]]
    assert results.iloc[0].tolist() == results.iloc[1, [3, 2, 1, 0]].tolist()


def test_tables_without_games_have_their_columns(tmp_path):
    summary = summarise_games(games_by_hand(), experiment(AGENTS).plan)
    write_rows(tmp_path / "win_rates.parquet", WinRateRow, win_rate_rows(summary), ORIGIN)
    frame = pd.read_parquet(tmp_path / "win_rates.parquet")
    assert list(frame) == list(WinRateRow._fields)
    assert frame.empty


def test_reproducible_tables_do_not_depend_on_clocks(run, tmp_path):
    asked, games, openings = run
    clocked = {n: c + 1 for n, c in games.columns.items() if n.endswith("nanoseconds")}
    later = Games(games.columns | clocked, games.moves, {})
    for number, each in enumerate((games, later)):
        written(tmp_path / f"games{number}", asked, each, openings)
        write_rows(
            tmp_path / f"elo{number}", EloRow, elo_rows(summarise_games(each, asked.plan)), ORIGIN
        )
        write_rows(
            tmp_path / f"win_rates{number}",
            WinRateRow,
            win_rate_rows(summarise_games(each, asked.plan)),
            ORIGIN,
        )
    for name in ("games", "elo", "win_rates"):
        assert (tmp_path / f"{name}0").read_bytes() == (tmp_path / f"{name}1").read_bytes()


def test_timings_are_sums_over_both_seats(tmp_path):
    games = games_by_hand((0, 1, [(0, "WL"), (1, "WL")]), (0, 2, [(0, "WL")]))
    counter = TimingCounter(("a", "b", "c"))
    counter.take(games)
    found = list(counter.rows())
    write_rows(tmp_path / "timings.parquet", Timing, found, ORIGIN)
    frame = pd.read_parquet(tmp_path / "timings.parquet").set_index(["agent", "opponent"])
    assert [*frame.index.names, *frame] == list(Timing._fields)
    row = frame.loc[("a", "b")]
    # Twice as first mover (50 nodes, 20 ms, 10 moves), twice as second (20 nodes, 10 ms).
    assert (row["games"], row["moves"], row["nodes"]) == (4, 40, 140)
    assert row["seconds"] == pytest.approx(0.06)
    assert row["seconds_per_move"] == pytest.approx(0.0015)
    assert row["nodes_per_second"] == pytest.approx(140 / 0.06)
    assert set(frame.index) == {("a", "b"), ("b", "a"), ("a", "c"), ("c", "a")}


def test_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "elo.parquet"
    write_rows(
        path, EloRow, elo_rows(summarise_games(games_by_hand(), experiment(AGENTS).plan)), ORIGIN
    )
    before = path.read_bytes()

    def breaks():
        yield {"a": [1]}
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_columns(path, {"a": "int64"}, breaks(), ORIGIN)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["elo.parquet"]


def test_missing_column_is_named(tmp_path):
    path = tmp_path / "old.parquet"
    pd.DataFrame({"agent": ["a"]}).to_parquet(path)
    with pytest.raises(parquet.TableError, match="it has no column elo; was it written by another"):
        parquet.read_columns(path, ["elo"])


def test_pipe_in_place_of_a_table_does_not_block(tmp_path):
    pipe = tmp_path / "games.parquet"
    os.mkfifo(pipe)
    for read in (
        lambda: parquet.read_columns(pipe, ["pair"]),
        lambda: parquet.read_rows(pipe, EloRow),
        lambda: parquet.count_rows(pipe),
        lambda: parquet.distinct_values(pipe, "first"),
        lambda: parquet.take_texts(pipe, "moves", [0]),
    ):
        with pytest.raises(parquet.TableError, match="it is no file"):
            read()
    (tmp_path / "run").mkdir()
    os.mkfifo(tmp_path / "run" / "run.json")
    assert load_run_file(tmp_path / "run") == {}


def test_text_column_reads_any_rows(tmp_path):
    texts = [f"game {number}" for number in range(10)]
    path = tmp_path / "texts.parquet"
    pq.write_table(pa.table({"moves": texts}), path, row_group_size=3)
    column = TextColumn(path, "moves")
    assert len(column) == 10
    assert [(start, len(part)) for start, part in column.pieces()] == [
        (0, 3),
        (3, 3),
        (6, 3),
        (9, 1),
    ]
    for start in range(11):
        for stop in range(start, 12):
            assert column.rows(start, stop) == texts[start:stop]
    with pytest.raises(TableError):
        TextColumn(tmp_path / "nothing", "moves")


def test_flipped_bit_of_a_table_is_refused_or_harmless(run, tmp_path):
    asked, games, _ = run
    rows = elo_rows(summarise_games(games, asked.plan))
    write_rows(tmp_path / "elo.parquet", EloRow, rows, ORIGIN)
    content = repr(rows)
    whole = (tmp_path / "elo.parquet").read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little")
    for bit in range(0, 8 * (len(whole) - 8 - footer), 167):  # of the pages
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        (tmp_path / "elo.parquet").write_bytes(changed)
        try:
            found = parquet.read_rows(tmp_path / "elo.parquet", EloRow)
            assert repr(found) == content, f"bit {bit}"
        except TableError:
            continue


def test_interrupted_write_leaves_no_file(tmp_path, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pq.ParquetWriter, "close", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_columns(tmp_path / "t.parquet", {"a": "int64"}, [{"a": [1]}], ORIGIN)
    monkeypatch.undo()
    gc.collect()  # a writer that writes when it is deleted fails this test
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, 2, None], pa.int16()),
        pa.array([1, 2], pa.uint64()),
        pa.array([0.5, None, float("inf")]),
        pa.array([True, None, False]),
        pa.array(["a", None, "\u00df\u20ac", ""]),
        pa.array(["a", None, "b", "a"]).dictionary_encode(),
        pa.array([[1, 2], None, []]),
        pa.array([None, None]),
    ],
    ids=lambda values: str(values.type),
)
def test_lists_equal_those_of_pyarrow(values):
    for column in (values, values[1:], pa.chunked_array([values, values[2:]])):
        assert parquet.to_list(column) == column.to_pylist()


def test_missing_numbers_are_nan_and_missing_texts_none():
    for values, expected in (([1, None], [1.0, np.nan]), ([True, None], [1.0, np.nan])):
        assert np.array_equal(parquet.to_numpy(pa.array(values)), expected, equal_nan=True)
    assert parquet.to_numpy(pa.array(["a", None]).dictionary_encode()).tolist() == ["a", None]


def test_numbers_that_do_not_fit_are_refused():
    for values, dtype in ((np.array([1, 300]), pa.int8()), (np.array([0.5]), pa.int32())):
        with pytest.raises(ValueError, match=r"300|truncated"):
            parquet.to_arrow(values, dtype)


def test_words_are_joined_by_lengths():
    column = parquet.join_words(["a", "b"], np.array([0, 1, 1, 0]), np.array([3, 0, 1]))
    assert parquet.to_list(column) == ["a b b", "", "a"]
