"""The shipped scales, and how a change of an anchor is found."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents.core import AgentSpec
from arena.planning import scale as scales
from arena.planning.rounds import Participants
from arena.planning.scale import (
    Scale,
    load_scale,
    moves_digest,
    require_current_scale,
    sample_positions,
    scale_files,
    scale_path,
)
from arena.planning.schedules.scale import start_placement
from games import game
from games.base.errors import UserError

PAGE = Path(__file__).parents[3] / "docs" / "evidence" / "scale.md"
SHIPPED = [Scale.from_json(json.loads(path.read_text())) for path in scale_files()]


def test_three_games_have_a_scale():
    assert {each.game for each in SHIPPED} == {"kalah(6,4)", "owari(6,3)", "othello(6)"}


@pytest.mark.parametrize("scale", SHIPPED, ids=lambda scale: scale.game)
def test_anchors_rise_from_random_in_steps_of_100_to_200(scale):
    assert next(iter(scale.anchors)) == "random"
    assert scale.elo[0] == 0.0
    assert len(scale.anchors) >= 10
    steps = np.diff(scale.elo)
    assert steps.min() >= 100.0
    assert steps.max() <= 200.0
    assert max(scale.losses) == scale.losses[0]
    assert min(scale.losses) == scale.losses[-1] > 0.0
    covariance = np.array(scale.covariance)
    assert np.array_equal(covariance, covariance.T)
    assert np.linalg.eigvalsh(covariance).min() > -0.1
    assert scale_path(game(scale.game)) in scale_files()


@pytest.mark.parametrize("scale", SHIPPED, ids=lambda scale: scale.game)
def test_the_page_has_the_anchors_and_their_ratings(scale):
    text = PAGE.read_text().partition(f"## {scale.game}\n")[2]
    for name, elo in zip(scale.anchors, scale.elo, strict=True):
        assert f"| {name} | {elo:,.0f} |" in text


@pytest.mark.parametrize("scale", SHIPPED, ids=lambda scale: scale.game)
def test_anchors_play_as_they_were_rated(scale):
    assert scale.changed_anchors(game(scale.game)) == []


def test_an_anchor_that_plays_differently_is_named_with_the_remedy(monkeypatch):
    rules = game("kalah(6,4)")
    scale = load_scale(rules)
    changed = dict(scale.anchors)
    changed["minimax-depth-2"] = AgentSpec("minimax", depth=2, weights={"pot": (-1.0,)})
    monkeypatch.setattr(scales, "load_scale", lambda _: replace(scale, anchors=changed))
    with pytest.raises(UserError, match=r"minimax-depth-2 plays .* python -m benchmarks.scale"):
        require_current_scale(rules)


def test_a_digest_sees_other_moves_and_repeats():
    rules = game("kalah(6,4)")
    shallow, deep = (AgentSpec("minimax", depth=depth) for depth in (1, 3))
    assert moves_digest(shallow, rules) == moves_digest(shallow, rules)
    assert moves_digest(shallow, rules) != moves_digest(deep, rules)
    assert len(list(sample_positions(rules))) == scales.CHECKED_POSITIONS


def test_a_game_without_a_scale_names_those_with_one():
    with pytest.raises(UserError, match=r"no scale of kalah\(6,6\) .*kalah\(6,4\)"):
        load_scale(game("kalah(6,6)"))


@pytest.mark.parametrize(("points", "words"), [(0, "at most"), (4, "at least")])
def test_an_agent_beyond_the_scale_gets_a_bound_and_soon_an_end(points, words):
    names = ["me", *(f"a{place}" for place in range(10))]
    elo = tuple(130.0 * place for place in range(10))
    values = {"scale": "me", "game": "g", "elo": elo, "covariance": (4.0,) * 100}
    stage = start_placement(values, Participants(names, 200))
    while stage.meetings:
        stage = stage.after_round([np.full(stage.meetings[0].pairs, points, np.int8)])
    answer = stage.standing.answer
    assert f"me: {words} " in answer
    assert ("above a9" if points else "below a0") in answer
    assert "a bound only" in stage.standing.notes[-1]
    assert int(stage.counts.sum()) < 100
