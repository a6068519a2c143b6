"""Calibration of intervals and tests by simulation."""

from typing import NamedTuple

import numpy as np
import pytest

from arena.stats.anytime import (
    anytime_estimate,
    anytime_estimate_these,
    start_anytime,
    update_anytime,
)
from arena.stats.elo import elo_from_score
from arena.stats.estimate import Estimate, shared_level
from arena.stats.intervals import estimate_from_spread, lower_bound, score_estimate
from arena.stats.match_estimate import estimate_match, simultaneous_score
from arena.stats.ratings import RatingPlan, rate
from arena.stats.spread import spread
from arena.stats.sprt import (
    Decision,
    EloModel,
    SprtPlan,
    SprtState,
    mean_test_length,
    score_bounds,
    start_sprt,
    update_sprt,
)
from arena.stats.sprt_estimates import as_raw, median_unbiased_estimate, naive_estimate
from tests.arena.stats.laws import (
    Law,
    RoundRobin,
    latent_scores,
    pair_score_runs,
    round_robin,
    tilted,
    true_ratings,
    true_score,
)

DRAW_WIDTHS = (0.0, 0.5, 2.0)
# Scores of about 50, 65, 84, 96 and 100 % without draws.
STRENGTHS = (0.0, 0.8, 2.0, 3.5, 40.0)
PENTANOMIAL = np.array([0.10, 0.18, 0.44, 0.18, 0.10])
FIVE = (0.8, 0.4, 0.0, -0.3, -0.9)


def covers(estimate: Estimate, truth: float) -> bool:
    above = estimate.low is None or estimate.low <= truth
    return above and (estimate.high is None or truth <= estimate.high)


def score_coverage(rng, law, runs, *, openings, repeats, noisy):
    """Share of runs whose interval holds the mean over all openings."""
    truth = true_score(law)
    scores = pair_score_runs(rng, law, runs, openings=openings, repeats=repeats, noisy=noisy)
    names = np.repeat(np.arange(openings), repeats)
    return np.mean([covers(score_estimate(names, run.ravel()), truth) for run in scores])


class Designs(NamedTuple):
    """Openings and pairings on each: 200, 240, 250 and 400 pairings, repeats included."""

    openings: int
    repeats: int


DESIGNS = [Designs(4, 50), Designs(12, 20), Designs(50, 5), Designs(200, 2)]


def plenty(openings, truth):
    """Return whether enough points are lost for the interval to have about its nominal coverage."""
    return openings >= 20 and openings * min(truth, 1.0 - truth) > 10.0


# Few openings, and many: those between are slow, with all laws.
@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("design", DESIGNS[:3:2], ids=str)
def test_intervals_cover_as_they_say(design, noisy):
    rng = np.random.default_rng((1, design.openings, noisy))
    law = Law(strength=0.8, draw_width=0.5)
    covered = score_coverage(rng, law, 500, **design._asdict(), noisy=noisy)
    # 500 runs: one standard error is 1 point.
    assert covered >= (0.92 if design.openings >= 10 else 0.90)
    if plenty(design.openings, true_score(law)):
        assert covered <= 0.985


@pytest.mark.slow
@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("design", DESIGNS, ids=str)
@pytest.mark.parametrize("draw_width", DRAW_WIDTHS)
@pytest.mark.parametrize("strength", STRENGTHS)
def test_intervals_cover_as_they_say_for_all_laws(design, noisy, draw_width, strength):
    rng = np.random.default_rng((2, design.openings, noisy))
    law = Law(strength, draw_width)
    covered = score_coverage(rng, law, 800, **design._asdict(), noisy=noisy)
    # 800 runs: one standard error is 0.8 points.
    assert covered >= 0.925
    if plenty(design.openings, true_score(law)):
        assert covered <= 0.985


