"""The first mover: the side to move after an opening, against a slow replay of its moves."""

import numpy as np
import pytest

from arena.planning.games import first_mover_results, first_movers
from arena.planning.openings.openings import first_sides, from_lines, moves_of, position_after
from arena.planning.openings.registry import make_openings
from arena.planning.plan import OpeningsSpec
from games import game
from tests.arena.played import columns

WAYS = {
    "none": {"none": True},
    "random": {"random_plies": 6},
    "enumerate": {"enumerate": 2},
    "plies": {"plies": (3, 9)},
}


@pytest.mark.parametrize("name", ["kalah(6,4)", "owari(6,4)", "othello", "kalah-2022(4,3)"])
@pytest.mark.parametrize("way", WAYS)
def test_the_side_to_move_after_an_opening_is_that_of_a_replay(name, way):
    of = game(name)
    openings = make_openings(of, OpeningsSpec(way, WAYS[way], repeat=True), 50, 1)
    naive = [position_after(of, moves_of(of, slots)).mover for slots in openings.slots]
    assert first_sides(of, openings).tolist() == naive
    assert openings.plies.tolist() == [len(moves_of(of, slots)) for slots in openings.slots]


def test_passes_and_swaps_count_like_other_moves():
    of, chance = game("othello(4)"), np.random.default_rng(1)
    lines = []
    for _ in range(20):
        position, line = of.start(), ()
        while not of.over(position):
            lines.append(line)
            line = (*line, int(chance.choice(of.legal(position))))
            position = of.play(position, line[-1])
    assert any(of.pass_move in line for line in lines)
    naive = [position_after(of, each).mover for each in lines]
    assert first_sides(of, from_lines(of, lines, finite=False)).tolist() == naive
    of = game("kalah-manchester")
    swapped = [(0,), (0, of.swap_move), (0, of.swap_move, 3)]
    naive = [position_after(of, each).mover for each in swapped]
    assert first_sides(of, from_lines(of, swapped, finite=False)).tolist() == naive == [1, 0, 1]


def test_extra_turns_leave_side_0_to_move():
    of = game("kalah(6,4)")
    openings = from_lines(of, [(2,), (0,)], finite=False)  # the third hole ends in the pot
    assert first_sides(of, openings).tolist() == [0, 1]


def test_the_first_mover_and_its_result_follow_from_the_side():
    games = columns([
        {"first": 0, "second": 1, "first_side": 0, "result": 2},
        {"first": 0, "second": 1, "first_side": 1, "result": 2},
    ])  # fmt: skip
    assert first_movers(games).tolist() == [0, 1]
    assert first_mover_results(games).tolist() == [2, 0]
    assert first_mover_results(games).dtype == np.int8
