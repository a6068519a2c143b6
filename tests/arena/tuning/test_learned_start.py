"""Searches that begin at fitted weights, and studies that end there."""

import json

import numpy as np
import pytest

from arena.commands.tune import main
from arena.config.toml_file import ExperimentError
from arena.tuning import learned_start
from arena.tuning.learned_start import scale_of, within
from arena.tuning.samplers.fitted import build
from arena.tuning.samplers.registry import SearchPlan
from arena.tuning.space import Axis, Space
from arena.tuning.study_config import load_tuning
from tests.arena.tuning.test_tune_file import GOOD

SMALL = GOOD.replace("trials = 20", "trials = 10").replace(
    "[tune.weights]", 'method = "fit"\nvalidation = { elo1 = 100, pairs = 60 }\n[tune.weights]'
)


def loaded(tmp_path, text):
    path = tmp_path / "tune_test.toml"
    path.write_text(text)
    return load_tuning(path)


def test_a_fit_plays_the_seed_weights_and_the_fitted_ones_in_turn():
    space = Space((Axis("pot", 0.0, 1.0),), {})
    plan = SearchPlan(space, np.array([0.25]), 1, 10, 10, np.array([0.75]))
    sampler = build(plan)
    assert [float(sampler.propose(slot)[0]) for slot in range(4)] == [0.25, 0.75, 0.25, 0.75]
    assert sampler.final == pytest.approx([0.75])


def test_a_fixed_weight_sets_the_scale_and_ranges_cut(tmp_path):
    tuning = loaded(tmp_path, SMALL)
    ((fixed, (number,)),) = [(n, v) for n, v in tuning.space.fixed.items() if v[0]][:1]
    learned = {axis.name: (1e6,) for axis in tuning.space.axes} | {fixed: (2.0 * number,)}
    assert scale_of(tuning, learned) == 0.5
    assert within(tuning, learned) == {axis.name: axis.high for axis in tuning.space.axes}


def test_a_study_by_fit_begins_with_games_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(learned_start, "GAMES", 300)  # enough for weights, whatever these are
    path = tmp_path / "tune_test.toml"
    path.write_text(SMALL)
    assert main([str(path), "--results", str(tmp_path / "r"), "--quiet", "--workers", "0"]) == 0
    (directory,) = (tmp_path / "r" / "tune_test").glob("tune-??????????")
    assert (directory / "start" / "round-1" / "journal.sqlite").exists()
    said = json.loads((directory / "recommendation.json").read_text())
    assert said["method"] == "fit"


def test_an_agent_of_learned_tables_is_not_tuned(tmp_path):
    text = SMALL.replace('kind = "alphabeta"', 'kind = "alphabeta"', 1)
    assert loaded(tmp_path, text).method == "fit"
    with pytest.raises(ExperimentError, match="start must be"):
        loaded(tmp_path, text.replace('method = "fit"', 'start = "learnt"'))
