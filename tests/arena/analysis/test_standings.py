"""Standings: how many independent pairings a rating rests on, and when openings are blocks."""

from dataclasses import replace

import pytest

from arena.analysis import standings, summary
from arena.analysis.evidence import evidence_of
from arena.planning.games import Termination
from tests.arena.played import FORFEIT, experiment, games_by_hand, summarise_games

TWO = experiment(["a", "b"]).plan
THREE = experiment(["a", "b", "c"]).plan


def rated(agent: str, *matches) -> float:
    """The effective pairings of an agent."""
    rows = summarise_games(games_by_hand(*matches), THREE).ratings
    return next(row for row in rows if row.agent == agent).effective_pairs


def test_how_strong_an_opponent_is_makes_pairings_neither_more_nor_less_independent():
    b = (0, 1, [(opening, "WW" if opening // 2 % 2 else "WL") for opening in range(40)])
    found = [
        rated("a", b, (0, 2, [(opening, one if opening % 2 else other) for opening in range(40)]))
        for one, other in (("WW", "WL"), ("WL", "LL"))
    ]
    assert found[0] == pytest.approx(found[1])


def openings_rated(monkeypatch, openings: int) -> int:
    """Return the number of openings that a match on this many openings is rated with."""
    seen = []

    class SeenError(Exception):
        """Ends the run after the first rating."""

    def rate(results, plan):
        seen.append(results.openings)
        raise SeenError

    monkeypatch.setattr(standings, "rate", rate)
    games = games_by_hand((0, 1, [(opening, "WL") for opening in range(openings)]))
    with pytest.raises(SeenError):
        summarise_games(games, TWO)
    return seen[0]


def test_up_to_twenty_thousand_openings_are_drawn_one_by_one(monkeypatch):
    assert openings_rated(monkeypatch, 20_001) == 20_000


def test_errors_of_ratings_come_from_two_hundred_draws(monkeypatch):
    pairings = [(o, "WL" if o % 3 else "WW") for o in range(30)]
    games = games_by_hand((0, 1, pairings), (0, 2, pairings[::-1]), (1, 2, pairings))
    evidence = evidence_of(THREE, lambda: [games])
    as_usual = summary.summarise(evidence).ratings
    assert as_usual == summary.summarise(evidence, draws=200).ratings
    assert as_usual != summary.summarise(evidence, draws=100).ratings


def row_of(summary, agent):
    return next(row for row in summary.ratings if row.agent == agent)


def test_two_agents_are_rated_half_the_estimate_of_their_pair():
    # Regression: "+552, no bound" above "> +864" on the first screen.
    for letters in (["WW"] * 29 + ["WD"], ["WW"] * 30, ["WL", "WW", "LL"] * 10):
        summed_up = summarise_games(games_by_hand((0, 1, list(enumerate(letters)))), TWO)
        pair = summed_up.win_rates.own[0].row.elo
        mine, theirs = row_of(summed_up, "a").elo, row_of(summed_up, "b").elo
        for name, other in (("value", "value"), ("low", "high"), ("high", "low")):
            whole, half = getattr(pair, name), getattr(mine, name)
            assert half == (None if whole is None else pytest.approx(whole / 2))
            assert getattr(theirs, other) == (None if whole is None else pytest.approx(-whole / 2))
        assert mine.has_both_ends or mine.reason


def test_agents_that_only_forfeited_have_no_rating_and_come_last():
    # Regression: four agents that only forfeited, ranked at "Elo 0".
    four = experiment(["a", "b", "c", "d"]).plan
    pairings = [(opening, "WL") for opening in range(12)]
    matches = [(i, j, pairings) for i in range(4) for j in range(i + 1, 4)]
    games = games_by_hand(*matches)
    games.columns["termination"][:] = FORFEIT
    rows = summarise_games(games, four).ratings
    assert {(row.elo.value, row.text) for row in rows} == {(None, "only forfeits")}
    games.columns["termination"][:2] = Termination.NORMAL  # one pairing of a against b
    rows = summarise_games(games, four).ratings
    assert [row.agent for row in rows][2:] == ["c", "d"]
    assert all(row.elo.reason != "only forfeits" for row in rows[:2])


def test_why_is_never_empty_where_an_end_is_missing():
    letters = ["WW", "WL", "LL", "WD"]
    for size in (1, 2, 12):
        for kinds in range(1, min(size, 3) + 1):
            pairings = [(o, letters[o % kinds]) for o in range(size)]
            for games in (
                games_by_hand((0, 1, pairings)),
                games_by_hand((0, 1, pairings), (1, 2, pairings)),
            ):
                for row in summarise_games(games, THREE).ratings:
                    assert row.elo.has_both_ends or row.elo.reason


def test_rock_paper_scissors_is_said_to_be_a_ring():
    # Regression: three zeros and no warning.
    names = ["rock", "paper", "scissors"]
    plan = experiment(names).plan
    won, lost = ([(o, letters) for o in range(40)] for letters in ("WW", "LL"))
    found = summarise_games(games_by_hand((0, 1, lost), (0, 2, won), (1, 2, lost)), plan)
    (group,) = found.groups
    assert group.cycle == (
        "rock beats scissors, scissors beats paper, paper beats rock "
        "(95 % for all matches together): one rating for each agent does not describe these results"
    )


def test_matches_that_are_not_settled_make_no_ring():
    won, lost = [(o, "WL") for o in range(40)], [(o, "LW" if o else "WW") for o in range(40)]
    found = summarise_games(games_by_hand((0, 1, lost), (0, 2, won), (1, 2, lost)), THREE)
    assert found.groups[0].cycle == ""


def test_a_ladder_is_no_ring():
    near = [(o, "WW" if o % 3 else "WL" if o % 2 else "LL") for o in range(40)]
    far = [(o, "WW" if o % 10 else "WL") for o in range(40)]
    found = summarise_games(games_by_hand((0, 1, near), (0, 2, far), (1, 2, near[::-1])), THREE)
    assert found.groups[0].cycle == ""


def test_an_anchor_of_the_experiment_is_held():
    near = [(o, "WW" if o % 3 else "LL") for o in range(30)]
    games = games_by_hand((0, 1, near), (0, 2, near), (1, 2, near))
    free = {row.agent: row.elo for row in summarise_games(games, THREE).ratings}
    held = {
        row.agent: row
        for row in summarise_games(games, replace(THREE, anchor=("b", 1500.0))).ratings
    }
    assert (held["b"].elo.value, held["b"].elo.reason) == (1500.0, "anchor")
    assert held["a"].elo.value == pytest.approx(1500 + free["a"].value - free["b"].value)
    pair = summarise_games(games_by_hand((0, 1, near)), replace(TWO, anchor=("b", 100.0)))
    elo = pair.win_rates.own[0].row.elo
    assert row_of(pair, "a").elo.low == pytest.approx(100 + elo.low)


def test_the_first_move_of_two_agents_is_as_settled_as_the_first_movers_score():
    """Seen before: "first move +68 [+1, +131]" above "first mover 58.8 % [49.3, 67.7]"."""
    for games in range(10, 30):
        letters = ["WL", "WW", "WL", "LL", "WL", "LW", "WW"]
        found = summarise_games(
            games_by_hand((0, 1, [(n, letters[n % 7]) for n in range(games)])), TWO
        )
        score, (group,) = found.first_mover, found.groups
        assert (group.first_move.low > 0.0) == (score.low > 0.5), games
        assert (group.first_move.high < 0.0) == (score.high < 0.5), games
