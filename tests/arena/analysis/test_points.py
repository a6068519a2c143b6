"""Points, places and the official order."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arena.analysis.evidence import Exclusion, evidence_of
from arena.analysis.standings import (
    AgentStanding,
    GameTally,
    official_places,
    points_standings,
    points_table_lines,
    tallies,
)
from arena.analysis.win_rates import ONLY_FORFEITS
from arena.planning.games import COLUMNS, Games, Termination
from arena.planning.rounds import StandingRow, TournamentStanding
from arena.stats.estimate import FEW_OPENINGS, Estimate, EstimateKind, no_estimate
from tests.arena.played import experiment
from tests.arena.running import experiment_file, only_run, run_in_process, small

THREE = experiment(["a", "b", "c"]).plan


def rating(name, elo=0.0):
    """A rated agent."""
    known = Estimate(elo, elo - 1, elo + 1, 0.95, EstimateKind.FIXED)
    return AgentStanding(name, 0, known, 9, 9, 9, 0.0, 9, 9.0, 0, "")


def forfeiter(name):
    """An agent all games of which were forfeited."""
    return replace(rating(name), group=1, elo=no_estimate(ONLY_FORFEITS))


def rows_of(*pairings):
    """Games, and the table they make; of two agents result and margin of both, for the first."""
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
    return games, lambda: table_of(games)


def table_of(games):
    """The table by points of some games of the three agents."""
    found = evidence_of(THREE, lambda: [games])
    own = dict(zip(THREE.names, tallies(found.matches, 3), strict=True))
    rated = [rating(name) for name in THREE.names]
    places = official_places(own, rated, openings=found.openings, by_points=True)
    return points_standings(own, places)


def test_points_come_first_then_games_won_then_the_sum_of_scores():
    _, rows = rows_of(
        (0, 1, (2, 3), (1, 0)),  # a won one game and drew one
        (0, 2, (2, 9), (0, -1)),
        (1, 2, (2, 1), (2, 1)),
    )
    table = {row.agent: row for row in rows()}
    assert [row.agent for row in rows()] == ["a", "b", "c"]
    assert (table["a"].points, table["a"].won, table["a"].drawn, table["a"].lost) == (2.5, 2, 1, 1)
    assert (table["b"].points, table["b"].games, table["b"].score) == (2.5, 4, 0.625)
    assert (table["c"].points, table["c"].lost) == (1.0, 3)
    assert table["a"].margin == 11
    assert table["c"].margin == -10
    assert [row.place for row in rows()] == [1, 2, 3]
    assert [row.champion for row in rows()] == [1, 0, 0]


@pytest.mark.parametrize(("margin", "places"), [(1, [1, 2, 3]), (0, [1, 1, 3])])
def test_equals_are_told_apart_by_final_scores_or_share_the_place(margin, places):
    _, rows = rows_of(
        (0, 1, (2, 5 + margin), (0, -5)), (0, 2, (2, 1), (2, 1)), (1, 2, (2, 1), (2, 1))
    )
    assert [row.place for row in rows()] == places
    assert ("champions" in points_table_lines(rows())[-2]) == (places[:2] == [1, 1])


def test_agents_that_played_fewer_games_are_ranked_by_points_per_game():
    _, rows = rows_of((0, 1, (2, 5), (2, 0)), (1, 2, (2, 5), (2, 5)), (1, 2, (2, 5), (2, 5)))
    table = rows()
    assert [(row.agent, row.points, row.games) for row in table] == [
        ("a", 2.0, 2), ("b", 4.0, 6), ("c", 0.0, 4)
    ]  # fmt: skip


def test_the_score_of_a_forfeited_game_does_not_count():
    games, rows = rows_of((0, 1, (2, 30), (2, 2)))
    games.columns["termination"][0] = Termination.ILLEGAL
    assert rows()[0].margin == 2


def test_ratings_rank_unless_there_are_too_few_openings_or_the_schedule_gave_places():
    own = {"a": GameTally(wins=1, losses=1), "b": GameTally(wins=2)}
    rated = [rating("a", 10.0), rating("b", 5.0)]
    assert official_places(own, rated, openings=FEW_OPENINGS) == {"a": 1, "b": 2}
    assert official_places(own, rated, openings=FEW_OPENINGS - 1) == {"b": 1, "a": 2}
    assert official_places(own, rated, openings=FEW_OPENINGS, by_points=True) == {"b": 1, "a": 2}
    rows = StandingRow(1, "winner", "won", 1), StandingRow(0, "out", "lost")
    ended = TournamentStanding("best", 1, is_over=True, rows=rows, answer="")
    places = official_places(own, rated, openings=FEW_OPENINGS, standing=ended)
    assert [*places.items()] == [("b", 1), ("a", 2)]


def test_equal_ratings_share_a_place_and_forfeits_alone_rank_by_points():
    own = {
        name: GameTally(wins=won, losses=9 - won)
        for name, won in zip("abcde", (5, 5, 1, 3, 1), strict=True)
    }
    rated = [rating("a", 10.0), rating("b", 10.0), *map(forfeiter, "cde")]
    places = official_places(own, rated, openings=FEW_OPENINGS)
    assert [*places.items()] == [("a", 1), ("b", 1), ("d", 3), ("c", 4), ("e", 4)]
    places = official_places(own, rated, openings=FEW_OPENINGS, excluded={"d"})
    assert [*places.items()] == [("a", 1), ("b", 1), ("c", 3), ("e", 3), ("d", 5)]


@pytest.mark.parametrize(
    ("places", "states", "expected"),
    [
        ((1, None, None, 4), ("in", "in", "in", "out"), {"a": 1, "b": 2, "c": 2, "d": 4}),
        ((None, None, None, None), ("in", "out", "out", "in"), {"a": 1, "d": 1, "b": 3, "c": 4}),
        ((None, None, None, None), ("in",) * 4, {"a": 1, "b": 2, "c": 3, "d": 4}),
        ((1, 1, 3, 4), ("in",) * 4, {"a": 1, "b": 1, "c": 3, "d": 4}),
    ],
)
def test_agents_that_a_schedule_does_not_tell_apart_share_a_place(places, states, expected):
    own = dict.fromkeys("abcd", GameTally())
    rated = [rating(name, elo) for name, elo in zip("abcd", (4.0, 3.0, 2.0, 1.0), strict=True)]
    each = zip(range(4), states, places, strict=True)
    rows = tuple(StandingRow(at, state, "", place) for at, state, place in each)
    ended = TournamentStanding("place", 1, is_over=True, rows=rows, answer="")
    assert official_places(own, rated, openings=FEW_OPENINGS, standing=ended) == expected
    last = official_places(own, rated, openings=FEW_OPENINGS, standing=ended, excluded={"a"})
    assert [*last][-1] == "a"
    assert last["a"] == 4


def test_two_excluded_bots_both_lose_a_game_that_neither_played():
    games, _ = rows_of((0, 1, (2, 3), (0, -3)), (0, 1, (2, 0), (0, 0)), (0, 2, (2, 1), (2, 1)))
    games.columns["termination"][2:4] = Termination.ILLEGAL
    excluded = tuple(Exclusion(name, 2, 2, "failed") for name in "ab")
    found = evidence_of(THREE, lambda: [games], excluded=excluded)
    own = dict(zip(THREE.names, tallies(found.matches, 3), strict=True))
    assert [own[name][:3] for name in "abc"] == [(3, 0, 3), (1, 0, 3), (0, 0, 2)]


def test_an_experiment_that_asks_for_it_has_a_champion(tmp_path):
    more = 'standings = "points"'
    path = experiment_file(tmp_path, small(4, more) + '[agents.greedy]\nkind = "greedy"\n')
    answer = run_in_process(path, "--results", tmp_path)
    assert answer.returncode == 0
    assert "champion: " in answer.stdout
    frame = pd.read_parquet(only_run(tmp_path) / "points.parquet")
    assert frame.points.sum() == frame.games.sum() / 2 == 2 * 4
    wrong = run_in_process(path, "--results", tmp_path, "--set", "standings=luck")
    assert 'standings must be "elo" or "points"' in wrong.stderr
