"""Agents that play identically are found by their games."""

import json

import numpy as np
import pytest

from agents.core import AgentSpec
from arena.analysis.duplicates import MIN_EQUAL_GAMES, DuplicateAgentFinder, deviating_seat
from arena.planning.games import Games, Termination, moves_of_game, slice_games
from arena.report.answer import make_answer
from arena.report.data import load_report
from games import game
from tests.arena.played import experiment, play_lines
from tests.arena.running import ROOT, experiment_file, only_run, run_experiment_file

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
    made = {n: c.astype(k) for (n, k), c in zip(kinds.items(), columns, strict=True)}
    none = np.zeros(len(rows), np.int32)
    return Games({**made, "termination": none, "result": none, "plies": none}, None, {})


def result(games: Games, specs, repeat=None):
    """The finding about games that come in two parts."""
    half = len(games) // 4 * 2
    repeat = np.zeros(len(games), np.bool_) if repeat is None else repeat
    parts = [
        (slice_games(games, 0, half), repeat[:half]),
        (slice_games(games, half, len(games)), repeat[half:]),
    ]
    same = DuplicateAgentFinder(specs)
    for part in parts:
        same.take(*part)
    return same.identical_agents(game("kalah(4,3)"), lambda: parts)


def found(style, specs, openings=10):
    return result(round_robin(style, openings), specs)


def test_identical_play_of_several_agents_is_one_finding():
    (same,) = found([1, 2, 1, 3, 1, 4], [SEARCH] * 6)
    assert same == ((0, 2, 4), 80, 4, 4)
    names = ["pots", "b", "pruned", "d", "third", "f"]
    assert same.text(names) == (
        "pots, pruned and third play identically "
        "(the same moves in all 80 games of each against 4 opponents)"
    )


def test_agents_that_differ_in_one_game_are_not_named():
    games = round_robin([1, 2, 1, 3])
    games.columns["game_id"][-1] += np.uint64(1)  # of 3 against 2
    assert result(games, [SEARCH] * 4) == ()


def test_chance_and_too_few_games_show_nothing():
    assert found([1, 1, 2], [SEARCH] * 3, MIN_EQUAL_GAMES // 2 - 1) == ()
    assert len(found([1, 1, 2], [SEARCH] * 3, MIN_EQUAL_GAMES // 2)) == 1
    assert found([1, 1, 2], [CHANCE, CHANCE, SEARCH], 30) == ()
    assert found([1, 1, 2], [SEARCH, SEARCH, CHANCE], 30) == ()


def test_without_moves_bots_are_compared_by_agents_of_ours_if_there_are_any():
    assert found([1, 1, 2], [BOT, BOT, BOT], 30) == (((0, 1), 60, 1, 1),)
    games = round_robin([1, 1, 2, 3], 30)
    other = (games.columns["first"] == 2) | (games.columns["second"] == 2)
    games.columns["game_id"][other] += np.arange(other.sum(), dtype=np.uint64)  # it varies
    assert result(games, [BOT, BOT, BOT, SEARCH]) == (((0, 1), 60, 1, 2),)


@pytest.mark.parametrize("how", [Termination.UNLOADABLE, Termination.RAISED, Termination.TIMEOUT])
def test_forfeited_games_are_never_equal(how):
    games = round_robin([1, 1, 2, 3], 30)
    assert len(result(games, [BOT] * 4)) == 1
    broken = (games.columns["first"] < 2) | (games.columns["second"] < 2)
    games.columns["termination"][broken] = how
    games.columns["game_id"][broken] = games.opening[broken]  # as of games without a move
    assert result(games, [BOT] * 4) == ()


REAL = {
    "one": AgentSpec("greedy"), "copy": AgentSpec("greedy"), "first": AgentSpec("first"),
    "fewest": AgentSpec("fewest"), "dice": AgentSpec("random"),
}  # fmt: skip


@pytest.fixture(scope="module")
def real_games() -> Games:
    """Really played games of two copies, two others and one that plays at random."""
    of, lines = game("kalah(4,3)"), []
    for first in of.legal(of.start()):
        after = of.play(of.start(), first)
        for second in of.legal(after):
            lines += [[first, second, third] for third in of.legal(of.play(after, second))]
    return play_lines(experiment(REAL, of="kalah(4,3)"), lines[::4])[0]


def test_an_opponent_that_varies_is_left_out(real_games):
    (same,) = result(real_games, [BOT] * 5)
    assert same.agents == (0, 1)
    assert (same.opponents, same.common_opponents) == (2, 3)
    assert "1 more varies" in same.text([*REAL])


def test_moves_show_which_side_changed(real_games):
    of = game("kalah(4,3)")
    by_pair = {}
    for row in range(len(real_games)):
        seats = int(real_games.first[row]), int(real_games.second[row])
        by_pair[*seats, int(real_games.opening[row])] = np.array(moves_of_game(real_games, row))
    seen = set()
    for (first, second, opening), moves in by_pair.items():
        if {first, second} & {0, 1} and 4 in (first, second):  # a copy against the dice
            other = by_pair[1 - first if first < 2 else first, 1 - second if second < 2 else second,
                            opening]  # fmt: skip
            if not np.array_equal(moves, other):
                seen.add((deviating_seat(of, moves, other), (first, second).index(4)))
    assert seen == {(0, 0), (1, 1)}


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
    run_experiment_file(experiment_file(tmp_path, COPIES), tmp_path / "results", tables=True)
    line = (
        "deep and copy play identically "
        "(the same moves in all 48 games of each against 2 opponents)"
    )
    assert line in " ".join(capsys.readouterr().out.split())
    run = only_run(tmp_path / "results")
    assert json.loads((run / "summary.json").read_text())["same_players"] == [line]
    assert line in make_answer(load_report(run)).certainty


@pytest.mark.slow
def test_the_two_that_are_one_in_the_shipped_ladder_are_named(tmp_path):
    ladder = ROOT / "experiments" / "kalah_ladder.toml"
    run_experiment_file(ladder, tmp_path / "results", overrides=("pairs=6",))
    said = json.loads((only_run(tmp_path / "results") / "summary.json").read_text())
    (line,) = said["same_players"]
    assert line.startswith("pots4 and pruned4 play identically (the same moves in all ")
