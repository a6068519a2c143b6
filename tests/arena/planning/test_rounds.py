"""Tournaments by rounds: every schedule that has them, with results of known law."""

from itertools import combinations

import numpy as np
import pytest

from arena.planning.rounds import OUT, Participants, RoundsSpec
from arena.planning.schedules.best import BestRace, best_one
from arena.planning.schedules.rank import Ranking
from arena.planning.schedules.registry import (
    SCHEDULES,
    RoundsSchedule,
    rounds_choice,
    schedule,
    start_tournament,
)
from arena.stats.anytime import log_betting_capital
from arena.stats.racing import after_round, next_pairings, race, transitive_closure
from games.base.schema import default_values

BY_ROUNDS = [name for name in SCHEDULES if isinstance(schedule(name), RoundsSchedule)]
LIMIT = 300


def stage_of(name, agents=5, limit=LIMIT, **values):
    """A tournament of some agents before its first round."""
    names = [f"a{place}" for place in range(agents)]
    usual = default_values(schedule(name).KEYS)
    if name == "place":
        usual["place"] = names[-1]
    return start_tournament(rounds_choice(name, usual | values), Participants(names, limit))


def played(stage, score, seed=0):
    """All stages to the end; agent a scores so much in a pairing with b."""
    rng = np.random.default_rng(seed)
    stages = [stage]
    while stages[-1].meetings:
        points = [
            rng.binomial(4, score(a, b), size).astype(np.int8)
            for a, b, size, _ in stages[-1].meetings
        ]
        stages.append(stages[-1].after(points))
    return stages


def stronger_first(a, b):
    """The agent that stands first scores three quarters."""
    return 0.75 if a < b else 0.25


def test_there_are_schedules_by_rounds_and_others():
    assert 0 < len(BY_ROUNDS) < len(SCHEDULES)


@pytest.mark.parametrize("name", BY_ROUNDS)
@pytest.mark.parametrize("agents", [2, 3, 6])
@pytest.mark.parametrize("score", [stronger_first, lambda _, __: 0.5], ids=["apart", "equal"])
def test_a_tournament_ends_and_asks_only_for_what_may_be_played(name, agents, score):
    module = schedule(name)
    values = default_values(module.KEYS) | ({"place": "a0"} if name == "place" else {})
    names = [f"a{place}" for place in range(agents)]
    may_meet = set(module.matches(values, names))
    assert may_meet <= set(combinations(range(agents), 2))
    stages = played(stage_of(name, agents, **({"place": "a0"} if name == "place" else {})), score)
    used = dict.fromkeys(may_meet, 0)
    for stage in stages:
        pairs = [(a, b) for a, b, _, _ in stage.meetings]
        assert set(pairs) <= may_meet
        assert len(set(pairs)) == len(pairs)
        for a, b, size, opening in stage.meetings:
            assert size > 0
            assert opening is None or opening >= used[a, b]  # no opening comes twice
            used[a, b] = (used[a, b] if opening is None else opening) + size
            assert opening is not None or used[a, b] <= LIMIT
        standing = stage.standing
        assert sorted(row.agent for row in standing.rows) == list(range(agents))
        assert standing.over == (not stage.meetings)
        assert standing.answer
    assert len(stages) < 200


@pytest.mark.parametrize("name", BY_ROUNDS)
def test_what_comes_next_depends_on_results_alone(name):
    stage, other = stage_of(name), stage_of(name)
    for seed in range(5):
        if not stage.meetings:
            break
        rng = np.random.default_rng(seed)
        points = [rng.integers(0, 5, each.pairings).astype(np.int8) for each in stage.meetings]
        shuffled = [rng.permutation(own) for own in points]
        before = list(stage.meetings)
        after, again = stage.after(points), other.after(shuffled)
        assert list(stage.meetings) == before
        assert list(after.meetings) == list(again.meetings)
        assert after.standing == again.standing
        stage, other = after, again


@pytest.mark.parametrize("name", BY_ROUNDS)
def test_the_spec_of_rounds_goes_through_json(name):
    spec = rounds_choice(name, default_values(schedule(name).KEYS))
    assert RoundsSpec.from_json(spec.to_json()) == spec


def test_the_best_stays_in_and_everybody_else_is_out_for_a_reason():
    last = played(stage_of("best", 6), stronger_first)[-1]
    rows = last.standing.rows
    assert [row.state for row in rows] == ["best", *[OUT] * 5]
    assert rows[0].agent == 0
    for row in rows[1:]:
        assert row.log_capital == pytest.approx(
            float(log_betting_capital(row.counts, 0.5)), abs=1e-6
        )
        assert row.log_capital >= np.log(5 / 0.05)
        assert f"a{row.by} scored" in row.why
    assert "best: a0" in last.standing.answer
    assert "error at most 5 %" in last.standing.answer


def test_the_leader_meets_the_stronger_half_then_all():
    stage = stage_of("best", 6)
    assert [each[:2] for each in stage.meetings] == [(0, 1), (0, 2), (0, 3)]
    level = stage.after([np.full(each.pairings, 2, np.int8) for each in stage.meetings])
    assert len(level.meetings) == 5
    after = level.after([np.full(each.pairings, 2, np.int8) for each in level.meetings])
    assert len(after.meetings) == 3


