import numpy as np
import pytest

from arena.stats.counts import (
    Wdl,
    first_mover_scores,
    mirror_counts,
    pair_counts,
    pair_scores,
)

OPENINGS = [7, 3, 7, 9]
AS_FIRST = [1, 0.5, 1, 0]
AS_SECOND = [0, 0.5, 1, 0.5]


def test_a_pairing_is_counted_by_seat_and_by_points():
    counts = pair_counts(OPENINGS, AS_FIRST, AS_SECOND)
    assert counts.first == Wdl(wins=2, draws=1, losses=1)
    assert counts.second == Wdl(wins=1, draws=2, losses=1)
    assert counts.total == Wdl(3, 3, 2)
    assert counts.pentanomial == (0, 1, 2, 0, 1)
    assert (counts.pairs, counts.games) == (4, 8)
    assert (counts.first.games, counts.second.points) == (4, 2.0)
    assert (counts.openings, counts.largest_multiplicity) == (3, 2)
    assert counts.distinct_games is None
    assert counts.score == 4.5 / 8
    assert counts.first_mover_score == (2.5 + 2.0) / 8


def test_the_opponent_sees_the_mirror_image():
    theirs = mirror_counts(pair_counts(OPENINGS, AS_FIRST, AS_SECOND))
    scores = (1 - np.array(AS_SECOND), 1 - np.array(AS_FIRST))
    assert theirs == pair_counts(OPENINGS, *scores)
    assert theirs.first_mover_score == pair_counts(OPENINGS, AS_FIRST, AS_SECOND).first_mover_score


def test_no_pairing_has_no_score():
    counts = pair_counts([], [], [])
    assert (counts.games, counts.score, counts.first_mover_score) == (0, None, None)
    assert counts.largest_multiplicity == 0


def test_scores_of_pairings_and_of_their_first_movers():
    assert pair_scores(AS_FIRST, AS_SECOND).tolist() == [0.5, 0.5, 1.0, 0.25]
    assert first_mover_scores(AS_FIRST, AS_SECOND).tolist() == [1.0, 0.5, 0.5, 0.25]


def test_a_score_that_no_game_has_is_refused():
    with pytest.raises(ValueError, match=r"0, 0\.5 or 1"):
        pair_counts([0], [0.75], [0])
