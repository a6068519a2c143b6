"""Stop rules: the width of an interval, and giving up."""

import math
from dataclasses import replace

import numpy as np
import pytest

from arena.stats.anytime import betting_interval
from arena.stats.elo import elo_estimate
from arena.stats.estimate import EstimateKind
from arena.stats.intervals import estimate_from_spread
from arena.stats.match_estimate import estimate_match
from arena.stats.spread import spread
from arena.stats.sprt import Decision, SprtPlan, start_sprt, update_sprt
from arena.stats.stopping import (
    GIVE_UP_ERROR,
    WidthPlan,
    anytime_row,
    chance_to_end,
    finish_stop,
    half_width,
    pairs_for_width,
    start_stop,
    update_stop,
    width_score,
)
from arena.stats.text import stop_state_text, stop_text

PENTANOMIAL = np.array([0.10, 0.18, 0.44, 0.18, 0.10])
WIDTH = WidthPlan(30.0)


def draw(pairs, seed=3, law=PENTANOMIAL):
    return np.random.default_rng(seed).choice(5, pairs, p=law) / 4.0


def scores_of(pairs):
    """The interval of a fixed number of pairs, from the scores themselves."""
    return estimate_from_spread(spread(np.arange(len(pairs)), pairs), WIDTH.fixed_level)


def test_a_match_stops_at_the_first_look_at_which_the_interval_is_narrow_enough():
    scores = draw(1000)
    state = update_stop(WIDTH, start_stop(WIDTH), scores)
    assert state.decision is Decision.WIDTH
    widths = {n: half_width(scores_of(scores[:n])) for n in range(10, state.observations + 1)}
    assert widths[state.observations] == pytest.approx(state.half_width)
    assert state.half_width <= WIDTH.width < widths[state.observations - 4]
    # Looks are at most 1/64 of the pairs apart.
    narrow = [n for n, width in widths.items() if width <= WIDTH.width]
    assert narrow[0] > state.observations * (1 - 1 / 32)


def test_the_level_of_the_interval_is_that_of_the_reflection_principle():
    assert WIDTH.fixed_level == 0.975
    walks = np.random.default_rng(1).standard_normal((4000, 400)).cumsum(axis=1) / 20.0
    outside = np.abs(walks).max(axis=1) > 2.2414  # the quantile of the normal at that level
    assert outside.mean() == pytest.approx(0.05, abs=0.01)  # 0.044 for 400 steps


@pytest.mark.parametrize("plan", [WIDTH, SprtPlan(0.0, 20.0)], ids=["width", "sprt"])
@pytest.mark.parametrize(("most", "gives_up"), [(None, False), (150, True), (5000, False)])
def test_batches_do_not_change_the_stop(plan, most, gives_up):
    scores = draw(500)
    whole = update_stop(plan, start_stop(plan), scores, most)
    for size in (1, 7, 64):
        state = start_stop(plan)
        for start in range(0, len(scores), size):
            state = update_stop(plan, state, scores[start : start + size], most)
        assert state.decision == whole.decision
        assert state.observations == whole.observations
    assert (whole.decision is Decision.GAVE_UP) == gives_up


def test_a_test_that_never_gives_up_is_the_plain_test():
    plan, scores = SprtPlan(0.0, 20.0), draw(800)
    assert update_stop(plan, start_stop(plan), scores) == update_sprt(
        plan, start_sprt(plan), scores
    )


def test_one_winner_never_reaches_a_width_and_gives_up():
    state = update_stop(WIDTH, start_stop(WIDTH), np.ones(5000))
    assert state.decision is Decision.RUNNING
    state = update_stop(WIDTH, start_stop(WIDTH), np.ones(5000), 5000)
    assert state.decision is Decision.GAVE_UP
    assert half_width(width_score(WIDTH, spread(np.arange(20), np.ones(20)))) is None


def test_few_pairs_do_not_stop_a_match():
    equal = np.full(9, 0.5)
    state = update_stop(WIDTH, start_stop(WIDTH), equal, 9)
    assert state.decision is Decision.RUNNING
    assert stop_state_text(state) == ""
    assert finish_stop(state).decision is Decision.UNDECIDED


