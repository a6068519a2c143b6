"""Synthetic surfaces with a known optimum: reference, section 10."""

from collections.abc import Callable

import numpy as np
import pytest

from arena.stats.elo import score_from_elo
from arena.tuning.samplers.registry import (
    SAMPLERS,
    Sampler,
    SearchPlan,
    fixed_pairs,
    resume,
    sampler,
)
from arena.tuning.samplers.spsa import SpsaSampler
from arena.tuning.space import Axis, Point, Space
from arena.tuning.trial_games import WINDOW
from tests.arena.tuning.surfaces import Surface, flat, smooth, study, two_modes

GAMES = 40_000


def sampler_for(method: str, surface: Surface, trials: int, games: int, seed: int) -> Sampler:
    """The sampler as a study makes it."""
    pairs = fixed_pairs(method) or games // 2
    trials = trials * games // (2 * pairs)
    return sampler(method, SearchPlan(surface.space, surface.seed, seed, trials, pairs))


def regrets(
    method: str, make: Callable[[np.random.Generator], Surface], seeds: int, games: int
) -> tuple[list[float], list[float]]:
    """Elo lost by each recommendation, and how much too much it claims, in points."""
    lost, claimed = [], []
    trials = GAMES // games
    for seed in range(seeds):
        surface = make(np.random.default_rng(seed))
        found_by = sampler_for(method, surface, trials, games, seed)
        found, _ = study(surface, found_by, trials, games, 100 + seed)
        lost.append(surface.regret(found.best_point))
        truth = score_from_elo(surface.elo(found.best_point))
        claimed.append(100 * (found.score.value - truth))
    return lost, claimed


@pytest.mark.parametrize("method", SAMPLERS)
def test_every_method_finds_much_of_a_smooth_surface(method: str) -> None:
    surface = smooth(2, 85.5, np.random.default_rng(3))
    found, trials = study(surface, sampler_for(method, surface, 40, 400, 1), 40, 400, 2)
    assert surface.regret(found.best_point) < 20.0
    assert not found.flat or method == "spsa"  # it stays near its path
    assert np.array_equal(trials[0].point, surface.space.snapped(surface.seed))


@pytest.mark.slow  # a search that is cut asks for the same points anew, below
@pytest.mark.parametrize("method", SAMPLERS)
def test_the_same_questions_get_the_same_answers(method: str) -> None:
    surface = smooth(3, 85.5, np.random.default_rng(4))
    runs = [study(surface, sampler_for(method, surface, 24, 100, 5), 24, 100, 6)[1] for _ in "ab"]
    for one, other in zip(*runs, strict=True):
        assert np.array_equal(one.point, other.point)


# Before the random half of TPE ends, in its middle, and just before the last trial.
CUTS = (5, 16, 19, 23, 27)


@pytest.mark.parametrize("method", SAMPLERS)
def test_a_search_cut_anywhere_goes_on_with_the_same_points(method: str) -> None:
    surface, slots = smooth(3, 85.5, np.random.default_rng(4)), 30
    whole = told(sampler_for(method, surface, slots, 100, 5), slots, [])
    for cut in CUTS:
        again = told(sampler_for(method, surface, slots, 100, 5), slots, whole[:cut])
        assert all(map(np.array_equal, again, whole)), f"cut after {cut} trials"


def told(of: Sampler, slots: int, known: list[Point]) -> list[Point]:
    """All points of a search with made-up scores, WINDOW at a time; the first are known."""
    points: list[Point] = []
    for slot in range(slots + WINDOW):
        if slot >= WINDOW:
            at = slot - WINDOW
            of.tell(at, points[at], float(np.cos(at)) * 0.1 + 0.5, 1e-3)
        if slot < len(known):
            resume(of, slot, known[slot])
            points.append(known[slot])
        elif slot < slots:
            points.append(of.propose(slot))
    return points


def test_a_step_moves_no_weight_further_than_its_own_width() -> None:
    surface = smooth(3, 85.5, np.random.default_rng(4))
    walk = SpsaSampler(SearchPlan(surface.space, np.full(3, 0.5), 1, 600, 200))
    for slot, score in enumerate((0.5, 1.0, 0.0)):  # as far apart as scores can be
        walk.tell(slot, walk.propose(slot), score, 1e-2)
    width = 0.08 * (600 * 200 / 400) ** 0.101
    assert np.abs(walk.theta - 0.5) == pytest.approx(np.full(3, width))
    assert walk.final == pytest.approx(walk.theta)


