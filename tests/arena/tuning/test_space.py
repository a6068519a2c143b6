import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.tuning.space import Axis, Space

AXES = (
    Axis("pot", 0.5, 5.0),
    Axis("far", 0.01, 10.0, log=True),
    Axis("mobility", -2.0, 7.0, integer=True),
)
SPACE = Space(AXES, {"in_play": (0.1, 0.2)})


@given(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3))
def test_a_point_and_its_weights_are_the_same_thing(units: list[float]) -> None:
    values = SPACE.values(units)
    assert SPACE.values(SPACE.point(values)) == pytest.approx(values)
    for axis in AXES:
        assert axis.low <= values[axis.name] <= axis.high


def test_a_log_range_has_its_geometric_mean_in_the_middle() -> None:
    assert AXES[1].value_at(0.5) == pytest.approx((0.01 * 10.0) ** 0.5, abs=1e-3)


def test_a_whole_number_stays_one() -> None:
    assert {AXES[2].value_at(unit) for unit in np.linspace(0, 1, 200)} == set(range(-2, 8))


def test_rounding_does_not_leave_the_range() -> None:
    narrow = Axis("far", 0.0004, 0.9996)
    assert (narrow.value_at(0.0), narrow.value_at(1.0)) == (0.0004, 0.9996)


def test_fixed_weights_keep_their_phases() -> None:
    assert SPACE.weights([0.0, 0.0, 0.0])["in_play"] == (0.1, 0.2)


def test_snapping_stays_inside_the_cube() -> None:
    snapped = SPACE.round_point(np.array([-1.0, 2.0, 0.5]))
    assert snapped[0] == 0.0
    assert snapped[1] == pytest.approx(1.0)


CHOSEN = Axis("style", 0.0, 2.0, choices=("calm", "bold", True), path=("options", "style"))
OPTIONS = Space(
    (
        Axis("mobility.1", 0.0, 3.0, path=("weights", "mobility")),
        CHOSEN,
        Axis("endgame", 0.0, 16.0, integer=True, path=("endgame",)),
        Axis("mobility.2", 0.0, 3.0, path=("weights", "mobility")),
    ),
    {"pot": (1.0,)},
    {"options": {"style": "calm", "depth": 4}},
)


def test_a_point_gives_the_changes_of_the_agent() -> None:
    changes = OPTIONS.changes([1.0, 0.5, 0.26, 0.5])
    assert changes == {
        "weights": {"pot": (1.0,), "mobility": (3.0, 1.5)},
        "endgame": 4,
        "options": {"style": "bold", "depth": 4},
    }
    assert type(changes["endgame"]) is int


def test_choices_survive_the_way_to_a_point_and_back() -> None:
    values = OPTIONS.values([0.0, 1.0, 0.0, 0.0])
    assert values["style"] is True
    assert OPTIONS.values(OPTIONS.point(values)) == values
