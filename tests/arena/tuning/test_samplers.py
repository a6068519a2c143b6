"""Samplers, on made-up scores and on surfaces with a known optimum."""

import importlib.util
from collections.abc import Callable

import numpy as np
import pytest

from arena.stats.elo import score_from_elo
from arena.tuning.optuna_study import OptunaSearch
from arena.tuning.samplers.registry import SAMPLERS, SearchPlan
from arena.tuning.space import Axis, Params, Point, Space
from tests.arena.tuning.surfaces import Surface, flat, smooth, study, two_modes

GAMES = 40_000
QMC = pytest.param(
    "optuna.samplers:QMCSampler",
    marks=pytest.mark.skipif(
        importlib.util.find_spec("scipy") is None, reason="QMCSampler needs the package scipy"
    ),
)
METHODS = [*SAMPLERS, QMC, "optuna.samplers:NSGAIISampler"]
AXES = (
    Axis("plain", -1.0, 2.0),
    Axis("log", 0.01, 10.0, log=True),
    Axis("whole", 0.0, 40.0, integer=True),
    Axis("choice", 0.0, 2.0, choices=("calm", "bold", True)),
)


def plan_for(method: str, trials: int = 24) -> SearchPlan:
    """A plan with an axis of every kind that the method can search."""
    axes = AXES[:3] if method == "spsa" else AXES
    return SearchPlan(Space(axes, {}), np.full(len(axes), 0.5), 5, trials, 10)


