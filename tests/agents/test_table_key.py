"""Keys of a search's table: positions that differ by few beans are told apart."""

from itertools import product

import numpy as np
import pytest

from agents.search.context import SALT, TABLE_AT, TABLE_MASK
from agents.search.table import EXACTLY, entry, known, remember, score_of, table_key
from games import game
from games.kernels.jit import unbound
from games.sowing.packed import pack
from games.sowing.rules import Rows
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


def test_an_entry_answers_for_its_own_key_and_its_own_salt():
    context = np.zeros(64, np.int64)
    context[TABLE_AT], context[TABLE_MASK], context[SALT] = 48, 3, 77
    key, beside = np.uint64(0x1200), np.uint64(0x1201)  # the lowest bits name no place
    at = unbound(entry)(context, key)
    assert at == unbound(entry)(context, beside)
    unbound(remember)(context, key, at, 5, 3, EXACTLY, False, 2)
    assert unbound(score_of)(unbound(known)(context, key, at)) == 5
    assert unbound(known)(context, beside, at) == 0
    context[SALT] = 78  # an earlier move's entries are forgotten
    assert unbound(known)(context, key, at) == 0