@pytest.mark.slow
@pytest.mark.parametrize("noisy", [False, True])
def test_intervals_cover_when_openings_were_played_unequally_often(noisy):
    rng = np.random.default_rng((3, noisy))
    law = Law(0.4, 0.5)
    sizes = np.array([1, 8] * 12)
    scores = pair_score_runs(rng, law, 1000, openings=24, repeats=8, noisy=noisy)
    kept = np.arange(8)[None, :] < sizes[:, None]
    names = np.repeat(np.arange(24), sizes)
    truth = true_score(law)
    covered = np.mean([covers(score_estimate(names, run[kept]), truth) for run in scores])
    # On the safe side, as with 14 equal openings: the error is never taken for less than that of
    # independent pairings, and Student's t of 14 openings is held against it all the same.
    assert 0.925 <= covered <= 0.995


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[20] * 12, [2, 2, 20] * 8], ids=["equal", "unequal"])
def test_bounds_of_noisy_agents_hold_where_few_openings_carry_the_losses(sizes):
    # Regression: a bound at 99 % was above the truth in 1.6 % of these runs, 2.8 % of real games.
    rng, runs, size = np.random.default_rng(17), 3000, max(sizes)
    names = np.repeat(np.arange(len(sizes)), sizes)
    kept = np.arange(size)[None, :] < np.array(sizes)[:, None]
    truth = np.maximum(0.98 - 0.09 * rng.exponential(size=1_000_000), 0.3).mean()
    strengths = np.maximum(0.98 - 0.09 * rng.exponential(size=(runs, len(sizes), 1, 1)), 0.3)
    scores = (rng.random((runs, len(sizes), size, 2)) < strengths).mean(axis=3)
    found = [spread(names, run[kept]) for run in scores]
    for level, most in ((0.95, 0.055), (0.99, 0.011)):
        assert np.mean([lower_bound(each, level) > truth for each in found]) <= most


def test_intervals_of_a_tournament_hold_at_once():
    """Ten matches of five agents share 40 openings; all simultaneous intervals hold together."""
    rng, runs, openings = np.random.default_rng(34), 120, 40
    pairs = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    laws = [Law(FIVE[a] - FIVE[b], 0.5) for a, b in pairs]
    truths = [true_score(law) for law in laws]
    alone = at_once = 0
    for _ in range(runs):
        bias = rng.standard_normal(openings)
        covered = []
        for law, truth in zip(laws, truths, strict=True):
            seats = [
                latent_scores(law.strength + side * bias + rng.logistic(size=openings), 0.5)
                for side in (1, -1)
            ]
            scores, levels = sum(seats) / 2, (0.95, shared_level(0.95, len(pairs)))
            found = spread(np.arange(openings), scores)
            both = [estimate_from_spread(found, level) for level in levels]
            covered.append([covers(each, truth) for each in both])
        alone, at_once = np.array([alone, at_once]) + np.all(covered, axis=0)
    assert alone / runs < 0.8  # each holds in 95 %, all ten do not
    assert 0.89 <= at_once / runs <= 0.995


def test_a_simultaneous_interval_is_that_of_a_smaller_error():
    rng = np.random.default_rng(5)
    seats = rng.choice([0.0, 0.5, 1.0], size=(2, 50))
    row = estimate_match(np.arange(50), *seats)
    assert simultaneous_score(row, 1) == row.score
    ten = simultaneous_score(row, 10)
    wide = estimate_match(np.arange(50), [1.0] * 50, [1.0] * 50)
    assert ten.low < row.score.low < row.score.high < ten.high
    known = score_estimate(np.arange(50), seats.mean(axis=0), 0.995)
    assert (ten.low, ten.high, ten.level) == (known.low, known.high, 0.95)
    bound = simultaneous_score(wide, 10)
    assert bound.low == pytest.approx(0.005 ** (1 / 50))
    census = estimate_match(np.arange(50), [1.0] * 50, [0.5] * 50, census=True)
    assert simultaneous_score(census, 10) == census.score
    stopped = row.map_answers(lambda answer: answer.map_estimates(as_raw))
    assert simultaneous_score(stopped, 10).has_both_ends is False


def rating_coverage(players, runs, *, openings, repeats, noisy, seed):
    """Coverage of ratings, of one difference, and of the first-move advantage."""
    truth = true_ratings(players)
    ratings, apart, advantage = [], [], []
    for run in range(runs):
        rng = np.random.default_rng((seed, openings, noisy, run))
        results = round_robin(rng, players, openings=openings, repeats=repeats, noisy=noisy)
        found = rate(results, RatingPlan(seed=run))
        ratings += [covers(row.rating, truth.ratings[0, row.agent]) for row in found.agents]
        gap = truth.ratings[0, 0] - truth.ratings[0, 1]
        anchored = rate(results, RatingPlan(seed=run, anchor=1))
        apart.append(covers(anchored.agents[0].rating, gap))
        advantage.append(covers(found.groups[0].advantage, truth.advantage[0]))
    return np.mean(ratings), np.mean(apart), np.mean(advantage)


@pytest.mark.slow
def test_bootstrap_errors_of_a_round_robin_cover():
    players = RoundRobin(FIVE, advantage=0.3, draw_width=0.5, bias=0.8)
    shares = rating_coverage(players, 50, openings=12, repeats=4, noisy=False, seed=4)
    assert shares[0] >= 0.92
    assert min(shares) >= 0.89


