"""Keys and entries of the transposition table."""

from itertools import product

import numpy as np
import pytest

from agents.search.context import SALT, TABLE_AT, TABLE_MASK
from agents.search.table import EXACTLY, bind_table_key, entry, find_entry, score_of, store_entry
from games import game
from games.kernels.jit import python_function
from games.sowing.packed import pack
from games.sowing.rules import Rows
from tests.agents.helpers import OF_EVERY_FAMILY, few, slow_if_wide, spread

HIGHEST_PLACE = 8 + 26  # of the bits that name a place in the largest table


def test_similar_positions_have_different_keys():
    # The linear sum of `pair_key` has one key for these two.
    family = game("kalah(6,4)").family
    key = bind_table_key(family)
    for row, other in product([(0, 0, 0, 0, 0, 1), (1, 0, 2, 0, 1, 0)], [(0, 0, 0, 2, 0, 2)]):
        stored = pack(Rows(row, 26, other, 17))
        asked = pack(Rows(row, 19, (*other[:2], other[2] + 6, *other[3:]), 18))
        assert family.key(stored) == family.key(asked)
        assert key(stored) != key(asked)


@pytest.mark.parametrize("name", slow_if_wide(OF_EVERY_FAMILY))
def test_key_keeps_entry_place(name):
    family = game(name).family
    key = bind_table_key(family)
    states = [position.state for position in spread(name, few(12, 3))]
    mask = (1 << HIGHEST_PLACE) - 1
    assert all(int(key(each)) & mask == int(family.key(each)) & mask for each in states)
    assert len({int(key(each)) for each in states}) == len({str(each) for each in states})


def test_entry_matches_key_and_salt():
    context = np.zeros(64, np.int64)
    context[TABLE_AT], context[TABLE_MASK], context[SALT] = 48, 3, 77
    key, beside = np.uint64(0x1200), np.uint64(0x1201)  # the lowest bits name no place
    at = python_function(entry)(context, key)
    assert at == python_function(entry)(context, beside)
    python_function(store_entry)(context, key, at, 5, 3, EXACTLY, False, 2)
    assert python_function(score_of)(python_function(find_entry)(context, key, at)) == 5
    assert python_function(find_entry)(context, beside, at) == 0
    context[SALT] = 78  # an earlier move's entries are forgotten
    assert python_function(find_entry)(context, key, at) == 0