def test_a_race_of_equals_uses_its_pairings_up_unless_the_difference_does_not_matter():
    stage = stage_of("best", 2, limit=4000)
    last = played(stage, lambda _, __: 0.5)[-1]
    assert last.standing.answer.startswith("not decided between a")
    assert "4,000 openings used" in last.standing.answer
    sooner = played(stage_of("best", 2, limit=4000, indifference=40.0), lambda _, __: 0.5)[-1]
    assert "within 40 Elo of" in sooner.standing.answer
    assert sooner.standing.rounds < last.standing.rounds


def test_in_a_cycle_nobody_is_best_and_there_is_no_order():
    stage = best_one({"delta": 0.05, "indifference": 0.0}, Participants(["a", "b", "c"], 10**6))
    state = stage.state
    for one, other in ((0, 1), (1, 2), (2, 0)):
        state = after_round(state, [(one, other, [0, 0, 0, 0, 400])])
    again = BestRace(stage.names, state)
    ended = again.after([np.zeros(each.pairings, np.int8) for each in again.meetings])
    assert "no best after 4 rounds: everybody is beaten by somebody (a cycle)" in (
        ended.standing.answer
    )
    assert "no order after 3 rounds" in Ranking(stage.names, state).standing.answer


def test_the_best_few_are_above_everybody_else():
    last = played(stage_of("best", 6, best=2), stronger_first)[-1].standing
    assert {row.agent for row in last.rows if row.state == "best"} == {0, 1}
    assert "best 2: a0, a1" in last.answer


def test_an_order_puts_nobody_before_one_that_is_above():
    last = played(stage_of("rank", 5), stronger_first)[-1].standing
    assert [row.agent for row in last.rows] == [0, 1, 2, 3, 4]
    assert [row.place for row in last.rows] == [1, 2, 3, 4, 5]
    level = played(stage_of("rank", 3, limit=20_000, indifference=30.0), lambda _, __: 0.5)[-1]
    assert [row.place for row in level.standing.rows] == [1, 1, 1]


@pytest.mark.parametrize("true_place", range(6))
def test_a_newcomer_is_placed_by_halving(true_place):
    def against_the_newcomer(other, _):
        return 0.8 if other < true_place else 0.2

    stages = played(stage_of("place", 6), against_the_newcomer)
    row = stages[-1].standing.rows[0]
    assert row.place == true_place + 1
    met = {(a, b) for stage in stages for a, b, _, _ in stage.meetings}
    assert len(met) <= 3  # of five agents: halving asks for three at most


def test_a_newcomer_that_is_level_with_somebody_is_said_to_be():
    stage = stage_of("place", 2, limit=30_000)
    last = played(stage, lambda _, __: 0.5)[-1].standing
    assert "a1: level with a0 (within 10 Elo)" in last.answer


def test_pairings_of_a_round_grow_with_those_played():
    state = race(2, 3.0, 100)
    assert next_pairings(state, 0, 1) == 4
    state = after_round(state, [(0, 1, [0, 0, 80, 0, 0])])
    assert next_pairings(state, 0, 1) == 10
    assert next_pairings(after_round(state, [(0, 1, [0, 0, 15, 0, 0])]), 1, 0) == 5  # the last


def test_what_is_above_one_is_above_all_below_it():
    above = np.zeros((4, 4), bool)
    above[0, 1] = above[1, 2] = True
    through = transitive_closure(above)
    assert through[0, 2]
    assert not through[2, 0]
    assert not through[:, 3].any()


def test_a_swiss_tournament_has_no_rematch_while_there_is_another_way():
    stages = played(stage_of("swiss", 8, swiss=7), stronger_first)
    met = [(a, b) for stage in stages for a, b, _, _ in stage.meetings]
    assert len(met) == len(set(met)) == 28
    assert stages[-1].quarters[stages[-1].standing.rows[0].agent] == max(stages[-1].quarters)
    odd = played(stage_of("swiss", 5, swiss=4), lambda _, __: 0.5)
    assert len(set(odd[-1].rested)) == 4  # nobody rests twice


def test_the_points_of_a_swiss_tournament_are_those_of_games():
    even = played(stage_of("swiss", 4, swiss=3), lambda _, __: 0.5)[-1].standing
    assert all(row.why.endswith(" of 6 points") for row in even.rows)  # a pair is two games
    assert sum(float(row.why.split()[0]) for row in even.rows) == 3 * 2 * 2
    odd = played(stage_of("swiss", 5, swiss=4), lambda _, __: 0.5)[-1].standing
    assert any("without an opponent" in note for note in odd.notes)
    assert not any("without an opponent" in note for note in even.notes)


def test_a_swiss_tournament_says_what_it_cannot_claim():
    standing = played(stage_of("swiss", 4), stronger_first)[-1].standing
    assert "is not shown to be the best" in standing.notes[0]
    assert "best" not in standing.answer
    assert all(row.log_capital is None for row in standing.rows)
