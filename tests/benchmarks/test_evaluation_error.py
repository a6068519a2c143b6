"""The exact Othello positions hold what they say, and errors are those of the evaluation."""

import re
from collections import Counter

import numpy as np
import pytest

from benchmarks import evaluation_error
from benchmarks.evaluation_error import COUNTS, SEEDS, errors, read_positions
from games import game
from games.solving import solver_of


def test_both_sets_have_all_positions_and_share_none():
    positions = read_positions()
    assert len({(each.own, each.other) for each in positions}) == len(positions)
    counted = Counter((each.set, each.empties) for each in positions)
    assert counted == {
        (name, empties): count for name in SEEDS for empties, count in COUNTS.items()
    }
    for each in positions:
        assert each.own & each.other == 0
        assert 64 - (each.own | each.other).bit_count() == each.empties


@pytest.mark.parametrize("name", SEEDS)
def test_margins_are_solved_again(name):
    of = game("othello")
    solver = solver_of(of)
    chosen = [each for each in read_positions() if (each.set, each.empties) == (name, 16)]
    for each in chosen[::50]:
        state = of.family.State(np.uint64(each.own), np.uint64(each.other))
        position = of.start()._replace(state=state)
        assert solver.margin(position).low == each.margin


def test_errors_are_evaluation_minus_margin_and_the_table_shows_their_size():
    positions = read_positions()
    moved = [each._replace(margin=each.margin + 5) for each in positions[:20]]
    assert errors(None, moved) == pytest.approx(errors(None, positions[:20]) - 5)
    shown = "\n".join(evaluation_error.table([]))
    first = [each for each in positions if (each.set, each.empties) == ("choosing", 16)]
    number = re.search(r"\| shipped \| ([\d.]+) ", shown)
    assert number is not None
    assert float(number[1]) == pytest.approx(np.abs(errors(None, first)).mean(), abs=0.006)
