"""The schedule: vectorised columns against a loop over pairings; seeds of what is played."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.planning.games import SCHEDULE_COLUMNS
from arena.planning.schedule import TURN_LENGTH, PairOrder
from arena.planning.seeds import agent_seeds, hash64, match_seed, pair_seeds

NAMES = ("a", "b", "c", "d")


def schedule(matches, pairs, openings, seed=1):
    keys = np.array([hash64("key", place) for place in range(openings)], np.uint64)
    sides = (np.arange(openings) % 3 == 1).astype(np.int8)
    return PairOrder(seed, "kalah(4,3)", NAMES, tuple(matches), pairs, keys, sides)


def naive(of):
    """Pairings as (match, number) in their order: matches take turns of TURN pairings."""
    if len(of.matches) == 1:
        return [(0, number) for number in range(of.pairs)]
    turns = range(0, of.pairs, TURN_LENGTH)
    return [
        (match, number)
        for turn in turns
        for match in range(len(of.matches))
        for number in range(turn, min(turn + TURN_LENGTH, of.pairs))
    ]


@st.composite
def schedules(draw):
    sides = st.sampled_from([(0, 1), (2, 0), (1, 3), (2, 3)])
    matches = draw(st.lists(sides, min_size=1, max_size=4, unique=True))
    return schedule(matches, draw(st.integers(1, 2 * TURN_LENGTH + 5)), draw(st.integers(1, 40)))


@given(schedules(), st.data())
def test_places_blocks_and_columns_are_those_of_a_loop(of, data):
    expected = naive(of)
    assert of.total == len(expected)
    start = data.draw(st.integers(0, of.total))
    stop = data.draw(st.integers(start, of.total))
    match, number = of.places(np.arange(start, stop))
    assert list(zip(match.tolist(), number.tolist(), strict=True)) == expected[start:stop]
    blocks = list(of.blocks(start, stop))
    told = [
        (of.matches.index((block.a, block.b)), block.number + at, block.first + at)
        for block in blocks
        for at in range(block.size)
    ]
    assert told == [(*expected[place], place) for place in range(start, stop)]
    columns = of.columns(start, stop)
    assert {name: column.dtype for name, column in columns.items()} == SCHEDULE_COLUMNS
    for place in range(start, stop):
        a, b = of.matches[expected[place][0]]
        rows = slice(2 * (place - start), 2 * (place - start) + 2)
        assert columns["pair"][rows].tolist() == [place, place]
        assert columns["leg"][rows].tolist() == [0, 1]
        assert columns["first"][rows].tolist() == [a, b]
        assert columns["second"][rows].tolist() == [b, a]
        opening = expected[place][1] % len(of.keys)
        assert columns["opening"][rows].tolist() == [opening, opening]
        assert columns["first_side"][rows].tolist() == 2 * [of.sides[opening]]
    seeds = [of.seeds(block) for block in blocks]
    if seeds:
        assert columns["seed"][::2].tolist() == np.concatenate(seeds).tolist()


@given(st.integers(1, 100), st.integers(1, 30))
def test_pieces_of_a_block_are_the_block(size, most):
    (block,) = schedule([(0, 1)], 200, 7).blocks(50, 50 + size)
    pieces = list(block.pieces(most))
    assert sum(piece.size for piece in pieces) == size
    assert all(0 < piece.size <= most for piece in pieces)
    numbers = [piece.number + at for piece in pieces for at in range(piece.size)]
    assert numbers == list(range(50, 50 + size))


def test_every_match_plays_the_same_openings_in_the_same_order():
    of = schedule([(0, 1), (0, 2), (1, 2)], 600, 600)
    columns = of.columns(0, of.total)
    played = {}
    for a, b, opening in zip(
        columns["first"][::2], columns["second"][::2], columns["opening"][::2], strict=True
    ):
        played.setdefault((int(a), int(b)), []).append(int(opening))
    assert list(played.values()) == [list(range(600))] * 3


def test_seeds_are_of_what_is_played_not_of_its_place():
    alone, among = schedule([(0, 1)], 300, 100), schedule([(2, 3), (0, 1)], 300, 100)
    own = among.columns(0, among.total)
    chosen = own["first"] + own["second"] == 1
    assert own["seed"][chosen].tolist() == alone.columns(0, 300)["seed"].tolist()


def test_all_seeds_of_a_run_differ():
    of = schedule([(0, 1), (1, 2)], 5000, 10)
    seeds = of.columns(0, of.total)["seed"][::2]
    assert len(np.unique(seeds)) == of.total


@pytest.mark.parametrize("changed", ["seed", "game", "agents", "key", "number"])
def test_a_seed_depends_on_everything_that_is_played(changed):
    def seeds(seed=1, game="kalah", agents=("a", "b"), key=5, number=0):
        base = match_seed(seed, game, agents)
        return pair_seeds(base, np.array([key], np.uint64), np.array([number]))

    other = {"seed": 2, "game": "owari", "agents": ("a", "c"), "key": 6, "number": 1}
    assert seeds() != seeds(**{changed: other[changed]})
    assert seeds() == seeds(agents=("b", "a"))  # sides are swapped inside a pairing


def test_agents_and_legs_have_seeds_of_their_own():
    pairs = np.arange(1000, dtype=np.uint64)
    found = [agent_seeds(pairs, leg, name) for leg in (0, 1) for name in ("a", "b")]
    assert len(np.unique(np.concatenate(found))) == 4000


def test_matches_take_turns_of_256_pairings_unless_there_is_only_one():
    two = schedule([(0, 1), (2, 3)], 300, 10)
    match, number = two.places(np.arange(two.total))
    assert match.tolist() == [0] * 256 + [1] * 256 + [0] * 44 + [1] * 44
    assert number[[0, 255, 256, 511, 512]].tolist() == [0, 255, 0, 255, 256]
    assert schedule([(0, 1)], 300, 10).turn == 300
