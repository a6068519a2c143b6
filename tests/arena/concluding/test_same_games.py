"""Two names of one player are found by their games; players that differ once are not."""

import json

import numpy as np
import pytest

from agents import AgentSpec
from arena.concluding.same_games import FEWEST, SameGames
from arena.planning.records import Games
from arena.showing.report.answer import answer_of
from arena.showing.report_contents import stored_report
from tests.arena.running import ROOT, directory_of, experiment_file, played

SEARCH, BOT = AgentSpec("alphabeta", depth=2), AgentSpec("python", file="x.py")
CHANCE = AgentSpec("random")


def round_robin(style: list[int], openings: int = 10) -> Games:
    """All pairings: a game is decided by its opening and by the styles of both players."""
    rows = [
        (first, second, opening, 1000 * opening + 10 * style[first] + style[second])
        for a in range(len(style))
        for b in range(a)
        for opening in range(openings)
        for first, second in ((a, b), (b, a))
    ]
    columns = np.array(rows).T
    kinds = {"first": np.int16, "second": np.int16, "opening": np.int32, "game_id": np.uint64}
    return Games(
        {n: c.astype(k) for (n, k), c in zip(kinds.items(), columns, strict=True)}, None, {}
    )


def found(style, specs, openings=10):
    games, same = round_robin(style, openings), SameGames(specs)
    half = len(games.columns["first"]) // 4 * 2
    for rows in (slice(0, half), slice(half, None)):  # however they come
        part = Games({name: each[rows] for name, each in games.columns.items()}, None, {})
        same.take(part, np.zeros(len(part.columns["first"]), np.bool_))
    return same.found()


def test_a_player_of_several_names_is_one_finding():
    (same,) = found([1, 2, 1, 3, 1, 4], [SEARCH] * 6)
    assert same == ((0, 2, 4), 80, 4)
    names = ["pots", "b", "pruned", "d", "third", "f"]
    assert same.text(names) == (
        "pots, pruned and third: the same player "
        "(all 80 games of each against 4 opponents are equal)"
    )


def test_whoever_differs_in_one_game_is_another_player():
    games, same = round_robin([1, 2, 1, 3]), SameGames([SEARCH] * 4)
    games.columns["game_id"][-1] += np.uint64(1)  # of 3 against 2
    same.take(games, np.zeros(len(games.columns["first"]), np.bool_))
    assert same.found() == ()


def test_chance_and_too_few_games_show_nothing():
    assert found([1, 1, 2], [SEARCH] * 3, FEWEST // 2 - 1) == ()
    assert len(found([1, 1, 2], [SEARCH] * 3, FEWEST // 2)) == 1
    assert found([1, 1, 2], [CHANCE, CHANCE, SEARCH], 30) == ()
    assert found([1, 1, 2], [SEARCH, SEARCH, CHANCE], 30) == ()


def test_bots_are_compared_by_those_who_do_not_vary_if_there_are_any():
    assert found([1, 1, 2], [BOT, BOT, BOT], 30) == (((0, 1), 60, 1),)
    games, same = round_robin([1, 1, 2, 3], 30), SameGames([BOT, BOT, BOT, SEARCH])
    other = (games.columns["first"] == 2) | (games.columns["second"] == 2)
    games.columns["game_id"][other] += np.arange(other.sum(), dtype=np.uint64)  # it varies
    same.take(games, np.zeros(len(games.columns["first"]), np.bool_))
    assert same.found() == (((0, 1), 60, 1),)


COPIES = """
game = "kalah(4,3)"
pairs = 12
openings = { random_plies = 4 }
[agents]
deep = { kind = "alphabeta", depth = 3 }
copy = { kind = "alphabeta", depth = 3 }
greedy = { kind = "greedy" }
first = { kind = "first" }
"""


def test_a_run_says_it_in_one_line_and_on_its_page(tmp_path, capsys):
    played(experiment_file(tmp_path, COPIES), tmp_path / "results", quiet=False)
    line = "deep and copy: the same player (all 48 games of each against 2 opponents are equal)"
    assert line in " ".join(capsys.readouterr().out.split())
    run = directory_of(tmp_path / "results")
    assert json.loads((run / "summary.json").read_text())["same_players"] == [line]
    assert line in answer_of(stored_report(run)).sure


@pytest.mark.slow
def test_the_two_that_are_one_in_the_shipped_ladder_are_named(tmp_path):
    ladder = ROOT / "experiments" / "kalah_ladder.toml"
    played(ladder, tmp_path / "results", overrides=("pairs=6",))
    said = json.loads((directory_of(tmp_path / "results") / "summary.json").read_text())
    (line,) = said["same_players"]
    assert line.startswith("pots4 and pruned4: the same player (all ")
