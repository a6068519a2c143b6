"""The sentences below the table of a sweep."""

from types import SimpleNamespace

import pytest

from arena.analysis.sweep import SweepCellRow, cell_score
from arena.report.sweep_page import best_value_line, going_first_line


def cell(value, wins=10, seconds=None, pairs=40, opponent="other", **match):
    """A cell in which the agent won both games of some pairs, and lost those of the others."""
    scores = [1.0] * wins + [0.0] * (pairs - wins)
    found = cell_score(range(pairs), scores, 1)
    row = SimpleNamespace(**match) if match else None
    return SweepCellRow((value,), "mine", opponent, 2 * pairs, pairs, found, 0, 0, "", row, seconds)


def mirror(value, score, low=None, high=None, distinct=40, identical=40):
    """A cell in which two copies of a player met."""
    return cell(
        value, games=80, identical_pairs=identical, same_player=True, distinct_games=distinct,
        first_mover_score=score, first_mover_score_low=low, first_mover_score_high=high,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (mirror("none", 1.0, distinct=1), '"none" the first mover scored 100 % in 1 distinct game'),
        (mirror("none", 0.0, distinct=1), '"none" the first mover scored 0 % in 1 distinct game'),
        (mirror(6, 0.7, 0.6, 0.8), "in 40 distinct games, an advantage"),
        (mirror(6, 0.3, 0.2, 0.45), "a disadvantage"),
        (mirror(6, 0.6, 0.4, 0.8), "which does not show that it matters"),
        (mirror(6, 0.5, 0.5, 0.5), "the first mover scored 50.0 % in 40 distinct games"),
        (mirror(6, 1.0, 0.9, None), "an advantage"),
        (mirror(6, 0.0, None, 0.1), "a disadvantage"),
    ],
)  # fmt: skip
def test_answer_about_going_first_is_that_of_its_interval(row, said):
    line = going_first_line(["openings"], [row])
    assert line.startswith("going first: with openings = ")
    assert line.endswith(said)


def test_going_first_is_answered_only_by_copies_of_one_player():
    rows = [mirror("none", 1.0, distinct=1), mirror(6, 0.7, 0.6, 0.8)]
    assert going_first_line(["openings"], rows).count("the first mover scored") == 2
    assert going_first_line(["openings"], [*rows, mirror(7, 0.7, 0.6, 0.8, identical=39)]) == ""
    assert going_first_line(["openings"], [*rows, cell(8)]) == ""
    assert going_first_line(["openings"], [mirror(6, None)]) == ""


@pytest.mark.parametrize(
    ("rows", "best", "other"),
    [
        # The strongest is far ahead of all others.
        ([cell(1, 2, 0.001), cell(2, 20, 0.002), cell(3, 38, 0.004)], "depth = 3", "no faster"),
        # A faster value is nearly as strong.
        ([cell(1, 2, 0.001), cell(2, 30, 0.002), cell(3, 33, 0.004)], "depth = 3", "depth = 2"),
        # The strongest is also the fastest: more is not always better.
        ([cell(1, 38, 0.001), cell(2, 20, 0.002), cell(3, 2, 0.004)], "depth = 1", "no faster"),
        # Equal strength: the faster one.
        ([cell(1, 20, 0.003), cell(2, 20, 0.002)], "depth = 2", "no faster"),
        # All games won, so that no Elo is known.
        ([cell(1, 40, 0.002), cell(2, 1, 0.001)], "depth = 1", "no faster"),
        # Times are not known.
        ([cell(1, 1), cell(2, 39)], "depth = 2", "no faster"),
    ],
)
def test_strongest_value_and_the_fastest_that_is_about_as_strong(rows, best, other):
    strongest, _, rest = best_value_line(["depth"], rows).partition("; ")
    assert f"mine is strongest with {best}: " in strongest
    assert other in rest
    assert ("ms a move" in strongest) == (rows[0].move_seconds is not None)


def test_value_is_compared_only_along_one_number_and_against_one_opponent():
    assert best_value_line(["depth"], [cell(1)]) == ""
    assert best_value_line(["kind"], [cell("a"), cell("b", 30)]) == ""
    assert best_value_line(["depth"], [cell(1), cell(2, opponent="third")]) == ""
    assert best_value_line(["a", "b"], [cell(1), cell(2)]) == ""
