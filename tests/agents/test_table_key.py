"""Keys of a search's table: positions that differ by few beans are told apart."""

from itertools import product

import pytest

from agents.kernels.table_key import table_key
from games import game
from games.sowing.states.packed import pack
from games.sowing.states.rows import Rows
from tests.agents.given import OF_EVERY_FAMILY, few, slow_if_wide, spread

HIGHEST_PLACE = 8 + 26  # of the bits that name a place in the largest table


def test_seven_beans_more_in_a_pot_are_another_position():
    # The linear sum of `pair_key` has one key for these two.
    family = game("kalah(6,4)").family
    key = table_key(family)
    for row, other in product([(0, 0, 0, 0, 0, 1), (1, 0, 2, 0, 1, 0)], [(0, 0, 0, 2, 0, 2)]):
        stored = pack(Rows(row, 26, other, 17))
        asked = pack(Rows(row, 19, (*other[:2], other[2] + 6, *other[3:]), 18))
        assert family.key(stored) == family.key(asked)
        assert key(stored) != key(asked)


@pytest.mark.parametrize("name", slow_if_wide(OF_EVERY_FAMILY))
def test_a_key_of_a_table_names_the_place_that_the_familys_key_names(name):
    family = game(name).family
    key = table_key(family)
    states = [position.state for position in spread(name, few(12, 3))]
    mask = (1 << HIGHEST_PLACE) - 1
    assert all(int(key(each)) & mask == int(family.key(each)) & mask for each in states)
    assert len({int(key(each)) for each in states}) == len({str(each) for each in states})
