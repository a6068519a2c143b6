"""Openings: distinct, in one order however many are asked for, refused with numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.planning.openings import exact
from arena.planning.openings import random as module
from arena.planning.openings.enumerate import enumerate_positions
from arena.planning.openings.openings import (
    NO_MOVE,
    Openings,
    OpeningsError,
    moves_of,
    position_after,
)
from arena.planning.openings.random import add_distinct, draw_lines, random_openings
from arena.planning.openings.registry import OPENINGS, make_openings, way
from arena.planning.plan import OpeningsSpec
from games import game
from games.base.schema import default_values
from games.solving import solver_of
from tools.make_openings import even_openings

SMALL = game("kalah(4,3)")


def wanted(balance=None, repeat=False, **values):
    """The recipe of the way that has these keys."""
    (name,) = (
        name
        for name in OPENINGS
        if way(name).KEYS[0].name in values and set(values) <= {key.name for key in way(name).KEYS}
    )
    return OpeningsSpec(name, values, balance, repeat)


@pytest.mark.parametrize("name", OPENINGS)
def test_every_way_declares_its_keys_and_gives_distinct_openings(name):
    entry = way(name)
    assert all(key.words for key in entry.KEYS)
    assert entry.EXAMPLES
    values = default_values(entry.KEYS)
    values |= {key.name: key.choices[0] if key.choices else ("1", "2") if key.type == "texts" else 2
               for key in entry.KEYS if values[key.name] is None}  # fmt: skip
    found = make_openings(SMALL, OpeningsSpec(name, values), 1, 1)
    assert len(found) == len(set(found.keys.tolist())) == 1
    spec = OpeningsSpec(name, values, repeat=True)
    assert OpeningsSpec.from_json(spec.to_json()) == spec


def positions(of, openings):
    return [position_after(of, moves_of(of, slots)) for slots in openings.slots]


@pytest.mark.parametrize("name", ["kalah(4,3)", "owari", "othello(6)", "kalah-manchester(5,5)"])
def test_random_openings_are_distinct_unfinished_positions(name):
    of = game(name)
    found = random_openings(of, 5, 100, 3, None)
    reached = positions(of, found)
    assert len(found) == len(set(reached)) == len(set(found.keys.tolist())) == 100
    assert not any(of.over(position) for position in reached)
    assert all(len(moves_of(of, slots)) == 5 for slots in found.slots)


def test_openings_of_several_lengths_come_in_turn_and_fewer_are_the_first_of_many():
    many = make_openings(SMALL, wanted(plies=(2, 5)), 100, 9)
    lengths = [len(moves_of(SMALL, slots)) for slots in many.slots]
    assert lengths[:4] == [2, 3, 4, 5]
    assert len(set(positions(SMALL, many))) == len(set(many.keys.tolist())) == 100
    few = make_openings(SMALL, wanted(plies=(2, 5)), 30, 9)
    assert np.array_equal(few.slots, many.slots[:30])


@pytest.mark.parametrize("plies", [(5, 2), (2,), (0, 3), (2, 61), (2.5, 3)])
def test_lengths_are_the_fewest_and_the_most_moves(plies):
    ((where, message),) = way("plies").faults(wanted(plies=plies), SMALL)
    assert where == ("plies",)
    assert "as in [4, 10]" in message


@pytest.mark.parametrize("balance", [None, 2.0])
def test_the_first_openings_of_many_are_those_that_fewer_would_be(balance):
    many = random_openings(SMALL, 6, 300, 9, balance)
    for number in (1, 10, 100, 299):
        few = random_openings(SMALL, 6, number, 9, balance)
        assert np.array_equal(few.slots, many.slots[:number])
        assert np.array_equal(few.keys, many.keys[:number])


def test_another_seed_gives_other_openings():
    one, other = (random_openings(SMALL, 6, 50, seed, None).keys for seed in (1, 2))
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("plies", [1, 2, 3, 4])
def test_asked_for_more_than_there_are_random_openings_are_all_of_them(plies):
    found = random_openings(SMALL, plies, 100_000, 1, None)
    every = enumerate_positions(SMALL, plies)
    assert found.finite
    assert set(positions(SMALL, found)) == {position_after(SMALL, line) for line in every}
    assert len(found) == len(every)


def test_openings_that_are_hardly_ever_drawn_are_found_by_enumeration(monkeypatch):
    monkeypatch.setattr(module, "MAX_MISSES", 3)
    found = random_openings(SMALL, 4, 100_000, 1, None)
    assert len(found) == len(enumerate_positions(SMALL, 4))
    assert len(set(positions(SMALL, found))) == len(found)


def test_a_sample_of_the_openings_is_not_all_of_them():
    every = len(enumerate_positions(SMALL, 3))
    assert random_openings(SMALL, 3, every, 1, None).finite in (True, False)
    assert not random_openings(SMALL, 3, every - 1, 1, None).finite
    assert make_openings(SMALL, wanted(enumerate=3), every, 1).finite
    assert not make_openings(SMALL, wanted(enumerate=3), every - 1, 1).finite


def test_a_sample_of_the_balanced_openings_is_not_all_of_them(monkeypatch):
    monkeypatch.setattr(module, "MAX_MISSES", 3)  # all are found at once
    every = random_openings(SMALL, 3, 1000, 1, 2.0)
    assert every.finite
    assert not random_openings(SMALL, 3, len(every) - 1, 1, 2.0).finite


def test_every_enumerated_opening_has_a_key_of_its_own_and_is_no_finished_game():
    of = game("kalah(3,2)")
    every = enumerate_positions(of, 5)
    assert len(every) == 80  # one of 81 positions is over
    assert not any(of.over(position_after(of, line)) for line in every)
    found = make_openings(of, wanted(enumerate=5), len(every), 1)
    assert len(set(found.keys.tolist())) == len(every)


def naive_new(keys, most_fruitless):
    """Places of first sights, until so many draws in a row bring nothing."""
    seen, fresh, fruitless = set(), [], 0
    for place, key in enumerate(keys):
        if key and key not in seen:
            seen.add(key)
            fresh.append(place)
            fruitless = 0
        else:
            fruitless += 1
        if fruitless > most_fruitless:
            break
    return fresh


@given(st.lists(st.integers(0, 9), max_size=60), st.lists(st.integers(1, 20), max_size=8))
def test_new_openings_do_not_depend_on_how_many_are_drawn_at_once(keys, cuts):
    found, fruitless, at = (
        Openings(np.empty((0, 1), np.int16), np.empty(0, np.uint64), False),
        0,
        0,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_MISSES", 7)
        for size in [*cuts, len(keys)]:
            part = np.array(keys[at : at + size], np.uint64)
            slots = np.arange(at, at + len(part), dtype=np.int16).reshape(-1, 1)
            found, fruitless = add_distinct(found, Openings(slots, part, False), fruitless)
            at += len(part)
            if fruitless > 7:
                break
    assert found.slots[:, 0].tolist() == naive_new(keys, 7)


def test_lines_are_numbered_whoever_draws_them():
    whole = draw_lines(SMALL, 5, 1, 0, 100)
    part = draw_lines(SMALL, 5, 1, 40, 10)
    assert np.array_equal(whole.slots[40:50], part.slots)
    assert np.array_equal(whole.keys[40:50], part.keys)


def test_no_opening_is_one_opening():
    found = make_openings(SMALL, wanted(none=True), 1, 1)
    assert (len(found), found.slots.shape[1], found.finite) == (1, 0, True)


@pytest.mark.parametrize(
    ("how", "pairs", "told"),
    [
        ({"none": True}, 2, "at most 1, .* with none, got 2; .* random_plies"),
        ({"random_plies": 1}, 5, "at most 4, .* random_plies = 1, got 5; .* more random_plies"),
        ({"enumerate": 1}, 5, "at most 4, .* enumerate = 1, got 5; .* larger enumerate"),
        ({"list": ["1 2", "2 1"]}, 3, "at most 2, .* list, got 3; .* longer list"),
        ({"random_plies": 3, "balance": 0}, 900, "balance = 0, got 900; .* wider balance"),
    ],
)
def test_too_few_openings_are_refused_with_numbers_and_ways_out(how, pairs, told):
    with pytest.raises(OpeningsError, match=told):
        make_openings(SMALL, wanted(**how), pairs, 1)
    repeated = make_openings(SMALL, wanted(**how, repeat=True), pairs, 1)
    assert 0 < len(repeated) < pairs


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("4 4 4", "line 2: ply 3: '4' is not legal; legal: 3 2 1"),
        ("1 x", "line 2: ply 2: 'x' is unreadable; legal: 4 3 2 1"),
    ],
)
def test_an_illegal_line_is_told_with_its_place_and_ply(line, told):
    with pytest.raises(OpeningsError) as error:
        make_openings(SMALL, wanted(list=["1 2", line]), 1, 1)
    assert told.replace("'", '"') in str(error.value)


def test_a_finished_game_is_no_opening():
    of = game("kalah(1,1)")
    with pytest.raises(OpeningsError, match="finished game"):
        make_openings(of, wanted(list=["1"]), 1, 1)


def test_lines_of_different_lengths_stand_in_rows_of_one_width():
    found = make_openings(SMALL, wanted(list=["1", "1 2 3"]), 2, 1)
    assert found.slots[0].tolist()[1:] == [NO_MOVE, NO_MOVE]
    assert [len(moves_of(SMALL, slots)) for slots in found.slots] == [1, 3]


def test_lines_to_one_position_are_one_opening():
    lines = ["2 3 3 4 1", "2 4 3 3 1"]
    found = make_openings(SMALL, wanted(list=lines, repeat=True), 2, 1)
    assert len(found) == len({SMALL.replay(line)[-1] for line in lines}) == 1


def test_balanced_openings_are_nearly_even():
    of = game("kalah(6,4)")
    even = make_openings(of, wanted(random_plies=6, balance=1), 50, 1)
    assert len(even) == 50
    assert not even.finite


@pytest.mark.slow
def test_a_million_openings_take_seconds():
    found = random_openings(game("kalah(6,4)"), 10, 1_000_000, 1, None)
    assert len(np.unique(found.keys)) == 1_000_000


# By exact values.


def margins(name, spec, pairs, seed=1):
    """The first mover's margin after each opening."""
    of = game(name)
    solver, openings = solver_of(of), make_openings(of, spec, pairs, seed)
    starts = [position_after(of, moves_of(of, slots)) for slots in openings.slots]
    return [solver.margin(at).low * (1 - 2 * at.mover) for at in starts]