@pytest.mark.slow
@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("design", DESIGNS[1:], ids=str)
@pytest.mark.parametrize("draw_width", DRAW_WIDTHS)
def test_bootstrap_errors_of_a_round_robin_cover_for_all_laws(design, noisy, draw_width):
    players = RoundRobin(FIVE, advantage=0.3, draw_width=draw_width, bias=0.8)
    shares = rating_coverage(players, 400, **design._asdict(), noisy=noisy, seed=5)
    # 2000 ratings that hang together, and 400 of each other number: 1 point of error.
    assert 0.93 <= shares[0] <= 0.97
    assert min(shares) >= 0.92
    assert max(shares) <= 0.985


def sprt_runs(plan, law, runs, seed) -> list[SprtState]:
    """Final states of many tests of one law of pair scores."""
    rng = np.random.default_rng(seed)
    states = []
    for _ in range(runs):
        state = start_sprt(plan)
        while not state.is_finished:
            state = update_sprt(plan, state, rng.choice(5, size=300, p=law) / 4)
        states.append(state)
    return states


class Truth(NamedTuple):
    """A plan, a law with the mean of one of its bounds or half-way, and the theory."""

    law: np.ndarray
    score: float
    expected: float


def truth_at(plan: SprtPlan, place: float) -> Truth:
    """`place` 0 is elo0, 1 is elo1."""
    support = np.linspace(0.0, 1.0, 5)
    variance = float(PENTANOMIAL @ np.square(support - 0.5))
    s0, s1 = score_bounds(plan, variance)
    score = s0 + place * (s1 - s0)
    law = tilted(PENTANOMIAL, score)
    spread = float(law @ np.square(support - score))
    return Truth(law, score, mean_test_length(plan, spread, score))


def accepted(states) -> float:
    return float(np.mean([state.decision is Decision.ELO1 for state in states]))


def test_sequential_tests_err_as_rarely_as_they_say():
    plan = SprtPlan(0, 40)
    for place, wrong in ((0.0, Decision.ELO1), (1.0, Decision.ELO0)):
        states = sprt_runs(plan, truth_at(plan, place).law, 300, (6, int(place)))
        assert np.mean([state.decision is wrong for state in states]) <= 0.05 + 0.038


@pytest.mark.slow
@pytest.mark.parametrize(
    "plan",
    [SprtPlan(0, 30), SprtPlan(0, 40, model=EloModel.NORMALIZED), SprtPlan(-20, 10, 0.02, 0.1)],
    ids=lambda plan: f"{plan.model}-{plan.elo0}-{plan.elo1}",
)
@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
def test_sequential_tests_keep_their_error_and_their_length(plan, place):
    runs = 1000
    truth = truth_at(plan, place)
    states = sprt_runs(plan, truth.law, runs, (7, int(10 * place)))
    wrong = {0.0: (accepted(states), plan.alpha), 1.0: (1 - accepted(states), plan.beta)}
    if place in wrong:
        share, stated = wrong[place]
        assert share <= stated + 3.0 * np.sqrt(stated * (1 - stated) / runs)
    lengths = [state.observations for state in states]
    assert np.mean(lengths) == pytest.approx(truth.expected, rel=0.10)


@pytest.mark.slow
@pytest.mark.parametrize("place", [0.0, 0.5, 1.0, 1.5])
def test_the_corrected_estimate_is_right_at_the_median_and_the_raw_one_is_not(place):
    plan, runs = SprtPlan(0, 30), 600
    truth = truth_at(plan, place)
    elo = elo_from_score(truth.score)
    states = sprt_runs(plan, truth.law, runs, (8, int(10 * place)))
    corrected = [median_unbiased_estimate(plan, state) for state in states]
    above = np.mean([estimate.value > elo for estimate in corrected])
    assert above == pytest.approx(0.5, abs=0.07)
    assert np.mean([covers(estimate, elo) for estimate in corrected]) >= 0.92
    if place >= 1.0:
        raw = np.mean([naive_estimate(state).value > elo for state in states])
        assert raw >= above + 0.05


def looks(openings, pairings):
    """The places at which a run is looked at: often at first, then at every turn's end."""
    return sorted({*range(5, 60, 5), *range(openings, pairings + 1, openings), pairings})


