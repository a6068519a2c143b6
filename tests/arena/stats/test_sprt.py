import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.stats.elo import ELO_PER_SIGMA, moments, score_from_elo
from arena.stats.sprt import (
    Decision,
    EloModel,
    SprtPlan,
    finish_sprt,
    log_likelihood_ratio,
    mean_test_length,
    mean_test_lengths,
    score_bounds,
    start_sprt,
    update_sprt,
)
from tests.arena.stats.golden import golden

GOLDEN = golden("elo_and_sprt.json")
PLAN = SprtPlan(0, 10, model=EloModel.NORMALIZED)
SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), max_size=60)


def llr(counts, elo0, elo1, model):
    return float(log_likelihood_ratio(counts, elo0, elo1, EloModel(model)))


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["id"])
def test_llr_is_that_of_fishtest_empty_cells_included(case):
    for row in case["llr"]:
        ours = llr(case["counts"], row["elo0"], row["elo1"], row["model"])
        assert ours == pytest.approx(row["llr"], abs=1e-6)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["id"])
def test_llr_is_that_of_fastchess(case):
    for row in case["fastchess_llr"]:
        # fastchess solves less closely; on 100 000 games that is a few thousandths.
        ours = llr(case["counts"], row["elo0"], row["elo1"], row["model"])
        assert ours == pytest.approx(row["llr"], abs=0.01)


@pytest.mark.parametrize("case", GOLDEN["unit_tests_sprt"], ids=lambda case: case["test"])
def test_llr_is_that_of_the_unit_tests_of_fastchess(case):
    wins, losses, draws = case["counts"]
    ours = llr([losses, draws, wins], case["elo0"], case["elo1"], case["model"])
    assert ours == pytest.approx(case["fishtest_run"], abs=1e-6)
    assert ours == pytest.approx(case["expected_in_fastchess_test"], abs=0.02)


def naive_best(counts, elo, model):
    """Largest log-likelihood of three cells under a hypothesis, over a grid of draw shares."""
    highest = -math.inf
    for draws in np.linspace(1e-3, 1 - 1e-3, 2001):
        low, high = 0.0, 1.0 - draws
        for _ in range(50):
            wins = 0.5 * (low + high)
            mean = wins + 0.5 * draws
            deviation = math.sqrt(wins + 0.25 * draws - mean**2)
            wanted = 0.5 + elo / ELO_PER_SIGMA * deviation
            if model is EloModel.LOGISTIC:
                wanted = score_from_elo(elo)
            low, high = (wins, high) if mean < wanted else (low, wins)
        losses = 1.0 - draws - wins
        if min(wins, losses) > 1e-9:
            law = (losses, draws, wins)
            fit = sum(n * math.log(p) for n, p in zip(counts, law, strict=True))
            highest = max(highest, fit)
    return highest


@pytest.mark.parametrize("model", EloModel)
def test_llr_is_the_gain_of_the_best_law_under_each_hypothesis(model):
    counts = [30, 25, 45]
    gain = naive_best(counts, 40, model) - naive_best(counts, -20, model)
    assert llr(counts, -20, 40, model) == pytest.approx(gain, abs=1e-3)


def naive_llr(counts, elo0, elo1):
    """Logistic LLR, the root found by halving alone."""
    cells = [count or 0.001 for count in counts]
    number = sum(cells)
    laws = []
    for elo in (elo0, elo1):
        excess = [i / (len(cells) - 1) - score_from_elo(elo) for i in range(len(cells))]
        low, high = -1 / max(excess), -1 / min(excess)
        for _ in range(200):
            middle = 0.5 * (low + high)
            miss = sum(c * e / (1 + middle * e) for c, e in zip(cells, excess, strict=True))
            low, high = (middle, high) if miss > 0 else (low, middle)
        laws.append([1 + low * e for e in excess])
    logs = (math.log(a / b) for a, b in zip(*laws, strict=True))
    return sum(c * log for c, log in zip(cells, logs, strict=True)), number


@given(
    st.lists(st.integers(0, 60), min_size=3, max_size=5).filter(lambda cells: len(cells) != 4),
    st.sampled_from([(0, 20), (-300, 5), (100, 700)]),
)
def test_llr_is_that_of_a_solver_that_only_halves(counts, bounds):
    wanted, number = naive_llr(counts, *bounds)
    assert llr(counts, *bounds, "logistic") == pytest.approx(wanted, abs=1e-9 * (1 + number))


def test_llr_is_right_where_a_step_of_the_solver_lands_beside_a_pole():
    # Found by search: the first step from 0 ends one rounding from the end of the range.
    counts = [19, 34, 2, 6, 2]
    assert llr(counts, 0, 20, "logistic") == pytest.approx(naive_llr(counts, 0, 20)[0], abs=1e-9)


def test_the_path_of_the_test_is_that_of_fishtest():
    cells = random.Random(12345).choices(range(5), [0.10, 0.18, 0.40, 0.20, 0.12], k=2839)
    path = GOLDEN["sequential"][0]["path"]
    state, at = start_sprt(PLAN), 0
    for step in path:
        state = update_sprt(PLAN, state, np.array(cells[at : step["pairs"]]) / 4)
        at = step["pairs"]
        jumps = step["overshoot"]
        assert list(state.counts) == step["pentanomial"]
        assert state.llr == pytest.approx(step["llr"], abs=1e-6)
        assert (state.lowest, state.highest) == pytest.approx((jumps["m0"], jumps["m1"]), abs=1e-6)
        assert state.low_squares == pytest.approx(jumps["sq0"], abs=1e-6)
        assert state.high_squares == pytest.approx(jumps["sq1"], abs=1e-6)
        assert state.is_finished == (step["state"] == "accepted")
    assert state.decision is Decision.ELO1
    # The correction decides a little before the bound of Wald.
    assert state.llr < PLAN.bounds[1]


