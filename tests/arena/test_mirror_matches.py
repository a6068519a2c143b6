"""A match of a player against itself: said in words, with the first mover's score and margin."""

import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.arena.running import experiment_file
from tests.commands import run as main

SAME = "the same player twice: both played identical games"
MIRROR = """
game = "kalah(6,4)"
pairs = {pairs}
openings = {openings}
agents.a = {{ kind = "alphabeta", depth = 2, weights = {{ pot = 1 }} }}
agents.b = {{ kind = "{kind}", depth = {depth}, weights = {{ pot = 1 }} }}
"""
START = "{ random_plies = 0, repeat = true }"


def run(tmp_path, capsys, text):
    path, results = experiment_file(tmp_path, text), tmp_path / "results"
    assert main([str(path), "--results", str(results), "--workers", "0"]) == 0
    return capsys.readouterr().out, results


@pytest.mark.parametrize(
    ("pairs", "openings", "distinct"),
    [(1, START, 1), (3, START, 1), (12, "{ random_plies = 4 }", 12)],
)
def test_a_player_against_itself_is_named_with_what_the_first_mover_gets(
    tmp_path, capsys, pairs, openings, distinct
):
    text = MIRROR.format(pairs=pairs, openings=openings, kind="alphabeta", depth=2)
    said, results = run(tmp_path, capsys, text)
    assert said.splitlines()[-1] == f"a and b: {SAME}."
    assert f"a against b: {SAME}\n" in said
    (directory,) = results.glob("demo/*")
    games = pd.read_parquet(directory / "games.parquet")
    own = games["margin"].where(games["first_mover"] == games["first"], -games["margin"])
    (row,) = pd.read_parquet(directory / "win_rates.parquet").query("agent == 'a'").itertuples()
    assert (row.identical_pairs, row.same_player) == (pairs, True)
    assert row.distinct_games == distinct
    assert set(pd.read_parquet(directory / "elo.parquet").distinct_games) == {distinct}
    assert row.first_mover_margin == pytest.approx(own.mean())
    ending = f"with a mean margin of {own.mean():+.1f}".replace(".0", "").replace("+0", "0")
    assert f"{distinct} distinct game" in said
    assert ending in " ".join(said.split())
    page = (directory / "report.html").read_text()
    assert SAME in page
    assert "distinct game" in page


@pytest.mark.parametrize(("kind", "depth"), [("minimax", 2), ("alphabeta", 3)])
def test_other_agents_are_not_called_the_same_player(tmp_path, capsys, kind, depth):
    text = MIRROR.format(pairs=4, openings="{ random_plies = 4 }", kind=kind, depth=depth)
    said, _ = run(tmp_path, capsys, text)
    assert "the same player twice" not in said
    assert ("both played identical games" in said) == (depth == 2)  # minimax finds the same moves


def test_forfeits_are_no_identical_games(tmp_path, capsys):
    text = f'game = "kalah(4,3)"\npairs = 4\nopenings = {START}\nroster = {{ directory = "." }}\n'
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("def choose(view, legal, rng):\n    return 1 / 0\n")
    said, _ = run(tmp_path, capsys, text)
    assert "identical" not in said


def test_a_sweep_over_a_weight_of_both_agents_has_the_columns_of_mirror_matches(tmp_path, capsys):
    text = MIRROR.format(pairs=6, openings="{ random_plies = 4 }", kind="alphabeta", depth=2)
    text = text.replace("pot = 1 }", "pot = 1, in_play = 0 }")
    text += '[sweep]\n"agents.*.weights.in_play" = [-1, 1]\n'
    said, results = run(tmp_path, capsys, text)
    assert f"a against b: {SAME} in every cell" in said
    (path,) = results.rglob("sweep.parquet")
    for row in pq.read_table(path).to_pylist():
        games = pd.read_parquet(next((path.parent / row["run"]).glob("*/games.parquet")))
        assert row["distinct_games"] == games["game_id"].nunique()
        first = games["result"].where(games["first"] == games["first_mover"], 1 - games["result"])
        assert row["first_mover_score"] == pytest.approx(first.mean())
        sign = (games["first"] == games["first_mover"]) * 2 - 1
        assert row["first_mover_margin"] == pytest.approx((games["margin"] * sign).mean())
    margins = [row["first_mover_margin"] for row in pq.read_table(path).to_pylist()]
    assert margins[0] != margins[1]  # the weight matters


def test_a_sweep_of_mirror_matches_has_the_first_movers_score_and_margin(tmp_path, capsys):
    text = MIRROR.format(pairs=1, openings=START, kind="alphabeta", depth=2)
    text += '[sweep]\n"agents.a.depth, agents.b.depth" = [1, 2, 3]\n'
    said, results = run(tmp_path, capsys, text)
    assert f"a against b: {SAME} in every cell" in said
    (path,) = results.rglob("sweep.parquet")
    table = pq.read_table(path).to_pylist()
    assert [row["first_mover_score"] for row in table] == [1.0, 0.5, 0.0]
    assert [row["first_mover_margin"] for row in table] == [6.0, 0.0, -2.0]
    assert all((row["identical_pairs"], row["distinct_games"]) == (1, 1) for row in table)
    head, *lines = said.splitlines()
    assert head.split()[-5:] == ["openings", "distinct", "first", "mover", "margin"]
    assert [line.split()[-9] for line in lines[:3]] == ["+6", "0", "-2"]
