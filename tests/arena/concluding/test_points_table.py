"""Standings by points: matches of two games, final scores, one champion or several."""

import numpy as np
import pandas as pd
import pytest

from arena.concluding.evidence import evidence_of
from arena.concluding.points_table import points_lines, points_rows
from arena.planning.records import COLUMNS, Games, Termination
from tests.arena.played import experiment
from tests.arena.running import called, directory_of, experiment_file, small

THREE = experiment(["a", "b", "c"]).plan


def rows_of(*pairings):
    """The table of pairings: two agents, and result and margin of both games for the first."""
    columns = {name: np.zeros(2 * len(pairings), kind) for name, kind in COLUMNS.items()}
    for number, (a, b, *both) in enumerate(pairings):
        for leg, (result, margin) in enumerate(both):
            row = 2 * number + leg
            columns["pair"][row], columns["leg"][row] = number, leg
            columns["first"][row], columns["second"][row] = (a, b) if leg == 0 else (b, a)
            columns["result"][row] = result if leg == 0 else 2 - result
            columns["margin"][row] = margin if leg == 0 else -margin
            columns["game_id"][row] = row
    games = Games(columns, None, {})
    return games, lambda: points_rows(evidence_of(THREE, lambda: [games]).matches, THREE.names)


def test_matches_won_come_before_games_and_games_before_scores():
    _, rows = rows_of(
        (0, 1, (2, 3), (1, 0)),  # a beats b by one and a half to a half
        (0, 2, (2, 9), (0, -1)),  # level
        (1, 2, (2, 1), (2, 1)),
    )
    table = {row.agent: row for row in rows()}
    assert [row.agent for row in rows()] == ["a", "b", "c"]
    assert (table["a"].points, table["a"].won, table["a"].drawn) == (3, 1, 1)
    assert (table["b"].points, table["b"].game_points) == (2, 2.5)
    assert (table["c"].points, table["c"].lost) == (1, 1)
    assert table["a"].margin == 11
    assert table["c"].margin == -10
    assert [row.champion for row in rows()] == [1, 0, 0]


@pytest.mark.parametrize(("margin", "places"), [(1, [1, 2]), (0, [1, 1])])
def test_equals_are_told_apart_by_final_scores_or_share_the_place(margin, places):
    _, rows = rows_of((0, 1, (2, 5 + margin), (0, -5)))
    assert [row.place for row in rows()] == places
    assert ("champions" in points_lines(rows())[-2]) == (places == [1, 1])


def test_the_score_of_a_forfeited_game_does_not_count():
    games, rows = rows_of((0, 1, (2, 30), (2, 2)))
    games.columns["termination"][0] = Termination.ILLEGAL
    assert rows()[0].margin == 2


def test_an_experiment_that_asks_for_it_has_a_champion(tmp_path):
    more = 'standings = { by = "points" }'
    path = experiment_file(tmp_path, small(4, more) + '[agents.greedy]\nkind = "greedy"\n')
    answer = called(path, "--results", tmp_path)
    assert answer.returncode == 0
    assert "champion: " in answer.stdout
    frame = pd.read_parquet(directory_of(tmp_path) / "points.parquet")
    assert frame.points.sum() == 2 * 4
    wrong = called(path, "--results", tmp_path, "--set", "standings.by=luck")
    assert 'by must be "elo" or "points"' in wrong.stderr