@given(SCORES, st.lists(st.integers(0, 60), max_size=5), st.sampled_from(EloModel))
def test_cutting_the_scores_into_calls_makes_no_difference(scores, cuts, model):
    plan = SprtPlan(0, 120, model=model, min_distinct=1)
    whole = update_sprt(plan, start_sprt(plan), scores)
    state, start = start_sprt(plan), 0
    for end in [*sorted(min(cut, len(scores)) for cut in cuts), len(scores)]:
        state = update_sprt(plan, state, scores[start:end])
        start = end
    assert state == whole


@given(SCORES, st.sampled_from(EloModel))
def test_swapping_the_agents_negates_the_test(scores, model):
    plan = SprtPlan(-10, 60, model=model, min_distinct=1)
    mirror = SprtPlan(-60, 10, model=model, min_distinct=1)
    mine = update_sprt(plan, start_sprt(plan), scores)
    theirs = update_sprt(mirror, start_sprt(mirror), [1 - s for s in scores])
    assert theirs.llr == pytest.approx(-mine.llr, abs=1e-8)
    assert (theirs.lower, theirs.upper) == pytest.approx((-mine.upper, -mine.lower), abs=1e-8)
    swapped = {Decision.ELO0: Decision.ELO1, Decision.ELO1: Decision.ELO0}
    assert theirs.decision is swapped.get(mine.decision, Decision.RUNNING)


@given(st.lists(st.integers(0, 40), min_size=5, max_size=5), st.integers(0, 3))
def test_turning_a_result_into_a_better_one_never_lowers_the_llr(counts, cell):
    counts[cell] += 1
    better = counts.copy()
    better[cell] -= 1
    better[cell + 1] += 1
    if min(better[cell], counts[cell + 1]) > 0:
        assert llr(better, 0, 20, "logistic") >= llr(counts, 0, 20, "logistic") - 1e-9


@given(st.lists(st.integers(0, 2000), min_size=5, max_size=5), st.sampled_from(EloModel))
def test_the_llr_is_finite_for_any_counts(counts, model):
    assert math.isfinite(llr(counts, -200, 200, model))


def test_there_is_no_verdict_before_enough_distinct_openings():
    plan = SprtPlan(0, 200, min_distinct=10)
    state = update_sprt(plan, start_sprt(plan), [1.0] * 9)
    eager = SprtPlan(0, 200, min_distinct=1)
    assert update_sprt(eager, start_sprt(eager), [1.0] * 9).is_finished
    assert not state.is_finished
    assert update_sprt(plan, state, [1.0]).decision is Decision.ELO1


def test_openings_used_up_leave_the_test_undecided():
    state = update_sprt(PLAN, start_sprt(PLAN), [0.5, 0.75, 0.25])
    assert finish_sprt(state).decision is Decision.UNDECIDED
    assert update_sprt(PLAN, finish_sprt(state), [1.0] * 5000) == finish_sprt(state)
    decided = update_sprt(PLAN, state, [1.0] * 5000)
    assert finish_sprt(decided) == decided


def test_scores_after_the_decision_are_not_used():
    state = update_sprt(PLAN, start_sprt(PLAN), [1.0] * 3000)
    assert state.observations < 3000
    assert update_sprt(PLAN, state, [0.0] * 3000) == state


def test_the_forecast_is_the_published_rule_of_thumb():
    plan = SprtPlan(0, 10, cells=3)
    at_elo0, between, at_elo1 = mean_test_lengths(plan, 0.23)
    assert between == pytest.approx(9600, rel=0.01)
    assert at_elo0 == pytest.approx(5900, rel=0.01)
    assert at_elo1 == pytest.approx(5900, rel=0.01)


def test_the_forecast_has_no_step_where_the_drift_is_zero():
    s0, s1 = score_bounds(PLAN, 0.1)
    middle = 0.5 * (s0 + s1)
    at, beside = (mean_test_length(PLAN, 0.1, s) for s in (middle, middle + 1e-7))
    assert at == pytest.approx(beside, rel=1e-4)
    assert mean_test_length(PLAN, 0.1, 0.9) < mean_test_length(PLAN, 0.1, 0.6) < at


def test_normalized_bounds_depend_on_the_variance_of_a_game():
    _, mean, variance = moments([10, 18, 40, 20, 12])
    assert mean > 0.5
    s1 = score_bounds(PLAN, variance)[1]
    assert s1 == pytest.approx(0.5 + 10 / ELO_PER_SIGMA * math.sqrt(2 * variance))


@pytest.mark.parametrize(
    "wrong",
    [
        {"elo0": 10, "elo1": 10},
        {"elo0": 0, "elo1": 300, "model": EloModel.NORMALIZED},
        {"elo0": 0, "elo1": 10, "alpha": 0.5},
        {"elo0": 0, "elo1": 10, "beta": 0.0},
        {"elo0": 0, "elo1": 10, "cells": 4},
    ],
)
def test_a_plan_that_cannot_be_tested_is_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        SprtPlan(**wrong)


def test_a_score_off_the_grid_is_refused():
    with pytest.raises(ValueError, match="multiple of 1/4"):
        update_sprt(PLAN, start_sprt(PLAN), [0.3])


def test_the_bounds_are_those_of_wald_for_both_errors():
    lower, upper = SprtPlan(0.0, 10.0, alpha=0.01, beta=0.2).bounds
    assert lower == pytest.approx(math.log(0.2 / 0.99))
    assert upper == pytest.approx(math.log(0.8 / 0.01))