def test_the_chance_to_end_is_that_of_further_pairs_like_these():
    rng, plan, most = np.random.default_rng(5), SprtPlan(0.0, 20.0), 300
    scores = draw(150, 8)
    state = update_stop(plan, start_stop(plan), scores)
    counts = np.bincount((4 * scores).astype(int), minlength=5)
    ends = 0
    for _ in range(400):
        law = rng.dirichlet(counts + 1e-3)  # the shares are not known exactly
        ends += update_stop(plan, state, draw(most - 150, rng, law)).is_finished
    assert chance_to_end(plan, state, most) == pytest.approx(ends / 400, abs=0.08)
    assert update_stop(plan, start_stop(plan), scores, 150).decision is Decision.RUNNING
    assert chance_to_end(plan, state, 100_000) > 0.95


def test_the_chance_of_a_width_rises_with_the_pairs():
    state = update_stop(WIDTH, start_stop(WIDTH), draw(60))
    needed = state.needed
    chances = [chance_to_end(WIDTH, state, round(share * needed)) for share in (0.5, 1.0, 2.0)]
    assert chances[0] < GIVE_UP_ERROR < 0.95 < chances[1] <= chances[2]


def test_the_forecast_of_a_width_is_about_what_it_takes():
    counts = 1000 * PENTANOMIAL
    needed = pairs_for_width(WIDTH, counts.astype(int).tolist())
    sizes = [
        update_stop(WIDTH, start_stop(WIDTH), draw(1000, seed)).observations for seed in range(20)
    ]
    assert np.mean(sizes) == pytest.approx(needed, rel=0.12)


def row_of(scores, level):
    both = np.floor(scores * 4) / 4
    first, second = np.minimum(2 * both, 1.0), np.maximum(2 * both - 1.0, 0.0)
    return estimate_match(np.arange(len(scores)), first, second, level=level)


def test_the_row_of_a_match_has_the_interval_of_its_stop():
    state = update_stop(WIDTH, start_stop(WIDTH), scores := draw(1000))
    row = anytime_row(WIDTH, row_of(scores[: state.observations], WIDTH.fixed_level), 1000)
    assert row.score.kind is row.elo.kind is EstimateKind.ANYTIME
    assert row.score.level == 0.95
    assert half_width(row.score) == pytest.approx(state.half_width)
    assert row.superiority is None


def test_before_the_width_the_interval_is_that_of_the_betting():
    scores = draw(60)
    early = anytime_row(WIDTH, row_of(scores, WIDTH.fixed_level), 1000)
    counts = np.bincount((4 * scores).astype(int), minlength=5)
    ends = betting_interval(counts, 0.05)
    assert [early.score.low, early.score.high] == pytest.approx([float(end) for end in ends])
    assert early.elo == elo_estimate(early.score)
    whole = anytime_row(WIDTH, row_of(scores, WIDTH.fixed_level), 60)  # all pairs were played
    fixed = scores_of(scores)
    assert (whole.score.low, whole.score.high) == (fixed.low, fixed.high)


def test_texts_say_why_a_match_ended():
    plan = WidthPlan(20.0)
    gave_up = update_stop(plan, start_stop(plan), draw(100), 100)
    assert stop_text(plan, gave_up, 100).startswith(
        "gave up after 20 pairs: an interval of ± 20 Elo within 100 pairs had a chance of at most "
        "5 %; it takes about "
    )
    ended = replace(gave_up, decision=Decision.UNDECIDED)
    assert (
        stop_text(plan, ended, 100) == "ended after 20 pairs: the interval is wider than ± 20 Elo"
    )
    test = SprtPlan(0.0, 10.0)
    state = update_stop(test, start_stop(test), draw(100), 100)
    assert stop_text(test, state, 100).endswith(
        "a decision within 100 pairs had a chance of at most 5 %"
    )


@pytest.mark.parametrize("width", [0.0, -1.0, 0.99, 401.0, math.nan])
def test_impossible_widths_are_refused(width):
    with pytest.raises(ValueError, match="width must be from 1 to 400 Elo"):
        WidthPlan(width)
