"""Tournaments by rounds: every such schedule, with results of a known distribution."""

from itertools import combinations

import numpy as np
import pytest

from arena.planning.rounds import OUT, Participants, RoundsSpec
from arena.planning.schedules.best import BestRace, start_best_one
from arena.planning.schedules.rank import Ranking
from arena.planning.schedules.registry import (
    SCHEDULES,
    pair_total,
    rounds_choice,
    schedule_method,
    start_tournament,
)
from arena.stats.anytime import log_betting_capital
from arena.stats.racing import next_pairs, start_race, transitive_closure, update_race
from games.base.schema import default_values

BY_ROUNDS = [name for name in SCHEDULES if schedule_method(name).begin is not None]
LIMIT = 300


def tournament(name, agents=5, limit=LIMIT, **values):
    """A tournament of some agents before its first round."""
    names = [f"a{place}" for place in range(agents)]
    defaults = default_values(schedule_method(name).keys)
    if name == "place":
        defaults["place"] = names[-1]
    if name == "scale":
        elo = tuple(100.0 * place for place in range(agents - 1))
        covariance = (1.0,) * len(elo) ** 2
        defaults |= {"scale": names[-1], "game": "g", "elo": elo, "covariance": covariance}
    rounds = rounds_choice(name, defaults | values)
    return start_tournament(rounds, Participants(names, limit))


def play(stage, score, seed=0):
    """All stages to the end; `score` is the mean score of one agent against another."""
    rng = np.random.default_rng(seed)
    stages = [stage]
    while stages[-1].meetings:
        points = [
            rng.binomial(4, score(a, b), size).astype(np.int8)
            for a, b, size, _ in stages[-1].meetings
        ]
        stages.append(stages[-1].after_round(points))
    return stages


def stronger_first(a, b):
    return 0.75 if a < b else 0.25


def equal(_, __):
    return 0.5


@pytest.mark.parametrize("name", BY_ROUNDS)
@pytest.mark.parametrize("agents", [2, 3, 6])
@pytest.mark.parametrize("score", [stronger_first, equal])
def test_tournament_ends_and_meets_only_possible_opponents(name, agents, score):
    values = {name: "a0"} if name in {"place", "scale"} else {}
    method = schedule_method(name)
    names = [f"a{place}" for place in range(agents)]
    possible = set(method.matches(default_values(method.keys) | values, names))
    assert possible <= set(combinations(range(agents), 2))
    stages = play(tournament(name, agents, **values), score)
    used = dict.fromkeys(possible, 0)
    for stage in stages:
        pairs = [(a, b) for a, b, _, _ in stage.meetings]
        assert set(pairs) <= possible
        assert len(set(pairs)) == len(pairs)
        for a, b, size, opening in stage.meetings:
            assert size > 0
            assert opening is None or opening >= used[a, b]  # no opening comes twice
            used[a, b] = (used[a, b] if opening is None else opening) + size
            assert opening is not None or used[a, b] <= LIMIT
        standing = stage.standing
        assert sorted(row.agent for row in standing.rows) == list(range(agents))
        assert standing.is_over == (not stage.meetings)
        assert standing.answer
    assert len(stages) < 200


@pytest.mark.parametrize("name", BY_ROUNDS)
def test_next_round_depends_only_on_results(name):
    stage, other = tournament(name), tournament(name)
    for seed in range(5):
        if not stage.meetings:
            break
        rng = np.random.default_rng(seed)
        points = [rng.integers(0, 5, each.pairs).astype(np.int8) for each in stage.meetings]
        shuffled = [rng.permutation(own) for own in points]
        before = list(stage.meetings)
        after, again = stage.after_round(points), other.after_round(shuffled)
        assert list(stage.meetings) == before
        assert list(after.meetings) == list(again.meetings)
        assert after.standing == again.standing
        stage, other = after, again


@pytest.mark.parametrize("name", BY_ROUNDS)
def test_spec_of_rounds_survives_json(name):
    spec = rounds_choice(name, default_values(schedule_method(name).keys))
    assert RoundsSpec.from_json(spec.to_json()) == spec


def test_only_a_swiss_tournament_has_a_known_number_of_pairs():
    participants = Participants(["a", "b", "c"], 10)
    totals = {}
    for name in BY_ROUNDS:
        values = default_values(schedule_method(name).keys) | {
            "swiss": 2,
            "place": "a",
            "scale": "a",
        }
        totals[name] = pair_total(rounds_choice(name, values), participants)
    assert totals.pop("swiss") == 2
    assert set(totals.values()) == {None}


def test_only_the_best_stays_in_and_the_others_have_a_reason():
    last = play(tournament("best", 6), stronger_first)[-1]
    rows = last.standing.rows
    assert [row.state for row in rows] == ["best", *[OUT] * 5]
    assert rows[0].agent == 0
    for row in rows[1:]:
        capital = float(log_betting_capital(row.counts, 0.5))
        assert row.log_capital == pytest.approx(capital, abs=1e-6)
        assert row.log_capital >= np.log(5 / 0.05)
        assert f"a{row.by} scored" in row.why
    assert "best: a0" in last.standing.answer
    assert "error at most 5 %" in last.standing.answer


