"""The order of pairs against a loop over them, and the seeds that follow from what is played."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.planning.games import SCHEDULE_COLUMNS
from arena.planning.schedule import TURN_LENGTH, PairOrder
from arena.planning.seeds import agent_seeds, hash64, match_seed, pair_seeds
from games.kernels import splitmix, streams

NAMES = ("a", "b", "c", "d")
# Other numbers here mean other games in every run: that needs a line in the changelog.
DIGEST, PAIR = 15045486564733215628, 4168049772786085807


def pair_order(matches, pairs, openings, seed=1):
    keys = np.array([hash64("key", place) for place in range(openings)], np.uint64)
    sides = (np.arange(openings) % 3 == 1).astype(np.int8)
    return PairOrder(seed, "kalah(4,3)", NAMES, tuple(matches), pairs, keys, sides)


def naive_order(order):
    """Match and number of each pair: matches take turns."""
    if len(order.matches) == 1:
        return [(0, number) for number in range(order.pairs_per_match)]
    return [
        (match, number)
        for turn in range(0, order.pairs_per_match, TURN_LENGTH)
        for match in range(len(order.matches))
        for number in range(turn, min(turn + TURN_LENGTH, order.pairs_per_match))
    ]


@st.composite
def orders(draw):
    sides = st.sampled_from([(0, 1), (2, 0), (1, 3), (2, 3)])
    matches = draw(st.lists(sides, min_size=1, max_size=4, unique=True))
    return pair_order(matches, draw(st.integers(1, 2 * TURN_LENGTH + 5)), draw(st.integers(1, 40)))


@given(orders(), st.data())
def test_locations_blocks_and_columns_equal_those_of_a_loop(order, data):
    expected = naive_order(order)
    assert order.total == len(expected)
    start = data.draw(st.integers(0, order.total))
    stop = data.draw(st.integers(start, order.total))
    match, number = order.locate(np.arange(start, stop))
    assert list(zip(match.tolist(), number.tolist(), strict=True)) == expected[start:stop]
    blocks = list(order.blocks(start, stop))
    pairs = [
        (order.matches.index((block.a, block.b)), block.number + at, block.first + at)
        for block in blocks
        for at in range(block.size)
    ]
    assert pairs == [(*expected[place], place) for place in range(start, stop)]
    columns = order.columns(start, stop)
    assert {name: column.dtype for name, column in columns.items()} == SCHEDULE_COLUMNS
    for place in range(start, stop):
        a, b = order.matches[expected[place][0]]
        rows = slice(2 * (place - start), 2 * (place - start) + 2)
        assert columns["pair"][rows].tolist() == [place, place]
        assert columns["leg"][rows].tolist() == [0, 1]
        assert columns["first"][rows].tolist() == [a, b]
        assert columns["second"][rows].tolist() == [b, a]
        opening = expected[place][1] % len(order.opening_keys)
        assert columns["opening"][rows].tolist() == [opening, opening]
        assert columns["first_side"][rows].tolist() == 2 * [order.opening_sides[opening]]
    if blocks:
        seeds = np.concatenate([order.seeds(block) for block in blocks])
        assert columns["seed"][::2].tolist() == seeds.tolist()


@given(st.integers(1, 100), st.integers(1, 30))
def test_block_is_split_without_gaps(size, most):
    (block,) = pair_order([(0, 1)], 200, 7).blocks(50, 50 + size)
    parts = list(block.split(most))
    assert all(0 < part.size <= most for part in parts)
    numbers = [part.number + at for part in parts for at in range(part.size)]
    assert numbers == list(range(50, 50 + size))


def test_every_match_plays_the_same_openings_in_the_same_order():
    order = pair_order([(0, 1), (0, 2), (1, 2)], 600, 600)
    columns = order.columns(0, order.total)
    pairs = zip(*(columns[name][::2].tolist() for name in ("first", "second", "opening")),
                strict=True)  # fmt: skip
    openings = {}
    for a, b, opening in pairs:
        openings.setdefault((a, b), []).append(opening)
    assert list(openings.values()) == [list(range(600))] * 3


def test_seeds_of_a_match_do_not_depend_on_other_matches():
    alone, among = pair_order([(0, 1)], 300, 100), pair_order([(2, 3), (0, 1)], 300, 100)
    columns = among.columns(0, among.total)
    own = columns["first"] + columns["second"] == 1
    assert columns["seed"][own].tolist() == alone.columns(0, 300)["seed"].tolist()


def test_all_seeds_of_a_run_differ():
    order = pair_order([(0, 1), (1, 2)], 5000, 10)
    seeds = order.columns(0, order.total)["seed"][::2]
    assert len(np.unique(seeds)) == order.total
    pairs = np.arange(1000, dtype=np.uint64)
    of_agents = [agent_seeds(pairs, leg, name) for leg in (0, 1) for name in ("a", "b")]
    assert len(np.unique(np.concatenate(of_agents))) == 4000


@pytest.mark.parametrize("changed", ["seed", "game", "agents", "key", "number"])
def test_seed_depends_on_everything_that_is_played(changed):
    def seeds(seed=1, game="kalah", agents=("a", "b"), key=5, number=0):
        base = match_seed(seed, game, agents)
        return pair_seeds(base, np.array([key], np.uint64), np.array([number]))

    other = {"seed": 2, "game": "owari", "agents": ("a", "c"), "key": 6, "number": 1}
    assert seeds() != seeds(**{changed: other[changed]})
    assert seeds() == seeds(agents=("b", "a"))  # sides are swapped inside a pair


def test_seeds_equal_those_of_earlier_versions():
    assert int(hash64("openings", 1, "kalah(6,4)", 6)) == DIGEST
    base = match_seed(2026, "kalah(6,4)", ("smart", "bad"))
    assert int(pair_seeds(base, np.array([7], np.uint64), np.array([3]))[0]) == PAIR


@given(st.integers(0, 2**64 - 1))
def test_words_are_mixed_as_in_kernels(word):
    words = np.array([word], np.uint64)
    assert int(splitmix.mixed(words)[0]) == int(streams.mixed(words[0]))


@given(st.lists(st.integers(0, 99)), st.lists(st.integers(0, 99)))
def test_hash_separates_fields(one, other):
    assert (hash64(*one) == hash64(*other)) == (one == other)


def test_matches_take_turns_of_256_pairs_unless_there_is_only_one():
    two = pair_order([(0, 1), (2, 3)], 300, 10)
    match, number = two.locate(np.arange(two.total))
    assert match.tolist() == [0] * 256 + [1] * 256 + [0] * 44 + [1] * 44
    assert number[[0, 255, 256, 511, 512]].tolist() == [0, 255, 0, 255, 256]
    assert pair_order([(0, 1)], 300, 10).turn_length == 300
