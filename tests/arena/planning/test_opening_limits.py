"""Where openings count as even, and when the search for new ones is given up."""

import numpy as np
import pytest

from agents.core import AgentSpec, Limit
from agents.registry import build
from arena.planning.openings.openings import Openings, balance_mask, moves_of, position_after
from arena.planning.openings.random import add_distinct, random_openings
from games import game


def test_a_balanced_opening_is_one_that_six_plies_of_search_value_within_the_limit():
    of = game("kalah(6,4)")
    found = random_openings(of, 6, 60, 1, None)
    positions = [position_after(of, moves_of(of, slots)) for slots in found.slots]
    search = build(AgentSpec("alphabeta"), of)
    values, others = (
        np.array([search.choose(each, Limit(depth=depth)).value for each in positions])
        for depth in (6, 5)
    )
    assert balance_mask(of, found, 2.0).tolist() == (abs(values) <= 2.0).tolist()
    # There are openings lost for the mover, and such as one ply less would judge otherwise.
    assert (values < -2.0).any()
    assert ((abs(values) <= 2.0) != (abs(others) <= 2.0)).any()


@pytest.mark.parametrize(("fruitless", "found"), [(60_000, 2), (60_001, 1)])
def test_after_sixty_thousand_draws_without_a_new_opening_one_more_is_the_last(fruitless, found):
    keys = np.array([1, *[1] * fruitless, 2], np.uint64)
    none = Openings(np.empty((0, 1), np.int16), np.empty(0, np.uint64), False)
    lines = Openings(np.zeros((len(keys), 1), np.int16), keys, False)
    assert len(add_distinct(none, lines, 0)[0]) == found
