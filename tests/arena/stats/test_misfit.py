import numpy as np
import pytest

from arena.stats.misfit import _residuals, misfit
from arena.stats.rating_data import gather
from arena.stats.ratings import RatingPlan, rate

QUICK = RatingPlan(draws=0)


def played(chances, openings, seed, same_side=False):
    """Results of agents whose chances are known: both seats of every pair on every opening."""
    rng = np.random.default_rng(seed)
    first, second = np.nonzero(~np.eye(len(chances), dtype=bool))
    shape = (openings, len(first))
    drawn = np.full(shape, 0.5) if same_side else rng.random(shape)
    scores = (drawn < np.asarray(chances)[first, second]).astype(float)
    columns = [np.broadcast_to(column, shape).ravel() for column in (first, second)]
    names = np.broadcast_to(np.arange(openings)[:, None], shape).ravel()
    return gather(*columns, scores.ravel(), names, len(chances))


def misfit_of(results):
    return misfit(results, rate(results, QUICK).pools[0].fitted)


def ladder(agents, apart, cycle=0.0):
    """Chances of agents so many Elo apart; `cycle` Elo more in a ring of the first three."""
    elo = apart * (np.arange(agents)[::-1, None] - np.arange(agents)[::-1])
    for winner, loser in ((1, 0), (0, 2), (2, 1)):
        elo[winner, loser] += cycle
        elo[loser, winner] -= cycle
    return 1 / (1 + 10 ** (-elo / 400))


def test_rock_paper_scissors_is_not_described_by_three_zeros():
    ring = np.array([[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]])
    found = misfit_of(played(ring, 40, 0, same_side=True))
    assert found.p == pytest.approx(1 / 201)
    a, b, c = found.triple
    assert (ring[a, b], ring[b, c], ring[c, a]) == (1, 1, 1)


def test_a_cycle_is_found_and_named_in_its_direction():
    found = misfit_of(played(ladder(6, 60.0, cycle=200.0), 60, 1))
    assert found.p < 0.01
    assert found.triple in {(1, 0, 2), (0, 2, 1), (2, 1, 0)}


def test_ratings_that_describe_the_results_are_hardly_ever_rejected():
    small = [misfit_of(played(ladder(4, 60.0), 30, seed)).p for seed in range(60)]
    assert np.mean(np.array(small) <= 0.05) <= 0.14
    assert np.mean(small) > 0.35


@pytest.mark.slow
@pytest.mark.parametrize(("agents", "apart"), [(4, 60.0), (12, 40.0), (12, 150.0)])
@pytest.mark.parametrize("openings", [10, 20, 50])
def test_the_test_keeps_its_error(agents, apart, openings):
    chances = ladder(agents, apart)
    found = []
    for seed in range(400):
        results = played(chances, openings, seed)
        if len(rate(results, QUICK).pools) == 1:
            found.append(misfit_of(results).p)
    assert np.mean(np.array(found) <= 0.05) <= 0.08


def test_three_that_did_not_all_meet_have_no_test():
    results = gather([0, 1, 1, 2] * 10, [1, 0, 2, 1] * 10, [1, 1, 1, 1] * 10, range(40), 3)
    assert misfit_of(results) is None


def test_the_test_is_the_formula_word_for_word():
    results = played(ladder(4, 80.0), 12, 3)
    fitted = rate(results, QUICK).pools[0].fitted
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    rows, weight = np.zeros((12, 6)), np.zeros(6)
    for opening, pair, games, points in zip(
        results.opening, results.pair, results.games, results.points, strict=True
    ):
        first, second = divmod(int(pair), 4)
        gap = fitted.ratings[0][first] - fitted.ratings[0][second] + fitted.advantage[0]
        chance = 1 / (1 + 10 ** (-gap / 400))
        place = pairs.index((min(first, second), max(first, second)))
        rows[opening, place] += (1 if first < second else -1) * (points - games * chance)
        weight[place] += games * chance * (1 - chance)
    design = np.array([[(k == i) - (k == j) for k in range(4)] for i, j in pairs], float)
    projected = np.diag(weight) @ design @ np.linalg.pinv(design.T @ np.diag(weight) @ design)
    rows -= rows @ design @ projected.T
    assert _residuals(results, fitted).by_opening == pytest.approx(rows)
    variance = np.maximum((rows**2).sum(axis=0), weight / 2)
    sizes = {}
    for i, j, k in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)):
        ij, jk, ik = (pairs.index(each) for each in ((i, j), (j, k), (i, k)))
        total = rows[:, ij] + rows[:, jk] - rows[:, ik]
        scale = (variance[ij] + variance[jk] + variance[ik]) ** 0.5
        sizes[i, j, k] = total / scale
    signs = 2 * np.random.default_rng((0, 200)).integers(2, size=(200, 12)) - 1
    seen = max(abs(each.sum()) for each in sizes.values())
    drawn = [max(abs((sign * each).sum()) for each in sizes.values()) for sign in signs]
    expected = (1 + sum(each >= seen - 1e-12 for each in drawn)) / 201
    found = misfit(results, fitted)
    assert found.p == pytest.approx(expected)
    assert tuple(sorted(found.triple)) == max(sizes, key=lambda each: abs(sizes[each].sum()))
