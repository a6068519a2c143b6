"""Agreement: copies are found, independent agents of equal strength are not; by simulation."""

import math
from itertools import product

import numpy as np
import pytest

from arena.stats.same_moves import agreements, groups, log_tail


def simulated(dice, agents, positions, copies=0.0):
    """Choices of independent agents that follow how good moves are, and a copy of the first."""
    legal = np.arange(6) < dice.integers(2, 7, positions)[:, None]
    worth = np.where(legal, dice.normal(0.0, 2.0, (positions, 6)), -np.inf)
    choices = np.array([(worth + dice.gumbel(size=worth.shape)).argmax(1) for _ in range(agents)])
    noise = np.where(legal, dice.gumbel(size=worth.shape), -np.inf).argmax(1)
    twin = np.where(dice.random(positions) < copies, noise, choices[0])
    return np.vstack([choices, twin])


@pytest.mark.parametrize("agents", [4, 8])
def test_a_copy_is_found_and_nobody_else(agents):
    for seed in range(10):
        choices = simulated(np.random.default_rng(seed), agents, 300)
        found = agreements(choices, agents + 1)
        assert [(each.a, each.b) for each in found if each.same] == [(0, agents)]
        assert groups(found) == [(0, agents)]


def test_what_is_expected_is_the_share_of_independent_agents():
    errors = []
    for seed in range(6):
        choices = simulated(np.random.default_rng(seed), 8, 1500)
        found = agreements(choices[:-1], 8)
        errors += [each.share - each.expected for each in found]
    assert abs(np.mean(errors)) < 0.005
    assert np.std(errors) < 0.03


def test_positions_in_which_all_agree_show_no_copy():
    choices = np.zeros((5, 200), np.int64)
    assert not any(each.same for each in agreements(choices, 5))


@pytest.mark.parametrize(("size", "mean"), [(6, 0.3), (9, 0.5), (8, 0.9)])
def test_the_bound_is_never_below_the_chance_itself(size, mean):
    for equal in range(size + 1):
        exact = sum(
            math.prod(mean if one else 1 - mean for one in ones)
            for ones in product((0, 1), repeat=size)
            if sum(ones) >= equal
        )
        assert log_tail(size, equal, mean) >= math.log(exact) - 1e-9


def test_groups_hold_all_who_are_one_player_together():
    choices = simulated(np.random.default_rng(1), 5, 300)
    three = np.vstack([choices, choices[0]])
    assert groups(agreements(three, 7)) == [(0, 5, 6)]
