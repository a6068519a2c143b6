"""Standings: how many independent pairings a rating rests on, and when openings are blocks."""

import pytest

from arena.concluding import standings, summary
from arena.concluding.evidence import evidence_of
from tests.arena.played import by_hand, experiment, summed

TWO = experiment(["a", "b"]).plan
THREE = experiment(["a", "b", "c"]).plan


def rated(agent: str, *matches) -> float:
    """The effective pairings of an agent."""
    rows = summed(by_hand(*matches), THREE).ratings
    return next(row for row in rows if row.agent == agent).effective_pairings


def test_how_strong_an_opponent_is_makes_pairings_neither_more_nor_less_independent():
    b = (0, 1, [(opening, "WW" if opening // 2 % 2 else "WL") for opening in range(40)])
    found = [
        rated("a", b, (0, 2, [(opening, one if opening % 2 else other) for opening in range(40)]))
        for one, other in (("WW", "WL"), ("WL", "LL"))
    ]
    assert found[0] == pytest.approx(found[1])


def openings_rated(monkeypatch, openings: int) -> int:
    """As how many openings the games of a match on so many are rated."""
    seen = []

    class SeenError(Exception):
        """What is rated has been seen."""

    def rate(results, plan):
        seen.append(results.openings)
        raise SeenError

    monkeypatch.setattr(standings, "rate", rate)
    games = by_hand((0, 1, [(opening, "WL") for opening in range(openings)]))
    with pytest.raises(SeenError):
        summed(games, TWO)
    return seen[0]


@pytest.mark.parametrize(("openings", "blocks"), [(20_000, 20_000), (20_001, 20_000)])
def test_up_to_twenty_thousand_openings_are_drawn_one_by_one(monkeypatch, openings, blocks):
    assert openings_rated(monkeypatch, openings) == blocks


def test_errors_of_ratings_come_from_two_hundred_draws(monkeypatch):
    evidence = evidence_of(TWO, by_hand((0, 1, [(o, "WL" if o % 3 else "WW") for o in range(30)])))
    as_usual = summary.summarise(evidence).ratings
    assert as_usual == summary.summarise(evidence, draws=200).ratings
    assert as_usual != summary.summarise(evidence, draws=100).ratings