def live_misses(runs, estimate_of, *, again, every) -> float:
    """Share of runs (of pair scores by opening and turn) that are wrong at some look."""
    missed = 0
    for scores, truth in runs:
        standing, at, wrong = start_anytime(scores.shape[0], again=again), 0, False
        values = scores.T.ravel()
        for look in every:
            standing, at = update_anytime(standing, values[at:look]), look
            found = estimate_of(standing)
            wrong = wrong or (found is not None and not covers(found, truth))
        missed += wrong
    return missed / len(runs)


def new_openings(law, score, runs, pairs, seed):
    rng = np.random.default_rng(seed)
    return [(rng.choice(5, size=(pairs, 1), p=law) / 4, score) for _ in range(runs)]


def test_the_live_interval_covers_at_every_look():
    runs = new_openings(PENTANOMIAL, 0.5, 20, 300, 9)
    assert live_misses(runs, anytime_estimate, again=False, every=range(10, 301, 40)) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("score", [0.5, 0.6, 0.9, 0.98])
@pytest.mark.parametrize("law", [PENTANOMIAL, np.array([0.2, 0.02, 0.56, 0.02, 0.2])], ids=len)
def test_the_live_interval_covers_at_every_look_of_2000_pairs(law, score):
    true_law = tilted(law, score)
    mean = float(true_law @ np.linspace(0.0, 1.0, 5))
    runs = new_openings(true_law, mean, 300, 2000, (10, int(100 * score)))
    assert live_misses(runs, anytime_estimate, again=False, every=range(20, 2001, 20)) <= 0.05


def noisy_runs(openings, pairs, runs, law, seed):
    """Noisy bots that play the openings in turn: scores by opening and turn, both truths."""
    repeats = -(-pairs // openings)
    rng = np.random.default_rng(seed)
    bias = law.bias * rng.standard_normal((runs, openings, 1))
    found = []
    for own in bias:
        shape = (openings, repeats)
        first = latent_scores(law.strength + own + rng.logistic(size=shape), law.draw_width)
        second = latent_scores(law.strength - own + rng.logistic(size=shape), law.draw_width)
        chances = [1 / (1 + np.exp(law.draw_width - law.strength - side * own)) for side in (1, -1)]
        losses = [1 / (1 + np.exp(law.draw_width + law.strength + side * own)) for side in (1, -1)]
        these = float(
            np.mean([0.5 + 0.5 * (won - lost) for won, lost in zip(chances, losses, strict=True)])
        )
        found.append(((first + second) / 2, these))
    return found


@pytest.mark.parametrize("openings", [pytest.param(4, marks=pytest.mark.slow), 12])
def test_repeats_of_noisy_bots_do_not_spoil_the_live_interval(openings):
    # Regression: the truth was excluded in 71 and 48 % of runs with 4 and 12 openings.
    law = Law(0.8, 0.5, bias=3.0)
    runs = [(scores, true_score(law)) for scores, _ in noisy_runs(openings, 400, 20, law, 13)]
    every = looks(openings, 400)
    assert live_misses(runs, anytime_estimate, again=True, every=every) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("strength", [0.0, 0.8, 2.0])
@pytest.mark.parametrize("openings", [1, 4, 12, 50])
def test_both_live_answers_cover_when_noisy_bots_play_openings_again(openings, strength):
    law = Law(strength, 0.5, bias=3.0)
    made = noisy_runs(openings, 1000, 150, law, (14, openings, int(10 * strength)))
    every = looks(openings, 1000)
    like = [(scores, true_score(law)) for scores, _ in made]
    if openings > 1:
        assert live_misses(like, anytime_estimate, again=True, every=every) <= 0.05
    assert live_misses(made, anytime_estimate_these, again=True, every=every) <= 0.05


@pytest.mark.slow
def test_a_fixed_size_interval_watched_live_does_not_cover():
    rng = np.random.default_rng(11)
    wrong = 0
    for _ in range(40):
        scores = rng.choice(5, size=400, p=PENTANOMIAL) / 4
        looks = (score_estimate(range(n), scores[:n]) for n in range(20, 401, 10))
        wrong += any(not covers(look, 0.5) for look in looks)
    assert wrong / 40 > 0.2


def test_games_of_a_pairing_and_repeats_are_not_independent():
    """Repeats counted as evidence rarely cover."""
    rng = np.random.default_rng(12)
    law = Law(0.8, 0.5)
    scores = pair_score_runs(rng, law, 300, openings=12, repeats=40, noisy=False)
    as_if_new = range(12 * 40)
    truth = true_score(law)
    covered = np.mean([covers(score_estimate(as_if_new, run.ravel()), truth) for run in scores])
    assert covered < 0.5
