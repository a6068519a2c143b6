"""The agents' benchmark rows compare equal searches and tell what they found."""

import pytest

from benchmarks import endgame_rows, game_rows, limit_rows, search_rows
from benchmarks.c_program import compiler
from benchmarks.table import Row, details

PROGRAMS = {"kalah(6,4)": "search_kalah.c", "othello": "search_othello.c"}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "depth", [2, *(pytest.param(depth, marks=pytest.mark.slow) for depth in (1, 5))]
)
def test_the_c_search_compiles_where_it_can_and_searches_our_tree(name, depth):
    row = search_rows.search_row(name, PROGRAMS[name], depth, rounds=1)
    assert row.verdict == "skipped" if compiler() is None else row.ratio > 0


@pytest.mark.parametrize(
    "row",
    [search_rows.own_kalah, pytest.param(search_rows.own_othello, marks=pytest.mark.slow)],
)
def test_the_users_file_has_the_formula_of_the_built_in_evaluation(row):
    assert row(1).ratio > 0


@pytest.mark.parametrize("row", [search_rows.depth_kalah, search_rows.depth_othello])
def test_open_spiel_finds_the_same_value_where_it_is_installed(row):
    assert row(1).verdict in ("ok", "below", "skipped")


def test_the_game_loop_is_compared_with_the_same_number_of_games(monkeypatch):
    monkeypatch.setattr(game_rows, "GAMES", 50)
    assert game_rows.loop_row("othello(4)", 1).ratio > 0


def test_a_limit_is_measured_by_its_longest_move(monkeypatch):
    monkeypatch.setattr(limit_rows, "MOVES", 2)
    row = limit_rows.limit_row(0.002, 1)
    assert row.against == "12.0 ms"
    assert float(row.ours.removesuffix(" ms")) > 1


def test_endgames_are_listed_with_a_sum_that_the_next_run_reads(monkeypatch, tmp_path):
    results = tmp_path / "results.md"
    monkeypatch.setattr(endgame_rows, "EMPTIES", range(14, 15))
    monkeypatch.setattr(endgame_rows, "RESULTS", results)
    first = endgame_rows.othello_endgames(1)
    assert first.against == "not in benchmarks/results.md"
    results.write_text(details([first]))
    nodes, seconds = endgame_rows.previous_result()
    # The file holds rounded seconds of each position, so their sum may differ in the last digit.
    assert first.ours.startswith(f"{nodes / 1e6:,.1f} M nodes, ")
    assert endgame_rows.othello_endgames(1).against == endgame_rows.nodes_and_seconds(
        nodes, seconds
    )


def test_a_wrong_endgame_score_is_no_result():
    agent = endgame_rows.solver()
    entry = next(one for one in endgame_rows.positions() if one["empties"] == 14)
    with pytest.raises(ValueError, match="published is"):
        endgame_rows.solve(agent, entry | {"score": entry["score"] + 2})


def test_details_stand_under_the_name_of_their_row():
    rows = [Row("a: b", "1", "2", 0.5), Row("c: d", "1", "2", 0.5, detail="more")]
    assert details(rows) == "c: d\n\nmore"