@pytest.mark.parametrize(
    ("spec", "holds"),
    [
        (wanted(exact="draw", random_plies=3), lambda margin: margin == 0),
        (wanted(exact="win", random_plies=3), lambda margin: margin > 0),
        (wanted(exact="loss", random_plies=3), lambda margin: margin < 0),
        (wanted(exact=2, random_plies=3), lambda margin: abs(margin) <= 2),
    ],
)
def test_openings_have_the_exact_value_that_is_wanted(spec, holds):
    found = margins("kalah(3,2)", spec, 3)
    assert found
    assert all(map(holds, found))


def test_few_even_openings_are_refused_with_their_number():
    with pytest.raises(OpeningsError, match=r"with exact = draw"):
        make_openings(game("kalah(3,2)"), wanted(exact="draw", random_plies=2), 100, 1)


def test_shipped_openings_are_lines_of_their_game_with_the_margin_they_say():
    assert exact.SHIPPED
    for (name, plies), file in exact.SHIPPED.items():
        of = game(name)
        lines = exact.load_shipped_openings(of, file)
        assert len({position_after(of, line) for line, _ in lines}) == len(lines)
        assert {len(line) for line, _ in lines} == {plies}
        assert {abs(margin) for _, margin in lines} <= {0, 2}


def test_shipped_openings_come_in_an_order_of_the_seed():
    of, spec = game("kalah(6,4)"), wanted(exact=2, random_plies=6)
    one, other = (make_openings(of, spec, 100, seed) for seed in (1, 2))
    assert (one.keys != other.keys).any()
    assert (make_openings(of, spec, 50, 1).keys == one.keys[:50]).all()