def test_the_leader_meets_the_stronger_half_then_all():
    def drawn_round(stage):
        return stage.after_round([np.full(each.pairs, 2, np.int8) for each in stage.meetings])

    stage = tournament("best", 6)
    assert [each[:2] for each in stage.meetings] == [(0, 1), (0, 2), (0, 3)]
    stage = drawn_round(stage)
    assert len(stage.meetings) == 5
    assert len(drawn_round(stage).meetings) == 3


def test_equal_agents_use_all_openings_unless_the_difference_does_not_matter():
    last = play(tournament("best", 2, limit=4000), equal)[-1]
    assert last.standing.answer.startswith("not decided between a")
    assert "4,000 openings used" in last.standing.answer
    sooner = play(tournament("best", 2, limit=4000, indifference=40.0), equal)[-1]
    assert "within 40 Elo of" in sooner.standing.answer
    assert sooner.standing.rounds < last.standing.rounds


def test_a_cycle_has_no_best_and_no_order():
    race = start_best_one(
        {"delta": 0.05, "indifference": 0.0}, Participants(["a", "b", "c"], 10**6)
    )
    state = race.state
    for one, other in ((0, 1), (1, 2), (2, 0)):
        state = update_race(state, [(one, other, [0, 0, 0, 0, 400])])
    race = BestRace(race.names, state)
    ended = race.after_round([np.zeros(each.pairs, np.int8) for each in race.meetings])
    answer = "no best after 4 rounds: each agent is beaten by another one (a cycle)"
    assert answer in ended.standing.answer
    assert "no order after 3 rounds" in Ranking(race.names, state).standing.answer


def test_the_best_two_are_found():
    last = play(tournament("best", 6, best=2), stronger_first)[-1].standing
    assert {row.agent for row in last.rows if row.state == "best"} == {0, 1}
    assert "best 2: a0, a1" in last.answer


def test_ranking_orders_agents_and_equal_ones_share_a_place():
    last = play(tournament("rank", 5), stronger_first)[-1].standing
    assert [row.agent for row in last.rows] == [0, 1, 2, 3, 4]
    assert [row.place for row in last.rows] == [1, 2, 3, 4, 5]
    level = play(tournament("rank", 3, limit=20_000, indifference=30.0), equal)[-1]
    assert [row.place for row in level.standing.rows] == [1, 1, 1]


@pytest.mark.parametrize("true_place", range(6))
def test_newcomer_is_placed_by_halving(true_place):
    def against_the_newcomer(other, _):
        return 0.8 if other < true_place else 0.2

    stages = play(tournament("place", 6), against_the_newcomer)
    assert stages[-1].standing.rows[0].place == true_place + 1
    opponents = {(a, b) for stage in stages for a, b, _, _ in stage.meetings}
    assert len(opponents) <= 3  # halving five agents needs three comparisons at most


def test_newcomer_can_be_level_with_an_agent():
    last = play(tournament("place", 2, limit=30_000), equal)[-1].standing
    assert "a1: level with a0 (within 10 Elo)" in last.answer


def test_pairs_of_a_round_grow_with_those_played():
    state = start_race(2, 3.0, 100)
    assert next_pairs(state, 0, 1) == 4
    state = update_race(state, [(0, 1, [0, 0, 80, 0, 0])])
    assert next_pairs(state, 0, 1) == 10
    assert next_pairs(update_race(state, [(0, 1, [0, 0, 15, 0, 0])]), 1, 0) == 5  # the last ones


def test_closure_of_above_is_transitive():
    above = np.zeros((4, 4), bool)
    above[0, 1] = above[1, 2] = True
    through = transitive_closure(above)
    assert through[0, 2]
    assert not through[2, 0]
    assert not through[:, 3].any()


def test_swiss_avoids_rematches_and_gives_byes_in_turn():
    stages = play(tournament("swiss", 8, swiss=7), stronger_first)
    pairs = [(a, b) for stage in stages for a, b, _, _ in stage.meetings]
    assert len(pairs) == len(set(pairs)) == 28
    assert stages[-1].quarters[stages[-1].standing.rows[0].agent] == max(stages[-1].quarters)
    odd = play(tournament("swiss", 5, swiss=4), equal)
    assert len(set(odd[-1].byes)) == 4


def test_swiss_points_are_those_of_games():
    even = play(tournament("swiss", 4, swiss=3), equal)[-1].standing
    assert all(row.why.endswith(" of 6 points") for row in even.rows)  # a pair is two games
    assert sum(float(row.why.split()[0]) for row in even.rows) == 3 * 2 * 2
    odd = play(tournament("swiss", 5, swiss=4), equal)[-1].standing
    assert any("without an opponent" in note for note in odd.notes)
    assert not any("without an opponent" in note for note in even.notes)


def test_swiss_claims_no_best_agent():
    standing = play(tournament("swiss", 4), stronger_first)[-1].standing
    assert "is not shown to be the best" in standing.notes[0]
    assert "best" not in standing.answer
    assert all(row.log_capital is None for row in standing.rows)
