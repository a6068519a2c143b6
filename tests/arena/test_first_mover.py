"""The first mover of a run is the agent to move after the opening, wherever it is told."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest

from games import game
from tests.arena.running import experiment_file, only_run, run_experiment_file
from tests.commands import export, rate

TEXT = """
game = "{game}"
pairs = 40
openings = {openings}
[agents.a]
kind = "greedy"
[agents.b]
kind = "first"
"""


@pytest.fixture(
    scope="module",
    params=[("kalah(6,4)", "{ random_plies = 6 }"), ("othello", "{ random_plies = 5 }")],
    ids=["kalah", "othello"],
)
def run(request, tmp_path_factory):
    name, openings = request.param
    directory = tmp_path_factory.mktemp("first_mover")
    path = experiment_file(directory, TEXT.format(game=name, openings=openings))
    assert run_experiment_file(path, directory / "results")
    found = only_run(directory / "results")
    games = pd.read_parquet(found / "games.parquet")
    of = game(name)
    sides = [of.replay(line)[-1].mover for line in games.opening_moves]
    assert 1 in sides  # after extra turns, or an odd number of plies
    seats = games[["first", "second"]].to_numpy()
    movers = [seats[row, side] for row, side in enumerate(sides)]
    scores = games.result.where(pd.Series(sides) == 0, 1 - games.result)
    return SimpleNamespace(directory=found, games=games, movers=movers, scores=scores)


def test_the_table_names_the_agent_to_move_after_the_opening(run):
    assert run.games.first_mover.tolist() == run.movers
    by_pair = run.games.groupby("pair").first_mover.nunique()
    assert (by_pair == 2).all()  # each agent once in a pair


def test_win_rates_and_summary_count_by_the_first_mover(run):
    rates = pd.read_parquet(run.directory / "win_rates.parquet").set_index("agent")
    for agent in ("a", "b"):
        own = run.scores[[mover == agent for mover in run.movers]]
        told = rates.loc[agent, ["first_wins", "first_draws", "first_losses"]].tolist()
        assert told == [int((own == score).sum()) for score in (1.0, 0.5, 0.0)]
    summary = json.loads((run.directory / "summary.json").read_text())
    assert summary["first_mover"]["value"] == pytest.approx(run.scores.mean())
    fewest, most = summary["opening_plies"]
    plies = run.games.opening_moves.str.split().str.len()
    assert (fewest, most) == (plies.min(), plies.max())


def fitted(capsys, *words):
    assert rate([*map(str, words), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    return {row["agent"]: (row["elo"], row["first_move_elo"]) for row in said["ratings"]}, said


def exported(run, capsys, directory):
    """The games of a run in every format that `rate` reads."""
    formats = ["pgn", "csv"] + ["ggf"] * run.games.moves[0][0].isalpha()
    words = [word for name in formats for word in ("--games", name)]
    assert export([str(run.directory), *words, "--out", str(directory)]) == 0
    capsys.readouterr()
    return [directory / f"games.{name}" for name in formats]


def test_games_read_from_elsewhere_have_the_same_first_movers(run, capsys, tmp_path):
    stored = pd.read_parquet(run.directory / "elo.parquet").set_index("agent")
    first_move = stored.first_move_elo.iloc[0]
    kept = ["first", "second", "result", "opening_moves", "first_mover"]
    run.games[kept].to_csv(tmp_path / "plain.csv", index=False)
    for file in (run.directory, tmp_path / "plain.csv", *exported(run, capsys, tmp_path)):
        found, _ = fitted(capsys, file)
        assert [move for _, move in found.values()] == pytest.approx([first_move] * 2), file


def test_every_export_gives_the_first_move_term_of_its_run(run, capsys, tmp_path):
    _, of_run = fitted(capsys, run.directory, "--seed", "1")
    assert of_run["ratings"][0]["first_move_elo"] is not None
    files = exported(run, capsys, tmp_path)
    for given in (*([file] for file in files), [*files, run.directory]):
        _, said = fitted(capsys, *given, "--seed", "1")
        for row, same in zip(said["ratings"], of_run["ratings"], strict=True):
            terms = [name for name in same if name.startswith("first_move_elo")]
            assert [row[name] for name in terms] == [same[name] for name in terms], given


@pytest.mark.parametrize("better", ["with seeds", "without seeds"])
def test_a_copy_that_names_first_movers_tells_them_to_one_that_does_not(
    run, capsys, tmp_path, better
):
    pgn, table, *_ = exported(run, capsys, tmp_path)
    _, alone = fitted(capsys, pgn)
    lines = pgn.read_text().splitlines(keepends=True)
    pgn.write_text("".join(line for line in lines if not line.startswith("[FirstMover ")))
    games = pd.read_csv(table, dtype=str, keep_default_na=False)
    if better == "with seeds":  # then the game of the PGN is kept
        games = games.drop(columns=["seed", "first_version", "second_version"])
    games.to_csv(table, index=False)
    for order in ([pgn, table], [table, pgn]):
        _, said = fitted(capsys, *order)
        assert said["ratings"] == alone["ratings"]
        assert not any("unknown" in note for note in said["notes"])
    _, said = fitted(capsys, pgn)
    assert said["ratings"][0]["first_move_elo"] is None


def test_an_opening_in_moves_without_a_first_mover_leaves_it_unknown(run, capsys, tmp_path):
    kept = ["first", "second", "result", "opening_moves"]
    run.games[kept].to_csv(tmp_path / "games.csv", index=False)
    found, said = fitted(capsys, tmp_path / "games.csv")
    assert {move for _, move in found.values()} == {None}
    assert any("first mover of 80 games is unknown" in note for note in said["notes"])