def test_a_walk_has_arrived_at_the_mean_of_its_last_half() -> None:
    surface = smooth(2, 85.5, np.random.default_rng(4))
    walk = SpsaSampler(SearchPlan(surface.space, np.full(2, 0.5), 1, 9, 10))
    path = [walk.theta]
    for slot in range(9):
        walk.tell(slot, walk.propose(slot), 0.5 + 0.01 * (slot % 2), 1e-2)
        if slot and slot % 2 == 0:
            path.append(walk.theta)
    assert np.array_equal(walk.final, np.mean(path[2:], axis=0))


def test_a_walk_says_which_weights_an_edge_held_back() -> None:
    surface = smooth(2, 85.5, np.random.default_rng(4))
    walk = SpsaSampler(SearchPlan(surface.space, np.array([0.999, 0.5]), 1, 9, 10))
    for slot in range(9):
        point = walk.propose(slot)
        walk.tell(slot, point, 1.0 if point[0] > 0.97 else 0.0, 1e-2)
    assert walk.clipped == (True, False)


def test_no_two_points_of_a_search_are_the_same() -> None:
    surface = smooth(3, 85.5, np.random.default_rng(4))
    _, trials = study(surface, sampler_for("tpe", surface, 40, 100, 5), 40, 100, 6)
    assert len({tuple(trial.point) for trial in trials}) == 40


def test_a_surface_without_any_slope_is_flat_nearly_always() -> None:
    surface = flat(2)
    said = [
        study(surface, sampler_for("tpe", surface, 30, 200, seed), 30, 200, seed)[0].flat
        for seed in range(6)
    ]
    assert sum(map(bool, said)) >= 5


def test_one_weight_can_be_tuned_by_every_method() -> None:
    surface = smooth(1, 60.0, np.random.default_rng(2))
    for method in SAMPLERS:
        found, _ = study(surface, sampler_for(method, surface, 30, 400, 1), 30, 400, 2)
        assert surface.regret(found.best_point) < 25.0


@pytest.mark.slow
@pytest.mark.parametrize("games", [200, 400])
def test_three_weights_lose_at_most_2_5_elo(games: int) -> None:
    lost, claimed = regrets("tpe", lambda rng: smooth(3, 85.5, rng), 12, games)
    assert np.mean(lost) <= 2.5
    assert abs(np.mean(claimed)) <= 1.5


@pytest.mark.slow
def test_eight_weights_lose_at_most_15_elo() -> None:
    lost, claimed = regrets("tpe", lambda rng: smooth(8, 50.3, rng), 12, 400)
    assert np.mean(lost) <= 15.0
    assert abs(np.mean(claimed)) <= 1.5


@pytest.mark.slow
def test_no_seed_in_the_wrong_mode_stays_there() -> None:
    lost, claimed = regrets("tpe", two_modes, 12, 400)
    assert max(lost) < 25.0  # the modes are about 50 apart
    assert abs(np.mean(claimed)) <= 1.5


def test_a_walk_takes_wider_steps_only_while_no_game_differs() -> None:
    surface = smooth(2, 85.5, np.random.default_rng(4))

    def width(differs: bool) -> float:
        """How far apart the sides of the last step are."""
        walk = SpsaSampler(SearchPlan(surface.space, np.full(2, 0.5), 1, 60, 10))
        points = [walk.propose(0)]
        walk.tell(0, points[0], 0.5, 1e-2)
        for slot in range(1, 41):
            points.append(walk.propose(slot))
            walk.tell(slot, points[slot], 0.5, 1e-2)
            if slot % 2 == 0:
                walk.step_played(slot, differs)
        return float(np.abs(points[39] - points[40]).max())

    assert width(differs=False) > 3.0 * width(differs=True)


def test_a_walk_leaves_a_plateau_that_is_wider_than_its_steps() -> None:
    space = Space((Axis("turn", -2.5, 0.5),), {})
    walk = SpsaSampler(SearchPlan(space, space.point({"turn": -1.0}), 1, 400, 10))
    sides: list[float] = []
    for slot in range(401):
        point = walk.propose(slot)
        sides.append(round(float(space.values(point)["turn"])))  # only whole numbers change a game
        walk.tell(slot, point, 0.5 + 0.1 * sides[-1], 1e-2)
        if slot and slot % 2 == 0:
            walk.step_played(slot, sides[-2] != sides[-1])
    assert round(float(space.values(walk.final)["turn"])) == 0
