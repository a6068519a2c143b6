"""What agents thought of their moves: kept with the games, the same for any number of workers."""

import json

import pandas as pd
import pytest

from agents.core import AgentSpec, Limit
from agents.registry import build
from agents.search_info import LONGEST_TEXT, MOST_NAMES, info_from_data, limit_data, parse_data_line
from arena.planning import tasks
from arena.planning.games import MoveInfo, decode_search_info, encode_search_info
from arena.playing.options import Interrupts
from arena.report.data import load_report
from arena.report.games import search_info
from games import game
from tests.agents.programs import PYTHON
from tests.arena.running import (
    experiment_file,
    only_run,
    run_experiment_file,
    run_in_subprocess,
    small,
    tables,
)

SEARCHES = (
    small(8, "search_info = true", plies=3)
    + '[agents.deep]\nkind = "alphabeta"\ndepth = 3\n[agents.greedy]\nkind = "greedy"\n'
)
LINES = """
import sys
for line in sys.stdin:
    legal = line.split(";")[1].split()
    print("data value = 1.5\\ndata mobility =", len(legal))
    print("data mobility = <script>\\x1b[31m" if len(legal) > 3 else "data x-ray = 7")
    print(legal[-1], flush=True)
"""
PYTHONS = """
def choose(view, legal, rng):
    view.data("value", -len(legal))
    view.data("mood", "glad")
    view.data("no name", 3)
    return legal[0]
"""


class Impatient(Interrupts):
    """Interrupts after some looks."""

    def __init__(self, looks):
        super().__init__()
        self.looks = looks

    def check(self):
        self.looks -= 1
        if not self.looks:
            raise KeyboardInterrupt


def thoughts_of(results):
    return pd.read_parquet(only_run(results) / "thoughts.parquet")


def without_clocks(results):
    return thoughts_of(results).drop(columns="seconds")


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """The directory of a run of searches, all of whose thoughts are kept."""
    directory = tmp_path_factory.mktemp("searched")
    run_experiment_file(experiment_file(directory, SEARCHES), directory / "results", workers=1)
    return directory


def test_every_move_of_a_search_has_its_value_depth_nodes_and_line(searched):
    found = thoughts_of(searched / "results")
    games = pd.read_parquet(only_run(searched / "results") / "games.parquet").set_index("game")
    of = game("kalah(4,3)")
    deep = build(AgentSpec("alphabeta", depth=3), of)
    assert set(found.agent) == {"deep"}  # greedy and random do not search
    mine = games[(games["first"] == "deep") | (games["second"] == "deep")]
    assert set(found.game) == set(mine.index)
    for row in found.itertuples():
        moves = games.moves[row.game].split()
        position = of.replay(" ".join(moves[: row.ply - 1]))[-1]
        choice = deep.choose(position, Limit(depth=3))
        assert (row.value, row.depth, row.nodes) == (choice.value, choice.depth, choice.nodes)
        assert row.line.split()[0] == moves[row.ply - 1]
        of.replay(" ".join([*moves[: row.ply - 1], *row.line.split()]))  # it can be played
    opening = games.opening_moves[found.game].str.split().str.len().to_numpy()
    assert (found.ply > opening).all()


def test_the_games_are_those_of_a_run_without_thoughts(searched, tmp_path):
    run_experiment_file(
        experiment_file(tmp_path, SEARCHES.replace("search_info = true", "")), tmp_path / "results"
    )
    plain = pd.read_parquet(only_run(tmp_path / "results") / "games.parquet")
    with_thoughts = pd.read_parquet(only_run(searched / "results") / "games.parquet")
    assert plain.equals(with_thoughts)
    assert not (only_run(tmp_path / "results") / "thoughts.parquet").exists()


@pytest.mark.slow
def test_workers_and_interruptions_change_no_thought(searched, tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "MAX_PAIRS", 3)
    path = experiment_file(tmp_path, SEARCHES)
    with pytest.raises(KeyboardInterrupt):
        run_experiment_file(path, tmp_path / "results", interrupts=Impatient(3))
    run_experiment_file(path, tmp_path / "results", workers=2)
    assert without_clocks(tmp_path / "results").equals(without_clocks(searched / "results"))
    assert tables(tmp_path / "results") == tables(searched / "results")