def run_search(method: str, plan: SearchPlan, window: int, known: list[Params]) -> list[Params]:
    """The parameters of all trials; the first are known, and all scores are made up."""
    search, params = OptunaSearch(method, plan), list[Params]()
    for number in range(plan.trials + window):
        if number >= window:
            waves = np.cos(9.0 * plan.space.point(params[number - window]))
            score = 0.5 + 0.1 * float(waves.sum())
            search.tell(number - window, score, fingerprint=number // 20)
        if number < plan.trials:
            params.append(search.ask(known[number] if number < len(known) else None))
    return params


@pytest.mark.parametrize("window", [4, 12])
@pytest.mark.parametrize("method", METHODS)
def test_a_search_cut_after_any_trial_continues_with_the_same_parameters(method, window):
    plan = plan_for(method)
    whole = run_search(method, plan, window, [])
    for cut in range(plan.trials + 1):
        assert run_search(method, plan, window, whole[:cut]) == whole, f"cut after {cut} trials"


@pytest.mark.parametrize("method", METHODS)
def test_a_search_begins_at_the_seed_and_stays_within_the_ranges(method):
    plan = plan_for(method)
    first, *others = run_search(method, plan, 4, [])
    assert plan.space.point(first) == pytest.approx(plan.seed_point)
    distributions = plan.space.distributions()
    for params in others:
        for name, value in params.items():
            assert distributions[name]._contains(distributions[name].to_internal_repr(value))
    assert len({str(params) for params in others}) > 20


def test_stored_parameters_replace_those_that_the_sampler_draws():
    plan = plan_for("random")
    whole = run_search("random", plan, 4, [])
    other = {**whole[3], "plain": 0.125}
    assert run_search("random", plan, 4, [*whole[:3], other]) == [*whole[:3], other, *whole[4:]]


@pytest.mark.parametrize("method", SAMPLERS)
def test_every_method_finds_much_of_a_smooth_surface(method):
    surface = smooth(2, 85.5, np.random.default_rng(4))
    found, _ = study(surface, method, 40, 400, 1)
    assert surface.regret(found.best_point) < 20.0
    assert not found.flat or method == "spsa"  # its trials stay near its path


@pytest.mark.parametrize("method", SAMPLERS)
def test_every_method_can_tune_one_weight(method):
    surface = smooth(1, 60.0, np.random.default_rng(2))
    assert surface.regret(study(surface, method, 30, 400, 1)[0].best_point) < 25.0


def test_a_surface_without_slope_is_nearly_always_flat():
    answers = [study(flat(2), "tpe", 30, 200, seed)[0].flat for seed in range(6)]
    assert sum(map(bool, answers)) >= 5


class Walker:
    """SPSA, step by step, with the scores of a test."""

    def __init__(self, space: Space, seed: Point, trials: int, pairs: int) -> None:
        self.search = OptunaSearch("spsa", SearchPlan(space, seed, 1, trials, pairs))
        self.sides: list[Point] = []

    def step(self, score: Callable[[Point], float], fingerprint: int = 0) -> None:
        point = self.search.space.point(self.search.ask())
        self.sides.append(point)
        self.search.tell(len(self.sides) - 1, score(point), fingerprint)

    @property
    def theta(self) -> Point:
        return self.search.study.sampler.theta  # type: ignore[attr-defined]


SPACE_2 = Space((Axis("w0", 0.0, 1.0), Axis("w1", 0.0, 1.0)), {})


def test_a_step_moves_no_weight_further_than_its_width():
    walk = Walker(SPACE_2, np.full(2, 0.5), 600, 200)
    scores = iter((0.5, 1.0, 0.0))  # as far apart as scores can be
    for _ in range(3):
        walk.step(lambda _: next(scores))
    width = 0.08 * (600 * 200 / 400) ** 0.101
    assert np.abs(walk.theta - 0.5) == pytest.approx(np.full(2, width))
    assert walk.search.walk.point == pytest.approx(walk.theta)


def test_the_sides_of_a_step_lie_opposite_each_other():
    walk = Walker(SPACE_2, np.full(2, 0.5), 60, 10)
    for _ in range(3):
        walk.step(lambda _: 0.5)
    assert (walk.sides[1] + walk.sides[2]) / 2 == pytest.approx(walk.sides[0])
    assert np.abs(walk.sides[1] - walk.sides[2]).min() > 0.1


def test_a_walk_ends_at_the_mean_of_its_last_half():
    walk = Walker(SPACE_2, np.full(2, 0.5), 9, 10)
    path = [walk.theta]
    for number in range(9):
        walk.step(lambda _, number=number: 0.5 + 0.01 * (number % 2))
        if number and number % 2 == 0:
            path.append(walk.theta)
    assert np.array_equal(walk.search.walk.point, np.mean(path[2:], axis=0))


def test_a_walk_names_the_weights_that_an_edge_held_back():
    walk = Walker(SPACE_2, np.array([0.999, 0.5]), 9, 10)
    for _ in range(9):
        walk.step(lambda point: 1.0 if point[0] > 0.97 else 0.0)
    assert walk.search.walk.clipped == (True, False)


def test_a_walk_takes_wider_steps_only_while_no_game_differs():
    def width(differs: bool) -> float:
        walk = Walker(SPACE_2, np.full(2, 0.5), 60, 10)
        for number in range(41):
            walk.step(lambda _: 0.5, fingerprint=number if differs else 0)
        assert walk.search.walk.widened is not differs
        return float(np.abs(walk.sides[39] - walk.sides[40]).max())

    assert width(differs=False) > 3.0 * width(differs=True)


def test_a_walk_leaves_a_plateau_that_is_wider_than_its_steps():
    space = Space((Axis("turn", -2.5, 0.5),), {})
    walk = Walker(space, space.point({"turn": -1.0}), 401, 10)

    def whole(point: Point) -> int:
        return round(float(space.values(point)["turn"]))  # only whole numbers change a game

    for _ in range(401):
        fingerprint = 0
        point = space.point(walk.search.ask())
        walk.sides.append(point)
        fingerprint = whole(point)
        walk.search.tell(len(walk.sides) - 1, 0.5 + 0.1 * whole(point), fingerprint)
    assert whole(walk.search.walk.point) == 0


def regrets(
    make: Callable[[np.random.Generator], Surface], seeds: int, games: int
) -> tuple[list[float], list[float]]:
    """Elo lost by each recommendation of TPE, and the bias of its claim in points."""
    lost, claimed = [], []
    for seed in range(seeds):
        surface = make(np.random.default_rng(seed))
        found, _ = study(surface, "tpe", GAMES // games, games, seed)
        lost.append(surface.regret(found.best_point))
        truth = score_from_elo(surface.elo(found.best_point))
        claimed.append(100 * (found.score.value - truth))
    return lost, claimed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "games", "mean", "worst"),
    [
        (lambda rng: smooth(3, 85.5, rng), 200, 2.5, np.inf),
        (lambda rng: smooth(3, 85.5, rng), 400, 2.5, np.inf),
        (lambda rng: smooth(8, 50.3, rng), 400, 15.0, np.inf),
        (two_modes, 400, np.inf, 25.0),  # the modes are about 50 Elo apart
    ],
)
def test_the_recommendation_of_tpe_loses_little_and_claims_little_too_much(
    make, games, mean, worst
):
    lost, claimed = regrets(make, 12, games)
    assert np.mean(lost) <= mean
    assert max(lost) < worst
    assert abs(np.mean(claimed)) <= 1.5
