"""`arena.agreement`: one player under two names is found in a run, others are not."""

import pandas as pd
import pytest

from arena.commands.agreement import main
from arena.report.data import stored_report
from arena.report.figures.registry import figures
from tests.arena.running import directory_of, experiment_file, played

CLASS = """game = "kalah(4,3)"
pairs = 5
seed = 3
[agents.deep]
kind = "alphabeta"
depth = 4
weights = { pot = 1 }
[agents.plain]
kind = "minimax"
depth = 3
weights = { pot = 2 }
[agents.pruned]
kind = "alphabeta"
depth = 3
weights = { pot = 2 }
[agents.greedy]
kind = "greedy"
[agents.random]
kind = "random"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run in which two agents are one."""
    directory = tmp_path_factory.mktemp("run")
    played(experiment_file(directory, CLASS), directory / "results")
    return directory_of(directory / "results")


def test_two_names_of_one_player_are_found(run, capsys):
    assert main([str(run), "--positions", "200"]) == 0
    said = capsys.readouterr().out
    assert "\nplain, pruned play identically (the same move in 200 of 200 positions)\n" in said
    assert said.count("play identically") == 1
    table = pd.read_parquet(run / "agreement.parquet")
    assert len(table) == 10
    assert table.same.tolist() == [True] + [False] * 9
    assert (table.share[0], table.equal[0]) == (1.0, table.positions[0])
    assert table.expected.between(0.1, 0.95).all()
    first = (run / "agreement.parquet").read_bytes()
    assert main([str(run), "--positions", "200"]) == 0
    assert (run / "agreement.parquet").read_bytes() == first


@pytest.mark.parametrize("words", [["--positions", "3"], ["--seed", "x"]])
def test_a_mistake_is_answered_in_one_line(run, capsys, words):
    assert main([str(run), *words]) == 2
    assert "pitflip agreement: " in capsys.readouterr().err


def test_the_page_shows_it(run):
    made = figures(stored_report(run))["agreement"]
    assert made.table is not None
    assert made.table.rows[0][2:] == ("200", "200", "100.0 %", made.table.rows[0][-1])
    assert "plain and pruned" in str(made.lead)
