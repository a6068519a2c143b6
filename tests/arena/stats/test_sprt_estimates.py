import math

import pytest

from arena.stats import sprt_estimates
from arena.stats.sprt import Decision, EloModel, SprtPlan, SprtState, start_sprt, update_sprt
from arena.stats.sprt_estimates import (
    CORRECTED,
    RAW,
    MotionEnd,
    median_unbiased_estimate,
    naive_estimate,
    passage_chance,
)
from tests.arena.stats.golden import golden

END_OF_SCALE = 999.0
EVERY = 3  # a case has another number of rows, so that each plan has its turn


def state_of(counts):
    return SprtState(tuple(counts), 0, 0, 0, 0, 0, 0, 0, Decision.RUNNING)


def golden_rows():
    """All rows; the default suite has a third of them, of every plan and every sort of counts."""
    rows = (
        (case, row)
        for case in golden("elo_and_sprt.json")["cases"]
        for row in case["llr"]
        if sum(case["counts"]) and "after_stop" in row
    )
    for place, (case, row) in enumerate(rows):
        marks = () if place % EVERY == 0 else pytest.mark.slow
        name = f"{case['id']}-{row['elo1']}"
        yield pytest.param(case["counts"], row, id=name, marks=marks)


@pytest.mark.parametrize(("counts", "row"), list(golden_rows()))
def test_the_corrected_estimate_is_that_of_fishtest(counts, row):
    plan = SprtPlan(row["elo0"], row["elo1"], model=EloModel(row["model"]), cells=len(counts))
    found = median_unbiased_estimate(plan, state_of(counts))
    printed = row["after_stop"]
    numbers = zip(
        (found.value, found.low, found.high), (printed["elo"], *printed["ci"]), strict=True
    )
    for ours, theirs in numbers:
        if abs(theirs) < END_OF_SCALE:
            assert ours == pytest.approx(theirs, abs=0.01)
        else:
            assert ours is None or abs(ours) > END_OF_SCALE


@pytest.mark.parametrize("slope", [-30.0, -5.0, -0.5, 0.0, 0.5, 5.0, 30.0])
def test_both_expansions_of_a_passage_agree(slope):
    for time in (0.1, 0.2, 0.5):
        for start in (0.2, 0.5, 0.9):
            for level in (0.0, 0.4, 1.0):
                late = sprt_estimates._by_sines(slope, time, start, level)
                early = sprt_estimates._by_images(slope, time, start, level)
                assert late == pytest.approx(early, abs=1e-9)


def test_a_passage_has_its_known_limits():
    # With all the time in the world a motion without drift leaves by the nearer bound.
    assert passage_chance(0.0, 1.0, MotionEnd(1e4, -1.0, -1.0, 3.0)) == pytest.approx(0.75)
    # In no time at all it is where it was.
    assert passage_chance(0.0, 1.0, MotionEnd(1e-6, 0.5, -1.0, 3.0)) == pytest.approx(1.0)
    assert passage_chance(0.0, 1.0, MotionEnd(1e-6, -0.5, -1.0, 3.0)) == pytest.approx(0.0)
    # Far from the bounds it is a free motion.
    free = passage_chance(0.1, 1.0, MotionEnd(1.0, 0.3, -30.0, 30.0))
    assert free == pytest.approx(0.5 * math.erfc(-0.2 / math.sqrt(2)))


def test_a_better_outcome_is_less_likely_the_stronger_it_must_have_been():
    plan = SprtPlan(0, 10)
    chances = [
        sprt_estimates._outcome(plan, [10, 20, 40, 25, 15]).chance(elo)
        for elo in (-200, 0, 20, 50, 300)
    ]
    assert chances == sorted(chances, reverse=True)


def test_after_a_stop_both_estimates_are_labelled():
    plan = SprtPlan(0, 40)
    state = update_sprt(plan, start_sprt(plan), [0.5, 0.75, 1.0, 0.5, 0.75, 0.25] * 200)
    raw, corrected = naive_estimate(state), median_unbiased_estimate(plan, state)
    assert state.decision is Decision.ELO1
    assert (raw.reason, corrected.reason) == (RAW, CORRECTED)
    # The stop was lucky: the correction takes some of the luck away.
    assert corrected.value < raw.value


def test_no_observation_has_no_estimate():
    plan = SprtPlan(0, 10)
    assert naive_estimate(start_sprt(plan)).value is None
    assert median_unbiased_estimate(plan, start_sprt(plan)).value is None


def test_perfect_and_equal_results_have_finite_estimates():
    plan = SprtPlan(0, 10)
    for counts in ([0, 0, 0, 0, 30], [30, 0, 0, 0, 0], [0, 0, 30, 0, 0], [0, 0, 1, 0, 0]):
        naive_estimate(state_of(counts))
        median_unbiased_estimate(plan, state_of(counts))