@pytest.mark.slow
def test_the_margins_of_shipped_openings_are_those_of_the_solver():
    of = game("kalah(6,4)")
    solver = solver_of(of)
    lines = exact.load_shipped_openings(of, exact.SHIPPED[of.name, 6])
    for line, margin in lines[:: len(lines) // 12]:
        at = position_after(of, line)
        assert solver.margin(at).low * (1 - 2 * at.mover) == margin


def test_the_tool_finds_all_even_openings_of_a_small_board():
    of, level = game("kalah(3,2)"), [()]
    solver = solver_of(of)
    for _ in range(3):
        level = [(*line, move) for line in level for move in of.legal(position_after(of, line))]
    near = {}
    for at in {position_after(of, line) for line in level}:
        margin = solver.margin(at).low * (1 - 2 * at.mover)
        if not of.over(at) and abs(margin) <= 2:
            near[at] = margin
    found = even_openings(of, plies=3, count=1_000, most_open=12)
    assert {of.replay(line)[-1]: margin for line, margin in found} == near
    assert even_openings(of, plies=3, count=2, most_open=12) == found[:2]
    assert not even_openings(of, plies=3, count=2, most_open=1)


def test_openings_that_are_too_hard_to_solve_are_refused():
    (fault,) = way("exact").faults(wanted(exact="draw", random_plies=4), game("kalah(6,6)"))
    assert "too hard to solve with 72 beans in play" in fault[1]
