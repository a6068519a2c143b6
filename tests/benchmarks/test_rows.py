"""The benchmark measures what it says and prints it; how fast anything is, no test asks."""

import importlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks import run
from benchmarks.c_program import compiler
from benchmarks.parallel_rows import two_workers
from benchmarks.perft_rows import check_equal, perft_row
from benchmarks.random_rows import beans_a_move
from benchmarks.table import Row, skipped_row, table_text
from games import game

PROGRAMS = {"kalah(6,4)": "perft_kalah.c", "othello": "perft_othello.c"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_c_program_compiles_where_it_can_and_counts_what_we_count(name):
    row = perft_row(name, PROGRAMS[name], depth=6, rounds=1)
    assert row.verdict == "skipped" if compiler() is None else row.ratio > 0


def test_programs_that_count_different_trees_are_not_compared():
    with pytest.raises(ValueError, match="we count"):
        check_equal("kalah(6,4)", [(6, 0)], [(5, 0)])


def test_without_a_compiler_the_row_says_so(monkeypatch):
    monkeypatch.setenv("PATH", "")
    row = perft_row("othello", PROGRAMS["othello"], depth=6, rounds=1)
    assert row.against == "skipped: no cc"


def test_two_workers_play_the_games_that_one_plays():
    row = two_workers("threads", lambda: ThreadPoolExecutor(2), games=101, rounds=1)
    assert row.verdict in ("ok", "below", "skipped")


def test_a_move_sows_at_least_one_bean_and_not_all():
    assert 1 < beans_a_move(game("kalah(3,2)")) < 12


def test_the_table_says_of_each_row_whether_its_target_is_met():
    rows = [
        Row("a: b", "2 /s", "1 /s", 2.0, 1.5),
        Row("c: d", "1 /s", "2 /s", 0.5, 0.9),
        Row("e: f", "1 /s", "2 /s", 0.5),
        skipped_row("g: h", "no cc", 0.9),
    ]
    assert table_text(rows).splitlines() == [
        "| what | ours | against        | ratio | target |         |",
        "| ---- | ---- | -------------- | ----- | ------ | ------- |",
        "| a: b | 2 /s | 1 /s           | 2     | 1.5    | ok      |",
        "| c: d | 1 /s | 2 /s           | 0.5   | 0.9    | below   |",
        "| e: f | 1 /s | 2 /s           | 0.5   |        |         |",
        "| g: h |      | skipped: no cc |       | 0.9    | skipped |",
    ]


@pytest.mark.parametrize(("name", "module"), run.ROWS.items())
def test_a_row_of_the_table_is_a_function_that_says_what_it_measures(name, module):
    assert getattr(importlib.import_module(module), name).__doc__


@pytest.mark.slow
def test_a_row_is_chosen_by_its_name_and_leaves_the_results_alone(capsys):
    before = run.RESULTS.read_bytes() if run.RESULTS.exists() else None
    assert run.main(["perft_othello", "--rounds", "1"]) == 0
    assert "| perft 9, othello, leaves: C" in capsys.readouterr().out
    assert before == (run.RESULTS.read_bytes() if run.RESULTS.exists() else None)


def test_an_unknown_row_is_answered_with_the_nearest(capsys):
    with pytest.raises(SystemExit):
        run.main(["perft_othelo"])
    assert 'did you mean "perft_othello"?' in capsys.readouterr().err
