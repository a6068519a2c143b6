"""A group of tables does not matter only where held-out games and a match both say so."""

import numpy as np
import pytest

from arena.learning.group_answers import GroupWord, answer_of, group_answers
from arena.learning.round_match import RoundMatch, RoundVerdict
from arena.stats.clustered_means import MeanError
from arena.stats.estimate import Estimate, EstimateKind


def elo(low, high):
    return Estimate((low + high) / 2, low, high, 0.95, EstimateKind.FIXED)


def worse(value):
    return MeanError(value, by_game=1.0, by_position=0.2)


@pytest.mark.parametrize(
    ("value", "low", "high", "answer"),
    [
        (0.5, -8, 9, GroupWord.LITTLE),
        (-3.0, -8, 9, GroupWord.LITTLE),
        (2.5, -8, 9, GroupWord.UNTOLD),  # held-out games are predicted worse
        (0.5, -25, 9, GroupWord.UNTOLD),  # the match allows more than a little
        (0.5, -8, 30, GroupWord.UNTOLD),
        (0.0, -60, -5, GroupWord.MATTERS),
        (9.0, -60, -5, GroupWord.MATTERS),
    ],
)
def test_both_held_out_games_and_the_match_must_say_that_it_does_not_matter(
    value, low, high, answer
):
    assert answer_of(worse(value), elo(low, high), little=20.0) == answer


def test_each_group_is_left_out_once_and_its_errors_are_paired_by_game():
    games = np.repeat(np.arange(50, dtype=np.int32), 4)
    errors = np.random.default_rng(3).uniform(0, 9, 200)
    match = RoundMatch(RoundVerdict.UNDECIDED, elo(-5, 5), 60, "")
    answers = list(
        group_answers(("holes", "facing"), errors, games, lambda _: (errors + 1.0, match), 20.0)
    )
    assert [each.group for each in answers] == ["holes", "facing"]
    # Every game lost as much: the difference has no error, though the errors themselves have.
    assert answers[0].worse.value == pytest.approx(1.0)
    assert answers[0].worse.by_game == pytest.approx(0.0, abs=1e-9)
    assert answers[0].answer == GroupWord.UNTOLD
    assert not list(group_answers(("holes",), errors, games, lambda _: (errors, match), 20.0))
