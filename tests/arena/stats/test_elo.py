import math

import pytest

from arena.stats.elo import (
    elo_estimate,
    elo_from_score,
    likelihood_of_superiority,
    moments,
    score_from_elo,
)
from arena.stats.estimate import Estimate, EstimateKind, negate
from arena.stats.intervals import score_estimate
from arena.stats.spread import spread
from tests.arena.stats.golden import golden
from tests.arena.stats.published import (
    published_elo,
    published_los,
    published_normalized_elo,
)

CASES = {case["id"]: case for case in golden("elo_and_sprt.json")["cases"]}


def full(case):
    """Return whether no cell is empty; then the public programs and the plain formulas agree."""
    return min(case["counts"]) > 0


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if full(case)])
def test_elo_and_its_error_are_those_of_the_public_programs(name):
    case = CASES[name]
    elo = published_elo(case["counts"])
    normalized = published_normalized_elo(case["counts"])
    for program in ("fishtest", "fastchess"):
        printed = case[program]
        assert elo.value == pytest.approx(printed["elo"], abs=0.01)
        assert elo.high - elo.value == pytest.approx(printed["error"], abs=0.01)
        assert normalized.value == pytest.approx(printed["nelo"], abs=0.01)
        assert normalized.high - normalized.value == pytest.approx(printed["nelo_error"], abs=0.01)
    assert published_los(case["counts"]) == pytest.approx(case["fishtest"]["los"], abs=1e-9)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if sum(case["counts"])])
def test_where_a_cell_is_empty_elo_is_that_of_fastchess_or_withheld(name):
    printed = CASES[name]["fastchess"]
    elo = published_elo(CASES[name]["counts"])
    if elo.value is not None:
        assert elo.value == pytest.approx(printed["elo"], abs=0.01)
    if elo.has_both_ends:
        assert elo.high - elo.value == pytest.approx(printed["error"], abs=0.01)


def test_many_openings_give_the_published_error():
    # 1000 openings, one pairing each: only the divisor N - 1 and Student t differ.
    scores = [0.0] * 100 + [0.25] * 200 + [0.5] * 350 + [0.75] * 220 + [1.0] * 130
    ours = elo_estimate(score_estimate(range(1000), scores))
    published = published_elo([100, 200, 350, 220, 130])
    assert ours.value == pytest.approx(published.value)
    assert ours.high - ours.low == pytest.approx(published.high - published.low, rel=0.02)
    assert likelihood_of_superiority(spread(range(1000), scores)) == pytest.approx(
        published_los([100, 200, 350, 220, 130]), abs=1e-3
    )


def test_score_and_elo_are_inverse():
    for elo in (-1500.0, -70.4, 0.0, 3.0, 400.0, 1200.0):
        assert elo_from_score(score_from_elo(elo)) == pytest.approx(elo, abs=1e-6)
    assert score_from_elo(400.0) == pytest.approx(10 / 11)
    assert score_from_elo(-20_000.0) == pytest.approx(0.0)
    assert math.copysign(1.0, elo_from_score(0.5)) == 1.0


def test_the_other_agent_sees_the_negative():
    mine = elo_estimate(score_estimate(range(20), [1.0, 0.75, 0.5, 0.25] * 5))
    theirs = elo_estimate(score_estimate(range(20), [0.0, 0.25, 0.5, 0.75] * 5))
    other = negate(mine)
    assert (theirs.value, theirs.low, theirs.high) == pytest.approx(
        (other.value, other.low, other.high)
    )


def test_superiority_is_withheld_where_the_interval_does_not_rest_on_student_t():
    assert likelihood_of_superiority(spread([0, 0], [1.0, 0.0])) is None
    assert likelihood_of_superiority(spread(range(20), [0.5] * 20)) is None
    assert likelihood_of_superiority(spread(range(20), [1.0] * 19 + [0.5])) is None
    assert likelihood_of_superiority(spread(range(20), [0.25, 0.75] * 10)) == pytest.approx(0.5)


def test_ten_openings_and_five_points_are_ground_enough():
    def told(openings, lost):
        scores = [0.5] * lost + [1.0] * (openings - lost)
        return likelihood_of_superiority(spread(range(openings), scores)) is not None

    assert told(10, 0) is told(9, 8) is told(20, 9) is False  # no points, 9 openings, 4.5 points
    assert told(20, 10)  # 5 points
    even = [0.25, 0.75] * 5
    assert likelihood_of_superiority(spread(range(10), even)) == pytest.approx(0.5)
    assert likelihood_of_superiority(spread(range(9), even[:9])) is None


def test_no_games_have_no_moments():
    with pytest.raises(ValueError, match="no games"):
        moments([0, 0, 0])


def test_a_number_that_is_not_finite_is_a_bug():
    with pytest.raises(ValueError, match="finite"):
        Estimate(math.inf, None, None, 0.95, EstimateKind.FIXED)