@pytest.mark.slow
def test_thoughts_on_a_cluster_are_those_of_this_machine(searched, tmp_path):
    path = experiment_file(tmp_path, SEARCHES)
    answer = run_in_subprocess(
        path, "--results", tmp_path / "results", "--cluster", "local:2", "--quiet"
    )
    assert answer.returncode == 0, answer.stderr
    assert without_clocks(tmp_path / "results").equals(without_clocks(searched / "results"))


@pytest.mark.slow  # a search with an evaluation of one's own is compiled
def test_a_search_behind_the_wall_tells_what_it_tells_here(tmp_path):
    text = SEARCHES.replace("depth = 3", 'depth = 3\nevaluate = "mine.py"')
    (tmp_path / "mine.py").write_text(
        "from agents.features.sowing import pot, turned\n\n\n"
        "def evaluate(rules, position):\n    return "
        "pot(rules, position) - pot(rules, turned(position))\n"
    )
    run_experiment_file(experiment_file(tmp_path, text), tmp_path / "results")
    found = thoughts_of(tmp_path / "results")
    of = game("kalah(4,3)")
    games = pd.read_parquet(only_run(tmp_path / "results") / "games.parquet").set_index("game")
    here = build(AgentSpec("alphabeta", depth=3, evaluate=str(tmp_path / "mine.py")), of)
    assert len(found) > 50
    for row in found.head(30).itertuples():
        moves = games.moves[row.game].split()
        position = of.replay(" ".join(moves[: row.ply - 1]))[-1]
        choice = here.choose(position)
        assert (row.value, row.depth, row.nodes) == (choice.value, choice.depth, choice.nodes)
        assert len(row.line.split()) == len(choice.line)


def test_bots_may_report_search_info(tmp_path):
    (tmp_path / "lines.py").write_text(LINES)
    (tmp_path / "mine.py").write_text(PYTHONS)
    text = (
        small(2, "search_info = true")
        + f'[agents.lines]\nkind = "lines"\ncommand = ["{PYTHON}", "-IS", "lines.py"]\n'
        + 'start_seconds = 120\n[agents.mine]\nkind = "python"\nfile = "mine.py"\n'
        + "start_seconds = 120\n"  # however busy the machine
    )
    run_experiment_file(experiment_file(tmp_path, text), tmp_path / "results")
    found = thoughts_of(tmp_path / "results")
    games = pd.read_parquet(only_run(tmp_path / "results") / "games.parquet")
    assert set(games.termination) == {"normal"}
    by = dict(list(found.groupby("agent", observed=True)))
    assert set(by["lines"].value) == {1.5}
    said = [json.loads(each) for each in by["lines"].data]
    assert {frozenset(each) for each in said} <= {
        frozenset({"mobility"}), frozenset({"mobility", "x-ray"})
    }  # fmt: skip
    assert {each["mobility"] for each in said} <= {"1", "2", "3", "<script>\\x1b[31m"}
    assert {json.loads(each)["mood"] for each in by["mine"].data} == {"glad"}
    assert (by["mine"].value < 0).all()
    report = load_report(only_run(tmp_path / "results"))
    page = search_info(report, lambda: [0, 1, 2])
    assert set(page["names"]) <= {"value", "seconds", "mobility", "x-ray"}
    assert set(page["games"]) <= {0, 1, 2}


def test_search_info_of_bots_is_limited():
    said = limit_data((f"n{number}", "x" * 1000) for number in range(100))
    assert len(said) == MOST_NAMES
    assert all(len(text) <= LONGEST_TEXT for text in said.values())
    assert limit_data([("a b", 1), (3, 1), ("", 1), ("ok", 1), ("ok", 2)]) == {"ok": "2"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("data value = 3", ("value", "3")),
        ("data value=3 = 4", ("value", "3 = 4")),
        ("17@4 data depth = 9", ("depth", "9")),
        ("data 3 = 4", None),
        ("database = 4", None),
        ("data value", None),
        ("3", None),
    ],
)
def test_a_line_of_data_is_told_from_an_answer(line, said):
    assert parse_data_line(line) == said


def test_numbers_that_no_table_holds_are_kept_as_words():
    thought = info_from_data({"value": "inf", "depth": "1e300", "nodes": "many", "line": "3 4"})
    assert thought.value is None and thought.depth == 2**53 and thought.line == "3 4"
    assert thought.data == {"value": "inf", "nodes": "many"}
    (back,) = decode_search_info(encode_search_info([MoveInfo(5, 1, 77, thought)]))
    assert back == (5, 1, 77, thought)
